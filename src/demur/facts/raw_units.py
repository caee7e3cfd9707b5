"""Units as a reader hands them over, before anything is checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from demur.errors import shown
from demur.facts.codes import Codes
from demur.facts.columns import Column
from demur.facts.groups import Grouping
from demur.facts.instruments import Instrument
from demur.facts.losses import LossColumn, flags_of
from demur.types import Flags

if TYPE_CHECKING:
    from demur.facts.items import ClusterId


@dataclass(frozen=True, slots=True)
class FailedUnits:
    """Units that failed, by cluster and item, and what becomes of them: left out (drop), or abstentions (abstain).

    `causes` says why each of them failed, "" where that is not known. Of a summary, how many are `counted` for each
    cause is all that is known.
    """

    rule: str
    names: tuple[tuple[ClusterId, str], ...] = ()
    causes: tuple[str, ...] = ()
    counted: Mapping[str, int] | None = None

    @property
    def counts(self) -> dict[str, int]:
        """How many failed for each cause, and under "" without a known one."""
        if self.counted is not None:
            return dict(self.counted)
        return dict(Counter(self.causes or ("",) * len(self.names)))

    @property
    def number(self) -> int:
        """How many failed."""
        return sum(self.counts.values())

    @property
    def by_cause(self) -> dict[str, int]:
        """How many failed for each cause that is known, the most frequent first."""
        counts = {cause: units for cause, units in self.counts.items() if cause}
        return dict(sorted(counts.items(), key=lambda counted: (-counted[1], counted[0])))


@dataclass(frozen=True, slots=True)
class Repeats:
    """What became of repeats of a question: each a unit (units), the first one alone (first), or one unit by vote.

    `rows` counts all of them, `failed` those that failed.
    """

    rule: str
    rows: int
    failed: int


@dataclass(frozen=True, slots=True)
class RawUnits:
    """What a reader hands over, one entry per unit and nothing checked yet.

    `instrument` is None for free tables: items are then called what the table calls them, and any integer is a score.
    Where a table gives losses, there are no `truth` and `prediction`. Truths and predictions that are texts are the
    numbers of their `labels`. `abstained` says who abstained, whatever else is given. `probabilities` are the signals
    that are declared to be one. Items that nobody named are `numbered` within their clusters. Of a
    `part` of the data it may be that nothing succeeded.
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
        if self.failed_units is None:
            return np.zeros(len(self.items), dtype=bool)
        return Codes.of(self.clusters).is_pair(Codes.of(self.items), self.failed_units.names)

    def but(self, lost: Mapping[tuple[ClusterId, str], str], rule: str, failed: Sequence[ClusterId] = ()) -> RawUnits:
        """The same units, and those that failed, with why they did; clusters of failed units alone have failed."""
        left = {*Codes.of(self.clusters).values}
        gone = dict.fromkeys([*failed, *(cluster for cluster, _ in lost if cluster not in left)])
        units = FailedUnits(rule, tuple(lost), tuple(lost.values())) if lost else None
        return replace(self, failed=[*gone], failed_units=units)

    def label(self, cell: object) -> object:
        """What a truth or a prediction is called: its label, where it is the number of one."""
        return self.labels[cell] if self.labels is not None and isinstance(cell, int) else cell

    def unit_name(self, unit: int) -> str:
        """How a message calls a unit."""
        return f"{self.noun} {shown(self.clusters[unit])}, {shown(self.items[unit])}"
