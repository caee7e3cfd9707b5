"""An evaluation in passes: entries stay with the workers, and what comes back is sums over clusters.

The workers first tell which clusters, confidences and losses there are. In replicates that all draw alike, each then
returns the sums of its clusters at every confidence, and with the totals of all, sums of squared influences.
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
from demur.distributed.building import Held, Steps, build
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
from demur.quantities.graded import Graded
from demur.quantities.table import CLUSTER_BLOCK, Table
from demur.summaries.merging import merged
from demur.summaries.summary import Summary
from demur.types import Floats, Indices, Integers

_ENTRIES = 1 << 20  # in a range, about


class KeptPart(NamedTuple):
    """A part: where its summary is, how many entries it has, and all that is said of them."""

    storage: Storage
    path: str
    entries: int
    outline: Summary

    @classmethod
    def of(cls, storage: Storage, path: str, summary: Summary) -> KeptPart:
        """Of a summary that is at a path; sums of hashes of truths are for pairs of systems, and stay there."""
        nothing, digests = np.zeros(0, np.uint8), np.zeros(len(summary.ids), np.uint64)
        columns = [nothing] * len(summary.columns)
        return cls(storage, path, len(summary.count), replace(summary, digests=digests, columns=columns, count=nothing))

    @property
    def name(self) -> str:
        """What it is called in a message."""
        return f"{self.storage.site}: {self.path}" if self.storage.site else self.path


@dataclass(frozen=True, eq=False)
class Passes:
    """The workers, the ranges of clusters that they hold, and what is known of all of them."""

    workers: Workers | Sites
    ranges: Sequence[Range]
    summary: Summary
    held: Sequence[Held]
    seed: int | None

    @classmethod
    def of(cls, parts: Sequence[KeptPart], workers: Workers | Sites, seed: int | None) -> Passes:
        """From what is said of the parts: who has which clusters, and what of them."""
        whole = merged([part.outline for part in parts], [part.name for part in parts])
        signals = whole.about.signals
        if len(signals) != 1 or signals[0].name != whole.about.confidence or signals[0].probability:
            raise UserError("passes rank by one signal as it is, no probability: name it, --confidence NAME")
        places = [whole.ids.places(part.outline.ids) for part in parts]
        cut = _of_sites(parts, places, len(whole.ids)) if parts[0].storage.site else _cut(parts, len(whole.ids))
        tasks = []
        for own in cut:
            spans = [np.searchsorted(place, (own.first, own.end)).tolist() for place in places]
            here = [(part.path, *span) for part, span in zip(parts, spans, strict=True) if part.storage == own.storage]
            tasks.append((own, here, _steps(whole)))
        return cls(workers, cut, whole, workers.each(build, tasks), seed)

    @property
    def route(self) -> str:
        """What an evaluation by it is called."""
        return "sites" if self.ranges[0].storage.site else "passes"

    @cached_property
    def units(self) -> Integers:
        """How many units each cluster has."""
        return np.concatenate([each.units for each in self.held])

    def items(self, source: Source) -> Items:
        """The facts, a row for each value and loss that there is; whose units they are, the workers know."""
        about, first = self.summary.about, _steps(self.summary)
        marginal = np.sum([each.marginal for each in self.held], axis=0)
        null, nan = (sum(each.abstained[kind] for each in self.held) for kind in (0, 1))
        rows = np.flatnonzero(marginal)
        value, level = np.divmod(rows, len(first.losses))
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
            self.summary.items(source),
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
        [signal], name = self.summary.about.signals, graded.made_of.name
        if name != signal.name:
            raise UserError(f"{shown(name)}: passes rank by one signal as it is, {shown(signal.name)}")
        if signal.lower_is_surer != (curve.scale < 0):
            way_out = f"summarize {'without' if signal.lower_is_surer else 'with'} --lower-is-surer {shown(name)}"
            raise UserError(f"{shown(name)}: the summaries were made the other way round; {way_out}")
        plateaus, levels = (
            RangeEntries.held(self, kind, size) for kind, size in enumerate((len(curve), len(curve.loss_levels)))
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
        """Replicates that the workers draw: once in each place."""
        draw = Draw(self.seed, replicates.start, replicates.stop, len(self.summary.ids))
        whole = {own.storage: Range(own.storage, own.origin, own.end) for own in self.ranges}
        self.workers.each(ranges.draw_weights, [(own, block) for own in whole.values() for block in draw.blocks])
        return Draws(self, draw)

    def each(self, work: Any, *about: Any) -> list[Any]:
        """What the workers make of every range."""
        return self.workers.each(work, [(own, *about) for own in self.ranges])

    def total(self, asked: Total) -> Floats:
        """Sums over all clusters, block by block; that of a block in several ranges goes from each to the next."""
        begins = [min(-(-own.first // CLUSTER_BLOCK) * CLUSTER_BLOCK, own.end) for own in self.ranges]
        tasks = [(own, asked, (begin, own.end), None) for own, begin in zip(self.ranges, begins, strict=True)]
        total, last = np.zeros((len(asked.powers), asked.draw.size)), None
        for (own, *_, (begin, _), _), blocks in zip(tasks, self.workers.each(ranges.totals, tasks), strict=True):
            if own.first < begin:
                [head] = self.workers.each(ranges.totals, [(own, asked, (own.first, begin), last)])
                blocks[:0] = head
            elif last is not None:
                total += last
            *complete, last = blocks
            for block in complete:
                total += block
        return total if last is None else total + last

    def spread(self, view: CurveView) -> Spread:
        """What the clusters hold at each operating point."""
        curve = view.curve
        influence = AtPoints(curve.selective_risk, curve.points.count, view.table.divisor)
        draw = Draw(None, 0, len(curve), len(self.summary.ids))
        clusters = np.cumsum(np.sum([each.first_answer for each in self.held], axis=0))
        most = np.max([each.most_answers for each in self.held], axis=0)
        return Spread(clusters, most, *self.total(Total(draw, influence, (2, 4))))


def _steps(summary: Summary) -> Steps:
    [signal] = summary.about.signals
    values = summary.values[signal.name]
    return Steps(
        signal.name, signal.exponent, signal.lower_is_surer, values, summary.losses, summary.about.loss.divisor
    )


def _cut(parts: Sequence[KeptPart], clusters: int) -> list[Range]:
    """Ranges of about as many entries each, which begin at whole blocks of clusters."""
    entries = sum(part.entries for part in parts)
    size = -(-clusters * _ENTRIES // max(entries, 1) // CLUSTER_BLOCK) * CLUSTER_BLOCK
    borders = [*range(0, clusters, max(size, CLUSTER_BLOCK)), clusters]
    return [Range(parts[0].storage, first, end) for first, end in pairwise(borders)]


def _of_sites(parts: Sequence[KeptPart], places: Sequence[Indices], clusters: int) -> list[Range]:
    """A range for each site, whose clusters follow each other."""
    made, number = [], 0
    for storage in dict.fromkeys(part.storage for part in parts):
        own = np.unique(np.concatenate([at for part, at in zip(parts, places, strict=True) if part.storage == storage]))
        made.append(Range(storage, int(own[0]), int(own[-1]) + 1, int(own[0])))
        number += len(own)
        if number > clusters or made[-1].end - made[-1].first > len(own):
            way_out = "give each a name of its own, demur summarize --site NAME"
            raise UserError(f"{storage.site}: its ids are among those of another site; {way_out}")
    return sorted(made, key=lambda own: own.first)
