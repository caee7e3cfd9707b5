"""Interval methods: from the evidence about a number to a low and a high end.

Which method is recommended for which number is decided in `rules`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache

import numpy as np

from demur.errors import UserError, literal, unknown
from demur.inference.evidence import Evidence
from demur.inference.student import normal_quantile, t_quantile
from demur.types import Floats

_ROUNDING = 1e-9
_HALFWAY = 0.5
_MANY, _SAMPLE, _MARGIN = 2_000, 250, 12
LARGEST_EXPONENT = 600.0  # keeps exp() of an end finite
NOTHING = 1e-12
_ASK = "request it when the number is computed (interval=…)"
_HOW = "this number has none, or it was not requested when the number was computed (interval=…)"
MOST_DROPPED = 0.5  # with a larger share of undefined replicates there is no interval
NO_VARIATION = "no_variation"


@dataclass(frozen=True, slots=True)
class Interval:
    """A low and a high end, and the method they come from.

    `decided_by` says what was counted to choose the method, and `count` how many there were. `degrees` are those of
    Student's t where they depend on the data, `skipped` is the share of replicates without an error to studentise by,
    and `unclipped` are the ends before they were clipped to the possible range of the number.
    """

    method: str
    low: float
    high: float
    decided_by: str = ""
    count: int | None = None
    degrees: float | None = None
    skipped: float | None = None
    unclipped: tuple[float, float] | None = None
    note: str = ""

    @property
    def ends(self) -> tuple[float, float]:
        """Both ends."""
        return self.low, self.high

    @property
    def clipped(self) -> tuple[str, ...]:
        """Which ends were cut off."""
        low, high = self.unclipped or self.ends
        return tuple(end for end, cut in (("low", low != self.low), ("high", high != self.high)) if cut)

    def negated(self) -> Interval:
        """The interval of the negated number; 0.0 - x, so that 0 does not become -0.0."""
        unclipped = self.unclipped and (0.0 - self.unclipped[1], 0.0 - self.unclipped[0])
        return replace(self, low=0.0 - self.high, high=0.0 - self.low, unclipped=unclipped)

    def within(self, low: float, high: float) -> Interval:
        """The interval clipped to the possible range of its number."""
        ends = min(max(self.low, low), high), max(min(self.high, high), low)
        if ends == self.ends:
            return self
        return replace(self, low=ends[0], high=ends[1], unclipped=self.ends)


Ends = Callable[[Evidence, float], "tuple[float, float] | Interval | None"]


@dataclass(frozen=True, slots=True)
class Method:
    """An interval method, and what it needs besides bootstrap values.

    `influence`: a standard error from an influence function; `errors`: one in every replicate; `left_out`: the values
    with one cluster left out.
    """

    name: str
    function: Ends
    needs: frozenset[str]


METHODS: dict[str, Method] = {}


def method(name: str, *needs: str) -> Callable[[Ends], Ends]:
    """Register an interval method, a function of evidence and level that may return None."""

    def register(function: Ends) -> Ends:
        METHODS[name] = Method(name, function, frozenset(needs))
        return function

    return register


def interval(name: str, evidence: Evidence, level: float = 0.95) -> Interval | None:
    """The interval by the named method. None where the number is undefined or too many replicates lack it.

    It is the number itself where there is only one cluster, or where no cluster has any influence.
    """
    chosen = METHODS.get(name)
    if chosen is None:
        raise unknown("interval method", name, METHODS)
    if not (isinstance(level, float) and 0 < level < 1):
        raise UserError(f"level {literal(level)}, expected a number between 0 and 1, such as 0.95")
    if math.isnan(evidence.point) or not evidence.drop_rate <= MOST_DROPPED or not evidence.two_sided:
        return None
    if evidence.clusters == 1:
        return Interval(name, evidence.point, evidence.point)
    if "influence" in chosen.needs and _without_variation(name, evidence):
        return Interval(name, evidence.point, evidence.point, note=NO_VARIATION)
    ends = chosen.function(evidence, level)
    if ends is None or isinstance(ends, Interval):
        return ends
    by_degrees = name.startswith("analytic")
    return Interval(name, float(ends[0]), float(ends[1]), degrees=evidence.degrees if by_degrees else None)


def _without_variation(name: str, evidence: Evidence) -> bool:
    """Whether no cluster has any influence, except where that is expected: at the end of the range of a share."""
    size, error = max(abs(evidence.point), evidence.scale), evidence.std_error
    if error is None or not error <= NOTHING * size:
        return False
    bounded = name == "logit" or (name == "analytic_logit" and not math.isnan(evidence.largest))
    return not (bounded and _share(evidence) in (0, 1))


@method("percentile")
def percentile(evidence: Evidence, level: float) -> tuple[float, float] | None:
    """The outer quantiles of the replicates."""
    return _outer(evidence.reached, _tail(level))


@method("expanded_percentile")
def expanded_percentile(evidence: Evidence, level: float) -> tuple[float, float] | None:
    """The percentile interval at a level that corrects for few clusters (Hesterberg 2015)."""
    z = math.sqrt(evidence.clusters / (evidence.clusters - 1)) * t_quantile((1 + level) / 2, evidence.clusters - 1)
    return _outer(evidence.reached, math.erfc(z / math.sqrt(2)) / 2)


@method("t_interval")
def t_interval(evidence: Evidence, level: float) -> tuple[float, float] | None:
    """The number ± t(P−1) bootstrap standard errors."""
    return _around(evidence, evidence.bootstrap_std_error, level)


@method("bootstrap_log")
def bootstrap_log(evidence: Evidence, level: float) -> tuple[float, float] | None:
    """The number ± t(P−1) bootstrap standard errors on the log scale: for one that cannot be negative. None at 0."""
    return _on_log_scale(evidence, evidence.bootstrap_std_error, evidence.clusters - 1, level)


@method("studentised", "influence", "errors")
def studentised(evidence: Evidence, level: float) -> Interval:
    """Quantiles of (replicate − number)/(its own analytic error): the bootstrap-t.

    A replicate that holds one cluster only has no error except rounding, and is skipped.
    """
    errors = evidence.replicate_std_error
    if evidence.std_error is None or errors is None:
        raise UserError(f"a studentised interval needs an analytic error in every replicate: {_HOW}")
    usable = errors > _ROUNDING * evidence.std_error
    ends = _outer((evidence.values[usable] - evidence.point) / errors[usable], _tail(level))
    low, high = (float(evidence.point - end * evidence.std_error) for end in reversed(ends))
    return Interval("studentised", low, high, skipped=float(1 - usable.mean()))


@method("analytic", "influence")
def analytic(evidence: Evidence, level: float) -> tuple[float, float]:
    """The number ± t standard errors of its influence function, with data-dependent degrees of freedom."""
    reach = t_quantile((1 + level) / 2, evidence.degrees) * _analytic_error(evidence)
    return evidence.point - reach, evidence.point + reach


@method("analytic_log", "influence")
def analytic_log(evidence: Evidence, level: float) -> tuple[float, float] | None:
    """The analytic interval on the log scale: for a number that cannot be negative. None at 0."""
    return _on_log_scale(evidence, _analytic_error(evidence), evidence.degrees, level)


@method("analytic_logit", "influence")
def analytic_logit(evidence: Evidence, level: float) -> tuple[float, float] | Interval | None:
    """The analytic interval on the logit scale: for a share of a maximum. At 0 and at the maximum the `cluster_bound`.

    That bound is how far clusters of a kind that the sample, at this level, may have missed could move the number.
    There is none where the size of the largest cluster is not known.
    """
    return _on_logit_scale(evidence, evidence.degrees, level)


@method("logit", "influence")
def logit(evidence: Evidence, level: float) -> tuple[float, float] | Interval | None:
    """The logit interval with t(P−1): for a share to which every cluster contributes."""
    return _on_logit_scale(evidence, evidence.clusters - 1, level)


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
    # A replicate that equals the number up to rounding counts as half below.
    same = np.abs(values - evidence.point) <= _ROUNDING * max(abs(evidence.point), float(values.max() - values.min()))
    below = float(np.mean((values < evidence.point) & ~same) + np.mean(same) / 2)
    deviations = left_out.mean() - left_out
    spread = float(np.sum(deviations**2))
    if np.isnan(left_out).any() or not 0 < below < 1:
        return None
    bias = normal.inv_cdf(below)
    acceleration = float(np.sum(deviations**3)) / (6 * spread**1.5) if spread else 0.0

    def adjusted(tail: float) -> float:
        shifted = bias + normal.inv_cdf(tail)
        return normal.cdf(bias + shifted / (1 - acceleration * shifted))

    low, high = quantiles(evidence.reached, *(adjusted((1 + sign * level) / 2) for sign in (-1, 1)))
    return low, high


def rare(clusters: int, largest: float, level: float = 0.95) -> float:
    """The largest share of the units in clusters of a kind that, at this level, P of them need not have shown.

    `largest` is the largest cluster over the mean: rare clusters may be large ones.
    """
    return min(1.0, float((1 - (1 - level) ** (1 / clusters)) * largest))


def _left_out(evidence: Evidence) -> Floats:
    if evidence.left_out is None:
        raise UserError(f"this interval needs the values with one cluster left out: {_ASK}")
    return evidence.left_out


def expansion(clusters: int, level: float) -> float:
    """The factor by which an interval from few clusters is wider than a normal one: √(P/(P−1))·t(P−1)/z."""
    return (
        math.sqrt(clusters / (clusters - 1))
        * t_quantile((1 + level) / 2, clusters - 1)
        / normal_quantile((1 + level) / 2)
    )


@cache
def _tail(level: float) -> float:
    """The tail probability (1 − level)/2 of the decimal as typed: 0.025, not 0.025000000000000022."""
    return float((1 - Fraction(repr(float(level)))) / 2)


def _outer(values: Floats, tail: float) -> tuple[float, float]:
    low, high = quantiles(values, tail, 1 - tail)
    return low, high


def quantiles(values: Floats, *shares: float) -> list[float]:
    """Quantiles of unsorted values by linear interpolation, bit for bit those of numpy.

    A partition suffices, which takes an eighth of the time of sorting.

    >>> quantiles(np.array([4.0, 1.0, 2.0]), 0.0, 0.75)
    [1.0, 3.0]
    """
    last = len(values) - 1
    if last < 0:
        return [math.nan] * len(shares)
    positions = [last * share for share in shares]
    if last <= _MANY:
        return _at_positions(values, positions)
    near = [(_near(values, min(max(math.floor(position), 0), last)), position) for position in positions]
    return [_at_positions(part, [position - passed])[0] for (part, passed), position in near]


def _at_positions(values: Floats, positions: Sequence[float]) -> list[float]:
    """The values interpolated at fractional positions in their order."""
    last = len(values) - 1
    ranks = [min(max(math.floor(position), 0), last) for position in positions]
    ordered = values.copy()
    ordered.partition([*ranks, *(min(rank + 1, last) for rank in ranks)])
    return [_interpolated(ordered, rank, position - rank) for rank, position in zip(ranks, positions, strict=True)]


def _interpolated(ordered: Floats, rank: int, part: float) -> float:
    low = float(ordered[rank])
    if part < 0 or rank == len(ordered) - 1:
        return low
    high = float(ordered[rank + 1])
    # From the nearer end, as numpy does, so that rounding cannot carry the result past it.
    return low + (high - low) * part if part < _HALFWAY else high - (high - low) * (1 - part)


def _near(values: Floats, rank: int) -> tuple[Floats, int]:
    """The values around a rank, as a sample suggests them, and how many are below these; all values if it misleads."""
    sample = np.sort(values[:: len(values) // _SAMPLE])
    middle, near, passed = rank * len(sample) // len(values), values, 0
    if middle >= _MARGIN:
        low = sample[middle - _MARGIN]
        near, passed = values[values >= low], int(np.count_nonzero(values < low))
    if middle + _MARGIN < len(sample):
        near = near[near <= sample[middle + _MARGIN]]
    return (near, passed) if passed <= rank < passed + len(near) - 1 else (values, 0)


def _around(evidence: Evidence, std_error: float, level: float) -> tuple[float, float] | None:
    if math.isnan(std_error):
        return None
    reach = t_quantile((1 + level) / 2, evidence.clusters - 1) * std_error
    return evidence.point - reach, evidence.point + reach


def _analytic_error(evidence: Evidence) -> float:
    if evidence.std_error is None:
        raise UserError(f"an analytic interval needs an influence function: {_HOW}")
    return evidence.std_error


def _on_log_scale(evidence: Evidence, std_error: float, degrees: float, level: float) -> tuple[float, float] | None:
    if not evidence.point > 0 or math.isnan(std_error):
        return None
    exponent = t_quantile((1 + level) / 2, degrees) * std_error / evidence.point
    factor = math.exp(min(exponent, LARGEST_EXPONENT))
    return evidence.point / factor, evidence.point * factor


def _share(evidence: Evidence) -> float:
    """A number as a share of its maximum; exactly 1 where it differs from 1 by rounding only."""
    share = evidence.point / evidence.maximum
    return 1.0 if abs(share - 1) <= NOTHING else share


def _on_logit_scale(evidence: Evidence, degrees: float, level: float) -> tuple[float, float] | Interval | None:
    share, maximum = _share(evidence), evidence.maximum
    if share in (0, 1):
        if math.isnan(evidence.largest):
            return None
        bound = rare(evidence.clusters, evidence.largest, level)
        low, high = (0.0, bound * maximum) if share == 0 else ((1 - bound) * maximum, maximum)
        return Interval("cluster_bound", low, high)
    if not 0 < share < 1:
        return None
    reach = t_quantile((1 + level) / 2, degrees) * _analytic_error(evidence) / maximum / (share * (1 - share))
    middle = math.log(share / (1 - share))
    ends = (max(min(middle + sign * reach, LARGEST_EXPONENT), -LARGEST_EXPONENT) for sign in (-1, 1))
    low, high = (maximum / (1 + math.exp(-end)) for end in ends)
    return low, high
