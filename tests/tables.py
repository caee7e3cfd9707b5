"""Random clustered units for the tests of resampling, and what a replicate of them is, unit by unit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from demur import Curve, Graded
from demur.sampling.graded import Clusters


@dataclass(frozen=True)
class Units:
    """Units with an owner each; the slow way to everything."""

    owner: np.ndarray
    loss: np.ndarray
    confidence: np.ndarray
    answered: np.ndarray
    clusters: int
    divisor: int = 3

    @classmethod
    def random(cls, seed: int, *, most: int = 8, whole: bool | None = None, tied: bool | None = None) -> Units:
        rng = np.random.default_rng(seed)
        clusters = int(rng.integers(1, most + 1))
        sizes = rng.integers(1, 6, clusters)
        size = int(sizes.sum())
        whole = rng.random() < 0.7 if whole is None else whole
        tied = rng.random() < 0.5 if tied is None else tied
        return cls(
            owner=np.repeat(np.arange(clusters), sizes),
            loss=rng.integers(0, 4, size) if whole else rng.normal(size=size),
            confidence=rng.integers(0, 4, size).astype(float) if tied else rng.random(size),
            answered=rng.random(size) < rng.choice([0, 0.3, 0.8, 1]),
            clusters=clusters,
        )

    def graded(self, order: np.ndarray | None = None) -> Graded:
        rows = np.arange(len(self.owner)) if order is None else order
        answered = self.answered[rows]
        units = np.bincount(self.owner, minlength=self.clusters)
        clusters = Clusters(tuple(range(self.clusters)), units, self.owner[rows][answered])
        loss, confidence = self.loss[rows][answered], self.confidence[rows][answered]
        return Graded(len(rows), loss, confidence, self.divisor, clusters=clusters, largest_loss=3)

    def repeated(self, weights: np.ndarray) -> Units:
        """The units of a sample that holds each cluster so many times, every copy a cluster of its own."""
        held = [np.flatnonzero(self.owner == c) for c in range(self.clusters) for _ in range(int(weights[c]))]
        rows, owner = np.concatenate(held), np.repeat(np.arange(len(held)), [len(copy) for copy in held])
        return Units(owner, self.loss[rows], self.confidence[rows], self.answered[rows], len(held), self.divisor)

    def curve_of(self, weights: np.ndarray) -> Curve:
        """The curve of a sample that holds each cluster so many times, from its units."""
        held = [np.flatnonzero(self.owner == c) for c in range(self.clusters) for _ in range(int(weights[c]))]
        rows = np.concatenate(held)
        answered = self.answered[rows]
        loss, confidence = self.loss[rows][answered], self.confidence[rows][answered]
        return Curve.of(Graded(len(rows), loss, confidence, self.divisor))
