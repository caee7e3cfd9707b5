"""Ratios of sums over clusters, such as the risk at a fixed threshold, and their intervals."""

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
    """ΣL/ΣA over clusters: `numerator` L over `divisor`, `denominator` A, and the `maximum` of the ratio, if known.

    A cluster with a denominator of 0 does not count as a cluster. Some losses may be `below_0` even where the sums of
    all clusters are positive.

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
        """The clusters with a denominator above 0."""
        return np.asarray(self.denominator > 0)

    @property
    def clusters(self) -> int:
        """The number of clusters with a denominator above 0."""
        return int(self.held.sum())

    @cached_property
    def point(self) -> float:
        """The ratio, rounded once; nan where the denominator is 0."""
        if not self.clusters:
            return math.nan
        return float(Fraction(self.numerator.sum().item()) / (int(self.denominator.sum()) * self.divisor))

    @cached_property
    def influence(self) -> Floats:
        """The influence of each cluster with a denominator above 0: (L − R·A)/ΣA."""
        losses, parts = self.numerator[self.held] / self.divisor, self.denominator[self.held]
        return np.asarray((losses - self.point * parts) / parts.sum())

    @property
    def largest(self) -> float:
        """The largest cluster over the mean, by the denominator."""
        parts = self.denominator[self.held]
        return float(parts.max() / parts.mean()) if len(parts) else math.nan

    @property
    def counted(self) -> Counted:
        """The number of clusters with a numerator other than 0, and the possible range of the ratio."""
        losses = self.numerator[self.held]
        low = -math.inf if self.below_0 or (losses < 0).any() else 0.0
        high = math.inf if self.maximum is None else self.maximum
        return Counted("informative_clusters", int((losses != 0).sum()), self.clusters > 1, low, high)

    def evidence(self, values: Floats | None = None) -> Evidence:
        """The evidence about the ratio; an analytic interval needs no replicates."""
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

        At 0 and at the maximum, one end is the one-sided cluster bound at this level. Without a known maximum the
        interval is on the log scale.
        """
        if not self.clusters:
            return None, "there is no number"
        return recommended("ratio", self.evidence(), self.counted, level)
