"""Paired differences: each other system minus the baseline with intervals, listed and drawn."""

from dataclasses import replace

from demur.drawing.forest import forest
from demur.report.differences import differences, panels_of
from demur.report.names import Pair, pairs_of
from demur.report.sections import Content, section
from demur.report.text import level_of
from demur.results.table import Results


@section("differences", "Paired differences", task="selective", order=50)
def forests(results: Results) -> Content | None:
    """The forests of every confidence, each pair of systems in turn; nothing where nothing is compared."""
    pairs, confidences = pairs_of(results), results.selective.confidences
    if not pairs:
        return None
    by_confidence = [[_forest(results, confidence, pair) for pair in pairs] for confidence in confidences]
    return {
        "interval": level_of(results) if results.study.bootstrap else "nothing resampled",
        "by_confidence": by_confidence,
        "has_margin": any(row.has_margin for each in by_confidence for forest in each for row in forest["rows"]),
    }


def _forest(results: Results, confidence: str, pair: Pair) -> Content:
    rows = differences(results, confidence, pair)
    filled = [
        replace(panel, rows=[row.drawn for row in rows if row.panel == name]) for name, panel in panels_of(pair).items()
    ]
    words = f"Paired differences, {pair.other.word} minus {pair.baseline.word}, with intervals"
    drawn = forest(filled, f"{words}; the table beneath holds the same numbers.")
    return {"pair": pair, "svg": drawn.svg, "rows": rows}
