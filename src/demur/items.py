"""Items: the facts of one run. Columnar, frozen, and checked once, when they are made."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from demur.columns import Column, State, plain
from demur.drawing.html import html_table
from demur.errors import UserError, and_more, literal, shown
from demur.signals import SIGNALS, Signal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from demur.instruments import Instrument

ClusterId = int | str
_LARGEST_ID = 2**63


@dataclass(frozen=True, slots=True)
class Source:
    """Where facts came from, so that a result can be traced back to its bytes."""

    path: str
    sha256: str
    run_id: str | None = None
    git_commit: str | None = None
    mode: str | None = None


@dataclass(frozen=True, slots=True)
class RawUnits:
    """What a reader hands over, one entry per unit and nothing checked yet.

    `instrument` is None for free tables: items are then called what the table calls them, and any integer is a score.
    """

    clusters: Sequence[ClusterId]
    items: Sequence[str]
    truth: Column
    prediction: Column
    signals: Mapping[str, Column] = field(default_factory=dict)
    failed: Sequence[ClusterId] = ()
    instrument: Instrument | None = None
    noun: str = "cluster"
    no_answer: str = "null"


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """The units of one run, ordered by cluster and then by item.

    `answer` means something only where `answered` is true: elsewhere the system abstained, where `nan_answer` is true
    by a NaN and elsewhere by a null.
    """

    cluster_ids: tuple[ClusterId, ...]
    failed: tuple[ClusterId, ...]
    item_names: tuple[str, ...]
    cluster: NDArray[np.intp]
    item: NDArray[np.intp]
    truth: NDArray[np.int64]
    answer: NDArray[np.int64]
    answered: NDArray[np.bool_]
    nan_answer: NDArray[np.bool_]
    signals: Mapping[str, Column]
    instrument: Instrument | None
    noun: str
    source: Source | None = None

    @classmethod
    def of(cls, raw: RawUnits, source: Source | None = None) -> Items:
        """Check every unit and put the units in order."""
        units = _Ordered.of(raw)
        units.refuse_what_is_wrong()
        answered = units.answered
        items = cls(
            cluster_ids=units.cluster_ids,
            failed=sorted_ids(raw.failed),
            item_names=units.item_names,
            cluster=units.cluster,
            item=units.item,
            truth=units.truth.values.astype(np.int64),
            answer=np.where(answered, units.prediction.values, 0).astype(np.int64),
            answered=answered,
            nan_answer=~answered & units.prediction.is_(State.NUMBER),
            signals=MappingProxyType(units.signals),
            instrument=raw.instrument,
            noun=raw.noun,
            source=source,
        )
        columns = [array for column in units.signals.values() for array in (column.values, column.state)]
        for array in (items.cluster, items.item, items.truth, items.answer, items.answered, items.nan_answer, *columns):
            array.flags.writeable = False
        return items

    def __len__(self) -> int:
        return len(self.truth)

    def __repr__(self) -> str:
        answered = int(self.answered.sum())
        abstained = len(self) - answered
        return (
            f"Items({len(self.cluster_ids)} {self.noun}s, {len(self.failed)} failed, {len(self)} units, "
            f"{answered} answered, {abstained} abstained ({abstained - self.abstained_nan} null, "
            f"{self.abstained_nan} NaN), {len(self.signals)} signals)"
        )

    @property
    def abstained_nan(self) -> int:
        """How many abstentions came as NaN."""
        return int(self.nan_answer.sum())

    def place(self, unit: int) -> str:
        """Which unit this is, in words."""
        return _place(self.noun, self.cluster_ids[self.cluster[unit]], self.item_names[self.item[unit]])

    def only(self, clusters: Iterable[ClusterId]) -> Items:
        """The same facts of these clusters alone; nobody has failed among them."""
        wanted = set(clusters)
        kept = [place for place, name in enumerate(self.cluster_ids) if name in wanted]
        place_of = np.full(len(self.cluster_ids), -1)
        place_of[kept] = np.arange(len(kept))
        units = np.flatnonzero(place_of[self.cluster] >= 0)
        return replace(
            self,
            cluster_ids=tuple(self.cluster_ids[place] for place in kept),
            failed=(),
            cluster=place_of[self.cluster[units]],
            item=self.item[units],
            truth=self.truth[units],
            answer=self.answer[units],
            answered=self.answered[units],
            nan_answer=self.nan_answer[units],
            signals=MappingProxyType({name: column.take(units) for name, column in self.signals.items()}),
        )

    def _repr_html_(self) -> str:
        rows = [("signal", name) for name in self.signals]
        rows = [("units", str(len(self))), ("answered", str(int(self.answered.sum()))), *rows]
        return html_table(("", ""), [(f"{self.noun}s", str(len(self.cluster_ids))), *rows], repr(self))


@dataclass(frozen=True, slots=True, eq=False)
class _Ordered:
    """Units in order of cluster and item, with their columns still as a reader gave them."""

    cluster_ids: tuple[ClusterId, ...]
    item_names: tuple[str, ...]
    cluster: NDArray[np.intp]
    item: NDArray[np.intp]
    truth: Column
    prediction: Column
    signals: dict[str, Column]
    instrument: Instrument | None
    noun: str
    no_answer: str

    @classmethod
    def of(cls, raw: RawUnits) -> _Ordered:
        if not raw.clusters:
            raise UserError(f"nothing to evaluate: no {raw.noun} succeeded ({len(raw.failed)} failed)")
        cluster_ids = sorted_ids(raw.clusters)
        item_names = raw.instrument.items if raw.instrument else tuple(dict.fromkeys(raw.items))
        cluster, item = _positions(raw.clusters, cluster_ids), _positions(raw.items, item_names)
        if raw.instrument and (item < 0).any():
            raise _unknown_item(raw, raw.instrument, int(np.argmax(item < 0)))
        order = np.lexsort((item, cluster))
        return cls(
            cluster_ids=cluster_ids,
            item_names=item_names,
            cluster=cluster[order],
            item=item[order],
            truth=raw.truth.take(order),
            prediction=raw.prediction.take(order),
            signals={name: column.take(order) for name, column in raw.signals.items()},
            instrument=raw.instrument,
            noun=raw.noun,
            no_answer=raw.no_answer,
        )

    @property
    def answered(self) -> NDArray[np.bool_]:
        """Null and NaN abstain; anything else is an answer, be it a wrong one."""
        said = self.prediction
        return ~(said.is_(State.NULL) | (said.is_(State.NUMBER) & np.isnan(said.values)))

    def place(self, unit: int) -> str:
        return _place(self.noun, self.cluster_ids[self.cluster[unit]], self.item_names[self.item[unit]])

    def refuse_what_is_wrong(self) -> None:
        self._refuse_repeated_units()
        self._refuse_missing_items()
        mistakes = self._score_mistakes()
        for name, column in self.signals.items():
            mistakes += _signal_mistakes(SIGNALS.get(name), name, column)
        _refuse(mistakes, self.place)

    def _refuse_repeated_units(self) -> None:
        repeated = np.flatnonzero((np.diff(self.cluster) == 0) & (np.diff(self.item) == 0))
        if repeated.size:
            raise UserError(and_more(f"{self.place(int(repeated[0]))}: given more than once", repeated.size))

    def _refuse_missing_items(self) -> None:
        """Units are distinct by now, so a cluster is complete when it has as many units as there are items."""
        if self.instrument is None:
            return
        expected = len(self.item_names)
        short = np.flatnonzero(np.bincount(self.cluster) < expected)
        if short.size:
            there = set(self.item[self.cluster == short[0]].tolist())
            missing = next(name for index, name in enumerate(self.item_names) if index not in there)
            place = _place(self.noun, self.cluster_ids[short[0]], missing)
            text = f"{place}: missing, expected all {expected} items of {self.instrument.name}"
            raise UserError(and_more(text, short.size))

    def _score_mistakes(self) -> list[Mistake]:
        score = self.instrument.score if self.instrument else "an integer"
        everyone = np.ones(len(self.truth), dtype=bool)
        columns = (
            ("ground truth", self.truth, everyone, score),
            ("predicted", self.prediction, self.answered, f"{score} or {self.no_answer}"),
        )
        return [
            Mistake(unit, name, column.cell(unit), expected)
            for name, column, needed, expected in columns
            for unit in np.flatnonzero(needed & ~_is_score(column, self.instrument)).tolist()
        ]


@dataclass(frozen=True, slots=True)
class Mistake:
    """A value of one unit that breaks a rule."""

    unit: int
    field: str
    value: object
    expected: str

    def __str__(self) -> str:
        return f"{self.field} {literal(self.value)}, expected {self.expected}"


def checked_ids(ids: Iterable[object], noun: str) -> list[ClusterId]:
    """Cluster ids, each an integer or a text; 300 and "300" in one run would be a guess about who is who."""
    seen: dict[str, ClusterId] = {}
    checked: list[ClusterId] = []
    for value in map(plain, ids):
        if not (type(value) is int and abs(value) < _LARGEST_ID) and not (type(value) is str and _is_id(value)):
            raise UserError(f"{noun} id {literal(value)}, expected an integer or non-empty text")
        other = seen.setdefault(str(value), value)
        if type(other) is not type(value):
            raise UserError(f"{noun} {value} is given both as a number and as text: the same {noun}?")
        checked.append(value)
    return checked


def _is_id(text: str) -> bool:
    """Something to see, and no half of a character that could not be written to a file again."""
    return bool(text.strip()) and not any("\ud800" <= character <= "\udfff" for character in text)


def sorted_ids(ids: Iterable[ClusterId]) -> tuple[ClusterId, ...]:
    """Distinct ids in the one order everything is drawn in: integers, then texts."""
    return tuple(sorted(dict.fromkeys(ids), key=lambda value: (isinstance(value, str), value)))


def _positions(values: Sequence[Any], known: Sequence[Any]) -> NDArray[np.intp]:
    """Where each value stands among the known ones; -1 where it does not."""
    index = {value: position for position, value in enumerate(known)}
    return np.fromiter((index.get(value, -1) for value in values), np.intp, len(values))


def _place(noun: str, cluster: ClusterId, item: str) -> str:
    return f"{noun} {shown(cluster)}, {shown(item)}"


def _unknown_item(raw: RawUnits, instrument: Instrument, unit: int) -> UserError:
    place = _place(raw.noun, raw.clusters[unit], raw.items[unit])
    return UserError(f"{place}: no such item, {instrument.name} has {', '.join(instrument.items)}")


_LARGEST_SCORE = 2.0**31


def _is_score(column: Column, instrument: Instrument | None) -> NDArray[np.bool_]:
    low, high = (instrument.minimum, instrument.maximum) if instrument else (-_LARGEST_SCORE, _LARGEST_SCORE)
    values = column.values
    in_range = (values >= low) & (values <= high)
    return np.asarray(column.is_(State.NUMBER) & in_range & (values == np.round(values)))


def _signal_mistakes(signal: Signal | None, name: str, column: Column) -> list[Mistake]:
    """Declared signals only: what else a run adds is kept as it is and checked by whoever uses it."""
    if signal is None:
        return []
    if signal.text:
        bad = column.is_(State.NUMBER)
        bad[[unit for unit, value in column.other.items() if not isinstance(value, str)]] = True
    else:
        values = column.values
        good = np.isfinite(values) & (values >= signal.low) & (values <= signal.high)
        if signal.whole:
            good &= values == np.round(values)
        bad = column.is_(State.OTHER) | (column.is_(State.NUMBER) & ~good)
    expected = f"{signal.expected} or null"
    return [Mistake(unit, name, column.cell(unit), expected) for unit in np.flatnonzero(bad).tolist()]


def _refuse(mistakes: list[Mistake], place: Callable[[int], str]) -> None:
    if mistakes:
        first = min(mistakes, key=lambda mistake: mistake.unit)
        raise UserError(and_more(f"{place(first.unit)}: {first}", len(mistakes)))
