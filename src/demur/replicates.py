"""Replicates: the curves of a block of bootstrap samples at once, one row each. They answer what a curve answers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from demur.hull import lower_hull

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from numpy.typing import NDArray

    from demur.coverage import Coverage
    from demur.table import Table

    Floats = NDArray[np.float64]
    Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Replicates:
    """Weighted counts and loss numerators at every plateau, cumulated from the surest.

    A plateau that a replicate happens not to hold repeats the point before it: its trapezoid has no width. Plateaus
    before the first one held get the first risk, which is what the anchor at coverage 0 is.
    """

    table: Table
    weights: Floats
    units: Floats
    count: Floats
    loss_sum: Floats

    @classmethod
    def of(cls, table: Table, weights: Floats) -> Replicates:
        """The curves of samples that hold each cluster as often as a row of `weights` says."""
        count, loss_sum = table.plateaus.cumulative(weights, whole=table.whole)
        return cls(table, weights, weights @ table.cluster_units, count, loss_sum)

    @cached_property
    def answered(self) -> Floats:
        """How many units each replicate answers."""
        return self.count[:, -1] if self.count.shape[1] else np.zeros(len(self.units))

    @property
    def coverage_reached(self) -> Floats:
        """Cmax of each replicate."""
        return self.answered / self.units

    @property
    def overall_risk(self) -> Floats:
        """Mean loss of everything answered; nan where nothing is."""
        return self.ratio(self._total_loss, self.answered * self.table.divisor)

    @property
    def generalized_risk_reached(self) -> Floats:
        """Summed loss of everything answered over all units."""
        return self._total_loss / (self.units * self.table.divisor)

    @property
    def _total_loss(self) -> Floats:
        return self.loss_sum[:, -1] if self.loss_sum.shape[1] else np.zeros(len(self.units))

    @cached_property
    def risk(self) -> Floats:
        """Mean loss numerator at each plateau."""
        risk = np.divide(self.loss_sum, self.count, out=np.zeros_like(self.loss_sum), where=self.count > 0)
        for row in np.flatnonzero((self.count[:, :1] == 0).any(axis=1)):
            first = int(np.argmax(self.count[row] > 0))
            risk[row, :first] = risk[row, first]
        return risk

    @cached_property
    def width(self) -> Floats:
        """Units added at each plateau."""
        return np.diff(self.count, axis=1, prepend=0)

    @cached_property
    def _selective(self) -> Floats:
        """Twice the area under the mean loss up to each plateau, in units × numerators."""
        heights = self.risk.copy()
        heights[:, 1:] += self.risk[:, :-1]
        heights[:, :1] *= 2
        return np.cumsum(np.multiply(heights, self.width, out=heights), axis=1, out=heights)

    @cached_property
    def _generalized(self) -> Floats:
        """Twice the area under the summed loss up to each plateau, in units × numerators."""
        heights = self.loss_sum.copy()
        heights[:, 1:] += self.loss_sum[:, :-1]
        return np.cumsum(np.multiply(heights, self.width, out=heights), axis=1, out=heights)

    @cached_property
    def selective_area(self) -> Floats:
        """Area under the selective risk over [0, Cmax]."""
        return _last(self._selective) / (2 * self._area_unit)

    @cached_property
    def generalized_area(self) -> Floats:
        """Area under the generalized risk over [0, Cmax]."""
        return _last(self._generalized) / (2 * self._area_unit * self.units)

    @property
    def _area_unit(self) -> Floats:
        return self.units * self.table.divisor

    def selective_area_upto(self, coverage: Coverage | Floats) -> Floats:
        """Area under the selective risk from 0 to min(coverage, Cmax); the coverage may be counts of units."""
        index, end = self._cut(coverage)
        left = np.where(index > 0, _at(self.risk, index - 1), _at(self.risk, index))
        area = self._area_upto(self._selective, left, _at(self.risk, index), index, end)
        return area / (2 * self._area_unit)

    def generalized_area_upto(self, coverage: Coverage | Floats) -> Floats:
        """Area under the generalized risk from 0 to min(coverage, Cmax); the coverage may be counts of units."""
        index, end = self._cut(coverage)
        left = np.where(index > 0, _at(self.loss_sum, index - 1), 0)
        area = self._area_upto(self._generalized, left, _at(self.loss_sum, index), index, end)
        return area / (2 * self._area_unit * self.units)

    def _cut(self, coverage: Coverage | Floats) -> tuple[Places, Floats]:
        """The first plateau beyond the cut (as many as there are plateaus if none is), and the cut in units."""
        if isinstance(coverage, np.ndarray):
            floor = end = np.minimum(coverage, self.answered)
        else:
            places = self._per_size(coverage.position)
            end = np.minimum(places, self.answered)
            floor = np.minimum(self._per_size(lambda units: math.floor(coverage.position(units))), self.answered)
        return np.sum(self.count <= floor[:, None], axis=1), end

    def _area_upto(self, areas: Floats, left: Floats, right: Floats, index: Places, end: Floats) -> Floats:
        """Whole trapezoids before the plateau `index`, and the cut one that leads to it."""
        start = np.where(index > 0, _at(self.count, index - 1), 0)
        width = _at(self.count, index) - start
        share = np.divide(end - start, width, out=np.zeros_like(end), where=width > 0)
        whole = np.where(index > 0, _at(areas, index - 1), 0)
        return whole + (end - start) * (2 * left + share * (right - left))

    def _per_size(self, value_of: Callable[[int], Fraction | int]) -> Floats:
        """A number of units that depends on how many units a replicate holds: exact, and worked out once per size."""
        sizes, which = np.unique(self.units, return_inverse=True)
        return np.array([float(value_of(int(size))) for size in sizes])[which]

    def place_at(self, coverage: Coverage) -> Places:
        """The first plateau that reaches the coverage; the number of plateaus where none does."""
        needed = self._per_size(coverage.units_needed)
        return np.asarray(np.sum(self.count < needed[:, None], axis=1))

    def risk_at(self, coverage: Coverage) -> Floats:
        """Selective risk of the first plateau that reaches the coverage; nan where none does."""
        place = self.place_at(coverage)
        return np.where(place < self.count.shape[1], _at(self.risk, place) / self.table.divisor, np.nan)

    @cached_property
    def _level_sums(self) -> tuple[Floats, Floats]:
        return self.table.levels.cumulative(self.weights, whole=self.table.whole)

    @cached_property
    def optimal_selective_area(self) -> Floats:
        """The area under the selective risk of the same losses in the best order, each unit a point of its own.

        Inside a level of loss l that starts after k units with summed loss S, the risk at the i-th unit is
        l + (S − l·k)/(k + i): the points of a level add up to l·w + (S − l·k)·(H(k+w) − H(k)).
        """
        count, loss_sum = self._level_sums
        if not count.shape[1]:
            return np.zeros(len(self.units))
        rises = _risk_sums(count, loss_sum, self.table.level_loss)
        first = np.argmax(count > 0, axis=1)
        ends = self.table.level_loss[first] - self._total_loss / np.maximum(self.answered, 1)
        return np.where(self.answered > 0, rises + ends / 2, 0.0) / self._area_unit

    @cached_property
    def optimal_generalized_area(self) -> Floats:
        """The area under the generalized risk of the same losses in the best order."""
        count, loss_sum = self._level_sums
        if not count.shape[1]:
            return np.zeros(len(self.units))
        width, before = np.diff(count, axis=1, prepend=0), _before(loss_sum)
        area = np.cumsum(width * (2 * before + width * self.table.level_loss), axis=1)[:, -1]
        return area / (2 * self._area_unit * self.units)

    @cached_property
    def harmonic_area(self) -> Floats:
        """Σ_k (mean loss of the k surest), with the loss of a plateau spread evenly over it, per unit."""
        if not self.count.shape[1]:
            return np.zeros(len(self.units))
        added = np.diff(self.loss_sum, axis=1, prepend=0)
        mean = np.divide(added, self.width, out=np.zeros_like(added), where=self.width > 0)
        return _risk_sums(self.count, self.loss_sum, mean) / self._area_unit

    @cached_property
    def pairwise_area(self) -> Floats:
        """Σ of each loss times the share of answered units that are no surer than it, per unit."""
        added = np.diff(self.loss_sum, axis=1, prepend=0)
        no_surer = self.answered[:, None] - _before(self.count)
        total = _last(np.cumsum(added * no_surer, axis=1))
        return total / (self._area_unit * np.maximum(self.answered, 1))

    @cached_property
    def achievable_selective_area(self) -> Floats:
        """The area over the vertices of each replicate's lower convex hull; one replicate at a time, so not cheap."""
        return np.array([self._hull_area(row) for row in range(len(self.units))]) / (2 * self._area_unit)

    def _hull_area(self, row: int) -> float:
        held = self.width[row] > 0
        count, loss_sum = self.count[row, held], self.loss_sum[row, held]
        vertices = lower_hull(count.astype(np.int64), loss_sum)
        count, risk = count[vertices], loss_sum[vertices] / count[vertices]
        heights = risk + np.append(risk[:1], risk[:-1])
        return float(np.sum(heights * np.diff(count, prepend=0)))

    @staticmethod
    def ratio(part: Floats, whole: Floats) -> Floats:
        """One number over another; nan where there is nothing to divide by."""
        return np.divide(part, whole, out=np.full_like(part, np.nan), where=whole != 0)


