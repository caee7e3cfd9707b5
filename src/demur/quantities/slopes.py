"""Slopes: derivatives of the area under a curve by the cumulative counts and loss sums of its points.

Influences of clusters are described here by their parts, so that an engine can sum over them without storing them: as
numerators, and a scale in each replicate that they are divided by. Sums of squares are divided once, by its square.
`np.asarray` computes influences as an array, one row per cluster and one column per replicate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from demur.quantities.table import running_sum
from demur.types import Flags, Floats, Indices

if TYPE_CHECKING:
    from demur.quantities.sweep import Sweep

TRIGAMMA_OF_1 = math.pi**2 / 6


class Line(NamedTuple):
    """The line that bounds an area from above, in each replicate: where it ends, and what its end is worth.

    The heights of its points are mean losses (`selective`), or summed losses, of the curve or of the oracle order. It
    ends before the point with the index `end_point`, of which there may be none. Derivatives are by the counts and the
    loss sums of points: `at_…` those of `end_point`, `left_…` what the end adds to those of the point on the left, and
    `end_…` what it adds to those of all points before it together.
    """

    selective: bool
    of_oracle: bool
    end_point: Indices | Floats
    at_count: Floats
    at_loss: Floats
    left_count: Floats
    left_loss: Floats
    end_count: Floats
    end_loss: Floats


class Term(NamedTuple):
    """A number of each cluster, times a factor in each replicate."""

    numbers: Floats
    factor: Floats


@dataclass(frozen=True, eq=False)
class Described:
    """Influences by their parts: numerators, over a scale in each replicate."""

    scale: Floats

    def __array__(self, dtype: Any = None, copy: Any = None) -> Floats:
        """The influences as an array, clusters × replicates."""
        return self._values

    @cached_property
    def _values(self) -> Floats:
        return self.numerators / self.scale

    @property
    def numerators(self) -> Floats:
        """The influences times their scale, clusters × replicates."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class OnSum(Described):
    """Influences whose numerators are a sum of terms, of which there is at least one."""

    terms: Sequence[Term]

    @cached_property
    def numerators(self) -> Floats:
        """The terms, added in their order."""
        first, *others = (numbers[:, None] * factor for numbers, factor in self.terms)
        for term in others:
            first += term
        return first


@dataclass(frozen=True, eq=False)
class OfSweep(Described):
    """Influences that a sweep computes from its sums; `by_units` is what a unit of a cluster is worth."""

    sweep: Sweep
    by_units: Floats

    @cached_property
    def numerators(self) -> Floats:
        """The influences times their scale, by the engine."""
        return self.sweep.numerators(self)


@dataclass(frozen=True, eq=False)
class OnArea(OfSweep):
    """Influences on the area under a line; `lift` is what the numerators of `moves`, if any, are worth at its end."""

    line: Line
    moves: Influence | None = None
    lift: Floats | None = None


@dataclass(frozen=True, eq=False)
class OracleRisks(OfSweep):
    """Influences on the summed risks of the oracle order, less their mean over the clusters of each replicate.

    `held` marks the clusters that have units; `drawn` is how many of them are in each replicate, at least 1.
    """

    held: Flags
    drawn: Floats


@dataclass(frozen=True, eq=False)
class OnDifference(Described):
    """Influences (a − times · b) / over: numerators are those of a, less those of b at the scale of a."""

    a: Influence
    b: Influence
    times: Floats

    @classmethod
    def of(cls, a: Influence, b: Influence, times: Floats | float = 1.0, over: Floats | float = 1.0) -> OnDifference:
        """The difference of two influences, the second of them `times` as large, `over` a number."""
        scale, other = scale_of(a), scale_of(b)
        # A scale is 0 where a number is not defined.
        ratio = np.divide(scale, other, out=np.full_like(scale, np.nan), where=other != 0)
        return cls(scale * over, a, b, times * ratio)

    @cached_property
    def numerators(self) -> Floats:
        """The numerators of one less those of the other."""
        return numerators_of(self.a) - self.times * numerators_of(self.b)


Influence: TypeAlias = Described | Floats


def numerators_of(influence: Influence) -> Floats:
    """The numerators of influences: an array of influences is its own."""
    return influence.numerators if isinstance(influence, Described) else influence


def scale_of(influence: Influence) -> Floats:
    """What the numerators of influences are divided by: 1 for an array of influences."""
    return influence.scale if isinstance(influence, Described) else np.ones(influence.shape[1])


def scaled_squares(squares: Floats, influence: Influence) -> Floats:
    """Sums of squared influences from those of their numerators."""
    scale = scale_of(influence)
    return squares / (scale * scale)


def by_count_and_loss(count: Floats, loss_sum: Floats, line: Line) -> tuple[Floats, Floats]:
    """Derivatives of the area under a line by an answer and by a loss added at each of its points (one row per point).

    What is added at a point also counts at all later ones.
    """
    if line.selective:
        by_count, by_loss = _of_mean_losses(count, loss_sum, line)
    else:
        # the trapezoids between the points around this one, and all later ones
        by_count, by_loss = line.end_count + _middle(loss_sum), line.end_loss - _middle(count)
    end_point = line.end_point.astype(np.intp)
    if (end_point < len(count)).any():
        point = np.arange(len(count))[:, None]
        for values, there in ((by_count, line.at_count), (by_loss, line.at_loss)):
            np.copyto(values, there, where=point == end_point)
            np.copyto(values, 0.0, where=point > end_point)
    return by_count, by_loss


def _of_mean_losses(count: Floats, loss_sum: Floats, line: Line) -> tuple[Floats, Floats]:
    """Derivatives of a line of mean losses, at all points: what all points are worth, less the ones before.

    The line is flat up to the first point with answers, whose loss counts half as much again for it.
    """
    inverse = np.divide(1.0, count, out=np.zeros_like(count), where=count > 0)
    height = loss_sum * inverse
    by_loss = _around(count) * 0.5 * inverse
    by_count = _around(height) * -0.5 - by_loss * height
    begins = (count > 0) & (_previous(count) == 0)
    by_loss[begins] += 0.5
    replicates, end_point = np.arange(count.shape[1]), line.end_point.astype(np.intp)
    derivatives = []
    for values, left, there, end in (
        (by_count, line.left_count, line.at_count, line.end_count),
        (by_loss, line.left_loss, line.at_loss, line.end_loss),
    ):
        before = np.concatenate([np.zeros_like(values[:1]), running_sum(values)])
        whole = before[end_point, replicates] + left + there + end
        derivatives.append(whole - before[:-1])
    return derivatives[0], derivatives[1]


def by_count_and_loss_of_oracle(count: Floats, loss_sum: Floats, loss: Floats) -> tuple[Floats, Floats]:
    """Derivatives of the summed risks of the oracle order by an answer and by a loss added at each level of loss.

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
    return running_sum(by_count[::-1])[::-1], running_sum(by_loss[::-1])[::-1]


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


def _around(values: Floats) -> Floats:
    """The next row less the previous one, for every row; after the last one comes the last one again."""
    steps = np.empty_like(values)
    steps[:-1], steps[-1] = values[1:], values[-1]
    steps[1:] -= values[:-1]
    return steps


def _middle(values: Floats) -> Floats:
    """Half of each row and the previous one together."""
    middle = values * 0.5
    middle[1:] += 0.5 * values[:-1]
    return middle


def _previous(cumulative: Floats) -> Floats:
    return np.concatenate([np.zeros_like(cumulative[:1]), cumulative[:-1]])
