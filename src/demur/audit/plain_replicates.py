"""Bootstrap replicates one after the other: the drawn clusters are pooled, and every number is taken anew."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from demur.audit.plain_units import Side

    Floats = NDArray[np.float64]

NUMBERS = ("cmax", "aurc_full", "augrc_full", "naurc", "naugrc", "eaurc", "eaugrc", "aurc_at_c", "augrc_at_c")
WITH_ERRORS = ("cmax", "aurc_full", "augrc_full")


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """What each cluster (a row) holds: units, and at or above each threshold (a column) answers and losses."""

    units: Floats
    count: Floats
    loss: Floats
    levels: Floats
    level_count: Floats
    divisor: int

    @classmethod
    def of(cls, side: Side, confidence: Sequence[float]) -> Pool:
        """From the answers of one side."""
        cluster = side.items.cluster.tolist()
        of_answers = [cluster[unit] for unit in side.answered]
        answers = [*zip(of_answers, confidence, side.numerators, strict=True)]
        return cls.counted(np.bincount(cluster, minlength=len(side.items.cluster_ids)), answers, side.divisor)

    @classmethod
    def counted(cls, units: NDArray[np.integer], answers: Sequence[tuple[int, float, int]], divisor: int) -> Pool:
        """From how many units each cluster has, and of each answer its cluster, its confidence and its loss."""
        threshold_of = {value: place for place, value in enumerate(sorted({said for _, said, _ in answers})[::-1])}
        level_of = {value: place for place, value in enumerate(sorted({wrong for _, _, wrong in answers}))}
        count, loss = np.zeros((len(units), len(threshold_of))), np.zeros((len(units), len(threshold_of)))
        level_count = np.zeros((len(units), len(level_of)))
        for cluster, said, wrong in answers:
            count[cluster, threshold_of[said]] += 1
            loss[cluster, threshold_of[said]] += wrong
            level_count[cluster, level_of[wrong]] += 1
        return cls(
            units=units.astype(np.float64),
            count=np.cumsum(count, axis=1),
            loss=np.cumsum(loss, axis=1),
            levels=np.array(list(level_of), dtype=np.float64),
            level_count=level_count,
            divisor=divisor,
        )

    @property
    def clusters(self) -> int:
        """How many clusters there are."""
        return len(self.units)

    def answered(self, weights: Floats) -> Floats:
        """How many units are answered in each replicate."""
        return weights @ self.count[:, -1] if self.count.shape[1] else np.zeros(len(weights))

    def drawn(self, weights: Floats) -> Sample:
        """One replicate: how often each cluster was drawn; thresholds nobody drawn has an answer at are left out."""
        count, loss = weights @ self.count, weights @ self.loss
        held = np.diff(count, prepend=0.0) > 0
        losses = np.repeat(self.levels, (weights @ self.level_count).astype(np.intp))
        return Sample(self, weights, float(weights @ self.units), held, count[held], loss[held], losses)


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """The pooled units of one replicate: N, and accepted answers and losses at each threshold that is held."""

    pool: Pool
    weights: Floats
    units: float
    held: NDArray[np.bool_]
    count: Floats
    loss: Floats
    losses: Floats

    def numbers(self, cut: float) -> dict[str, float]:
        """Every number that gets an interval; areas are cut after so many units."""
        total, scale = self.units, self.units * self.pool.divisor
        if not len(self.count):
            return dict.fromkeys(NUMBERS, 0.0) | {"naurc": math.nan, "naugrc": math.nan}
        places, risk, joint = np.append(0.0, self.count), self.loss / self.count, np.append(0.0, self.loss)
        flat = np.append(risk[:1], risk)
        aurc, augrc = _area(places, flat) / scale, _area(places, joint) / (scale * total)
        best = np.cumsum(self.losses)
        means = best / np.arange(1, len(best) + 1)
        best_aurc = (float(means.sum()) + (means[0] - means[-1]) / 2) / scale
        best_augrc = (float(best.sum()) - best[-1] / 2) / (scale * total)
        upto = np.append(places[places < cut], min(cut, places[-1]))
        cmax = self.count[-1] / total
        return {
            "cmax": cmax,
            "aurc_full": aurc,
            "augrc_full": augrc,
            "naurc": aurc / cmax,
            "naugrc": augrc / cmax,
            "eaurc": aurc - best_aurc,
            "eaugrc": augrc - best_augrc,
            "aurc_at_c": _area(upto, np.interp(upto, places, flat)) / scale,
            "augrc_at_c": _area(upto, np.interp(upto, places, joint)) / (scale * total),
        }

    def risks_at(self, needed: Sequence[int]) -> list[float]:
        """The mean loss at the first threshold that accepts so many units; nan where none does."""
        places = np.searchsorted(self.count, needed).tolist()
        return [self._risk(place) if place < len(self.count) else math.nan for place in places]

    def _risk(self, place: int) -> float:
        return float(self.loss[place] / (self.count[place] * self.pool.divisor))

    def influences(self) -> dict[str, Floats]:
        """How much one copy of each cluster moves Cmax and the areas.

        A cluster of n units moves a coverage by (its answers − coverage·n)/N, a selective risk by (its losses −
        risk·its answers)/k and a generalized risk by (its losses − risk·n)/N.
        """
        pool, total, count = self.pool, self.units, self.count
        if not len(count):
            return dict.fromkeys(WITH_ERRORS, np.zeros(pool.clusters))
        coverage, risk, joint = count / total, self.loss / count, self.loss / total
        start, lift = np.split(_by_height(np.append(0.0, coverage)), [1])
        tilt = np.append(lift[:1] + start, lift[1:])  # the start moves with the first selective risk
        shift, joint_shift = (_by_place(np.append(at, heights))[1:] for at, heights in ((risk[0], risk), (0.0, joint)))
        aurc = self._of_clusters(shift / total - tilt * risk / count, tilt / count)
        augrc = self._of_clusters(joint_shift / total, lift / total)
        aurc -= pool.units * float(shift @ coverage) / total
        augrc -= pool.units * float(joint_shift @ coverage + lift @ joint) / total
        cmax = (pool.count[:, -1] - coverage[-1] * pool.units) / total
        return {"cmax": cmax, "aurc_full": aurc / pool.divisor, "augrc_full": augrc / pool.divisor}

    def _of_clusters(self, by_count: Floats, by_loss: Floats) -> Floats:
        """What each cluster adds: its answers and losses at the thresholds that are held, times so much for each."""
        slopes = np.zeros((2, len(self.held)))
        slopes[:, self.held] = by_count, by_loss
        return np.asarray(self.pool.count @ slopes[0] + self.pool.loss @ slopes[1])

    def errors(self) -> dict[str, float]:
        """Standard errors from the influences: √(P/(P−1) · Σ u²), a cluster drawn twice counted twice."""
        return {name: _error(moved, self.weights) for name, moved in self.influences().items()}

    def errors_apart(self, other: Sample) -> dict[str, float]:
        """Standard errors of the differences from another side: a cluster moves them as far as the sides apart."""
        own = self.influences()
        return {name: _error(moved - own[name], self.weights) for name, moved in other.influences().items()}


def replicated(
    pool: Pool, weights: Floats, cuts: Floats, targets: Mapping[str, Fraction], *, errors: bool
) -> dict[str, Floats]:
    """Every number in every replicate, by its key; risks by `mae <coverage>` and standard errors by `error <key>`."""
    rows = []
    names = [f"mae {key}" for key in targets]
    needed = {
        total: [math.ceil(coverage * int(total)) for coverage in targets.values()]
        for total in np.unique(weights @ pool.units).tolist()
    }
    for drawn, cut in zip(weights, cuts, strict=True):
        sample = pool.drawn(drawn)
        row = sample.numbers(float(cut))
        row |= zip(names, sample.risks_at(needed[sample.units]), strict=True)
        if errors:
            row |= {f"error {name}": error for name, error in sample.errors().items()}
        rows.append(row)
    return {name: np.array([row[name] for row in rows]) for name in rows[0]} if rows else {}


def left_out(clusters: int) -> Floats:
    """The weights that leave out each cluster in turn."""
    return np.ones((clusters, clusters)) - np.eye(clusters)


def _error(moved: Floats, weights: Floats) -> float:
    clusters = len(weights)
    return math.sqrt(clusters / (clusters - 1) * float(weights @ moved**2)) if clusters > 1 else 0.0


def _area(places: Floats, heights: Floats) -> float:
    """Trapezoids; of whole numbers the sum is exact."""
    return float((places[1:] - places[:-1]) @ (heights[1:] + heights[:-1])) / 2


def _by_height(places: Floats) -> Floats:
    """How much an area gains with each of its heights: half of the widths on either side."""
    half = np.diff(places) / 2
    gains = np.append(half, 0.0)
    gains[1:] += half
    return gains


def _by_place(heights: Floats) -> Floats:
    """How much an area gains with each of its places: the mean height before it, less the one after."""
    means = (heights[1:] + heights[:-1]) / 2
    gains = np.append(-means, 0.0)
    gains[1:] += means
    return gains
