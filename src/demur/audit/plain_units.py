"""The units of one run, or of two on the participants both hold, graded by plain loops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from demur.audit.plain_curve import PlainCurve
from demur.errors import UserError, unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from demur.items import Items

LOSSES = ("abs_norm", "abs", "zero_one")
SIDES = ("left", "right")


@dataclass(frozen=True, slots=True)
class Side:
    """One run: the facts that are counted (`items`), everything the run holds (`own`), and how answers are graded."""

    items: Items
    own: Items
    loss: str

    @property
    def units(self) -> int:
        """How many units are counted, answered or not."""
        return len(self.items)

    @property
    def divisor(self) -> int:
        """What turns a numerator into a loss."""
        return divisor(self.items, self.loss)

    @property
    def largest(self) -> float | None:
        """The largest loss there can be; None where nothing bounds the scores."""
        if self.loss == "abs":
            return None if self.items.instrument is None else float(self.items.instrument.range)
        return 1.0

    @property
    def answered(self) -> list[int]:
        """The places of the answered units."""
        return [unit for unit in range(len(self.items)) if self.items.answered[unit]]

    @property
    def numerators(self) -> list[int]:
        """The loss of each answered unit, times the divisor."""
        return numerators(self.items, self.loss)

    def curve(self, confidence: Sequence[float]) -> PlainCurve:
        """The curve of a confidence of each answered unit."""
        return PlainCurve.of(zip(confidence, self.numerators, strict=True), self.units, self.divisor)

    def other_curves(self, confidence: Sequence[float]) -> dict[str, PlainCurve]:
        """What the curve would be, counted in other ways that are seen in practice."""
        answers = list(zip(confidence, self.numerators, strict=True))
        one_by_one = [(-float(place), answers[i][1]) for place, i in enumerate(_surest_first(confidence))]
        short, parts = "no flat start: integrated from the first working point", (self.units, self.divisor)
        failed = len(self.own.failed) * len(self.items.item_names)
        found = {
            "abstentions left out of the denominator": PlainCurve.of(answers, len(answers), self.divisor),
            short: PlainCurve.of(answers, *parts, anchored=False),
            "ties broken: each unit a working point": PlainCurve.of(one_by_one, *parts),
            f"ties broken, {short}": PlainCurve.of(one_by_one, *parts, anchored=False),
        }
        if failed:
            found["failed participants counted in"] = PlainCurve.of(answers, self.units + failed, self.divisor)
        for name in LOSSES:
            if name != self.loss and (name != "abs_norm" or self.items.instrument is not None):
                graded = zip(confidence, numerators(self.items, name), strict=True)
                found[_other_loss(name, self)] = PlainCurve.of(graded, self.units, divisor(self.items, name))
        return found


@dataclass(frozen=True, slots=True)
class Counts:
    """Who is in two runs."""

    left_only: int
    right_only: int
    overlap: int
    included: int
    failed_left: int
    failed_right: int


def sides_of(runs: Sequence[Items], loss: str) -> list[Side]:
    """The runs as they are counted: two of them on the participants who succeeded in both."""
    if loss not in LOSSES:
        raise unknown("loss", loss, LOSSES)
    if len(runs) == 1:
        return [Side(runs[0], runs[0], loss)]
    shared = set(runs[0].cluster_ids) & set(runs[1].cluster_ids)
    if not shared:
        raise UserError("nothing to audit: no participant succeeded in both runs")
    return [Side(own.only(shared), own, loss) for own in runs]


def counts_of(left: Items, right: Items) -> Counts:
    """How the participants of two runs overlap."""
    ids_left, ids_right = ({*own.cluster_ids, *own.failed} for own in (left, right))
    both = ids_left & ids_right
    return Counts(
        left_only=len(ids_left - both),
        right_only=len(ids_right - both),
        overlap=len(both),
        included=len(set(left.cluster_ids) & set(right.cluster_ids)),
        failed_left=len(both & set(left.failed)),
        failed_right=len(both & set(right.failed)),
    )


def divisor(items: Items, loss: str) -> int:
    """What the numerators of a loss are divided by."""
    if loss != "abs_norm":
        return 1
    if items.instrument is None:
        raise UserError("the loss abs_norm divides by the score range: give the instrument")
    return items.instrument.range


def numerators(items: Items, loss: str) -> list[int]:
    """The loss of each answered unit, times the divisor."""
    found = []
    for truth, answer, answered in zip(items.truth.tolist(), items.answer.tolist(), items.answered, strict=True):
        if answered:
            found.append(int(answer != truth) if loss == "zero_one" else abs(answer - truth))
    return found


def _surest_first(confidence: Sequence[float]) -> list[int]:
    return sorted(range(len(confidence)), key=lambda place: -confidence[place])


def _other_loss(name: str, side: Side) -> str:
    if (name, side.loss) == ("abs", "abs_norm"):
        return f"× {side.divisor}: loss not normalised (abs, not abs_norm)"
    return f"loss {name}, not {side.loss}"
