"""Slopes: derivatives of an area by what is answered, and what is lost, up to each of its points.

Influences of clusters are described here by what they are made of. An engine sums over them, and need not write them
down; `np.asarray` gives them as an array, a row for each cluster and a column for each replicate.
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
    """A line through points, where it starts and ends in each replicate, and what the points beside its end are worth.

    The points have the mean losses as heights (`selective`), or the summed losses over all `units`, of the curve or of
    the oracle order. A line that is `cut` ends before the point `place`, at the position `end`, and its `height` there
    is a mix of the heights of the two points beside it: of the one on the left and the one at the place these are the
    derivatives of the area by height and by position. `begin` is the first point held: up to it the line is flat, and
    its height counts for so much `extra`.
    """

    selective: bool
    of_oracle: bool
    cut: bool
    place: Indices | Floats
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
    """From sums by cluster to influences: (sums + by_units · units of the cluster) / scale + lift · factor · moves."""

    by_units: Floats
    scale: Floats
    lift: Floats | None = None
    moves: Influence | None = None
    factor: Floats | None = None


@dataclass(frozen=True, eq=False)
class OfSweep:
    """Influences that a sweep makes of its sums."""

    sweep: Sweep
    finish: Finish

    def __array__(self, dtype: Any = None, copy: Any = None) -> Floats:
        """The influences themselves."""
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
    """Influences on the summed risks of the oracle order, less their mean over the clusters that a replicate holds.

    Clusters that are `held` have units at all; of them a replicate has so many `drawn`, at least 1.
    """

    held: Flags
    drawn: Floats


@dataclass(frozen=True, eq=False)
class OnDifference:
    """Influences (a − times · b) / over, from influences, or from a number for each cluster."""

    a: Influence
    b: Influence
    times: Floats | None = None
    over: Floats | None = None

    def __array__(self, dtype: Any = None, copy: Any = None) -> Floats:
        """The influences themselves."""
        a, b = (each[:, None] if each.ndim == 1 else each for each in map(np.asarray, (self.a, self.b)))
        apart = a - (b if self.times is None else self.times * b)
        return np.asarray(apart if self.over is None else apart / self.over)


Influence: TypeAlias = OfSweep | OnDifference | Floats


def by_count_and_loss(count: Floats, loss_sum: Floats, risk: Floats | None, line: Line) -> tuple[Floats, Floats]:
    """Derivatives of the area under a line by the cumulated counts and loss sums of its points (a row each)."""
    if risk is None:
        by_position, by_height = _by_place(count, loss_sum / line.units, line)
        return by_position, by_height / line.units
    by_position, by_height = _by_place(count, np.where(count > 0, risk, line.start), line)
    replicates = np.flatnonzero(line.begin < len(count))
    by_height[line.begin[replicates].astype(np.intp), replicates] += line.extra[replicates]
    by_loss = np.divide(by_height, count, out=by_height, where=count > 0)
    return by_position - by_loss * risk, by_loss


def _by_place(count: Floats, height: Floats, line: Line) -> tuple[Floats, Floats]:
    """By the position and by the height of each point."""
    start = line.start * 0 if line.selective else line.start
    if not line.cut:
        return _between(height, line.start, height[-1]) / -2, _between(count, start, count[-1]) / 2
    place, last = line.place.astype(np.intp), len(count) - 1
    beyond = np.arange(last + 1)[:, None] >= place
    by_position = _between(np.where(beyond, line.height, height), line.start, line.height) / -2
    by_height = _between(np.minimum(count, line.end), start, line.end) / 2
    by_position[beyond], by_height[beyond] = 0, 0
    inside = np.flatnonzero(place > 0)
    left = (np.minimum(place, last + 1) - 1)[inside], inside
    by_height[left] += line.left_height[inside]
    by_position[left] -= line.left_slope[inside]
    inside = np.flatnonzero(place <= last)
    by_height[place[inside], inside] = line.at_height[inside]
    by_position[place[inside], inside] = line.at_slope[inside]
    return by_position, by_height


def by_count_and_loss_of_oracle(count: Floats, loss_sum: Floats, loss: Floats) -> tuple[Floats, Floats]:
    """Derivatives of the risks of the oracle order, summed unit by unit in harmonic numbers of the counts.

    A harmonic number H(k) grows by trigamma(k + 1) with k.
    """
    harmonic, trigamma = (table[count.astype(np.intp)] for table in harmonic_tables(int(count[-1].max()) + 1))
    rise = np.diff(harmonic, axis=0, prepend=0)
    below = _previous(loss_sum) - loss * _previous(count)  # what came before, less what it would be at this loss
    by_count, by_loss = loss + below * trigamma, np.zeros_like(count)
    by_count[:-1] -= loss[1:] * (1 + rise[1:]) + below[1:] * trigamma[:-1]
    by_loss[:-1] = rise[1:]
    answered = np.maximum(count[-1], 1)
    by_count[-1] += loss_sum[-1] / (2 * answered**2)
    by_loss[-1] -= 1 / (2 * answered)
    return by_count, by_loss


def harmonic_tables(length: int) -> Floats:
    """Harmonic numbers H(k), and trigamma(k + 1), of the whole numbers k below a length: a row each."""
    tables = np.ones((2, length))
    tables[:, 0] = 0
    np.cumsum(tables, axis=1, out=tables)  # the whole numbers; all in place, since there may be tens of millions
    tables[1] *= tables[1]
    np.divide(1, tables[:, 1:], out=tables[:, 1:])
    np.cumsum(tables, axis=1, out=tables)
    np.subtract(TRIGAMMA_OF_1, tables[1], out=tables[1])
    return tables


def _between(values: Floats, before: Floats, after: Floats) -> Floats:
    """The value one step on less the one a step back."""
    steps = np.empty_like(values)
    steps[:-1], steps[-1] = values[1:], after
    steps[1:] -= values[:-1]
    steps[0] -= before
    return steps


def _previous(cumulative: Floats) -> Floats:
    return np.concatenate([np.zeros_like(cumulative[:1]), cumulative[:-1]])
