"""Items: the facts of one run. Columnar, frozen, and checked once, when they are made."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from demur.drawing.html import html_table
from demur.errors import UserError, and_more, literal, shown
from demur.facts.columns import Column, State, plain, wrong_value
from demur.facts.groups import Grouping
from demur.facts.instruments import Instrument
from demur.facts.losses import LossColumn, Losses, flags_of, is_flag
from demur.facts.signals import SIGNALS, Signal
from demur.files.strict_json import has_half
from demur.types import Flags, Indices, Integers

ClusterId = int | str
_LARGEST_ID = 2**63
_SCORES = (-(2.0**31), 2.0**31)
_Check = tuple[str, Column, Flags, str]  # a name, its cells, which are wrong, and what is expected


@dataclass(frozen=True, slots=True)
class Source:
    """Where facts came from, so that a result can be traced back to its bytes.

    `label` is the name a system is shown by, where the user gives one. Of a table, `columns` are the roles played by a
    column of another name, and `instrument` is the one that its items told.
    """

    path: str
    sha256: str
    run_id: str | None = None
    git_commit: str | None = None
    mode: str | None = None
    label: str | None = None
    columns: Mapping[str, str] | None = None
    instrument: str | None = None


@dataclass(frozen=True, slots=True)
class FailedUnits:
    """Units that failed, by cluster and item, and what becomes of them: left out (drop), or abstentions (abstain)."""

    rule: str
    names: tuple[tuple[ClusterId, str], ...]


@dataclass(frozen=True, slots=True)
class RawUnits:
    """What a reader hands over, one entry per unit and nothing checked yet.

    `instrument` is None for free tables: items are then called what the table calls them, and any integer is a score.
    Where a table gives losses, `truth` and `prediction` are of no use. Truths and predictions that are texts are the
    numbers of their `labels`. `abstained` says who abstained, whatever else is given.
    """

    clusters: Sequence[ClusterId]
    items: Sequence[str]
    truth: Column
    prediction: Column
    loss: LossColumn | None = None
    labels: tuple[str, ...] | None = None
    abstained: Column | None = None
    signals: Mapping[str, Column] = field(default_factory=dict)
    failed: Sequence[ClusterId] = ()
    failed_units: FailedUnits | None = None
    instrument: Instrument | None = None
    groups: Mapping[str, Grouping] = field(default_factory=dict)
    noun: str = "cluster"
    no_answer: str = "null"
    independent: bool = False

    @property
    def given(self) -> Column:
        """What an answer is known by: the loss, or the prediction."""
        return self.loss.cells if self.loss else self.prediction

    @property
    def answered(self) -> Flags:
        """Null and NaN abstain; anything else is an answer, be it a wrong one. What says who abstained decides."""
        abstained = self.given.abstains() if self.abstained is None else flags_of(self.abstained)
        return np.asarray(~abstained & ~self.lost)

    @property
    def lost(self) -> Flags:
        """Which units failed and count as abstentions."""
        names = {*self.failed_units.names} if self.failed_units else set()
        units = zip(self.clusters, self.items, strict=True) if names else ()
        flags = np.fromiter((unit in names for unit in units), bool)
        return flags if names else np.zeros(len(self.items), dtype=bool)

    def unit_name(self, unit: int) -> str:
        """How a message calls a unit."""
        return f"{self.noun} {shown(self.clusters[unit])}, {shown(self.items[unit])}"


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """The units of one run, ordered by cluster and then by item.

    `answer` means something only where `answered` is true: elsewhere the system abstained, where `nan_answer` is true
    by a NaN and elsewhere by a null. Where a table gives `losses`, truths and answers are all 0 and mean nothing; where
    they are texts, they are numbers of `labels`. Clusters that are `independent` are rows nobody has grouped.
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

    def __post_init__(self) -> None:
        columns = [array for column in self.signals.values() for array in (column.values, column.state)]
        for array in (*(getattr(self, name) for name in _PER_UNIT), *columns):
            array.flags.writeable = False

    @classmethod
    def of(cls, raw: RawUnits, source: Source | None = None) -> Items:
        """Check every unit and put the units in order."""
        if not raw.clusters:
            raise UserError(f"nothing to evaluate: no {raw.noun} succeeded ({len(raw.failed)} failed)")
        cluster_ids = sorted_ids(raw.clusters)
        item_names = raw.instrument.items if raw.instrument else tuple(dict.fromkeys(raw.items))
        cluster, item = _indices(raw.clusters, cluster_ids), _indices(raw.items, item_names)
        if raw.instrument and (item < 0).any():
            name = raw.unit_name(int(np.argmax(item < 0)))
            items = f"{raw.instrument.name} has {', '.join(item_names)}"
            raise UserError(f"{name}: no such item, {items}; a table with items of its own needs --instrument none")
        order = np.lexsort((item, cluster))
        _check_complete(raw, cluster, item, order)
        _check_values(raw)
        answered, scored = raw.answered, raw.loss is None
        ignored = ~answered & ~raw.lost & ~raw.given.abstains() & (raw.given.state != State.MISSING)
        return cls(
            cluster_ids=cluster_ids,
            failed=sorted_ids(raw.failed),
            item_names=item_names,
            cluster=cluster[order],
            item=item[order],
            truth=np.where(scored, raw.truth.values, 0)[order].astype(np.int64),
            answer=np.where(answered & scored, raw.prediction.values, 0)[order].astype(np.int64),
            answered=answered[order],
            nan_answer=(raw.given.is_(State.NUMBER) & np.isnan(raw.given.values))[order],
            signals=MappingProxyType({name: column.take(order) for name, column in raw.signals.items()}),
            instrument=raw.instrument,
            noun=raw.noun,
            source=source,
            losses=raw.loss.losses(answered).take(order) if raw.loss else None,
            labels=raw.labels,
            independent=raw.independent,
            ignored_answers=int(ignored.sum()),
            failed_units=raw.failed_units,
            groups={name: grouping.take(order) for name, grouping in raw.groups.items()},
        )

    def __len__(self) -> int:
        return len(self.truth)

    def __repr__(self) -> str:
        answered, nan = int(self.answered.sum()), self.abstained_nan
        abstained = f"{len(self) - answered} abstained ({len(self) - answered - nan} null, {nan} NaN)"
        return (
            f"Items({len(self.cluster_ids)} {self.noun}s, {len(self.failed)} failed, {len(self)} units, "
            f"{answered} answered, {abstained}, {len(self.signals)} signals)"
        )

    @property
    def right(self) -> Flags:
        """Where an answer is exactly right: its loss is 0, or it is the truth."""
        exact = self.losses.numerators == 0 if self.losses else self.answer == self.truth
        return np.asarray(self.answered & exact)

    @property
    def unit_names(self) -> list[tuple[ClusterId, str]]:
        """Every unit by its cluster and its item."""
        pairs = zip(self.cluster.tolist(), self.item.tolist(), strict=True)
        return [(self.cluster_ids[cluster], self.item_names[item]) for cluster, item in pairs]

    @property
    def units_left_out(self) -> set[tuple[ClusterId, str]]:
        """The units that failed and are not among these."""
        failed = self.failed_units
        return {*failed.names} if failed is not None and failed.rule == "drop" else set()

    @property
    def has_scores(self) -> bool:
        """Whether truths and answers are numbers, whose difference says which way an answer is wrong."""
        return self.losses is None and self.labels is None

    @property
    def abstained_nan(self) -> int:
        """How many abstentions came as NaN."""
        return int(self.nan_answer.sum())

    def place(self, unit: int) -> str:
        """How a message calls a unit."""
        cluster, item = self.cluster_ids[self.cluster[unit]], self.item_names[self.item[unit]]
        return f"{self.noun} {shown(cluster)}, {shown(item)}"

    def only(self, clusters: Iterable[ClusterId]) -> Items:
        """The same facts of these clusters alone; nobody has failed among them."""
        wanted = set(clusters)
        kept = np.array([name in wanted for name in self.cluster_ids], dtype=bool)
        return replace(self.take(np.flatnonzero(kept[self.cluster])), failed=())

    def ordered(self, item_names: tuple[str, ...]) -> Items:
        """The same facts with the items of a free table in another order."""
        index = _indices(self.item_names, item_names)
        moved = replace(self, item_names=item_names, item=index[self.item])
        return moved.take(np.lexsort((moved.item, moved.cluster)))

    def take(self, units: Indices) -> Items:
        """The same facts of these units, and of no cluster without one."""
        held = np.bincount(self.cluster[units], minlength=len(self.cluster_ids)) > 0
        per_unit = {name: getattr(self, name)[units] for name in _PER_UNIT}
        return replace(
            self,
            cluster_ids=tuple(name for name, kept in zip(self.cluster_ids, held, strict=True) if kept),
            **per_unit | {"cluster": (np.cumsum(held) - 1)[per_unit["cluster"]]},
            signals=MappingProxyType({name: column.take(units) for name, column in self.signals.items()}),
            losses=self.losses.take(units) if self.losses else None,
            groups={name: grouping.take(units) for name, grouping in self.groups.items()},
        )

    def labelled(self, label: str | None) -> Items:
        """The same facts under the name their system is shown by."""
        return self if self.source is None else replace(self, source=replace(self.source, label=label))

    def _repr_html_(self) -> str:
        rows = [("signal", name) for name in self.signals]
        rows = [("units", str(len(self))), ("answered", str(int(self.answered.sum()))), *rows]
        return html_table(("", ""), [(f"{self.noun}s", str(len(self.cluster_ids))), *rows], repr(self))