def _last(areas: Floats) -> Floats:
    return areas[:, -1] if areas.shape[1] else np.zeros(len(areas))


def _before(cumulative: Floats) -> Floats:
    """What was there before each step."""
    before = np.zeros_like(cumulative)
    before[:, 1:] = cumulative[:, :-1]
    return before


def _at(values: Floats, place: Places) -> Floats:
    """The value of each row at its place; a place past the end gives the last one, for the caller to mask."""
    if not values.shape[1]:
        return np.zeros(len(values))
    return values[np.arange(len(values)), np.clip(place, 0, values.shape[1] - 1)]


def _risk_sums(count: Floats, loss_sum: Floats, loss: Floats) -> Floats:
    """Σ_k (mean loss of the first k units), steps of equal loss at a time, through differences of harmonic numbers."""
    harmonic = _harmonic_numbers(int(count[:, -1].max()))
    k, total = _before(count), _before(loss_sum)
    rise = harmonic[count.astype(np.intp)] - harmonic[k.astype(np.intp)]
    terms = loss * (count - k) + (total - loss * k) * rise
    return np.cumsum(terms, axis=1)[:, -1]


def _harmonic_numbers(largest: int) -> Floats:
    numbers = np.zeros(largest + 1)
    np.cumsum(1 / np.arange(1, largest + 1), out=numbers[1:])
    return numbers
