"""Samples: a table under weights. The data are the sample in which every cluster counts once."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, NamedTuple, TypeVar

import numpy as np

from demur.sampling.coverage import Coverage
from demur.sampling.line import Line
from demur.sampling.numbers import Number, Term, least
from demur.sampling.table import Table
from demur.sampling.weights import Weights
from demur.types import Flags, Floats, Indices, Integers

Value = TypeVar("Value")
_WHOLE, _EXACT = 2**62, 2**53


@dataclass(frozen=True, eq=False)
class Sample:
    """A table together with how often each cluster occurs in each of a block of replicates.

    `curve` has the running sums over plateaus, the most confident first, and `oracle` those over levels of loss, the
    lowest first. Every quantity of a curve is a function of a sample.
    """

    table: Table
    weights: Weights
    _known: dict[Any, Any] = field(default_factory=dict)

    @classmethod
    def data(cls, table: Table) -> Sample:
        """The sample that is the data: every cluster counts once."""
        return cls(table, Weights.once(table.clusters))

    @classmethod
    def drawn(cls, table: Table, rows: Floats) -> Sample:
        """Replicates given by their weights, one row per replicate and one column per cluster."""
        return cls(table, Weights.of(rows))

    @cached_property
    def curve(self) -> Line:
        """Running sums over plateaus, the most confident first."""
        return self.weights.line(self.table.plateaus, whole=self.table.whole)

    @cached_property
    def oracle(self) -> Line:
        """Running sums over levels of loss, the lowest first."""
        return self.weights.line(self.table.levels, whole=self.table.whole)

    @cached_property
    def units(self) -> Number:
        """N, the number of units, at least 1."""
        # A group may have no units in a replicate; its numbers there are dropped, so any divisor but 0 will do.
        return summed(np.maximum(self.weights.total(self.table.cluster_units), 1), self.table.cluster_units)

    @cached_property
    def answered(self) -> Number:
        """K, the number of answered units."""
        return summed(self.curve.ends[0], self.table.cluster_answers)

    @cached_property
    def loss(self) -> Number:
        """The sum of the loss numerators of all answers: losses times the divisor of the table."""
        return summed(self.curve.ends[1], self.table.cluster_loss)

    def accepted(self, points: int) -> tuple[Number, Number]:
        """Number of answers accepted at an operating point of the data, and the sum of their loss numerators."""
        values = self.curve.points(np.full(self.weights.replicates, points))
        count, loss = map(summed, values, self.table.plateaus.upto(points))
        return count, loss

    def total(self, by_cluster: Floats) -> Number:
        """The sum over clusters of a whole number for each cluster of the table."""
        return summed(self.weights.total(by_cluster), by_cluster)

    def once(self, key: Hashable, compute: Callable[[], Value]) -> Value:
        """Return a value that several quantities need, computed at the first call and stored under `key`."""
        if key not in self._known:
            self._known[key] = compute()
        value: Value = self._known[key]
        return value

    def position(self, coverage: Coverage) -> Number:
        """The coverage times the number of units in each replicate."""
        moving = (self.units * float(coverage)).moving
        return moving + self.per_size(partial(_position, coverage))

    def end(self, coverage: Coverage | Number) -> Number:
        """The number of units at which an area ends: a coverage times N, or a given number; at most all answers."""
        if isinstance(coverage, Number):
            return coverage
        return self.once(coverage, lambda: least(self.position(coverage), self.answered))

    def point_at(self, coverage: Coverage) -> Indices:
        """Index of the first operating point that reaches a coverage, from 0; the number of points where none does."""
        need = partial(_units_needed, coverage)
        return self.once((coverage, "point"), lambda: self.curve.reach(self.per_size(need)) - 1)

    def reaches(self, coverage: Coverage) -> Flags:
        """Whether any operating point reaches a coverage, in each replicate."""
        return np.asarray(self.point_at(coverage) < len(self.table.plateaus))

    def per_size(self, values_of: Callable[[Integers], Any]) -> Floats:
        """Numbers that depend only on the number of units of a replicate, computed exactly and once per size."""
        sizes, index = self._sizes
        values = np.asarray(values_of(sizes), np.float64)
        return values.repeat(len(index), axis=-1) if len(sizes) == 1 else values[..., index]

    @property
    def sizes(self) -> Floats:
        """The number of units of each replicate, as doubles."""
        return self.units.value.astype(np.float64)

    @cached_property
    def _sizes(self) -> tuple[Integers, Indices]:
        sizes = self.units.value.astype(np.int64)
        if len(sizes) and (sizes == sizes[0]).all():  # as where all clusters have as many units: nothing to sort
            return sizes[:1], np.zeros(len(sizes), np.intp)
        return np.unique(sizes, return_inverse=True)

    def within(self, limit: Fraction) -> Flags:
        """Whether the mean loss at each point (row), as a double, is at most a limit, by replicate (column)."""
        k, losses = self.curve.sums
        return np.asarray(losses / (np.maximum(k, 1) * self.table.divisor) <= float(limit))

    def exactly(self, values: Any) -> Any:
        """Convert numbers to the arithmetic of this sample: doubles, or fractions in an exact sample."""
        return np.asarray(values, np.float64)

    def constant(self, value: Fraction | float) -> Number:
        """A constant in the arithmetic of this sample: a double, or a fraction in an exact sample."""
        return Number(self.exactly(value))

    def stepwise(self, value: Floats) -> Number:
        """A number without derivative, because it changes in jumps."""
        return Number(self.exactly(value), None)

    def centred(self, moving: Number) -> Number:
        """The number with its influences shifted to sum to 0, as every replicate has the same number of clusters."""
        assert moving.slope is not None  # noqa: S101
        total = sum(factor * term.total for term, factor in moving.slope.items() if term.total is not None)
        held = (self.table.cluster_units > 0).astype(np.float64)
        drawn = self.weights.total(held)
        return moving + summed(drawn, held).moving * (-total / np.maximum(drawn, 1))


class Cut(NamedTuple):
    """A sample together with a number of units: that at which areas end or a risk is measured."""

    own: Sample
    end: Number

    @property
    def weights(self) -> Weights:
        """How often each cluster occurs in each replicate."""
        return self.own.weights

    @classmethod
    def at_common_coverage(cls, own: Sample, samples: Sequence[Sample], *, answering: bool = False) -> Cut:
        """Cut `own` at the smallest maximal coverage of some samples; if `answering`, of those with answers only."""
        ends = [own.units * each.answered / each.units for each in samples]
        if answering:
            ends = [end.where(each.answered.value > 0, math.inf) for end, each in zip(ends, samples, strict=True)]
        return cls(own, least(*ends))


def summed(value: Floats, by_cluster: Floats) -> Number:
    """A weighted sum over the clusters in each replicate, with its derivative."""
    return Number(value, {Term(lambda: by_cluster[:, None], value): 1.0})


def _units_needed(coverage: Coverage, sizes: Integers) -> Any:
    share = coverage.least_share
    if share.numerator * _largest(sizes) >= _WHOLE:
        return [coverage.units_needed(size) for size in sizes.tolist()]
    return -(-share.numerator * sizes // share.denominator)


def _position(coverage: Coverage, sizes: Integers) -> Any:
    share = coverage.value
    if coverage.slack or max(share.numerator * _largest(sizes), share.denominator) >= _EXACT:
        return [float(coverage.position(size)) for size in sizes.tolist()]
    return share.numerator * sizes / share.denominator


def _largest(sizes: Integers) -> int:
    return int(sizes[-1]) if len(sizes) else 0
