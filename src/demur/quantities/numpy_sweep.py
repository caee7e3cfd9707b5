"""The sums of replicates by numpy: whole curves, and the points and sums read from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from demur.quantities.slopes import (
    Influence,
    OfSweep,
    OnArea,
    OracleRisks,
    by_count_and_loss,
    by_count_and_loss_of_oracle,
    numerators_of,
    scaled_squares,
)
from demur.quantities.sweep import Oracle
from demur.quantities.table import Entries, Table, cluster_sums, running_sum
from demur.types import Floats, Indices


@dataclass(frozen=True, eq=False)
class Curves:
    """Cumulative counts and loss numerators at every plateau (rows) of every replicate (columns).

    A plateau without units in a replicate repeats the point before it: its trapezoid has no width.
    """

    table: Table
    weights: Floats

    @cached_property
    def sums(self) -> tuple[Floats, Floats]:
        """Counts and loss numerators up to each plateau, the most confident first."""
        return self.table.plateaus.cumulative(self.weights, whole=self.table.whole)

    @cached_property
    def level_sums(self) -> tuple[Floats, Floats]:
        """Counts and loss numerators up to each level of loss, the lowest first."""
        return self.table.levels.cumulative(self.weights, whole=self.table.whole)

    @cached_property
    def first(self) -> Indices:
        """The first plateau with answers in each replicate; the number of plateaus where nothing is answered."""
        return self.plateaus_below(np.full(self.weights.shape[1], 0.5))

    @cached_property
    def risk(self) -> Floats:
        """Mean loss numerator at each plateau; 0 before the first one with answers."""
        count, loss_sum = self.sums
        risk = np.empty_like(loss_sum)
        held = int(self.first.max(initial=0))  # from here on every replicate has answers, and no mask is needed
        risk[:held] = 0
        np.divide(loss_sum[held:], count[held:], out=risk[held:])
        np.divide(loss_sum[:held], count[:held], out=risk[:held], where=count[:held] > 0)
        return risk

    @cached_property
    def width(self) -> Floats:
        """Units added at each plateau."""
        return np.diff(self.sums[0], axis=0, prepend=0)

    @cached_property
    def selective(self) -> Floats:
        """Twice the area under the mean loss up to each plateau; flat from coverage 0 to the first one with answers."""
        heights = self.risk + before(self.risk)
        replicates = np.flatnonzero(last(self.sums[0]) > 0)
        begin = self.first[replicates], replicates
        heights[begin] += self.risk[begin]
        heights *= self.width
        return running_sum(heights)

    @cached_property
    def generalized(self) -> Floats:
        """Twice the area under the summed loss up to each plateau."""
        loss_sum = self.sums[1]
        return running_sum((loss_sum + before(loss_sum)) * self.width)

    def plateaus_below(self, units: Floats) -> Indices:
        """Number of plateaus of each replicate with fewer answers than `units`, by one search in all replicates."""
        plateaus, replicates = self.sums[0].shape
        start = np.arange(replicates)
        counts, offset = self._end_to_end
        below = np.searchsorted(counts, np.minimum(units, offset - 1) + start * offset)
        return np.asarray(below - start * plateaus)

    @cached_property
    def _end_to_end(self) -> tuple[Floats, float]:
        """The counts of all replicates as one ascending array, and the offset between successive replicates."""
        count = self.sums[0]
        offset = float(last(count).max()) + 2
        return (count + np.arange(count.shape[1]) * offset).T.ravel(), offset


@dataclass(frozen=True, eq=False)
class PointsOfCurves:
    """One point of the curve of each replicate, by index; its values are looked up on access."""

    curves: Curves
    index: Indices

    @property
    def count(self) -> Floats:
        """Answers up to and including the point."""
        return self._at(self.curves.sums[0])

    @property
    def loss_sum(self) -> Floats:
        """Summed loss numerators up to and including the point."""
        return self._at(self.curves.sums[1])

    @property
    def risk(self) -> Floats:
        """Mean loss numerator up to and including the point."""
        return self._at(self.curves.risk)

    @property
    def count_before(self) -> Floats:
        """Answers before the point."""
        return self._before(self.curves.sums[0])

    @property
    def loss_before(self) -> Floats:
        """Summed loss numerators before the point."""
        return self._before(self.curves.sums[1])

    @property
    def risk_before(self) -> Floats:
        """Mean loss numerator before the point."""
        return self._before(self.curves.risk)

    @property
    def selective_before(self) -> Floats:
        """Twice the area under the mean loss before the point."""
        return self._before(self.curves.selective)

    @property
    def generalized_before(self) -> Floats:
        """Twice the area under the summed loss before the point."""
        return self._before(self.curves.generalized)

    def _at(self, values: Floats) -> Floats:
        if not len(values):
            return np.zeros(self.index.shape)
        return values[np.minimum(self.index, len(values) - 1), np.arange(values.shape[1])]

    def _before(self, values: Floats) -> Floats:
        if not len(values):
            return np.zeros(self.index.shape)
        return np.where(self.index > 0, values[np.maximum(self.index, 1) - 1, np.arange(values.shape[1])], 0)


@dataclass(frozen=True, eq=False)
class NumpySweep:
    """The sums of a block of replicates, by numpy."""

    table: Table
    weights: Floats

    @cached_property
    def curves(self) -> Curves:
        """Whole curves."""
        return Curves(self.table, self.weights)

    @cached_property
    def units(self) -> Floats:
        """Number of units."""
        return self.sums_of(self.table.cluster_units)

    def sums_of(self, by_cluster: Floats) -> Floats:
        """Sums over the clusters of each replicate of a whole number per cluster."""
        return by_cluster @ self.weights

    @property
    def answered(self) -> Floats:
        """Number of answered units."""
        return last(self.curves.sums[0])

    @property
    def loss(self) -> Floats:
        """Summed loss numerators of all answers."""
        return last(self.curves.sums[1])

    @property
    def selective(self) -> Floats:
        """Twice the area under the mean loss."""
        return last(self.curves.selective)

    @property
    def generalized(self) -> Floats:
        """Twice the area under the summed loss."""
        return last(self.curves.generalized)

    @cached_property
    def oracle(self) -> Oracle:
        """The sums of the losses in the oracle order, one level of loss after another."""
        (count, loss_sum), loss = self.curves.level_sums, self.table.level_loss
        if not len(count):
            return Oracle(*np.zeros((4, self.weights.shape[1])))
        width = count - before(count)
        area = running_sum(width * (2 * before(loss_sum) + width * loss[:, None]))
        lowest = loss[np.argmax(count > 0, axis=0)]
        return Oracle(risk_sums(count, loss_sum, loss[:, None]), area[-1], lowest, loss_sum[-1])

    def reached(self, needs: Floats) -> PointsOfCurves:
        """The first plateaus with at least `needs` answers."""
        return PointsOfCurves(self.curves, self.curves.plateaus_below(needs))

    points = reached

    def risks(self, needs: Floats, divisor: float, scale: Floats) -> Floats:
        """Selective and generalized risk at the first plateaus with at least `needs` answers."""
        points = self.reached(needs)
        loss = np.where(points.index < len(self.curves.sums[0]), points.loss_sum, np.nan)
        return np.stack([loss / np.where(np.isnan(loss), 1, points.count * divisor), loss / scale])

    def numerators(self, described: OfSweep) -> Floats:
        """The numerators of influences of the clusters (rows) in each replicate (columns)."""
        entries, by_count, by_loss = self.slopes(described)
        numerators = entries.by_cluster(by_count, by_loss)
        numerators += described.by_units * self.table.cluster_units[:, None]
        if isinstance(described, OracleRisks):
            mean = cluster_sums(self.weights * numerators) / described.drawn
            numerators -= mean if described.held.all() else described.held[:, None] * mean
        elif isinstance(described, OnArea) and described.moves is not None and described.lift is not None:
            numerators += described.lift * numerators_of(described.moves)
        return numerators

    def slopes(self, described: OfSweep) -> tuple[Entries, Floats, Floats]:
        """Derivatives by an answer and by a loss added at each step, which also counts at every later step."""
        curves, levels = self.curves, self.table.levels
        if not isinstance(described, OnArea):
            return levels, *by_count_and_loss_of_oracle(*curves.level_sums, self.table.level_loss[:, None])
        of_oracle = described.line.of_oracle
        sums = curves.level_sums if of_oracle else curves.sums
        return levels if of_oracle else self.table.plateaus, *by_count_and_loss(*sums, described.line)

    def squares(self, influences: Sequence[Influence]) -> Sequence[Floats]:
        """Sums of squared influences over the clusters of each replicate."""
        squared = [cluster_sums(self.weights * numerators_of(influence) ** 2) for influence in influences]
        return [scaled_squares(sums, influence) for sums, influence in zip(squared, influences, strict=True)]


def last(cumulative: Floats) -> Floats:
    """The last row of running sums: the totals, 0 if there are no rows."""
    return cumulative[-1] if len(cumulative) else np.zeros(cumulative.shape[1])


def before(cumulative: Floats) -> Floats:
    """The running sums before each step."""
    shifted = np.zeros_like(cumulative)
    shifted[1:] = cumulative[:-1]
    return shifted


def risk_sums(count: Floats, loss_sum: Floats, loss: Floats) -> Floats:
    """Σ_k (mean loss of the first k units), steps of equal loss at a time, through differences of harmonic numbers.

    Inside a step of loss l that starts after k units with summed loss S, the risk at the i-th unit is
    l + (S − l·k)/(k + i): the points of a step of w units add up to l·w + (S − l·k)·(H(k+w) − H(k)).
    """
    harmonic = np.append(0, np.cumsum(1 / np.arange(1, int(count[-1].max()) + 1)))
    k, total = before(count), before(loss_sum)
    rise = harmonic[count.astype(np.intp)] - harmonic[k.astype(np.intp)]
    return last(running_sum(loss * (count - k) + (total - loss * k) * rise))