_PER_UNIT = ("cluster", "item", "truth", "answer", "answered", "nan_answer")


def _check_complete(units: RawUnits, cluster: Indices, item: Indices, order: Indices) -> None:
    """No unit twice, and of an instrument every item for every cluster."""
    twice = order[:-1][(np.diff(cluster[order]) == 0) & (np.diff(item[order]) == 0)]
    if twice.size:
        raise UserError(and_more(f"{units.unit_name(int(twice[0]))}: given more than once", twice.size))
    names = units.instrument.items if units.instrument else ()
    short = np.flatnonzero(np.bincount(cluster) < len(names)) if names else np.zeros(0, np.intp)
    lost = {*units.failed_units.names} if units.failed_units else set()
    for incomplete in short if lost else ():
        own = units.clusters[int(np.argmax(cluster == incomplete))]
        if np.sum(cluster == incomplete) + sum((own, name) in lost for name in names) == len(names):
            short = short[short != incomplete]
    if units.instrument and short.size:
        held = np.flatnonzero(cluster == short[0])
        owner = units.clusters[held[0]]
        left = (index for index, name in enumerate(names) if (owner, name) not in lost)
        missing = names[next(index for index in left if index not in item[held])]
        unit = f"{units.noun} {shown(units.clusters[held[0]])}, {shown(missing)}"
        text = f"{unit}: missing, expected all {len(names)} items of {units.instrument.name}"
        raise UserError(and_more(text, short.size))


