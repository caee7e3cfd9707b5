"""Slopes: derivatives of the area under a curve by the cumulative counts and loss sums of its points.

Influences of clusters are described here by their parts, so that an engine can sum over them without storing them;
`np.asarray` computes them as an array, one row per cluster and one column per replicate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from demur.types import Flags, Floats, Indices

if TYPE_CHECKING:
    from demur.quantities.sweep import Sweep

TRIGAMMA_OF_1 = math.pi**2 / 6


class Line(NamedTuple):
    """The line that bounds an area from above: where it starts and ends in each replicate, and derivatives at its end.

    The heights of its points are mean losses (`selective`), or summed losses over all `units`, of the curve or of the
    oracle order. A line that is `cut` ends at the position `end`, before the point with the index `end_point`; its
    `height` there is interpolated, and `left_…` and `at_…` are the derivatives of the area, through that height, by the
    height and the position of the point on the left and of `end_point` (`left_slope` with the opposite sign). `begin`
    is the index of the first point with answers; the line is flat up to it, which adds `extra` to the derivative by its
    height.
    """

    selective: bool
    of_oracle: bool
    cut: bool
    end_point: Indices | Floats
    end: Floats
    height: Floats
    left_height: Floats
    left_slope: Floats
    at_height: Floats
    at_slope: Floats
    begin: Indices | Floats
    start: Floats
    extra: Floats
    units: Floats


class Finish(NamedTuple):
    """Influences from sums by cluster: (sums + by_units · units of the cluster) / scale + lift · factor · moves."""

    by_units: Floats
    scale: Floats
    lift: Floats | None = None
    moves: Influence | None = None
    factor: Floats | None = None


@dataclass(frozen=True, eq=False)
class OfSweep:
    """Influences that a sweep computes from its sums."""

    sweep: Sweep
    finish: Finish

    def __array__(self, dtype: Any = None, copy: Any = None) -> Floats:
        """The influences as an array, clusters × replicates."""
        return self._values

    @cached_property
    def _values(self) -> Floats:
        return self.sweep.influence(self)


@dataclass(frozen=True, eq=False)
class OnArea(OfSweep):
    """Influences on the area under a line."""

    line: Line


@dataclass(frozen=True, eq=False)
class OracleRisks(OfSweep):
    """Influences on the summed risks of the oracle order, less their mean over the clusters of each replicate.

    `held` marks the clusters that have units; `drawn` is how many of them are in each replicate, at least 1.
    """

    held: Flags
    drawn: Floats


@dataclass(frozen=True, eq=False)
class OnDifference:
    """Influences (a − times · b) / over, where a and b are influences or have one number per cluster."""

    a: Influence
    b: Influence
    times: Floats | None = None
    over: Floats | None = None

    def __array__(self, dtype: Any = None, copy: Any = None) -> Floats:
        """The influences as an array, clusters × replicates."""
        a, b = (values[:, None] if values.ndim == 1 else values for values in map(np.asarray, (self.a, self.b)))
        difference = a - (b if self.times is None else self.times * b)
        return np.asarray(difference if self.over is None else difference / self.over)


Influence: TypeAlias = OfSweep | OnDifference | Floats


def by_count_and_loss(count: Floats, loss_sum: Floats, risk: Floats | None, line: Line) -> tuple[Floats, Floats]:
    """Derivatives of the area under a line by the cumulative counts and loss sums of its points (one row per point)."""
    if risk is None:
        by_position, by_height = _by_point(count, loss_sum / line.units, line)
        return by_position, by_height / line.units
    by_position, by_height = _by_point(count, np.where(count > 0, risk, line.start), line)
    replicates = np.flatnonzero(line.begin < len(count))
    by_height[line.begin[replicates].astype(np.intp), replicates] += line.extra[replicates]
    by_loss = np.divide(by_height, count, out=by_height, where=count > 0)
    return by_position - by_loss * risk, by_loss


def _by_point(count: Floats, height: Floats, line: Line) -> tuple[Floats, Floats]:
    """Derivatives of the area under a line by the position and by the height of each point."""
    start = line.start * 0 if line.selective else line.start
    if not line.cut:
        return _between(height, line.start, height[-1]) / -2, _between(count, start, count[-1]) / 2
    end_point, last = line.end_point.astype(np.intp), len(count) - 1
    beyond = np.arange(last + 1)[:, None] >= end_point
    by_position = _between(np.where(beyond, line.height, height), line.start, line.height) / -2
    by_height = _between(np.minimum(count, line.end), start, line.end) / 2
    by_position[beyond], by_height[beyond] = 0, 0
    inside = np.flatnonzero(end_point > 0)
    left = (np.minimum(end_point, last + 1) - 1)[inside], inside
    by_height[left] += line.left_height[inside]
    by_position[left] -= line.left_slope[inside]
    inside = np.flatnonzero(end_point <= last)
    by_height[end_point[inside], inside] = line.at_height[inside]
    by_position[end_point[inside], inside] = line.at_slope[inside]
    return by_position, by_height


def by_count_and_loss_of_oracle(count: Floats, loss_sum: Floats, loss: Floats) -> tuple[Floats, Floats]:
    """Derivatives of the summed risks of the oracle order by its cumulative counts and loss sums.

    The sums contain harmonic numbers H(k) of the counts, whose derivative is trigamma(k + 1).
    """
    harmonic, trigamma = (table[count.astype(np.intp)] for table in harmonic_tables(int(count[-1].max()) + 1))
    rise = np.diff(harmonic, axis=0, prepend=0)
    below = _previous(loss_sum) - loss * _previous(count)  # the earlier loss, less what it would be at this level
    by_count, by_loss = loss + below * trigamma, np.zeros_like(count)
    by_count[:-1] -= loss[1:] * (1 + rise[1:]) + below[1:] * trigamma[:-1]
    by_loss[:-1] = rise[1:]
    answered = np.maximum(count[-1], 1)
    by_count[-1] += loss_sum[-1] / (2 * answered**2)
    by_loss[-1] -= 1 / (2 * answered)
    return by_count, by_loss


def harmonic_tables(length: int) -> Floats:
    """Harmonic numbers H(k) in the first row and trigamma(k + 1) in the second, for 0 ≤ k < length."""
    tables = np.ones((2, length))
    tables[:, 0] = 0
    np.cumsum(tables, axis=1, out=tables)  # the whole numbers; all in place, since there may be tens of millions
    tables[1] *= tables[1]
    np.divide(1, tables[:, 1:], out=tables[:, 1:])
    np.cumsum(tables, axis=1, out=tables)
    np.subtract(TRIGAMMA_OF_1, tables[1], out=tables[1])
    return tables


def _between(values: Floats, before: Floats, after: Floats) -> Floats:
    """The next row less the previous one, for every row."""
    steps = np.empty_like(values)
    steps[:-1], steps[-1] = values[1:], after
    steps[1:] -= values[:-1]
    steps[0] -= before
    return steps


def _previous(cumulative: Floats) -> Floats:
    return np.concatenate([np.zeros_like(cumulative[:1]), cumulative[:-1]])
