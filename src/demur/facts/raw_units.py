"""Units as a reader returns them, and the checks they pass before they become `Items`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from demur.errors import UserError, and_more, shown
from demur.facts.codes import Codes
from demur.facts.columns import Column, State, wrong_value
from demur.facts.groupings import Grouping
from demur.facts.instruments import Instrument, score_bounds
from demur.facts.losses import LossColumn
from demur.facts.signals import SIGNALS, Signal
from demur.types import Flags, Indices

if TYPE_CHECKING:
    from demur.facts.ids import ClusterId

_Check = tuple[str, Column, Flags, str]  # the name of a column, its cells, which are wrong, and what is expected


@dataclass(frozen=True, slots=True)
class FailedUnits:
    """Units that failed, by cluster and item; `rule` says if they are left out (drop) or abstain (abstain).

    `causes` has the reason of each failure, "" if unknown. A summary has only the numbers `counted` by cause.
    """

    rule: str
    names: tuple[tuple[ClusterId, str], ...] = ()
    causes: tuple[str, ...] = ()
    counted: Mapping[str, int] | None = None

    @property
    def counts(self) -> dict[str, int]:
        """The number of failures by cause, "" if unknown."""
        if self.counted is not None:
            return dict(self.counted)
        return dict(Counter(self.causes or ("",) * len(self.names)))

    @property
    def number(self) -> int:
        """The number of failures."""
        return sum(self.counts.values())

    @property
    def by_cause(self) -> dict[str, int]:
        """The number of failures by known cause, the most frequent first."""
        counts = {cause: units for cause, units in self.counts.items() if cause}
        return dict(sorted(counts.items(), key=lambda counted: (-counted[1], counted[0])))


@dataclass(frozen=True, slots=True)
class Repeats:
    """How repeats of a question became units: each is one (units), only the first is (first), or one by vote (vote).

    `rows` counts all repeats, `failed` those that failed.
    """

    rule: str
    rows: int
    failed: int


@dataclass(frozen=True, slots=True)
class RawUnits:
    """Columns of units from a reader, not yet checked.

    If `instrument` is None, items have the names of the table, and any integer is a score. A table of losses has no
    `truth` and `prediction`. Truths and predictions that are texts are indices of `labels`. `abstained`, if given,
    decides which units abstained. `probabilities` are the signals declared as such. If `numbered`, items have no names,
    and are numbered within their clusters. In a `part` of the data nothing need have succeeded.
    """

    clusters: Sequence[ClusterId]
    items: Sequence[str]
    truth: Column = field(default_factory=Column.none)
    prediction: Column = field(default_factory=Column.none)
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
    repeats: Repeats | None = None
    probabilities: tuple[str, ...] = ()
    numbered: bool = False
    part: bool = False

    @property
    def given(self) -> Column:
        """The column in which a null means an abstention: the loss, or the prediction."""
        return self.loss.cells if self.loss else self.prediction

    @property
    def answered(self) -> Flags:
        """Flags of the answered units: not marked in `abstained`, or without it, neither null nor NaN."""
        abstained = self.given.abstains() if self.abstained is None else self.abstained.is_true()
        return np.asarray(~abstained & ~self.lost)

    @property
    def lost(self) -> Flags:
        """Flags of the units that failed and count as abstentions."""
        if self.failed_units is None:
            return np.zeros(len(self.items), dtype=bool)
        return Codes.of(self.clusters).is_pair(Codes.of(self.items), self.failed_units.names)

    def with_failures(
        self, lost: Mapping[tuple[ClusterId, str], str], rule: str, failed: Sequence[ClusterId] = ()
    ) -> RawUnits:
        """Copy the units, with failed units recorded; clusters whose units all failed count as failed."""
        remaining = {*Codes.of(self.clusters).values}
        clusters = dict.fromkeys([*failed, *(cluster for cluster, _ in lost if cluster not in remaining)])
        units = FailedUnits(rule, tuple(lost), tuple(lost.values())) if lost else None
        return replace(self, failed=[*clusters], failed_units=units)

    def label(self, cell: object) -> object:
        """The label that a truth or prediction is the index of; the cell itself if units have no labels."""
        return self.labels[cell] if self.labels is not None and isinstance(cell, int) else cell

    def unit_name(self, unit: int) -> str:
        """The name of a unit in error messages."""
        return f"{self.noun} {shown(self.clusters[unit])}, {shown(self.items[unit])}"


def check_complete(units: RawUnits, cluster: Indices, item: Indices, order: Indices) -> None:
    """Raise an error if a unit appears twice, or if a cluster lacks items of the instrument."""
    twice = order[:-1][(cluster[1:] == cluster[:-1]) & (item[1:] == item[:-1])]
    if twice.size:
        raise UserError(and_more(f"{units.unit_name(int(twice[0]))}: given more than once", twice.size))
    names = units.instrument.items if units.instrument else ()
    short = np.flatnonzero(np.bincount(cluster) < len(names)) if names else np.zeros(0, np.intp)
    lost = {*units.failed_units.names} if units.failed_units else set()
    for incomplete in short if lost else ():
        own_id = units.clusters[int(order[np.argmax(cluster == incomplete)])]
        if np.sum(cluster == incomplete) + sum((own_id, name) in lost for name in names) == len(names):
            short = short[short != incomplete]
    if units.instrument and short.size:
        present = np.flatnonzero(cluster == short[0])
        cluster_id = units.clusters[int(order[present[0]])]
        expected = (index for index, name in enumerate(names) if (cluster_id, name) not in lost)
        missing = names[next(index for index in expected if index not in item[present])]
        unit = f"{units.noun} {shown(cluster_id)}, {shown(missing)}"
        text = f"{unit}: missing, expected all {len(names)} items of {units.instrument.name}"
        raise UserError(and_more(text, short.size))


def check_values(units: RawUnits) -> None:
    """Raise an error for invalid losses, scores, declared signals or probabilities.

    Other signals are checked when they are used.
    """
    if units.abstained is not None:
        wrong_flags = ~units.abstained.is_flag() & ~units.lost
        units.abstained.refuse(wrong_flags, "abstained", "true or false, or 1 or 0", units.unit_name)
    checks = [*(_wrong_losses(units, units.loss) if units.loss else _wrong_scores(units))]
    for name, column in units.signals.items():
        if signal := SIGNALS.get(name):
            checks.append((name, column, _is_no_signal(signal, column), f"{signal.expected} or null"))
    checks += _wrong_probabilities(units)
    wrong = [(int(np.argmax(bad)), check) for check in checks if (bad := check[2]).any()]
    if wrong:
        unit, (name, column, _, expected) = min(wrong, key=lambda mistake: mistake[0])
        text = f"{units.unit_name(unit)}: {name} {wrong_value(column.cell(unit), expected)}"
        raise UserError(and_more(text, sum(int(check[2].sum()) for check in checks)))


def _wrong_scores(units: RawUnits) -> Iterator[_Check]:
    low, high, score = score_bounds(units.instrument)
    score = score if units.labels is None else "a text or an integer"
    wrong = units.answered & ~units.prediction.within(low, high, whole=True)
    yield "ground truth", units.truth, ~units.truth.within(low, high, whole=True), score
    yield "predicted", units.prediction, wrong, score if units.abstained else f"{score} or {units.no_answer}"


def _wrong_losses(units: RawUnits, loss: LossColumn) -> Iterator[_Check]:
    alternative = ", as abstained is false" if units.abstained else f" or {units.no_answer}"
    yield loss.role, loss.cells, loss.wrong(units.answered), loss.expected + alternative


def _wrong_probabilities(units: RawUnits) -> Iterator[_Check]:
    """Signals declared as probabilities, with the values outside [0, 1]; a NaN of an abstention is allowed."""
    for name in units.probabilities:
        column = units.signals[name]
        unused = np.isnan(column.values) & column.is_(State.NUMBER) & ~units.answered
        given = (column.is_(State.NUMBER) & ~unused) | column.is_(State.OTHER)
        yield name, column, given & ~column.within(0, 1), "a probability from 0 to 1, as declared, or null"


def _is_no_signal(signal: Signal, column: Column) -> Flags:
    if not signal.text:
        good = column.within(signal.low, signal.high, whole=signal.whole)
        return np.asarray((column.is_(State.OTHER) | column.is_(State.NUMBER)) & ~good)
    return column.is_(State.NUMBER) | column.is_other(lambda value: not isinstance(value, str))
