"""Intervals of published shares, and of differences between a published number and one of ours."""

from __future__ import annotations

import math
from dataclasses import dataclass

from demur.inference.intervals import Interval
from demur.inference.student import normal_quantile, t_quantile, t_tails

_LEVEL = 0.95


def wilson(part: float, whole: float) -> Interval:
    """The score interval of a share at 95 %, for independent units.

    >>> ends = wilson(0, 10)
    >>> round(ends.low, 4), round(ends.high, 4)
    (0.0, 0.2775)
    """
    z = normal_quantile((1 + _LEVEL) / 2)
    share, factor = part / whole, 1 + z**2 / whole
    reach = z * math.sqrt(share * (1 - share) / whole + z**2 / (4 * whole**2)) / factor
    middle = (share + z**2 / (2 * whole)) / factor
    return Interval("wilson", max(middle - reach, 0.0), min(middle + reach, 1.0))


def half_width_error(ends: Interval) -> float:
    """The standard error implied by a 95 % interval."""
    return (ends.high - ends.low) / (2 * normal_quantile((1 + _LEVEL) / 2))


@dataclass(frozen=True, slots=True)
class IndependentGap:
    """A published number minus one of ours; their errors are independent, so the variances add."""

    value: float
    std_error: float
    clusters: int

    def interval(self, level: float = _LEVEL) -> Interval:
        """The difference ± t(P−1) standard errors."""
        degrees = self.clusters - 1.0
        reach = t_quantile((1 + level) / 2, degrees) * self.std_error
        return Interval("independent", self.value - reach, self.value + reach, "clusters", self.clusters, degrees)

    @property
    def p_value(self) -> float:
        """The two-sided p-value."""
        return t_tails(self.value / self.std_error, self.clusters - 1)
