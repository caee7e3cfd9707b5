"""Views whose entries are held by workers. Quantities use them like any view; the workers return sums over clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from demur.distributed import ranges
from demur.distributed.ranges import Centred, Draw, OverScale, RangeArea, RangeDifference, RangeSum, Total
from demur.errors import UserError
from demur.inference.views import CurveView
from demur.quantities.numpy_sweep import Curves, NumpySweep
from demur.quantities.replicates import Replicates
from demur.quantities.slopes import (
    Influence,
    OfSweep,
    OnArea,
    OnDifference,
    OnSum,
    OracleRisks,
    scale_of,
    scaled_squares,
)
from demur.sampling.table import DENSE_ENOUGH, Entries, Table, running_sum
from demur.types import Floats, Indices, Integers


@dataclass(frozen=True, eq=False)
class RangeEntries(Entries):
    """A stand-in for entries that the workers hold: one entry per cluster, with its number of answers."""

    number: int = 0
    last: int = 0

    @classmethod
    def placeholder(cls, passes: Any, kind: int, size: int) -> RangeEntries:
        """The entries by plateau (kind 0) or by level of loss (kind 1), of so many steps."""
        answers = np.concatenate([counts.answers for counts in passes.counts]).astype(np.float64)
        number = sum(counts.entries[kind] for counts in passes.counts)
        last = max(counts.last[kind] for counts in passes.counts)
        clusters = np.arange(len(answers))
        return cls(clusters, answers, answers * 0, np.arange(size), len(answers), number, last)

    @cached_property
    def step(self) -> Indices:
        """Not available: only the workers know the steps of entries."""
        raise UserError("the counts of single clusters stay with the workers: take --route summaries")

    @cached_property
    def dense(self) -> bool:
        """Whether most clusters have entries at most steps, over all ranges."""
        return len(self.step_end) * self.last <= DENSE_ENOUGH * self.number


@dataclass(frozen=True, eq=False)
class RangeView(CurveView):
    """A view whose table is held by workers."""

    passes: Any

    @cached_property
    def sample(self) -> Replicates:
        """The sample itself, as a block of one replicate."""
        return Replicates.of(self.table, Draws(self.passes, Draw(None, 0, 1, len(self.ids))))

    def drawn(self, weights: Any) -> Replicates:
        """The curves of replicates that the workers draw."""
        if not isinstance(weights, Draws):
            raise UserError(
                "clusters cannot be left out in turn in passes: take another interval, or --route summaries"
            )
        return Replicates.of(self.table, weights)

    def influence_of(self, described: Influence) -> _InfluenceSums:
        """Sums of powers of the clusters' influences in the sample."""
        sweep: Any = self.sample.sweep
        return _InfluenceSums(*sweep.power_sums(described, 2, 4))

    @cached_property
    def first_losses(self) -> Integers:
        """The plateau of each cluster's first loss, ascending, over the clusters that have a loss."""
        first = np.sum([counts.first_loss for counts in self.passes.counts], axis=0)
        return np.repeat(np.arange(len(first)), first)


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    """Replicates that the workers draw."""

    passes: Any
    draw: Draw

    def sweep(self, table: Table) -> _RangeSweep:
        """The sums of a table in these replicates."""
        return _RangeSweep(table, np.empty((0, self.draw.size)), self.passes, self.draw)


@dataclass(frozen=True, eq=False)
class _SummedCurves(Curves):
    """Whole curves from sums over the ranges."""

    parts: Any = None

    @cached_property
    def sums(self) -> tuple[Floats, Floats]:
        """Counts and loss numerators up to each plateau."""
        return _cumulated([part.plateaus for part in self.parts])

    @cached_property
    def level_sums(self) -> tuple[Floats, Floats]:
        """Counts and loss numerators up to each level of loss."""
        return _cumulated([part.levels for part in self.parts])


