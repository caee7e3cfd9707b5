"""Replicates: the curves of a block of bootstrap samples, with the methods of a curve; values are arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, TypeVar

import numpy as np

from demur.quantities.coverage import Coverage
from demur.quantities.curve import points_within
from demur.quantities.exact import lower_hull
from demur.quantities.numpy_sweep import NumpySweep, before, last, risk_sums
from demur.quantities.slopes import Influence
from demur.quantities.sweep import ReachedPoints, Sweep, Weights
from demur.quantities.table import Table, running_sum
from demur.types import Floats, Indices, Integers

Value = TypeVar("Value")
_WHOLE, _EXACT = 2**62, 2**53


@dataclass(frozen=True, eq=False)
class Replicates:
    """The curves of a block of replicates: one number per replicate, computed from the sums of an engine.

    Quantities that need whole curves get them with one row per plateau and one column per replicate.
    """

    table: Table
    sweep: Sweep

    @classmethod
    def of(cls, table: Table, weights: Floats | Weights) -> Replicates:
        """The curves of samples in which each cluster occurs as often as their row of `weights` states."""
        if isinstance(weights, np.ndarray):
            return cls(table, NumpySweep(table, np.ascontiguousarray(weights.T)))
        return cls(table, weights.sweep(table))

    @property
    def weights(self) -> Floats:
        """How often each cluster (row) occurs in each replicate (column)."""
        return self.sweep.weights

    @cached_property
    def units(self) -> Floats:
        """Number of units of each replicate, at least 1."""
        # A group may have no units in a replicate; its numbers there are dropped, so any divisor but 0 will do.
        return np.maximum(self.sweep.units, 1)

    @property
    def plateaus(self) -> int:
        """Number of plateaus in the data."""
        return len(self.table.plateaus.step_end)

    @property
    def count(self) -> Floats:
        """Answers up to each plateau."""
        return self.sweep.curves.sums[0]

    @property
    def loss_sum(self) -> Floats:
        """Loss numerators up to each plateau."""
        return self.sweep.curves.sums[1]

    @property
    def risk(self) -> Floats:
        """Mean loss numerator at each plateau; 0 before the first one with answers."""
        return self.sweep.curves.risk

    @property
    def width(self) -> Floats:
        """Units added at each plateau."""
        return self.sweep.curves.width

    @property
    def level_sums(self) -> tuple[Floats, Floats]:
        """Counts and loss numerators up to each level of loss, the lowest first."""
        return self.sweep.curves.level_sums

    @property
    def answered(self) -> Floats:
        """Number of answered units of each replicate."""
        return self.sweep.answered

    @cached_property
    def coverage_reached(self) -> Floats:
        """Cmax of each replicate."""
        return self.answered / self.units

    @property
    def overall_risk(self) -> Floats:
        """Mean loss of all answers; nan where nothing is answered."""
        return self.ratio(self.sweep.loss, self.answered * self.table.divisor)

    @property
    def generalized_risk_reached(self) -> Floats:
        """Summed loss of all answers divided by the number of units."""
        return self.sweep.loss / self._area_unit

    @cached_property
    def selective_area(self) -> Floats:
        """Area under the selective risk over [0, Cmax]."""
        return self.sweep.selective / (2 * self._area_unit)

    @cached_property
    def generalized_area(self) -> Floats:
        """Area under the generalized risk over [0, Cmax]."""
        return self.sweep.generalized / (2 * self._area_unit * self.units)

    @cached_property
    def _area_unit(self) -> Floats:
        return self.units * self.table.divisor

    def selective_area_upto(self, coverage: Coverage | Floats | None) -> Floats:
        """Area under the selective risk from 0 to min(coverage, Cmax); the coverage may be counts of units."""
        if coverage is None:
            return self.selective_area
        point, end = self.cut(coverage)
        left = np.where(point.count_before > 0, point.risk_before, point.risk)
        area = point.selective_before + _cut_trapezoid(point, end, left, point.risk)
        return area / (2 * self._area_unit)

    def generalized_area_upto(self, coverage: Coverage | Floats | None) -> Floats:
        """Area under the generalized risk from 0 to min(coverage, Cmax); the coverage may be counts of units."""
        if coverage is None:
            return self.generalized_area
        point, end = self.cut(coverage)
        area = point.generalized_before + _cut_trapezoid(point, end, point.loss_before, point.loss_sum)
        return area / (2 * self._area_unit * self.units)

    def position(self, coverage: Coverage) -> Floats:
        """A coverage as a number of units of each replicate."""
        return self.cached("position", coverage, lambda: self.per_size(partial(_position, coverage)))

    def cached(self, name: str, end: Coverage | Floats | None, compute: Callable[[], Value]) -> Value:
        """A value that several quantities use, by its name and where it ends (None, a coverage or counts of units)."""
        cache: dict[Any, tuple[Any, Any]] = self._cache
        key = (name, end.text if isinstance(end, Coverage) else id(end))
        if key not in cache:
            cache[key] = (end, compute())  # with the end itself, so that no other array can get its id
        value: Value = cache[key][1]
        return value

    @cached_property
    def _cache(self) -> dict[Any, tuple[Any, Any]]:
        return {}

    @cached_property
    def begin(self) -> ReachedPoints:
        """The first plateau with answers in each replicate."""
        return self.sweep.points(np.full(len(self.units), 0.5))

    def cut(self, coverage: Coverage | Floats) -> tuple[ReachedPoints, Floats]:
        """The first plateau beyond a coverage, and the coverage as a number of units, at most the answered ones."""
        return self.cached("cut", coverage, partial(self._cut, coverage))

    def _cut(self, coverage: Coverage | Floats) -> tuple[ReachedPoints, Floats]:
        if isinstance(coverage, np.ndarray):
            end = np.minimum(coverage, self.answered)
            floor = np.floor(end)
        else:
            end = np.minimum(self.position(coverage), self.answered)
            floor = np.minimum(self.per_size(partial(_whole_position, coverage)), self.answered)
        return self.sweep.points(floor + 1), end

    def expect(self, coverages: Sequence[Coverage]) -> None:
        """Find the plateaus of several coverages, in ascending order of `Coverage.least_share`, in one pass."""
        needs = self.per_size(lambda sizes: [_units_needed(coverage, sizes) for coverage in coverages])
        points = self.sweep.reached(needs)
        rows = zip(points.index, points.count, points.loss_sum, strict=True)
        self._reached.update(zip((coverage.text for coverage in coverages), rows, strict=True))

    def plateau_at(self, coverage: Coverage) -> Indices:
        """Index of the first plateau that reaches the coverage; the number of plateaus where none does."""
        return self._reaching(coverage)[0]

    def risk_at(self, coverage: Coverage) -> Floats:
        """Selective risk of the first plateau that reaches the coverage; nan where none does."""
        index, count, loss_sum = self._reaching(coverage)
        risk = np.where(index < self.plateaus, count, np.nan)
        np.divide(loss_sum, risk, out=risk)
        risk /= self.table.divisor
        return risk

    def _reaching(self, coverage: Coverage) -> tuple[Indices, Floats, Floats]:
        """Index of the first plateau that reaches the coverage, with the answers and the loss up to it."""
        if coverage.text not in self._reached:
            self.expect([coverage])
        return self._reached[coverage.text]

    @cached_property
    def _reached(self) -> dict[str, tuple[Indices, Floats, Floats]]:
        return {}

    def coverage_at_risk(self, risk: Fraction) -> Floats:
        """The largest coverage of a plateau whose risk, as a double, is at most this one; 0 where there is none."""
        accepted = self.count * self.table.divisor
        reached = np.divide(self.loss_sum, accepted, out=np.zeros_like(accepted), where=accepted > 0)
        return np.asarray(np.max(self.count, axis=0, initial=0, where=reached <= float(risk)) / self.units)

    def coverage_at_threshold(self, threshold: float) -> Floats:
        """The share of all units that are answered with at least this confidence."""
        return last(self._accepted(self.count, threshold)) / self.units

    def risk_at_threshold(self, threshold: float) -> Floats:
        """Mean loss of the answers with at least this confidence; nan where there are none."""
        count, loss_sum = (self._accepted(sums, threshold) for sums in (self.count, self.loss_sum))
        return self.ratio(last(loss_sum), last(count) * self.table.divisor)

    def _accepted(self, sums: Floats, threshold: float) -> Floats:
        return sums[: points_within(self.table.threshold, threshold, self.table.scale)]

    def per_size(self, values_of: Callable[[Integers], Any]) -> Floats:
        """Numbers of units that depend on the size of a replicate, computed exactly and once per size."""
        sizes, size_index = self._sizes
        values = np.asarray(values_of(sizes), np.float64)
        if len(size_index) == 1:
            return values
        return values.repeat(len(size_index), axis=-1) if len(sizes) == 1 else values[..., size_index]

    @cached_property
    def _sizes(self) -> tuple[Integers, Indices]:
        sizes = self.units.astype(np.int64)
        if len(sizes) and (sizes == sizes[0]).all():  # as where all clusters have as many units: nothing to sort
            return sizes[:1], np.zeros(len(sizes), np.intp)
        return np.unique(sizes, return_inverse=True)

    def plateaus_below(self, units: Floats) -> Indices:
        """Number of plateaus of each replicate with fewer answers than `units`."""
        return self.sweep.curves.plateaus_below(units)

    @cached_property
    def optimal_selective_area(self) -> Floats:
        """The area under the selective risk of the same losses in the oracle order, each unit a point of its own."""
        oracle = self.sweep.oracle
        ends = oracle.lowest - oracle.loss_sum / np.maximum(self.answered, 1)
        return np.where(self.answered > 0, oracle.risks + ends / 2, 0.0) / self._area_unit

    @cached_property
    def optimal_generalized_area(self) -> Floats:
        """The area under the generalized risk of the same losses in the oracle order."""
        return self.sweep.oracle.generalized / (2 * self._area_unit * self.units)

    @property
    def harmonic_area(self) -> Floats:
        """Σ_k (mean loss of the k most confident), with the loss of a plateau spread evenly over it, per unit."""
        if not len(self.count):
            return np.zeros(len(self.units))
        added = np.diff(self.loss_sum, axis=0, prepend=0)
        mean = np.divide(added, self.width, out=np.zeros_like(added), where=self.width > 0)
        return risk_sums(self.count, self.loss_sum, mean) / self._area_unit

    @property
    def pairwise_area(self) -> Floats:
        """Σ of each loss times the share of answered units that are no more confident than it, per unit."""
        added = np.diff(self.loss_sum, axis=0, prepend=0)
        total = running_sum(added * (self.answered - before(self.count)))
        return last(total) / (self._area_unit * np.maximum(self.answered, 1))

    @cached_property
    def achievable_selective_area(self) -> Floats:
        """The area over the vertices of each replicate's lower convex hull. Slow: it takes one replicate at a time."""
        doubled = np.zeros(len(self.units))
        for replicate, width in enumerate(self.width.T):
            held = width > 0
            count, loss_sum = self.count[held, replicate], self.loss_sum[held, replicate]
            vertices = lower_hull(count.astype(np.int64), loss_sum)
            count, risk = count[vertices], loss_sum[vertices] / count[vertices]
            heights = risk + np.append(risk[:1], risk[:-1])
            doubled[replicate] = np.sum(heights * np.diff(count, prepend=0))
        return doubled / (2 * self._area_unit)

    def squares(self, influences: Sequence[Influence]) -> Sequence[Floats]:
        """Σ u² over the clusters of each replicate, for each of the influences u."""
        return self.sweep.squares(influences)

    @staticmethod
    def ratio(part: Floats, whole: Floats) -> Floats:
        """One number divided by another; nan where the divisor is 0."""
        if whole.all():
            return part / whole
        return np.divide(part, whole, out=np.full_like(part, np.nan), where=whole != 0)


