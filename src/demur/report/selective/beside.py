"""Beside others: raters and published points, and handing over to a rater."""

import math

from demur.report.beside import HEADINGS, beside_sentences, point_cells
from demur.report.names import systems_of
from demur.report.sections import Content, section
from demur.report.text import UNDEFINED, four, threshold_text
from demur.results.parts import HandoverCurve
from demur.results.table import Results

_MOST_ROWS = 40


@section("beside", "Beside others", task="selective", order=50)
def beside(results: Results) -> Content | None:
    """Tables and sentences of every confidence; nothing where nobody stands beside the systems."""
    points = results.selective.external_points
    if not points:
        return None
    systems = systems_of(results)
    return {
        "headings": HEADINGS,
        "confidences": [
            {
                "sentences": [*beside_sentences(results, confidence)],
                "tables": [
                    (system, [point_cells(results, point, system, confidence) for point in points])
                    for system in systems
                ],
                "handover": [
                    (system, name, _handover(curve))
                    for system in systems
                    for name, curve in (results.curves[system.system, confidence].handover or {}).items()
                ],
            }
            for confidence in results.selective.confidences
        ],
    }


def _handover(curve: HandoverCurve) -> list[tuple[str, ...]]:
    """The points of a hand-over curve, the rater alone first; none of a curve with very many."""
    if len(curve.share) > _MOST_ROWS:
        return []
    rows: list[tuple[str, ...]] = []
    for index, (threshold, risk) in enumerate(zip(curve.threshold, curve.risk, strict=True)):
        lower = (*curve.threshold[index + 1 : index + 2], None)[0]
        typed = "rater alone" if threshold is None else threshold_text(threshold, -math.inf if lower is None else lower)
        shares = (f"{column[index]:.1%}" for column in (curve.share, curve.coverage))
        rows.append((typed, *shares, UNDEFINED if risk is None else four(risk)))
    return rows
