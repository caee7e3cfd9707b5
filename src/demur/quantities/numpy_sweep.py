"""The sums of replicates by numpy: whole curves, and what is read from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from demur.quantities.slopes import (
    Finish,
    Influence,
    OfSweep,
    OnArea,
    OracleRisks,
    by_count_and_loss,
    by_count_and_loss_of_oracle,
)
from demur.quantities.sweep import Oracle
from demur.quantities.table import Entries, Table, cluster_sums, running_sum
from demur.types import Floats, Indices


@dataclass(frozen=True, eq=False)
class Curves:
    """Counts and loss numerators at every plateau (a row each) of every replicate (a column each), cumulated.

    A plateau that a replicate happens not to hold repeats the point before it: its trapezoid has no width.
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
        """The first plateau each replicate holds anything of; the number of plateaus where it answers nothing."""
        return self.plateaus_below(np.full(self.weights.shape[1], 0.5))

    @cached_property
    def risk(self) -> Floats:
        """Mean loss numerator at each plateau; 0 before the first one held."""
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
        """Twice the area under the mean loss up to each plateau: flat from coverage 0 to the first one held."""
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
        """How many plateaus of each replicate (a column) hold fewer units than this: one sorted search for all."""
        plateaus, replicates = self.sums[0].shape
        start = np.arange(replicates)
        counts, apart = self._end_to_end
        below = np.searchsorted(counts, np.minimum(units, apart - 1) + start * apart)
        return np.asarray(below - start * plateaus)

    @cached_property
    def _end_to_end(self) -> tuple[Floats, float]:
        """The counts of all replicates as one ascending array, and how far apart those of two replicates begin."""
        count = self.sums[0]
        apart = float(last(count).max()) + 2
        return (count + np.arange(count.shape[1]) * apart).T.ravel(), apart


@dataclass(frozen=True, eq=False)
class PointsOfCurves:
    """Places on whole curves; what is there is read when it is asked for."""

    curves: Curves
    place: Indices

    @property
    def count(self) -> Floats:
        """Answers there."""
        return self._there(self.curves.sums[0])

    @property
    def loss_sum(self) -> Floats:
        """Their summed loss numerators."""
        return self._there(self.curves.sums[1])

    @property
    def risk(self) -> Floats:
        """Their mean."""
        return self._there(self.curves.risk)

    @property
    def count_before(self) -> Floats:
        """Answers before it."""
        return self._before(self.curves.sums[0])

    @property
    def loss_before(self) -> Floats:
        """Their summed loss numerators."""
        return self._before(self.curves.sums[1])

    @property
    def risk_before(self) -> Floats:
        """Their mean."""
        return self._before(self.curves.risk)

    @property
    def selective_before(self) -> Floats:
        """Twice the area under the mean loss before it."""
        return self._before(self.curves.selective)

    @property
    def generalized_before(self) -> Floats:
        """Twice the area under the summed loss before it."""
        return self._before(self.curves.generalized)

    def _there(self, values: Floats) -> Floats:
        if not len(values):
            return np.zeros(self.place.shape)
        return values[np.minimum(self.place, len(values) - 1), np.arange(values.shape[1])]

    def _before(self, values: Floats) -> Floats:
        if not len(values):
            return np.zeros(self.place.shape)
        return np.where(self.place > 0, values[np.maximum(self.place, 1) - 1, np.arange(values.shape[1])], 0)


@dataclass(frozen=True, eq=False)
class NumpySweep:
    """The sums of whole curves."""

    table: Table
    weights: Floats

    @cached_property
    def curves(self) -> Curves:
        """Whole curves."""
        return Curves(self.table, self.weights)

    @cached_property
    def units(self) -> Floats:
        """How many units there are."""
        return self.sums_of(self.table.cluster_units)

    def sums_of(self, by_cluster: Floats) -> Floats:
        """Sums over the clusters of a whole number that each of them has."""
        return by_cluster @ self.weights

    @property
    def answered(self) -> Floats:
        """How many of them are answered."""
        return last(self.curves.sums[0])

    @property
    def loss(self) -> Floats:
        """The summed loss numerators of the answers."""
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
        """The oracle order: a level of loss at a time."""
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
        """Both risks there."""
        points = self.reached(needs)
        loss = np.where(points.place < len(self.curves.sums[0]), points.loss_sum, np.nan)
        return np.stack([loss / np.where(np.isnan(loss), 1, points.count * divisor), loss / scale])

    def influence(self, described: OfSweep) -> Floats:
        """Influences of the clusters."""
        influence = self._finished(*self.slopes(described), described.finish)
        if isinstance(described, OracleRisks):
            mean = cluster_sums(self.weights * influence) / described.drawn
            influence -= mean if described.held.all() else described.held[:, None] * mean
        return influence

    def slopes(self, described: OfSweep) -> tuple[Entries, Floats, Floats]:
        """What an answer and a loss at each step are worth: at one step, it is at or above every later one too."""
        entries = self.table.levels
        if isinstance(described, OnArea):
            line, risk = described.line, self.curves.risk if described.line.selective else None
            entries = entries if line.of_oracle else self.table.plateaus
            slopes = by_count_and_loss(*(self.curves.level_sums if line.of_oracle else self.curves.sums), risk, line)
        else:
            slopes = by_count_and_loss_of_oracle(*self.curves.level_sums, self.table.level_loss[:, None])
        by_count, by_loss = (running_sum(slope[::-1])[::-1] for slope in slopes)
        return entries, by_count, by_loss

    def _finished(self, entries: Entries, by_count: Floats, by_loss: Floats, finish: Finish) -> Floats:
        influence = entries.by_cluster(by_count, by_loss)
        influence += finish.by_units * self.table.cluster_units[:, None]
        influence /= finish.scale
        if finish.moves is not None and finish.lift is not None:
            moves = np.asarray(finish.moves)
            influence += finish.lift * (moves if finish.factor is None else moves * finish.factor)
        return influence

    def squares(self, influences: Sequence[Influence]) -> Sequence[Floats]:
        """Sums of squares over the clusters of each replicate."""
        return [cluster_sums(self.weights * np.asarray(each) ** 2) for each in influences]


def last(cumulative: Floats) -> Floats:
    """The totals of running sums."""
    return cumulative[-1] if len(cumulative) else np.zeros(cumulative.shape[1])


def before(cumulative: Floats) -> Floats:
    """What was there before each step."""
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
