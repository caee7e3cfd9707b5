"""An evaluation in passes: entries stay with the workers, and what comes back is sums over clusters.

The workers first tell which clusters, confidences and losses there are. In replicates that are drawn once for all, each
then returns the sums of its clusters at every confidence, and with the totals of all, sums of squared influences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from demur.distributed import ranges
from demur.distributed.ranges import Apart, Area, Draw, Held, Less, Range, Steps
from demur.distributed.workers import Workers
from demur.errors import UserError, shown
from demur.facts.columns import Column, State
from demur.facts.items import Items, Source
from demur.facts.losses import Losses
from demur.inference.views import CurveView
from demur.quantities import slopes
from demur.quantities.curve import Curve
from demur.quantities.graded import Graded
from demur.quantities.numpy_sweep import Curves, NumpySweep
from demur.quantities.replicates import Replicates
from demur.quantities.slopes import Influence, OfSweep, OracleRisks
from demur.quantities.table import CLUSTER_BLOCK, DENSE_ENOUGH, Entries, Table, running_sum
from demur.summaries.merging import merged
from demur.summaries.summary import Summary
from demur.types import Floats, Indices, Integers

_ENTRIES = 1 << 20  # in a range, about


class KeptPart(NamedTuple):
    """A part: where its summary is, how many entries it has, and all that is said of them."""

    path: str
    entries: int
    outline: Summary

    @classmethod
    def of(cls, path: str, summary: Summary) -> KeptPart:
        """Of a summary that is at a path."""
        nothing = np.zeros(0, np.uint8)
        outline = replace(summary, columns=[nothing] * len(summary.columns), count=nothing)
        return cls(path, len(summary.count), outline)


@dataclass(frozen=True, eq=False)
class Passes:
    """The workers, the ranges of clusters that they hold, and what is known of all of them."""

    workers: Workers
    ranges: Sequence[Range]
    summary: Summary
    held: Sequence[Sequence[Held]]
    seed: int | None

    @classmethod
    def of(cls, parts: Sequence[KeptPart], folder: str, workers: Workers, seed: int | None) -> Passes:
        """From what is said of the parts: who has which clusters, and what of them."""
        outlines, paths = [part.outline for part in parts], [part.path for part in parts]
        whole = merged(outlines, paths)
        clusters, entries = len(whole.ids), sum(part.entries for part in parts)
        size = -(-clusters * _ENTRIES // max(entries, 1) // CLUSTER_BLOCK) * CLUSTER_BLOCK
        borders = [*range(0, clusters, max(size, CLUSTER_BLOCK)), clusters]
        cut = [Range(folder, first, end) for first, end in pairwise(borders)]
        places = [np.searchsorted(whole.ids.places(each.ids), borders).tolist() for each in outlines]
        kinds = [_steps(whole, index) for index in range(len(whole.about.signals))]
        tasks = [
            (own, [(path, place[n], place[n + 1]) for path, place in zip(paths, places, strict=True)], kinds)
            for n, own in enumerate(cut)
        ]
        return cls(workers, cut, whole, workers.each(ranges.build, tasks), seed)

    @cached_property
    def units(self) -> Integers:
        """How many units each cluster has."""
        return np.concatenate([each[0].units for each in self.held])

    def items(self, source: Source) -> Items:
        """The facts, a row for each value and loss that there is; whose units they are, the workers know."""
        about, first = self.summary.about, _steps(self.summary, 0)
        marginal = np.sum([each[0].marginal for each in self.held], axis=0)
        null, nan = (sum(each[0].abstained[kind] for each in self.held) for kind in (0, 1))
        rows = np.flatnonzero(marginal)
        value, level = np.divmod(rows, len(first.losses))
        plain = replace(
            self.summary, columns=[np.zeros(0, np.uint8)] * len(self.summary.columns), count=np.zeros(0, np.uint8)
        )
        count = np.array([*marginal[rows], null, nan])
        answered = np.append(np.ones(len(rows), bool), [False, False])
        nothing = np.zeros(len(count), np.int64)
        how = about.loss
        losses = Losses(
            np.append(first.losses[level], [0, 0]), how.divisor, how.largest, how.definition, not how.rounded, how.name
        )
        state = np.where(answered, State.NUMBER, State.NULL).astype(np.uint8)
        column = Column(np.append(first.values[value], [np.nan, np.nan]), state)
        return replace(
            plain.items(source),
            cluster=nothing.astype(np.intp),
            item=nothing,
            truth=nothing,
            answer=nothing,
            answered=answered,
            nan_answer=np.arange(len(count)) == len(count) - 1,
            signals=MappingProxyType({about.signals[0].name: column}),
            losses=losses,
            count=count,
            elsewhere=self,
        )

    def view(self, graded: Graded, curve: Curve) -> CurveView:
        """A view of one confidence."""
        name = graded.made_of.name
        plateaus, levels = (
            _RangeEntries.of(self, kind, size) for kind, size in enumerate((len(curve), len(curve.loss_levels)))
        )
        table = Table(
            ids=self.summary.ids.plain(),
            cluster_units=self.units.astype(np.float64),
            threshold=curve.threshold,
            plateaus=plateaus,
            levels=levels,
            level_loss=curve.loss_levels.astype(np.float64),
            divisor=graded.divisor,
            whole=True,
            largest_loss=graded.largest_loss,
            scale=curve.scale,
        )
        if name != self.summary.about.signals[0].name:
            raise UserError(
                f"{shown(name)}: passes rank by one signal as it is, {shown(self.summary.about.signals[0].name)}"
            )
        return _RangeView(graded, curve, table, self)

    def draws(self, replicates: range) -> _Draws:
        """Replicates that the workers draw."""
        draw = Draw(self.seed, replicates.start, replicates.stop, len(self.summary.ids))
        self.workers.each(ranges.draw_weights, [(self.ranges[0].folder, block) for block in draw.blocks])
        return _Draws(self, draw)

    def each(self, work: Any, *about: Any) -> list[Any]:
        """What the workers make of every range."""
        return self.workers.each(work, [(own, *about) for own in self.ranges])


def _steps(summary: Summary, index: int) -> Steps:
    signal = summary.about.signals[index]
    values = summary.values[signal.name]
    return Steps(
        signal.name, signal.exponent, signal.lower_is_surer, values, summary.losses, summary.about.loss.divisor
    )


@dataclass(frozen=True, eq=False)
class _RangeEntries(Entries):
    """Entries that the workers hold; what is here is an entry for each cluster, with how many answers it has."""

    passes: Any = None
    kind: str = ""
    number: int = 0
    last: int = 0

    @classmethod
    def of(cls, passes: Any, kind: int, size: int) -> _RangeEntries:  # type: ignore[override]
        answers = np.concatenate([each[0].answers for each in passes.held]).astype(np.float64)
        number = sum(each[0].entries[kind] for each in passes.held)
        last = max(own.first + each[0].last[kind] for own, each in zip(passes.ranges, passes.held, strict=True))
        there = np.arange(len(answers))
        return cls(there, answers, answers * 0, np.arange(size), len(answers), passes, ranges.KINDS[kind], number, last)

    @cached_property
    def dense(self) -> bool:
        """Whether most clusters are at most steps, among all that the workers hold."""
        return len(self.step_end) * self.last <= DENSE_ENOUGH * self.number

    def between(self, start: int, end: int) -> tuple[Indices, Indices, Floats, Floats]:
        """The entries of some steps."""
        made = self.passes.each(ranges.between, f"0-{self.kind}", start, end)
        step, cluster, count, loss = (np.concatenate(each) for each in zip(*made, strict=True))
        return step, cluster, count, loss


@dataclass(frozen=True, eq=False)
class _RangeView(CurveView):
    """A view whose table the workers hold."""

    elsewhere: Any

    @cached_property
    def sample(self) -> Replicates:
        """The data as they are, as a block of one replicate."""
        return Replicates.of(self.table, _Draws(self.elsewhere, Draw(None, 0, 1, len(self.ids))))

    def drawn(self, weights: Any) -> Replicates:
        """The curves of replicates that the workers draw."""
        if not isinstance(weights, _Draws):
            raise UserError(
                "clusters cannot be left out in turn in passes: take another interval, or --route summaries"
            )
        return Replicates.of(self.table, weights)

    @cached_property
    def first_losses(self) -> Integers:
        """The plateaus at which clusters first hold a loss, ascending: of each cluster that holds one at all."""
        first = np.concatenate([each[0].first_loss for each in self.elsewhere.held])
        return np.sort(first[first < len(self.curve)])


@dataclass(frozen=True, slots=True, eq=False)
class _Draws:
    """Replicates that the workers draw."""

    passes: Passes
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


@dataclass(frozen=True, eq=False)
class _RangeSweep(NumpySweep):
    """Sums that the workers make."""

    passes: Any = None
    draw: Any = None

    @cached_property
    def _made(self) -> list[ranges.Summed]:
        sizes = len(self.table.plateaus.step_end), len(self.table.levels.step_end)
        made: list[ranges.Summed] = self.passes.each(ranges.sums, "0", self.draw, sizes)
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

    def influence(self, described: OfSweep) -> Floats:
        """Influences of the clusters, which the workers make: asked for in the data as they are."""
        return np.concatenate(self.passes.each(ranges.values, "0", self._named(described)))[:, None]

    def squares(self, influences: Sequence[Influence]) -> Sequence[Floats]:
        """Sums of squares over the clusters of each replicate."""
        return [self._total(self._named(each), squared=True) for each in influences]

    def _named(self, influence: Any) -> Any:
        """What the workers know it as."""
        if isinstance(influence, slopes.Apart):
            return Apart(self._named(influence.a), self._named(influence.b), influence.times, influence.over)
        if not isinstance(influence, OfSweep):
            return "units" if influence is self.table.cluster_units else "answers"
        if id(influence) not in self._known:
            self._known[id(influence)] = influence, self._on_area(influence)
        return self._known[id(influence)][1]

    @cached_property
    def _known(self) -> dict[int, tuple[OfSweep, Any]]:
        return {}

    def _on_area(self, described: OfSweep) -> Any:
        (entries, by_count, by_loss), finish = self.slopes(described), described.finish
        moves = None if finish.moves is None else self._named(finish.moves)
        kind = "levels" if entries is self.table.levels else "plateaus"
        rows = finish.by_units, finish.scale, finish.lift, moves, finish.factor
        area = Area(kind, entries.dense, by_count, by_loss, *rows)
        if isinstance(described, OracleRisks):
            return Less(area, self._total(area, squared=False) / described.drawn)
        return area

    def _total(self, influence: Any, *, squared: bool) -> Floats:
        """Sums over the clusters of each replicate, block by block."""
        total = np.zeros(self.draw.size)
        for made in self.passes.each(ranges.totals, "0", self.draw, influence, squared):
            for block in made:
                total += block
        return total
