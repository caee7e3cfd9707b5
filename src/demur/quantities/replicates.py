"""Replicates: the curves of a block of bootstrap samples at once. They answer what a curve answers, in arrays."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from demur.quantities.coverage import Coverage
from demur.quantities.curve import points_within
from demur.quantities.exact import lower_hull
from demur.quantities.table import Table, running_sum
from demur.types import Floats, Indices

Made = TypeVar("Made")


@dataclass(frozen=True, eq=False)
class Replicates:
    """Weighted counts and loss numerators at every plateau (a row each) of every replicate (a column each).

    Both are cumulated from the most confident plateau. One that a replicate happens not to hold repeats the point
    before it: its trapezoid has no width. The curve begins, with the flat anchor to coverage 0, at the `first` plateau
    held. Running sums go down the rows, so that each step is one addition of whole rows.
    """

    table: Table
    weights: Floats
    units: Floats
    count: Floats
    loss_sum: Floats

    @classmethod
    def of(cls, table: Table, weights: Floats) -> Replicates:
        """The curves of samples that hold each cluster as often as a row of `weights` says."""
        drawn = np.ascontiguousarray(weights.T)
        count, loss_sum = table.plateaus.cumulative(drawn, whole=table.whole)
        # A group of units may vanish from a replicate; its numbers there are left out, whatever they are divided by.
        return cls(table, drawn, np.maximum(table.cluster_units @ drawn, 1), count, loss_sum)

    @property
    def answered(self) -> Floats:
        """How many units each replicate answers."""
        return _last(self.count)

    @property
    def coverage_reached(self) -> Floats:
        """Cmax of each replicate."""
        return self.answered / self.units

    @property
    def overall_risk(self) -> Floats:
        """Mean loss of everything answered; nan where nothing is."""
        return self.ratio(_last(self.loss_sum), self.answered * self.table.divisor)

    @property
    def generalized_risk_reached(self) -> Floats:
        """Summed loss of everything answered over all units."""
        return _last(self.loss_sum) / self._area_unit

    @cached_property
    def first(self) -> Indices:
        """The first plateau each replicate holds anything of; the number of plateaus where it answers nothing."""
        return self.plateaus_below(np.full(len(self.units), 0.5))

    @cached_property
    def risk(self) -> Floats:
        """Mean loss numerator at each plateau; 0 before the first one held."""
        risk = np.empty_like(self.loss_sum)
        held = int(self.first.max(initial=0))  # from here on every replicate has answers, and no mask is needed
        risk[:held] = 0
        np.divide(self.loss_sum[held:], self.count[held:], out=risk[held:])
        np.divide(self.loss_sum[:held], self.count[:held], out=risk[:held], where=self.count[:held] > 0)
        return risk

    @cached_property
    def width(self) -> Floats:
        """Units added at each plateau."""
        return np.diff(self.count, axis=0, prepend=0)

    def begin(self) -> tuple[Indices, Indices]:
        """Where the curves begin: the first plateau held, of each replicate that answers anything."""
        replicates = np.flatnonzero(self.answered > 0)
        return self.first[replicates], replicates

    @cached_property
    def _selective(self) -> Floats:
        """Twice the area under the mean loss up to each plateau, in units × numerators."""
        heights = self.risk + _before(self.risk)
        heights[self.begin()] += self.risk[self.begin()]
        heights *= self.width
        return running_sum(heights)

    @cached_property
    def _generalized(self) -> Floats:
        """Twice the area under the summed loss up to each plateau, in units × numerators."""
        return running_sum((self.loss_sum + _before(self.loss_sum)) * self.width)

    @property
    def selective_area(self) -> Floats:
        """Area under the selective risk over [0, Cmax]."""
        return _last(self._selective) / (2 * self._area_unit)

    @property
    def generalized_area(self) -> Floats:
        """Area under the generalized risk over [0, Cmax]."""
        return _last(self._generalized) / (2 * self._area_unit * self.units)

    @property
    def _area_unit(self) -> Floats:
        return self.units * self.table.divisor

    def selective_area_upto(self, coverage: Coverage | Floats | None) -> Floats:
        """Area under the selective risk from 0 to min(coverage, Cmax); the coverage may be counts of units."""
        if coverage is None:
            return self.selective_area
        place, end = self.cut(coverage)
        right = _at(self.risk, place)
        left = np.where(place > self.first, _at(self.risk, place - 1), right)
        return self._area_upto(self._selective, left, right, place, end) / (2 * self._area_unit)

    def generalized_area_upto(self, coverage: Coverage | Floats | None) -> Floats:
        """Area under the generalized risk from 0 to min(coverage, Cmax); the coverage may be counts of units."""
        if coverage is None:
            return self.generalized_area
        place, end = self.cut(coverage)
        left = np.where(place > 0, _at(self.loss_sum, place - 1), 0)
        area = self._area_upto(self._generalized, left, _at(self.loss_sum, place), place, end)
        return area / (2 * self._area_unit * self.units)

    def position(self, coverage: Coverage) -> Floats:
        """A coverage in units of each replicate."""
        return self._per_size(coverage.position)

    def once(self, what: str, end: Coverage | Floats | None, make: Callable[[], Made]) -> Made:
        """What several numbers are made of, made once: of the whole curve, or up to a coverage or counts of units."""
        kept: dict[Any, tuple[Any, Any]] = self._kept
        key = (what, end.text if isinstance(end, Coverage) else id(end))
        if key not in kept:
            kept[key] = (end, make())  # with the end itself, so that no other array can get its id
        made: Made = kept[key][1]
        return made

    @cached_property
    def _kept(self) -> dict[Any, tuple[Any, Any]]:
        return {}

    def cut(self, coverage: Coverage | Floats) -> tuple[Indices, Floats]:
        """The first plateau beyond the cut (as many as there are plateaus if none is), and the cut in units."""
        return self.once("cut", coverage, lambda: self._cut(coverage))

    def _cut(self, coverage: Coverage | Floats) -> tuple[Indices, Floats]:
        if isinstance(coverage, np.ndarray):
            end = np.minimum(coverage, self.answered)
            floor = np.floor(end)
        else:
            end = np.minimum(self.position(coverage), self.answered)
            floor = np.minimum(self._per_size(lambda units: math.floor(coverage.position(units))), self.answered)
        return self.plateaus_below(floor + 1), end

    def _area_upto(self, areas: Floats, left: Floats, right: Floats, place: Indices, end: Floats) -> Floats:
        """Whole trapezoids before a plateau, and the cut one that leads to it."""
        start = np.where(place > 0, _at(self.count, place - 1), 0)
        width = _at(self.count, place) - start
        share = np.divide(end - start, width, out=np.zeros_like(end), where=width > 0)
        whole = np.where(place > 0, _at(areas, place - 1), 0)
        return whole + (end - start) * (2 * left + share * (right - left))

    def place_at(self, coverage: Coverage) -> Indices:
        """The first plateau that reaches the coverage; the number of plateaus where none does."""
        return self.once("place", coverage, lambda: self.plateaus_below(self._per_size(coverage.units_needed)))

    def risk_at(self, coverage: Coverage) -> Floats:
        """Selective risk of the first plateau that reaches the coverage; nan where none does."""
        place = self.place_at(coverage)
        return np.where(place < len(self.count), _at(self.risk, place) / self.table.divisor, np.nan)

    def coverage_at_risk(self, risk: Fraction) -> Floats:
        """The largest coverage of a plateau with this risk at most, as doubles have both; 0 where there is none."""
        accepted = self.count * self.table.divisor
        reached = np.divide(self.loss_sum, accepted, out=np.zeros_like(accepted), where=accepted > 0)
        return np.asarray(np.max(self.count, axis=0, initial=0, where=reached <= float(risk)) / self.units)

    def coverage_at_threshold(self, threshold: float) -> Floats:
        """The share of all units that are answered with at least this confidence."""
        return _last(self._accepted(self.count, threshold)) / self.units

    def risk_at_threshold(self, threshold: float) -> Floats:
        """Mean loss of the answers with at least this confidence; nan where there are none."""
        count, loss_sum = (self._accepted(sums, threshold) for sums in (self.count, self.loss_sum))
        return self.ratio(_last(loss_sum), _last(count) * self.table.divisor)

    def _accepted(self, sums: Floats, threshold: float) -> Floats:
        return sums[: points_within(self.table.threshold, threshold, self.table.scale)]

    def _per_size(self, value_of: Callable[[int], Fraction | int]) -> Floats:
        """A number of units that depends on how many units a replicate holds: exact, and worked out once per size."""
        sizes, which = self._sizes
        return np.array([float(value_of(int(size))) for size in sizes])[which]

    @cached_property
    def _sizes(self) -> tuple[Floats, Indices]:
        return np.unique(self.units, return_inverse=True)

    def plateaus_below(self, units: Floats) -> Indices:
        """How many plateaus of each replicate hold fewer units than this: one sorted search for all replicates.

        A replicate may ask several times, in a row of its own.
        """
        plateaus, replicates = self.count.shape
        start = np.arange(replicates).reshape(-1, *[1] * (units.ndim - 1))
        counts, apart = self._end_to_end
        below = np.searchsorted(counts, np.minimum(units, apart - 1) + start * apart)
        return np.asarray(below - start * plateaus)

    @cached_property
    def _end_to_end(self) -> tuple[Floats, float]:
        """The counts of all replicates as one ascending array, and how far apart those of two replicates begin."""
        apart = float(self.answered.max()) + 2
        return (self.count + np.arange(self.count.shape[1]) * apart).T.ravel(), apart

    @cached_property
    def level_sums(self) -> tuple[Floats, Floats]:
        """Counts and loss numerators up to each level of loss, the lowest first."""
        return self.table.levels.cumulative(self.weights, whole=self.table.whole)

    @cached_property
    def optimal_selective_area(self) -> Floats:
        """The area under the selective risk of the same losses in the oracle order, each unit a point of its own.

        Inside a level of loss l that starts after k units with summed loss S, the risk at the i-th unit is
        l + (S − l·k)/(k + i): the points of a level add up to l·w + (S − l·k)·(H(k+w) − H(k)).
        """
        count, loss_sum = self.level_sums
        if not len(count):
            return np.zeros(len(self.units))
        rises = _risk_sums(count, loss_sum, self.table.level_loss[:, None])
        ends = self.table.level_loss[np.argmax(count > 0, axis=0)] - _last(loss_sum) / np.maximum(self.answered, 1)
        return np.where(self.answered > 0, rises + ends / 2, 0.0) / self._area_unit

    @cached_property
    def optimal_generalized_area(self) -> Floats:
        """The area under the generalized risk of the same losses in the oracle order."""
        count, loss_sum = self.level_sums
        width = count - _before(count)
        area = running_sum(width * (2 * _before(loss_sum) + width * self.table.level_loss[:, None]))
        return _last(area) / (2 * self._area_unit * self.units)

    @property
    def harmonic_area(self) -> Floats:
        """Σ_k (mean loss of the k most confident), with the loss of a plateau spread evenly over it, per unit."""
        if not len(self.count):
            return np.zeros(len(self.units))
        added = np.diff(self.loss_sum, axis=0, prepend=0)
        mean = np.divide(added, self.width, out=np.zeros_like(added), where=self.width > 0)
        return _risk_sums(self.count, self.loss_sum, mean) / self._area_unit

    @property
    def pairwise_area(self) -> Floats:
        """Σ of each loss times the share of answered units that are no more confident than it, per unit."""
        added = np.diff(self.loss_sum, axis=0, prepend=0)
        total = running_sum(added * (self.answered - _before(self.count)))
        return _last(total) / (self._area_unit * np.maximum(self.answered, 1))

    @cached_property
    def achievable_selective_area(self) -> Floats:
        """The area over the vertices of each replicate's lower convex hull; one replicate at a time, so not cheap."""
        doubled = np.zeros(len(self.units))
        for replicate, width in enumerate(self.width.T):
            held = width > 0
            count, loss_sum = self.count[held, replicate], self.loss_sum[held, replicate]
            vertices = lower_hull(count.astype(np.int64), loss_sum)
            count, risk = count[vertices], loss_sum[vertices] / count[vertices]
            heights = risk + np.append(risk[:1], risk[:-1])
            doubled[replicate] = np.sum(heights * np.diff(count, prepend=0))
        return doubled / (2 * self._area_unit)

    @staticmethod
    def ratio(part: Floats, whole: Floats) -> Floats:
        """One number over another; nan where there is nothing to divide by."""
        return np.divide(part, whole, out=np.full_like(part, np.nan), where=whole != 0)


def _last(cumulative: Floats) -> Floats:
    """The totals of running sums."""
    return cumulative[-1] if len(cumulative) else np.zeros(cumulative.shape[1])


def _before(cumulative: Floats) -> Floats:
    """What was there before each step."""
    before = np.zeros_like(cumulative)
    before[1:] = cumulative[:-1]
    return before


def _at(values: Floats, place: Indices) -> Floats:
    """The value of each replicate at its place; a place off either end gives some value, for the caller to mask."""
    if not len(values):
        return np.zeros(values.shape[1])
    return values[np.minimum(place, len(values) - 1), np.arange(values.shape[1])]


def _risk_sums(count: Floats, loss_sum: Floats, loss: Floats) -> Floats:
    """Σ_k (mean loss of the first k units), steps of equal loss at a time, through differences of harmonic numbers."""
    harmonic = np.append(0, np.cumsum(1 / np.arange(1, int(count[-1].max()) + 1)))
    k, total = _before(count), _before(loss_sum)
    rise = harmonic[count.astype(np.intp)] - harmonic[k.astype(np.intp)]
    return _last(running_sum(loss * (count - k) + (total - loss * k) * rise))
