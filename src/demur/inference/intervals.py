"""Intervals: from a number's bootstrap values, and what is known of its standard error, to a low and a high end.

Which method is recommended for which number was measured, not assumed: docs/coverage.md has the figures.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

from demur.errors import UserError, literal, unknown
from demur.types import Floats

_ROUNDING = 1e-9
_HALFWAY = 0.5
_ASK = "ask for it when the number is computed (interval=…)"
_HOW = "this number has none, or it was not asked for when it was computed (interval=…)"
MOST_DROPPED = 0.5  # with more replicates than this left out, what is left says nothing about the whole
MANY_CLUSTERS = 200  # from here on all methods agree, and the plain percentile is cheap


@dataclass(frozen=True, slots=True)
class Interval:
    """A low and a high end, and the method they come from."""

    method: str
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Evidence:
    """All that is known about one number: its value, its replicates, and where there is one its analytic error.

    `values` may hold nan for replicates in which the number was not reached; they are left out. Where every replicate
    must be 0 because nothing is ever wrong, no interval is `two_sided`.
    """

    point: float
    values: Floats
    clusters: int
    std_error: float | None = None
    replicate_std_error: Floats | None = None
    left_out: Floats | None = None
    two_sided: bool = True

    @cached_property
    def reached(self) -> Floats:
        """The replicates in which there is a number."""
        return self.values[~np.isnan(self.values)]

    @cached_property
    def ordered(self) -> Floats:
        """The same in ascending order: sorted once, whatever quantiles are read."""
        return np.sort(self.reached)

    @property
    def drop_rate(self) -> float:
        """Share of the replicates without a number."""
        missing = len(self.values) - len(self.reached)
        return missing / len(self.values) if len(self.values) else math.nan

    @cached_property
    def bootstrap_std_error(self) -> float:
        """Standard deviation of the replicates, ddof 1; nan with fewer than two of them, 0 with one cluster."""
        if self.clusters == 1:
            return 0.0
        return float(np.std(self.reached, ddof=1)) if len(self.reached) > 1 else math.nan


Ends = Callable[[Evidence, float], "tuple[float, float] | Interval | None"]


@dataclass(frozen=True, slots=True)
class Method:
    """A way to make an interval, and what it needs besides bootstrap values.

    `influence`: a standard error from an influence function; `errors`: one in every replicate; `left_out`: the values
    with one cluster left out.
    """

    name: str
    function: Ends
    needs: frozenset[str]


METHODS: dict[str, Method] = {}


def method(name: str, *needs: str) -> Callable[[Ends], Ends]:
    """Register a way to make an interval at a level; it gives None where it cannot."""

    def register(function: Ends) -> Ends:
        METHODS[name] = Method(name, function, frozenset(needs))
        return function

    return register


def interval(name: str, evidence: Evidence, level: float = 0.95) -> Interval | None:
    """The interval by a method's name. None where the number is undefined or too many replicates lack it.

    One cluster leaves nothing to resample: the interval is then the number itself.
    """
    if name not in METHODS:
        raise unknown("interval method", name, METHODS)
    if not (isinstance(level, float) and 0 < level < 1):
        raise UserError(f"level {literal(level)}, expected a number between 0 and 1, such as 0.95")
    if math.isnan(evidence.point) or not evidence.drop_rate <= MOST_DROPPED or not evidence.two_sided:
        return None
    if evidence.clusters == 1:
        return Interval(name, evidence.point, evidence.point)
    ends = METHODS[name].function(evidence, level)
    return ends if ends is None or isinstance(ends, Interval) else Interval(name, *map(float, ends))


@method("percentile")
def percentile(evidence: Evidence, level: float) -> tuple[float, float] | None:
    """The outer quantiles of the replicates."""
    return _quantiles(evidence.ordered, _tail(level))


@method("expanded_percentile")
def expanded_percentile(evidence: Evidence, level: float) -> tuple[float, float] | None:
    """The percentile interval at a level that makes up for few clusters (Hesterberg 2015)."""
    clusters = evidence.clusters
    z = math.sqrt(clusters / (clusters - 1)) * t_quantile((1 + level) / 2, clusters - 1)
    return _quantiles(evidence.ordered, math.erfc(z / math.sqrt(2)) / 2)


@method("t_interval")
def t_interval(evidence: Evidence, level: float) -> tuple[float, float] | None:
    """The number ± t(P−1) bootstrap standard errors."""
    return _around(evidence, evidence.bootstrap_std_error, level)


@method("studentised", "influence", "errors")
def studentised(evidence: Evidence, level: float) -> tuple[float, float] | Interval | None:
    """Quantiles of (replicate − number)/(its own analytic error); `analytic_log` where such an error is 0."""
    if evidence.std_error is None or evidence.replicate_std_error is None:
        raise UserError(f"a studentised interval needs an analytic error in every replicate: {_HOW}")
    # A replicate of one cluster many times over has no error but for rounding, and dividing by that gives anything.
    if not (evidence.replicate_std_error > _ROUNDING * evidence.std_error).all():
        return interval("analytic_log", evidence, level)
    ends = _quantiles(np.sort((evidence.values - evidence.point) / evidence.replicate_std_error), _tail(level))
    return evidence.point - ends[1] * evidence.std_error, evidence.point - ends[0] * evidence.std_error


@method("analytic", "influence")
def analytic(evidence: Evidence, level: float) -> tuple[float, float] | None:
    """The number ± t(P−1) analytic standard errors."""
    if evidence.std_error is None:
        raise UserError(f"an analytic interval needs an influence function: {_HOW}")
    return _around(evidence, evidence.std_error, level)


@method("analytic_log", "influence")
def analytic_log(evidence: Evidence, level: float) -> tuple[float, float] | None:
    """The analytic interval made on the log scale: for a number that cannot be negative. None at 0."""
    if evidence.std_error is None:
        raise UserError(f"an analytic interval needs an influence function: {_HOW}")
    if evidence.point <= 0:
        return None
    factor = math.exp(t_quantile((1 + level) / 2, evidence.clusters - 1) * evidence.std_error / evidence.point)
    return evidence.point / factor, evidence.point * factor


@method("jackknife", "left_out")
def jackknife(evidence: Evidence, level: float) -> tuple[float, float] | None:
    """The number ± t(P−1) standard errors from leaving out one cluster at a time."""
    values = _left_out(evidence)
    if np.isnan(values).any():
        return None
    spread = math.sqrt((len(values) - 1) / len(values) * float(np.sum((values - values.mean()) ** 2)))
    return _around(evidence, spread, level)


@method("bca", "left_out")
def bca(evidence: Evidence, level: float) -> tuple[float, float] | None:
    """The bias-corrected and accelerated percentile interval (Efron 1987)."""
    from statistics import NormalDist  # noqa: PLC0415  (slow to import, and only this method needs it)

    normal, left_out, values = NormalDist(), _left_out(evidence), evidence.reached
    # A replicate that is the number but for rounding is neither below nor above it.
    same = np.abs(values - evidence.point) <= _ROUNDING * max(abs(evidence.point), float(values.max() - values.min()))
    below = float(np.mean((values < evidence.point) & ~same) + np.mean(same) / 2)
    away = left_out.mean() - left_out
    spread = float(np.sum(away**2))
    if np.isnan(left_out).any() or not 0 < below < 1:
        return None
    bias = normal.inv_cdf(below)
    acceleration = float(np.sum(away**3)) / (6 * spread**1.5) if spread else 0.0

    def adjusted(tail: float) -> float:
        shifted = bias + normal.inv_cdf(tail)
        return normal.cdf(bias + shifted / (1 - acceleration * shifted))

    low, high = (quantile(evidence.ordered, adjusted((1 + sign * level) / 2)) for sign in (-1, 1))
    return low, high


def _left_out(evidence: Evidence) -> Floats:
    if evidence.left_out is None:
        raise UserError(f"this interval needs the values with one cluster left out: {_ASK}")
    return evidence.left_out


def _tail(level: float) -> float:
    """Half of what a level leaves out, as typed: 0.95 leaves 0.025, not 0.025000000000000022."""
    return float((1 - Fraction(repr(float(level)))) / 2)


def _quantiles(ordered: Floats, tail: float) -> tuple[float, float]:
    return quantile(ordered, tail), quantile(ordered, 1 - tail)


def quantile(ordered: Floats, share: float) -> float:
    """The quantile of sorted values, interpolated linearly: bit for bit what numpy gives, without its search.

    >>> quantile(np.array([1.0, 2.0, 4.0]), 0.75)
    3.0
    """
    position = (len(ordered) - 1) * share
    below = math.floor(position)
    if not 0 <= below < len(ordered) - 1:
        return float(ordered[0 if below < 0 else -1]) if len(ordered) else math.nan
    low, high, part = float(ordered[below]), float(ordered[below + 1]), position - below
    # From the nearer end, as numpy does, so that rounding cannot carry the result past it.
    return low + (high - low) * part if part < _HALFWAY else high - (high - low) * (1 - part)


def _around(evidence: Evidence, std_error: float, level: float) -> tuple[float, float] | None:
    if math.isnan(std_error):
        return None
    reach = t_quantile((1 + level) / 2, evidence.clusters - 1) * std_error
    return evidence.point - reach, evidence.point + reach


@lru_cache
def t_quantile(probability: float, degrees: int) -> float:
    """Quantile of Student's t for a probability of at least one half.

    By bisection on the angle θ = arctan(t/√ν), in which the distribution is a finite sum for whole degrees of freedom.

    >>> round(t_quantile(0.975, 40), 6)
    2.021075
    """
    low, high = 0.0, math.pi / 2
    for _ in range(200):
        middle = (low + high) / 2
        if _t_cdf_of_angle(middle, degrees) < probability:
            low = middle
        else:
            high = middle
    return math.sqrt(degrees) * math.tan((low + high) / 2)


def _t_cdf_of_angle(angle: float, degrees: int) -> float:
    square, odd = math.cos(angle) ** 2, degrees % 2
    term = total = math.cos(angle) if odd else 1.0
    for power in range(2 + odd, degrees - 1, 2):
        term *= square * (power - 1) / power
        total += term
    within = math.sin(angle) * total
    if odd:
        within = 2 / math.pi * (angle + (within if degrees > 1 else 0.0))
    return (1 + within) / 2
