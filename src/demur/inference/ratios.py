"""Ratios of sums over clusters, such as a risk at a fixed threshold, losses over accepted units; with intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demur.inference.evidence import Evidence
from demur.inference.intervals import Interval
from demur.inference.rules import Counted, recommended
from demur.types import Flags, Floats


@dataclass(frozen=True, eq=False)
class Ratio:
    """ΣL/ΣA over clusters: `numerator` L over `divisor`, `denominator` A, and what the ratio is at most, if known.

    A cluster with nothing in the denominator has no part in it, and is not counted as one of the clusters. Where some
    losses are `below_0`, the sums of the clusters may all be above it.

    >>> risk = Ratio(np.array([1, 0, 1]), np.array([2, 2, 0]), maximum=1.0)
    >>> risk.point, risk.clusters
    (0.5, 2)
    """

    numerator: NDArray[Any]
    denominator: NDArray[Any]
    divisor: int = 1
    maximum: float | None = None
    below_0: bool = False

    @cached_property
    def held(self) -> Flags:
        """The clusters that have a part in it."""
        return np.asarray(self.denominator > 0)

    @property
    def clusters(self) -> int:
        """How many they are."""
        return int(self.held.sum())

    @cached_property
    def point(self) -> float:
        """The ratio, rounded once; nan without anything in the denominator."""
        if not self.clusters:
            return math.nan
        return float(Fraction(self.numerator.sum().item()) / (int(self.denominator.sum()) * self.divisor))

    @cached_property
    def influence(self) -> Floats:
        """How much each cluster that has a part in it moves it: (L − R·A)/ΣA."""
        losses, parts = self.numerator[self.held] / self.divisor, self.denominator[self.held]
        return np.asarray((losses - self.point * parts) / parts.sum())

    @property
    def largest(self) -> float:
        """The largest cluster over the mean, by the denominator."""
        parts = self.denominator[self.held]
        return float(parts.max() / parts.mean()) if len(parts) else math.nan

    @property
    def counted(self) -> Counted:
        """How many clusters hold anything of the numerator, and what the ratio can be."""
        losses = self.numerator[self.held]
        low = -math.inf if self.below_0 or (losses < 0).any() else 0.0
        high = math.inf if self.maximum is None else self.maximum
        return Counted("informative_clusters", int((losses != 0).sum()), self.clusters > 1, low, high)

    def evidence(self, values: Floats | None = None) -> Evidence:
        """What is known about it; an analytic interval needs no replicates, and without any none was left out."""
        return Evidence(
            point=self.point,
            values=np.array([self.point]) if values is None else values,
            clusters=self.clusters,
            influence=self.influence,
            largest=self.largest,
            maximum=self.maximum or 1.0,
            two_sided=self.clusters > 1,
        )

    def interval(self, level: float = 0.95) -> tuple[Interval | None, str]:
        """The recommended interval at a level, or none and why: θ/M on the logit scale ± t_df standard errors.

        Without anything in the numerator, and with everything at the maximum, one end is the one-sided cluster bound at
        this level. Where the maximum is not known it is on the log scale.
        """
        if not self.clusters:
            return None, "there is no number"
        return recommended("ratio", self.evidence(), self.counted, level)
