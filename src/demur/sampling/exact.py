"""Exact point estimates: the data as a sample in fractions, whose numbers are rounded once, when they are read.

A quotient of integers rarely fits a double. Of many, each is kept as an unevaluated sum of two doubles (106 bits), the
pairs are added without losing what a rounding drops, and the total is a fraction.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from demur.sampling.coverage import Coverage
from demur.sampling.hull import lower_hull
from demur.sampling.line import Line
from demur.sampling.numbers import Number, least
from demur.sampling.plateaus import Points
from demur.sampling.sample import Sample
from demur.sampling.steps import careful_sum
from demur.sampling.table import Table
from demur.sampling.weights import Weights
from demur.types import Flags, Floats

_RANKS = 1 << 16  # in a block, whose dozen temporaries stay in the cache
_UPPER_HALF = np.int64(-1 << 27)  # keeps the upper 26 bits of a significand
_FEW = 16


@dataclass(frozen=True, eq=False)
class ExactSample(Sample):
    """The data as a sample that computes in fractions and without derivatives."""

    @classmethod
    def of(cls, table: Table) -> ExactSample:
        """The sample that is the data of a table."""
        return cls(table, Weights.once(1))

    @cached_property
    def curve(self) -> Line:
        """Running sums at each operating point, the most confident first."""
        return ExactLine(self.table.plateaus, self.weights, self.table.whole, data=self.table.points)

    @cached_property
    def oracle(self) -> Line:
        """Running sums at each level of loss, the lowest first."""
        return ExactLine(self.table.levels, self.weights, self.table.whole, data=self.table.oracle_points)

    @cached_property
    def units(self) -> Number:
        """N, the number of units, at least 1."""
        return _exact(max(int(self.table.cluster_units.sum()), 1))

    @cached_property
    def answered(self) -> Number:
        """K, the number of answered units."""
        return _exact(self.curve.ends[0][0])

    @cached_property
    def loss(self) -> Number:
        """The sum of the loss numerators of all answers."""
        return _exact(self.curve.ends[1][0])

    def total(self, by_cluster: Floats) -> Number:
        """The sum over clusters of a whole number for each cluster of the table."""
        return _exact(int(by_cluster.sum()))

    def accepted(self, points: int) -> tuple[Number, Number]:
        """Number of answers accepted at an operating point (counted from 1), and the sum of their loss numerators."""
        count, loss = self.curve.points(np.full(1, points))
        return _exact(count[0]), _exact(loss[0])

    def end(self, coverage: Coverage | Number) -> Number:
        """The number of units at which an area ends: a coverage times N, or a given number; at most all answers."""
        if isinstance(coverage, Number):
            return coverage
        return least(_exact(coverage.position(int(self.units.value[0]))), self.answered)

    def within(self, limit: Fraction) -> Flags:
        """Whether the mean loss of each point (a row) is at most a limit, decided exactly."""
        within, limit = super().within(limit), limit * self.table.divisor
        # Rounding is monotone: a point whose rounded risk is above the rounded limit is above the limit.
        for point in np.flatnonzero(within).tolist():
            within[point] = Fraction(self.curve.sums[1][point, 0]) <= limit * int(self.curve.sums[0][point, 0])
        return within

    def exactly(self, values: Any) -> Any:
        """Convert numbers to fractions."""
        return np.array(
            [value if math.isnan(value) else Fraction(value) for value in np.ravel(values).tolist()], object
        )

    def centred(self, moving: Number) -> Number:
        """The number unchanged: numbers of an exact sample have no influences to centre."""
        return moving


@dataclass(frozen=True, eq=False)
class ExactLine(Line):
    """Running sums whose areas are fractions, in units × loss numerators."""

    data: Points = field(kw_only=True)

    @cached_property
    def sums(self) -> tuple[Floats, Floats]:
        """Number of answers and sum of losses up to each step."""
        count, loss = (np.append(0.0, sums)[:, None] for sums in self.data)
        return count, loss

    def _area_upto(self, end: Number, *, selective: bool) -> Number:
        """Whole trapezoids up to the last point within the end, then the cut one with interpolated height."""
        stop = min(end.value[0], int(self.ends[0][0]))
        whole = int(self.data.count.searchsorted(math.floor(stop), side="right"))
        reached = Points(*(sums[:whole] for sums in self.data))
        area = _selective_area(reached) if selective else _generalized_area(reached)
        return _exact(area + self._cut_trapezoid(whole, stop, selective=selective) if whole < len(self.steps) else area)

    def _cut_trapezoid(self, index: int, end: Fraction, *, selective: bool) -> Fraction:
        """The trapezoid before a point up to a cut inside it, multiplied out: every operation on fractions is slow."""
        start, stop = [0, *self.data.count[max(index - 1, 0) : index + 1].tolist()][-2:]
        losses = [0, *self.data.loss_sum[max(index - 1, 0) : index + 1].tolist()][-2:]
        left, right = (loss if isinstance(loss, int) else Fraction(loss) for loss in losses)
        left_units, right_units = (start, stop) if selective else (1, 1)  # heights are left / left_units and so on
        if selective and not index:
            left, left_units = right, right_units
        passed, whole = (end - start).as_integer_ratio()
        width = (stop - start) * whole
        doubled = passed * (2 * width * left * right_units + passed * (right * left_units - left * right_units))
        return Fraction(doubled, 2 * width * whole * left_units * right_units)

    def _area_by_unit(self, loss: Floats) -> Number:
        if not self.whole:
            losses = careful_sum(np.repeat(loss, np.diff(self.data.count, prepend=0)))
            return _exact(_selective_area(Points(np.arange(1, len(losses) + 1), losses)))
        doubled, answered = Fraction(0), self.ends[0][0]
        for ranks, loss_sum in self._by_rank():
            doubled += sum_of_quotients((2.0 + (ranks == 1) - (ranks == answered)) * loss_sum, ranks)
        return _exact(doubled / 2)

    def rank_sum(self) -> Any:
        """Sum over n = 1 … K of the mean loss of the first n units, the loss of a step spread evenly over its units."""
        quotients = (sum_of_quotients(loss_sum, ranks) for ranks, loss_sum in self._by_rank())
        return _exact(sum(quotients, Fraction(0))).value

    def hull_area(self) -> Any:
        """The area under the mean loss over the vertices of its lower convex hull."""
        vertices = lower_hull(*self.data)
        return _exact(_selective_area(Points(*(sums[vertices] for sums in self.data)))).value

    def _by_rank(self) -> Iterator[tuple[Floats, Floats]]:
        """Blocks of ranks k, and the summed loss of the first k units, which is linear between two points."""
        (count, loss_sum), answered = self.sums, int(self.ends[0][0])
        for start in range(0, answered, _RANKS):
            ranks = np.arange(start + 1.0, min(start + _RANKS, answered) + 1)
            yield ranks, np.interp(ranks, count[:, 0], loss_sum[:, 0])


def _exact(value: Fraction | float) -> Number:
    return Number(np.array([Fraction(value)], dtype=object))


def _selective_area(points: Points) -> Fraction:
    """Area under the mean loss: trapezoids, flat from 0 to the first point.

    Each risk appears in the trapezoids on both its sides, so the doubled area is one sum of quotients.
    """
    if not len(points.count):
        return Fraction(0)
    count = points.count.astype(np.float64)
    width = np.empty_like(count)
    width[:-1], width[-1] = count[1:], count[-1]
    width[1:] -= count[:-1]
    width[0] += count[0]
    return sum_of_quotients(width * points.loss_sum, count) / 2


def _generalized_area(points: Points) -> Fraction:
    width, heights = points.count.copy(), points.loss_sum.copy()
    width[1:] -= points.count[:-1]
    heights[1:] += points.loss_sum[:-1]
    return Fraction((width * heights).sum().item()) / 2


def sum_of_quotients(numerator: Floats, denominator: Floats) -> Fraction:
    """Σ numerator/denominator: exact for few quotients, to about 100 bits for many. Denominators are integers.

    >>> sum_of_quotients(np.array([1.0, 1.0]), np.array([3.0, 3.0]))
    Fraction(2, 3)
    """
    if len(numerator) <= _FEW:
        return _sum_of_few(numerator.tolist(), denominator.tolist())
    total = Fraction(0)
    for start in range(0, len(numerator), _RANKS):
        block = slice(start, start + _RANKS)
        total += _pairwise_sum(*_quotient(numerator[block], denominator[block]))
    return total


def _sum_of_few(numerator: list[float], denominator: list[float]) -> Fraction:
    """The sum over a common denominator, which stays short if there are few."""
    parts = [value.as_integer_ratio() for value in numerator]
    binary = max((power for _, power in parts), default=1)  # powers of two
    common = math.lcm(*map(int, denominator))
    terms = zip(parts, denominator, strict=True)
    total = sum(whole * (binary // power) * (common // int(over)) for (whole, power), over in terms)
    return Fraction(total, binary * common)


def _quotient(numerator: Floats, denominator: Floats) -> tuple[Floats, Floats]:
    """The rounded quotient and what the rounding dropped: the remainder of a division fits a double exactly."""
    quotient = numerator / denominator
    upper, lower = _halves(quotient)
    wide, narrow = _halves(denominator)
    remainder = numerator - upper * wide
    remainder -= upper * narrow
    remainder -= lower * wide
    remainder -= lower * narrow
    remainder /= denominator
    return quotient, remainder


def _halves(values: Floats) -> tuple[Floats, Floats]:
    """Two doubles of at most 27 bits that add up to each value, so that products of halves are exact."""
    upper = (values.view(np.int64) & _UPPER_HALF).view(np.float64)
    return upper, values - upper


def _pairwise_sum(high: Floats, low: Floats) -> Fraction:
    """Σ (high + low), folding the arrays in two; the error of each rounded addition goes into `low`."""
    while len(high) > 1:
        half = len(high) // 2
        left, right, rest = high[:half], high[half : 2 * half], high[2 * half :]
        total = left + right
        moved = total - left
        error = (left - (total - moved)) + (right - moved)
        error += low[:half]
        error += low[half : 2 * half]
        high = np.concatenate((total, rest)) if rest.size else total
        low = np.concatenate((error, low[2 * half :])) if rest.size else error
    return sum(map(Fraction, [*high.tolist(), *low.tolist()]), Fraction(0))
