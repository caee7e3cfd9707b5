"""Views whose entries workers hold: ordinary quantities are asked of them, and sums over clusters come back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from demur.distributed import ranges
from demur.distributed.ranges import Draw, Less, RangeApart, RangeArea, Total
from demur.errors import UserError
from demur.inference.views import CurveView
from demur.quantities.numpy_sweep import Curves, NumpySweep
from demur.quantities.replicates import Replicates
from demur.quantities.slopes import Influence, OfSweep, OnDifference, OracleRisks
from demur.quantities.table import DENSE_ENOUGH, Entries, Table, running_sum
from demur.types import Floats, Indices, Integers


@dataclass(frozen=True, eq=False)
class RangeEntries(Entries):
    """Entries that the workers hold; what is here is an entry for each cluster, with how many answers it has."""

    number: int = 0
    last: int = 0

    @classmethod
    def held(cls, passes: Any, kind: int, size: int) -> RangeEntries:
        """Those of a kind, of so many steps."""
        answers = np.concatenate([each.answers for each in passes.held]).astype(np.float64)
        number = sum(each.entries[kind] for each in passes.held)
        last = max(each.last[kind] for each in passes.held)
        there = np.arange(len(answers))
        return cls(there, answers, answers * 0, np.arange(size), len(answers), number, last)

    @cached_property
    def step(self) -> Indices:
        """Known to the workers alone."""
        raise UserError("what clusters hold at a threshold stays with the workers: take --route summaries")

    @cached_property
    def dense(self) -> bool:
        """Whether most clusters are at most steps, among all that the workers hold."""
        return len(self.step_end) * self.last <= DENSE_ENOUGH * self.number


@dataclass(frozen=True, eq=False)
class RangeView(CurveView):
    """A view whose table the workers hold."""

    elsewhere: Any

    @cached_property
    def sample(self) -> Replicates:
        """The data as they are, as a block of one replicate."""
        return Replicates.of(self.table, Draws(self.elsewhere, Draw(None, 0, 1, len(self.ids))))

    def drawn(self, weights: Any) -> Replicates:
        """The curves of replicates that the workers draw."""
        if not isinstance(weights, Draws):
            raise UserError(
                "clusters cannot be left out in turn in passes: take another interval, or --route summaries"
            )
        return Replicates.of(self.table, weights)

    def influence_of(self, described: Influence) -> _Added:
        """Sums over the clusters of their influences in the data as they are."""
        sweep: Any = self.sample.sweep
        return _Added(*sweep.added(described, 2, 4))

    @cached_property
    def first_losses(self) -> Integers:
        """The plateaus at which clusters first hold a loss, ascending: of each cluster that holds one at all."""
        first = np.sum([each.first_loss for each in self.elsewhere.held], axis=0)
        return np.repeat(np.arange(len(first)), first)


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    """Replicates that the workers draw."""

    passes: Any
    draw: Draw

    def sweep(self, table: Table) -> _RangeSweep:
        """The replicates of a table."""
        return _RangeSweep(table, np.empty((0, self.draw.size)), self.passes, self.draw)


@dataclass(frozen=True, eq=False)
class _SummedCurves(Curves):
    """Whole curves from sums over the ranges."""

    made: Any = None

    @cached_property
    def sums(self) -> tuple[Floats, Floats]:
        """Counts and loss numerators up to each plateau."""
        return _cumulated([each.plateaus for each in self.made])

    @cached_property
    def level_sums(self) -> tuple[Floats, Floats]:
        """Counts and loss numerators up to each level of loss."""
        return _cumulated([each.levels for each in self.made])


def _cumulated(parts: Sequence[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    count, loss = (np.sum(each, axis=0) for each in zip(*parts, strict=True))
    return running_sum(count), running_sum(loss)


class _Added(NamedTuple):
    """Influences of which sums over the clusters are known."""

    squares: Floats
    fourths: Floats

    def squares_and_fourths(self) -> tuple[Floats, Floats]:
        """Σ u² and Σ u⁴."""
        return self.squares, self.fourths


@dataclass(frozen=True, eq=False)
class _RangeSweep(NumpySweep):
    """Sums that the workers make."""

    passes: Any = None
    draw: Any = None

    @cached_property
    def _made(self) -> list[ranges.Summed]:
        sizes = len(self.table.plateaus.step_end), len(self.table.levels.step_end)
        made: list[ranges.Summed] = self.passes.each(ranges.sums, self.draw, sizes)
        return made

    @cached_property
    def curves(self) -> Curves:
        """Whole curves."""
        return _SummedCurves(self.table, self.weights, self._made)

    @cached_property
    def units(self) -> Floats:
        """How many units there are."""
        return np.asarray(np.sum([each.units for each in self._made], axis=0))

    def sums_of(self, by_cluster: Floats) -> Floats:
        """Sums over the clusters of a whole number that each of them has."""
        tasks = [(own, self.draw, by_cluster[own.first : own.end]) for own in self.passes.ranges]
        return np.asarray(np.sum(self.passes.workers.each(ranges.weighted, tasks), axis=0))

    def influence(self, _: OfSweep) -> Floats:
        """Influences of single clusters never leave the workers: only sums over clusters do."""
        raise UserError("influences of single clusters stay with the workers: take --route summaries")

    def squares(self, influences: Sequence[Influence]) -> Sequence[Floats]:
        """Sums of squares over the clusters of each replicate."""
        return [self.added(influence, 2)[0] for influence in influences]

    def added(self, influence: Influence, *powers: int) -> Floats:
        """Sums of powers over the clusters, a row for each power."""
        return self._total(self._named(influence), *powers)

    def _total(self, named: Any, *powers: int) -> Floats:
        added: Floats = self.passes.total(Total(self.draw, named, powers))
        return added

    def _named(self, influence: Influence) -> Any:
        """The influence as the workers are asked for it."""
        if isinstance(influence, OnDifference):
            return RangeApart(self._named(influence.a), self._named(influence.b), influence.times, influence.over)
        if not isinstance(influence, OfSweep):
            return "units" if influence is self.table.cluster_units else "answers"
        if influence not in self._areas:
            self._areas[influence] = self._area(influence)
        return self._areas[influence]

    @cached_property
    def _areas(self) -> WeakKeyDictionary[OfSweep, Any]:
        # Weak, as an influence holds its sweep: in a cycle the workers would be kept until garbage is collected.
        return WeakKeyDictionary()

    def _area(self, described: OfSweep) -> Any:
        (entries, by_count, by_loss), finish = self.slopes(described), described.finish
        moves = None if finish.moves is None else self._named(finish.moves)
        kind = "levels" if entries is self.table.levels else "plateaus"
        rows = finish.by_units, finish.scale, finish.lift, moves, finish.factor
        area = RangeArea(kind, entries.dense, by_count, by_loss, *rows)
        if isinstance(described, OracleRisks):
            return Less(area, self._total(area, 1)[0] / described.drawn)
        return area
