"""Items: the facts of one run, as columns that are checked once and never change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demur.errors import UserError, harmless, shown
from demur.facts.codes import Codes
from demur.facts.columns import Column, State
from demur.facts.counting import Counting
from demur.facts.groupings import Grouping, by_size
from demur.facts.ids import ClusterId, ranked, sorted_ids
from demur.facts.instruments import Instrument
from demur.facts.losses import Losses
from demur.facts.paths import SignalColumns
from demur.facts.raw_units import FailedUnits, RawUnits, Repeats, check_complete, check_values
from demur.options import as_option
from demur.types import Flags, Indices, Integers


@dataclass(frozen=True, slots=True)
class Source:
    """The file or table that facts were read from, so that a result can be traced back to its bytes.

    A table in memory has no path. `label` is the system's name, if the user gave one. For a table, `columns` maps roles
    to columns of another name, and `instrument` is the one inferred from its items. `library` is that of a data frame.
    """

    path: str | None = None
    sha256: str | None = None
    run_id: str | None = None
    git_commit: str | None = None
    mode: str | None = None
    label: str | None = None
    columns: Mapping[str, str] | None = None
    instrument: str | None = None
    library: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """The units of one run, ordered by cluster and then by item.

    `answer` is defined only where `answered` is true; elsewhere the system abstained, by a NaN where `nan_answer` is
    true, and by a null otherwise. If a table gives `losses`, truths and answers are all 0; if truths and answers are
    texts, they are indices of `labels`. If `independent`, every row is a cluster of its own. If `numbered`, the items
    have no names, and are numbered within their clusters.

    Where units are counted, a row stands for `count` units of a cluster that are equal in all that is known; such units
    have no items. `counting` says how they were counted, and `digests` has a number per cluster that stands for its
    units and their ground truths.
    """

    cluster_ids: tuple[ClusterId, ...]
    failed: tuple[ClusterId, ...]
    item_names: tuple[str, ...]
    cluster: Indices
    item: Indices
    truth: Integers
    answer: Integers
    answered: Flags
    nan_answer: Flags
    signals: Mapping[str, Column]
    instrument: Instrument | None
    noun: str
    source: Source | None = None
    losses: Losses | None = None
    labels: tuple[str, ...] | None = None
    independent: bool = False
    ignored_answers: int = 0
    failed_units: FailedUnits | None = None
    groups: Mapping[str, Grouping] = field(default_factory=dict)
    repeats: Repeats | None = None
    probabilities: tuple[str, ...] = ()
    numbered: bool = False
    count: Integers | None = None
    digests: NDArray[np.uint64] | None = None
    counting: Counting | None = None

    def __post_init__(self) -> None:
        columns = [array for column in self.signals.values() for array in (column.values, column.state)]
        for array in (*(getattr(self, name) for name in _PER_UNIT), *columns):
            array.flags.writeable = False

    @classmethod
    def of(cls, raw: RawUnits, source: Source | None = None) -> Items:
        """Check all units and sort them."""
        clusters = Codes.of(raw.clusters)
        if not len(clusters) and not (raw.part and raw.failed):
            raise UserError(f"nothing to evaluate: no {raw.noun} succeeded ({len(raw.failed)} failed)")
        cluster_ids, rank = ranked(clusters.values)
        item_names, item = _numbered_items(raw)
        cluster = rank[clusters.numbers]
        order = _order(cluster, item)
        cluster, item = cluster[order], item[order]
        check_complete(raw, cluster, item, order)
        check_values(raw)
        answered = raw.answered
        ignored = ~answered & ~raw.lost & ~raw.given.abstains() & (raw.given.state != State.MISSING)
        return cls(
            cluster_ids=cluster_ids,
            failed=sorted_ids(raw.failed),
            item_names=item_names,
            cluster=cluster,
            item=item,
            truth=_scores(raw.truth, order),
            answer=_scores(raw.prediction, order, answered),
            answered=answered[order],
            nan_answer=(raw.given.is_(State.NUMBER) & np.isnan(raw.given.values))[order],
            signals=SignalColumns({name: column.take(order) for name, column in raw.signals.items()}),
            source=source,
            losses=raw.loss.losses(answered).take(order) if raw.loss else None,
            ignored_answers=int(ignored.sum()),
            groups={name: grouping.take(order) for name, grouping in raw.groups.items()},
            **{name: getattr(raw, name) for name in _AS_READ},
        )

    def __len__(self) -> int:
        return len(self.truth)

    def __repr__(self) -> str:
        answered, nan = self.number_of(self.answered), self.abstained_nan
        abstained = f"{self.units - answered} abstained ({self.units - answered - nan} null, {nan} NaN)"
        return (
            f"Items({len(self.cluster_ids)} {harmless(self.noun)}s, {len(self.failed)} failed, {self.units} units, "
            f"{answered} answered, {abstained}, {len(self.signals)} signals)"
        )

    @property
    def units(self) -> int:
        """The number of units."""
        return len(self) if self.count is None else int(self.count.sum())

    @property
    def lower_is_surer(self) -> tuple[str, ...]:
        """The counted signals of which lower means more confident."""
        return self.counting.lower_is_surer if self.counting else ()

    def number_of(self, rows: Flags) -> int:
        """The number of units in these rows."""
        return int(rows.sum() if self.count is None else self.count[rows].sum())

    def cluster_sizes(self, rows: Flags | slice = slice(None)) -> Integers:
        """The number of units of each cluster, in all rows or in these."""
        counts = None if self.count is None else self.count[rows]
        return summed(self.cluster[rows], counts, len(self.cluster_ids))

    @property
    def right(self) -> Flags:
        """Flags of the answers that are exactly right: their loss is 0, or they equal the truth."""
        exact = self.losses.numerators == 0 if self.losses else self.answer == self.truth
        return np.asarray(self.answered & exact)

    @property
    def unit_names(self) -> list[tuple[ClusterId, str]]:
        """The cluster and the item of every unit."""
        pairs = zip(self.cluster.tolist(), self.item.tolist(), strict=True)
        return [(self.cluster_ids[cluster], self.item_names[item]) for cluster, item in pairs]

    @property
    def by_name(self) -> Indices:
        """Indices that sort the units by cluster and by name of the item: numbers by size, then texts."""
        if self.instrument is not None:
            return np.arange(len(self))
        rank = np.argsort(sorted(range(len(self.item_names)), key=lambda item: by_size(self.item_names[item])))
        return _order(self.cluster, rank[self.item])

    def are_named(self, names: Iterable[tuple[ClusterId, str]]) -> Flags:
        """Flags of the units that are among these pairs (cluster, item)."""
        return Codes(self.cluster, self.cluster_ids).is_pair(Codes(self.item, self.item_names), names)

    @property
    def units_left_out(self) -> set[tuple[ClusterId, str]]:
        """The failed units that were left out, as pairs (cluster, item)."""
        failed = self.failed_units
        return {*failed.names} if failed is not None and failed.rule == "drop" else set()

    @property
    def has_scores(self) -> bool:
        """Whether truths and answers are numbers, so that an answer can be too high or too low."""
        return self.losses is None and self.labels is None

    @property
    def abstained_nan(self) -> int:
        """The number of abstentions given as NaN."""
        return self.number_of(self.nan_answer)

    def place(self, unit: int) -> str:
        """The name of a unit in error messages."""
        cluster, item = self.cluster_ids[self.cluster[unit]], self.item_names[self.item[unit]]
        return f"{self.noun} {shown(cluster)}, {shown(item)}"

    def only(self, clusters: Iterable[ClusterId]) -> Items:
        """The units of these clusters; failed clusters are dropped."""
        wanted = set(clusters)
        is_wanted = np.array([name in wanted for name in self.cluster_ids], dtype=bool)
        return replace(self.take(np.flatnonzero(is_wanted[self.cluster])), failed=())

    def ordered(self, item_names: tuple[str, ...]) -> Items:
        """The same units with the items of a table without an instrument in another order."""
        index = _indices(self.item_names, item_names)
        moved = replace(self, item_names=item_names, item=index[self.item])
        return moved.take(_order(moved.cluster, moved.item))

    def take(self, units: Indices) -> Items:
        """The units at these indices; clusters that have none of them are dropped."""
        is_used = np.bincount(self.cluster[units], minlength=len(self.cluster_ids)) > 0
        per_unit = {name: getattr(self, name)[units] for name in _PER_UNIT}
        return replace(
            self,
            cluster_ids=tuple(name for name, used in zip(self.cluster_ids, is_used, strict=True) if used),
            **per_unit | {"cluster": (np.cumsum(is_used) - 1)[per_unit["cluster"]]},
            count=None if self.count is None else self.count[units],
            digests=None if self.digests is None else self.digests[is_used],
            signals=SignalColumns({name: column.take(units) for name, column in self.signals.items()}),
            losses=self.losses.take(units) if self.losses else None,
            groups={name: grouping.take(units) for name, grouping in self.groups.items()},
        )

    def labelled(self, label: str | None) -> Items:
        """The same units with a name for their system."""
        if self.source is None and label is None:
            return self
        return replace(self, source=replace(self.source or Source(), label=label))

    def _repr_html_(self) -> str:
        rows = [("signal", name) for name in self.signals]
        rows = [("units", str(self.units)), ("answered", str(self.number_of(self.answered))), *rows]
        from demur.drawing.html import html_table  # noqa: PLC0415  (only notebooks need it)

        return html_table(("", ""), [(f"{self.noun}s", str(len(self.cluster_ids))), *rows], repr(self))


def summed(indices: Indices, counts: Integers | None, length: int) -> Integers:
    """The sum of the counts at each index, or how often each index occurs; exact up to 2**53."""
    return np.bincount(indices, counts, length).astype(np.int64)


_AS_READ = ("instrument", "noun", "labels", "independent", "failed_units", "repeats", "probabilities", "numbered")
_PER_UNIT = ("cluster", "item", "truth", "answer", "answered", "nan_answer")


def _numbered_items(raw: RawUnits) -> tuple[tuple[str, ...], Indices]:
    """The names of the items, in order, and the index of each unit's item."""
    items = Codes.of(raw.items)
    if raw.instrument is None:
        return tuple(items.values), items.numbers
    names = raw.instrument.items
    item = _indices(items.values, names)[items.numbers]
    if (item < 0).any():
        unit = raw.unit_name(int(np.argmax(item < 0)))
        known = f"{raw.instrument.name} has {', '.join(names)}"
        raise UserError(
            f"{unit}: no such item, {known}; a table with items of its own needs {as_option('instrument', 'none')}"
        )
    return names, item


def _scores(column: Column, order: Indices, known: Flags | None = None) -> Integers:
    if not len(column):
        return np.zeros(len(order), dtype=np.int64)  # takes no memory until it is written to
    values = column.values if known is None else np.where(known, column.values, 0)
    return values[order].astype(np.int64)


def _order(cluster: Indices, item: Indices) -> Indices:
    key = cluster * (int(item.max(initial=0)) + 1) + item
    return np.arange(len(key)) if (key[1:] > key[:-1]).all() else np.argsort(key)


def _indices(values: Sequence[Any], known: Sequence[Any]) -> Indices:
    index_of = {value: index for index, value in enumerate(known)}
    return np.fromiter((index_of.get(value, -1) for value in values), np.intp, len(values))
