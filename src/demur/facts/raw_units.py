"""Units as a reader passes them on, before they are checked."""

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
    from demur.facts.ids import ClusterId


@dataclass(frozen=True, slots=True)
class FailedUnits:
    """Units that failed, by cluster and item, and whether they are left out (drop) or count as abstentions (abstain).

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
        """The column in which a null is an abstention: the loss, or the prediction."""
        return self.loss.cells if self.loss else self.prediction

    @property
    def answered(self) -> Flags:
        """Which units are answered: those that `abstained` does not mark, or without it, those not null or NaN."""
        abstained = self.given.abstains() if self.abstained is None else flags_of(self.abstained)
        return np.asarray(~abstained & ~self.lost)

    @property
    def lost(self) -> Flags:
        """Which units failed and count as abstentions."""
        if self.failed_units is None:
            return np.zeros(len(self.items), dtype=bool)
        return Codes.of(self.clusters).is_pair(Codes.of(self.items), self.failed_units.names)

    def but(self, lost: Mapping[tuple[ClusterId, str], str], rule: str, failed: Sequence[ClusterId] = ()) -> RawUnits:
        """The units, with those that failed recorded; clusters of which all units failed count as failed."""
        remaining = {*Codes.of(self.clusters).values}
        clusters = dict.fromkeys([*failed, *(cluster for cluster, _ in lost if cluster not in remaining)])
        units = FailedUnits(rule, tuple(lost), tuple(lost.values())) if lost else None
        return replace(self, failed=[*clusters], failed_units=units)

    def label(self, cell: object) -> object:
        """The label of a truth or a prediction if it is the index of one, and otherwise the cell itself."""
        return self.labels[cell] if self.labels is not None and isinstance(cell, int) else cell

    def unit_name(self, unit: int) -> str:
        """The name of a unit in messages."""
        return f"{self.noun} {shown(self.clusters[unit])}, {shown(self.items[unit])}"