def _check_values(units: RawUnits) -> None:
    """Scores and declared signals; what else a run adds is kept as it is and checked by whoever uses it."""
    if units.abstained is not None:
        unsaid = ~is_flag(units.abstained) & ~units.lost
        units.abstained.refuse(unsaid, "abstained", "true or false, or 1 or 0", units.unit_name)
    checks = [*(_wrong_losses(units, units.loss) if units.loss else _wrong_scores(units))]
    for name, column in units.signals.items():
        if signal := SIGNALS.get(name):
            checks.append((name, column, _is_no_signal(signal, column), f"{signal.expected} or null"))
    wrong = [(int(np.argmax(bad)), check) for check in checks if (bad := check[2]).any()]
    if wrong:
        unit, (name, column, _, expected) = min(wrong, key=lambda mistake: mistake[0])
        text = f"{units.unit_name(unit)}: {name} {wrong_value(column.cell(unit), expected)}"
        raise UserError(and_more(text, sum(int(check[2].sum()) for check in checks)))


def _wrong_scores(units: RawUnits) -> Iterator[_Check]:
    scale = units.instrument
    low, high, score = (scale.minimum, scale.maximum, scale.score) if scale else (*_SCORES, "an integer")
    score = score if units.labels is None else "a text"
    wrong = units.answered & ~units.prediction.within(low, high, whole=True)
    yield "ground truth", units.truth, ~units.truth.within(low, high, whole=True), score
    yield "predicted", units.prediction, wrong, score if units.abstained else f"{score} or {units.no_answer}"


def _wrong_losses(units: RawUnits, loss: LossColumn) -> Iterator[_Check]:
    nothing = ", as abstained is false" if units.abstained else f" or {units.no_answer}"
    yield loss.role, loss.cells, loss.wrong(units.answered), loss.expected + nothing


def _is_no_signal(signal: Signal, column: Column) -> Flags:
    if not signal.text:
        good = column.within(signal.low, signal.high, whole=signal.whole)
        return np.asarray((column.is_(State.OTHER) | column.is_(State.NUMBER)) & ~good)
    bad = column.is_(State.NUMBER)
    bad[[unit for unit, value in column.other.items() if not isinstance(value, str)]] = True
    return bad


def checked_ids(ids: Iterable[object], noun: str) -> list[ClusterId]:
    """Cluster ids, each an integer or a text; 300 and "300" in one run would be a guess about who is who."""
    seen: dict[str, ClusterId] = {}
    checked: list[ClusterId] = []
    for value in map(plain, ids):
        # A half of a character could not be written to a file again.
        legible = type(value) is str and value.strip() == value != "" and not has_half(value)
        if not legible and not (type(value) is int and abs(value) < _LARGEST_ID):
            raise UserError(f"{noun} id {literal(value)}, expected an integer or a text without spaces around it")
        other = seen.setdefault(str(value), value)
        if type(other) is not type(value):
            raise UserError(f"{noun} {value} is given both as a number and as text: the same {noun}?")
        checked.append(value)
    return checked


def sorted_ids(ids: Iterable[ClusterId]) -> tuple[ClusterId, ...]:
    """Distinct ids in the one order everything is drawn in: integers, then texts."""
    return tuple(sorted(dict.fromkeys(ids), key=lambda value: (isinstance(value, str), value)))


def as_integers(texts: Collection[object], most_digits: int) -> list[int] | None:
    """Integers if every text is written as one, None otherwise: 7 and 007 are two texts.

    >>> as_integers(["7", "-12"], 18), as_integers(["7", "007"], 18)
    ([7, -12], None)
    """
    written = re.compile(rf"0|-?[1-9][0-9]{{0,{most_digits - 1}}}")
    integers = [int(text) for text in texts if isinstance(text, str) and written.fullmatch(text)]
    return integers if len(integers) == len(texts) else None


def _indices(values: Sequence[Any], known: Sequence[Any]) -> Indices:
    """The index of each value among the known ones; -1 for one that is not known."""
    index_of = {value: index for index, value in enumerate(known)}
    return np.fromiter((index_of.get(value, -1) for value in values), np.intp, len(values))
