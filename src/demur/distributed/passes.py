"""Evaluation in passes: entries stay with the workers, which return sums over clusters.

The first pass counts clusters, confidences and losses. In the next ones all workers draw the same replicates; each
returns the sums of its clusters at every confidence and, given the totals of all, sums of squared influences.
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
from demur.distributed.building import RangeCounts, Steps, build
from demur.distributed.ranges import AtPoints, Draw, Range, Storage, Total
from demur.distributed.sites import Sites
from demur.distributed.views import Draws, RangeEntries, RangeView
from demur.distributed.workers import Workers
from demur.errors import UserError, shown
from demur.facts.columns import Column, State
from demur.facts.items import Items, Source
from demur.facts.losses import Losses
from demur.inference.point_intervals import Spread
from demur.inference.views import CurveView
from demur.quantities.curve import Curve
from demur.sampling.graded import Graded
from demur.sampling.table import CLUSTER_BLOCK, Table
from demur.summaries.merging import merged
from demur.summaries.summary import Summary
from demur.types import Floats, Indices, Integers

_ENTRIES = 1 << 20  # approximate number in a range


class StoredPart(NamedTuple):
    """A part: the file of its summary, the number of its entries, and the summary without the entries."""

    storage: Storage
    path: str
    entries: int
    outline: Summary

    @classmethod
    def of(cls, storage: Storage, path: str, summary: Summary) -> StoredPart:
        """The part whose summary is at a path. Digests are needed for pairs of systems alone, and are left out."""
        empty, digests = np.zeros(0, np.uint8), np.zeros(len(summary.ids), np.uint64)
        columns = [empty] * len(summary.columns)
        return cls(storage, path, len(summary.count), replace(summary, digests=digests, columns=columns, count=empty))

    @property
    def name(self) -> str:
        """Its name in messages."""
        return f"{self.storage.site}: {self.path}" if self.storage.site else self.path


@dataclass(frozen=True, eq=False)
class Passes:
    """The workers, the ranges of clusters that they hold, and the counts of all ranges."""

    workers: Workers | Sites
    ranges: Sequence[Range]
    summary: Summary
    counts: Sequence[RangeCounts]
    seed: int | None

    @classmethod
    def of(cls, parts: Sequence[StoredPart], workers: Workers | Sites, seed: int | None) -> Passes:
        """Assign clusters to ranges, and run the first pass over the parts."""
        whole = merged([part.outline for part in parts], [part.name for part in parts])
        signals, named = whole.about.signals, whole.about.confidence
        if len(signals) != 1 or named not in (signals[0].name, (signals[0].name,)) or signals[0].probability:
            raise UserError("passes rank by one signal that is not a probability: name it, --confidence NAME")
        indices = [whole.ids.indices(part.outline.ids) for part in parts]
        cut = _of_sites(parts, indices, len(whole.ids)) if parts[0].storage.site else _cut(parts, len(whole.ids))
        tasks = []
        for own in cut:
            spans = [np.searchsorted(index, (own.first, own.end)).tolist() for index in indices]
            files = [(part.path, *span) for part, span in zip(parts, spans, strict=True) if part.storage == own.storage]
            tasks.append((own, files, _steps(whole)))
        return cls(workers, cut, whole, workers.each(build, tasks), seed)

    @property
    def route(self) -> str:
        """The value of `--route`: sites or passes."""
        return "sites" if self.ranges[0].storage.site else "passes"

    @cached_property
    def units(self) -> Integers:
        """How many units each cluster has."""
        return np.concatenate([counts.units for counts in self.counts])

    def items(self, source: Source) -> Items:
        """The facts, a row for each confidence and loss that occur together; only the workers know their clusters."""
        about, steps = self.summary.about, _steps(self.summary)
        marginal = np.sum([counts.marginal for counts in self.counts], axis=0)
        null, nan = (sum(counts.abstained[kind] for counts in self.counts) for kind in (0, 1))
        rows = np.flatnonzero(marginal)
        value, level = np.divmod(rows, len(steps.losses))
        count = np.array([*marginal[rows], null, nan])
        answered = np.append(np.ones(len(rows), bool), [False, False])
        zeros = np.zeros(len(count), np.int64)
        loss, numerators = about.loss, np.append(steps.losses[level], [0, 0])
        losses = Losses(numerators, loss.divisor, loss.largest, loss.definition, not loss.rounded, loss.name)
        state = np.where(answered, State.NUMBER, State.NULL).astype(np.uint8)
        column = Column(np.append(steps.values[value], [np.nan, np.nan]), state)
        return replace(
            self.summary.items(source),
            cluster=zeros.astype(np.intp),
            item=zeros,
            truth=zeros,
            answer=zeros,
            answered=answered,
            nan_answer=np.arange(len(count)) == len(count) - 1,
            signals=MappingProxyType({about.signals[0].name: column}),
            losses=losses,
            count=count,
            passes=self,
        )

    def view(self, graded: Graded, curve: Curve) -> CurveView:
        """The view of the confidence that the summaries hold."""
        [signal], name = self.summary.about.signals, graded.made_of.name
        if name != signal.name:
            raise UserError(f"{shown(name)}: passes rank by the signal of the summaries, {shown(signal.name)}")
        if signal.lower_is_surer != (curve.scale < 0):
            way_out = f"summarize {'without' if signal.lower_is_surer else 'with'} --lower-is-surer {shown(name)}"
            raise UserError(f"{shown(name)}: the summaries rank in the other direction; {way_out}")
        plateaus, levels = (
            RangeEntries.placeholder(self, kind, size) for kind, size in enumerate((len(curve), len(curve.loss_levels)))
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
        return RangeView(graded, curve, table, self)

    def draws(self, replicates: range) -> Draws:
        """Replicates that the workers draw, once per folder."""
        draw = Draw(self.seed, replicates.start, replicates.stop, len(self.summary.ids))
        whole = {own.storage: Range(own.storage, own.origin, own.end) for own in self.ranges}
        self.workers.each(ranges.draw_weights, [(own, block) for own in whole.values() for block in draw.blocks])
        return Draws(self, draw)

    def each(self, work: Any, *arguments: Any) -> list[Any]:
        """The result of `work` for every range."""
        return self.workers.each(work, [(own, *arguments) for own in self.ranges])

    def total(self, request: Total) -> Floats:
        """Sums over all clusters, block by block; a block that spans ranges is summed by one worker after the other."""
        begins = [min(-(-own.first // CLUSTER_BLOCK) * CLUSTER_BLOCK, own.end) for own in self.ranges]
        tasks = [(own, request, (begin, own.end), None) for own, begin in zip(self.ranges, begins, strict=True)]
        total, last = np.zeros((len(request.powers), request.draw.size)), None
        for (own, *_, (begin, _), _), blocks in zip(tasks, self.workers.each(ranges.totals, tasks), strict=True):
            if own.first < begin:
                [head] = self.workers.each(ranges.totals, [(own, request, (own.first, begin), last)])
                blocks[:0] = head
            elif last is not None:
                total += last
            *complete, last = blocks
            for block in complete:
                total += block
        return total if last is None else total + last

    def spread(self, view: CurveView) -> Spread:
        """At each operating point: clusters, most answers of one, and sums of powers of their influences."""
        curve = view.curve
        influence = AtPoints(curve.selective_risk, curve.points.count, view.table.divisor)
        draw = Draw(None, 0, len(curve), len(self.summary.ids))
        clusters = np.cumsum(np.sum([counts.first_answer for counts in self.counts], axis=0))
        most = np.max([counts.most_answers for counts in self.counts], axis=0)
        return Spread(clusters, most, *self.total(Total(draw, influence, (2, 4))))


def _steps(summary: Summary) -> Steps:
    [signal] = summary.about.signals
    values = summary.values[signal.name]
    return Steps(
        signal.name, signal.exponent, signal.lower_is_surer, values, summary.losses, summary.about.loss.divisor
    )


def _cut(parts: Sequence[StoredPart], clusters: int) -> list[Range]:
    """Ranges with similar numbers of entries, each of whole blocks of clusters."""
    entries = sum(part.entries for part in parts)
    size = -(-clusters * _ENTRIES // max(entries, 1) // CLUSTER_BLOCK) * CLUSTER_BLOCK
    borders = [*range(0, clusters, max(size, CLUSTER_BLOCK)), clusters]
    return [Range(parts[0].storage, first, end) for first, end in pairwise(borders)]


def _of_sites(parts: Sequence[StoredPart], indices: Sequence[Indices], clusters: int) -> list[Range]:
    """A range for each site, whose clusters must be consecutive."""
    sites, number = [], 0
    for storage in dict.fromkeys(part.storage for part in parts):
        own = np.unique(
            np.concatenate([at for part, at in zip(parts, indices, strict=True) if part.storage == storage])
        )
        sites.append(Range(storage, int(own[0]), int(own[-1]) + 1, int(own[0])))
        number += len(own)
        if number > clusters or sites[-1].end - sites[-1].first > len(own):
            way_out = "give each a name of its own, demur summarize --site NAME"
            raise UserError(f"{storage.site}: its ids are among those of another site; {way_out}")
    return sorted(sites, key=lambda own: own.first)