def _cumulated(parts: Sequence[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    count, loss = (np.sum(column, axis=0) for column in zip(*parts, strict=True))
    return running_sum(count), running_sum(loss)


class _InfluenceSums(NamedTuple):
    """Sums over clusters of powers of their influences."""

    squares: Floats
    fourths: Floats

    def squares_and_fourths(self) -> tuple[Floats, Floats]:
        """Σ u² and Σ u⁴."""
        return self.squares, self.fourths


@dataclass(frozen=True, eq=False)
class _RangeSweep(NumpySweep):
    """A sweep whose sums the workers compute."""

    passes: Any = None
    draw: Any = None

    @cached_property
    def _parts(self) -> list[ranges.Summed]:
        sizes = len(self.table.plateaus.step_end), len(self.table.levels.step_end)
        parts: list[ranges.Summed] = self.passes.each(ranges.sums, self.draw, sizes)
        return parts

    @cached_property
    def curves(self) -> Curves:
        """Whole curves."""
        return _SummedCurves(self.table, self.weights, self._parts)

    @cached_property
    def units(self) -> Floats:
        """The number of units in each replicate."""
        return np.asarray(np.sum([part.units for part in self._parts], axis=0))

    def sums_of(self, by_cluster: Floats) -> Floats:
        """The sum in each replicate of a whole number that each cluster has."""
        tasks = [(own, self.draw, by_cluster[own.first : own.end]) for own in self.passes.ranges]
        return np.asarray(np.sum(self.passes.workers.each(ranges.weighted, tasks), axis=0))

    def numerators(self, _: OfSweep) -> Floats:
        """Not available: influences of single clusters never leave the workers."""
        raise UserError("influences of single clusters stay with the workers: take --route summaries")

    def squares(self, influences: Sequence[Influence]) -> Sequence[Floats]:
        """Sums of squares over the clusters of each replicate."""
        return [scaled_squares(self._total(self._request(each), 2)[0], each) for each in influences]

    def power_sums(self, influence: Influence, *powers: int) -> Floats:
        """Sums over clusters of powers of an influence, a row for each power."""
        return self._total(OverScale(self._request(influence), scale_of(influence)), *powers)

    def _total(self, request: Any, *powers: int) -> Floats:
        total: Floats = self.passes.total(Total(self.draw, request, powers))
        return total

    def _request(self, influence: Influence) -> Any:
        """The numerators of the influence as sent to the workers: slopes and names instead of tables."""
        if isinstance(influence, OnDifference):
            return RangeDifference(self._request(influence.a), self._request(influence.b), influence.times)
        if isinstance(influence, OnSum):
            table = self.table
            named = {id(table.cluster_units): "units", id(table.cluster_answers): "answers"}
            named[id(table.cluster_loss)] = "losses"
            return RangeSum([(named[id(numbers)], factor) for numbers, factor in influence.terms])
        if not isinstance(influence, OfSweep):
            if np.any(influence):  # where nothing is answered, it is 0 for every cluster
                raise UserError("an influence that is an array cannot be shared out: take --route summaries")
            return RangeSum([("units", np.zeros(self.draw.size))])
        if influence not in self._areas:
            self._areas[influence] = self._area(influence)
        return self._areas[influence]

    @cached_property
    def _areas(self) -> WeakKeyDictionary[OfSweep, Any]:
        # Weak, as an influence refers to its sweep: a cycle would keep the workers alive until garbage is collected.
        return WeakKeyDictionary()

    def _area(self, described: OfSweep) -> Any:
        entries, by_count, by_loss = self.slopes(described)
        kind = "levels" if entries is self.table.levels else "plateaus"
        if isinstance(described, OracleRisks):
            area = RangeArea(kind, entries.dense, by_count, by_loss, described.by_units)
            return Centred(area, self._total(area, 1)[0] / described.drawn)
        moves = described.moves if isinstance(described, OnArea) else None
        lift = described.lift if isinstance(described, OnArea) else None
        request = None if moves is None else self._request(moves)
        return RangeArea(kind, entries.dense, by_count, by_loss, described.by_units, request, lift)
