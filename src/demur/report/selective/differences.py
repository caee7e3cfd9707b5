"""Paired differences: each other system minus the baseline with intervals, listed and drawn."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from demur.drawing.forest import forest
from demur.report.differences import Difference, differences, panels_of
from demur.report.names import Pair, pairs_of
from demur.report.sections import section
from demur.report.text import level_of

if TYPE_CHECKING:
    from demur.results.table import Results


@dataclass(frozen=True, slots=True)
class Forest:
    """The differences of one pair under one confidence, drawn and listed."""

    pair: Pair
    svg: str
    rows: tuple[Difference, ...]

    @property
    def has_margin(self) -> bool:
        """Whether a margin can be tried on one of them."""
        return any(row.has_margin for row in self.rows)


@dataclass(frozen=True, slots=True)
class Forests:
    """The forests of every confidence, each pair of systems in turn, and what their intervals are called."""

    interval: str
    by_confidence: tuple[tuple[Forest, ...], ...]

    @property
    def has_margin(self) -> bool:
        """Whether a margin can be tried on one of them."""
        return any(each.has_margin for forests in self.by_confidence for each in forests)


@section("differences", "Paired differences", task="selective", order=50)
def forests(results: Results) -> Forests | None:
    """The forests of every confidence, or nothing where nothing is compared."""
    pairs = pairs_of(results)
    if not pairs:
        return None
    return Forests(
        interval=level_of(results) if results.study.bootstrap else "nothing resampled",
        by_confidence=tuple(
            tuple(_forest(results, confidence, pair) for pair in pairs) for confidence in results.selective.confidences
        ),
    )


def _forest(results: Results, confidence: str, pair: Pair) -> Forest:
    rows = differences(results, confidence, pair)
    filled = [
        replace(panel, rows=[row.drawn for row in rows if row.panel == name]) for name, panel in panels_of(pair).items()
    ]
    words = f"Paired differences, {pair.other.word} minus {pair.baseline.word}, with intervals"
    return Forest(pair, forest(filled, f"{words}; the table beneath holds the same numbers.").svg, rows)