def _units_needed(coverage: Coverage, sizes: Integers) -> Any:
    """The fewest units that reach a coverage, for each size; in 64-bit integers where they fit."""
    share = coverage.least_share
    if share.numerator * _largest(sizes) >= _WHOLE:
        return [coverage.units_needed(size) for size in sizes.tolist()]
    return -(-share.numerator * sizes // share.denominator)


def _position(coverage: Coverage, sizes: Integers) -> Any:
    """A coverage as a number of units, for each size; a quotient of two integers is rounded once."""
    share = coverage.value
    if coverage.slack or max(share.numerator * _largest(sizes), share.denominator) >= _EXACT:
        return [float(coverage.position(size)) for size in sizes.tolist()]
    return share.numerator * sizes / share.denominator


def _whole_position(coverage: Coverage, sizes: Integers) -> Any:
    """A coverage as a number of units, rounded down, for each size."""
    share = coverage.value
    if coverage.slack or share.numerator * _largest(sizes) >= _WHOLE:
        return [math.floor(coverage.position(size)) for size in sizes.tolist()]
    return share.numerator * sizes // share.denominator


def _largest(sizes: Integers) -> int:
    """The last of the sizes, which are in ascending order; 0 without any."""
    return int(sizes[-1]) if len(sizes) else 0


def _cut_trapezoid(point: ReachedPoints, end: Floats, left: Floats, right: Floats) -> Floats:
    """Twice the area of the trapezoid that ends at a plateau, up to a cut inside it."""
    passed, width = end - point.count_before, point.count - point.count_before
    share = passed / np.maximum(width, 1)  # beyond the last plateau there is no width
    return passed * (2 * left + share * (right - left))
