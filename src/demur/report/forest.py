"""Forest: paired differences with their intervals, listed and drawn, each kind of number on a scale of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from demur.artifact_numbers import DeltaNumbers, Ends, PairedNumbers
from demur.drawing.forest import ForestPanel, IntervalRow, forest
from demur.errors import harmless
from demur.report.numbers import UNDEFINED, differences_of, interval_text, nothing_common, title
from demur.verdict import LEFT, REACHED_AT, RIGHT, UNDECIDED, ends_of, which_is_better

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from demur.artifact import Metrics

_BETTER = {LEFT: "left", RIGHT: "right"}
_COMPARABLE = ("", LEFT, RIGHT, UNDECIDED)
_BETTER_WAYS = ("← right is better", "left is better →")
_PANELS = {
    "area": ForestPanel("Areas up to a common coverage", _BETTER_WAYS),
    "risk": ForestPanel("Risk at a coverage", _BETTER_WAYS, margin=True),
    "coverage": ForestPanel("Share of the items answered", ("← left answers more", "right answers more →")),
}
_IN_WORDS = "Paired differences, right minus left, with intervals; the table beneath holds the same numbers."


@dataclass(frozen=True, slots=True)
class Difference:
    """One number of both runs and the difference between them."""

    panel: str
    name: str
    delta: float | None
    ends: Ends | None
    said: str
    favours: tuple[float | None, float | None]
    style: str = "neither"

    @property
    def drawn(self) -> IntervalRow:
        """What a picture shows of it."""
        interval = None if self.ends is None else (self.ends.low, self.ends.high)
        return IntervalRow(self.name, self.style, self.delta, interval, comparable=self.said in _COMPARABLE)

    @property
    def has_margin(self) -> bool:
        """Whether a margin can be tried: on a risk of both runs at the same coverage."""
        return self.panel == "risk" and self.said in (LEFT, RIGHT, UNDECIDED)

    @property
    def interval(self) -> str:
        """The interval to three digits."""
        return interval_text(self.ends)

    @property
    def shown(self) -> str:
        """The difference to four digits."""
        return UNDEFINED if self.delta is None else f"{self.delta:.4g}"

    @property
    def shares(self) -> tuple[str, str]:
        """How many of the replicates favour each side."""
        left, right = (UNDEFINED if share is None else f"{share:.1%}" for share in self.favours)
        return left, right


@dataclass(frozen=True, slots=True)
class Forest:
    """The differences under one variant, drawn and listed."""

    svg: str
    rows: tuple[Difference, ...]

    @property
    def has_margin(self) -> bool:
        """Whether a margin can be tried on one of them."""
        return any(row.has_margin for row in self.rows)


def forests(metrics: Metrics) -> list[Forest] | None:
    """The forest of every variant, or nothing where nothing is compared."""
    if not metrics.comparison.enabled:
        return None
    rows_by_variant = [differences(metrics, variant) for variant in metrics.confidence_variants]
    return [Forest(forest_picture(rows, _PANELS, _IN_WORDS), rows) for rows in rows_by_variant]


def differences(metrics: Metrics, variant: str) -> tuple[Difference, ...]:
    """The paired differences under a variant, as they are listed and drawn."""
    pair = metrics.confidence_variants[variant]
    return (*_rows(differences_of(metrics, variant), pair),) if isinstance(pair, PairedNumbers) else ()


def _rows(deltas: Mapping[str, Any], pair: PairedNumbers) -> Iterator[Difference]:
    for key, panel in () if nothing_common(pair.left) else (("augrc_at_c", "area"), ("aurc_at_c", "area")):
        yield from _row(deltas.get(key), pair, panel, title(key, pair.left), which(key, deltas.get(key), pair))
    risks = deltas.get("mae_at_coverage")
    for coverage, delta in risks.items() if isinstance(risks, Mapping) else ():
        said = which("mae_at_coverage", delta, pair, coverage)
        yield from _row(delta, pair, "risk", f"risk at {harmless(coverage)}", said)
    yield from _row(deltas.get("cmax"), pair, "coverage", "Cmax", "")


def which(key: str, delta: object, pair: PairedNumbers, coverage: str | None = None) -> str:
    """Which side a difference speaks for, in words."""
    if not isinstance(delta, DeltaNumbers):
        return ""
    said = "beyond Cmax" if delta.delta is None else which_is_better(key, delta, pair, coverage)
    return f"not comparable: {said}" if said.startswith(REACHED_AT) else said


def _row(delta: object, pair: PairedNumbers, panel: str, name: str, said: str) -> Iterator[Difference]:
    if isinstance(delta, DeltaNumbers):
        favours = (delta.favours_left, delta.favours_right)
        yield Difference(panel, name, delta.delta, ends_of(delta, pair), said, favours, _BETTER.get(said, "neither"))


def forest_picture(rows: Sequence[Difference], panels: Mapping[str, ForestPanel], words: str) -> str:
    """Differences around zero, panel by panel."""
    filled = [replace(panel, rows=[row.drawn for row in rows if row.panel == key]) for key, panel in panels.items()]
    return forest(filled, words).svg
