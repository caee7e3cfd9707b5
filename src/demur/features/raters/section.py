"""Raters and published points as a section: pictures, statements and tables, and handing over to a rater."""

import math
from collections.abc import Iterator
from dataclasses import replace

from demur.drawing.labels import isolated, shortened
from demur.drawing.risk_coverage import RiskCurve
from demur.features.raters.charts import Handover, OutsidePoint, handover_chart, points_chart
from demur.features.raters.gaps import system_key
from demur.features.raters.models import HandoverCurve
from demur.features.raters.recorded import handover_of, points_of
from demur.features.raters.statements import point_statements
from demur.features.raters.table_rows import HEADINGS, point_row
from demur.inference.key import Key
from demur.quantities.thresholds import typed_threshold
from demur.results.pictures import risk_curve
from demur.results.table import Results
from demur.show.names import NamedSystem, systems_of
from demur.show.sections import Content, section
from demur.show.statements.operating_points import risk_words
from demur.show.text import UNDEFINED, ends_of, four, shown_interval

_MOST_ROWS = 40  # of a hand-over curve
_WITH_BANDS = 2
_LONGEST = 16  # letters of a name in a picture


@section("beside", "Beside others", task="selective", order=50)
def raters_and_points(results: Results) -> Content | None:
    """Pictures, sentences and tables of every confidence; None without raters and points."""
    points = points_of(results)
    if not points:
        return None
    systems = systems_of(results)
    return {
        "headings": HEADINGS,
        "systems": systems,
        "confidences": [
            {
                "svg": points_chart(_curves(results, confidence), [*_points(results, confidence)]).svg,
                "statements": [*point_statements(results, confidence)],
                "tables": [
                    (system, [point_row(results, point, system, confidence) for point in points]) for system in systems
                ],
                "handover": [
                    (system, name, _handover_drawn(results, system, name, curve), _handover(curve))
                    for system in systems
                    for name, curve in handover_of(results.curves[system.system, confidence]).items()
                ],
            }
            for confidence in results.selective.confidences
        ],
    }


def _curves(results: Results, confidence: str) -> list[RiskCurve]:
    """The curve of each system, with its band where there are one or two."""
    drawn, percent = [], risk_words(results).percent
    for system in systems_of(results):
        label = system.label if len(results.systems) > 1 else ""
        curve = risk_curve(results, system.system, confidence, label)
        band = curve.band if len(results.systems) <= _WITH_BANDS else None
        drawn.append(replace(curve, share=percent, random=None, oracle=(), band=band))
    return drawn


def _points(results: Results, confidence: str) -> Iterator[OutsidePoint]:
    """Each rater and point as drawn, with the numbers of its table row."""
    points = points_of(results)
    labels = map(isolated, shortened([point.name for point in points], _LONGEST))
    for label, point in zip(labels, points, strict=True):
        risks = [
            (system.style, results[system_key(point.name, system.system, confidence)].value)
            for system in systems_of(results)
        ]
        defined = [(style, risk) for style, risk in risks if not math.isnan(risk)]
        numbers = (results[Key(point.name, name)] for name in ("cmax", "risk"))
        across, up = (ends_of(shown_interval(results, number)) for number in numbers)
        yield OutsidePoint(label, point.kind, point.coverage, point.risk, across, up, defined)


def _handover_drawn(results: Results, system: NamedSystem, rater: str, curve: HandoverCurve) -> str:
    known = [(share, risk) for share, risk in zip(curve.share, curve.risk, strict=True) if risk is not None]
    label, percent = isolated(shortened([rater], _LONGEST)[0]), risk_words(results).percent
    shares, risks = [share for share, _ in known], [risk for _, risk in known]
    return handover_chart(Handover(system.style, label, shares, risks, percent)).svg


def _handover(curve: HandoverCurve) -> list[tuple[str, ...]]:
    """The points of a hand-over curve, the rater alone first; none if there are very many."""
    if len(curve.share) > _MOST_ROWS:
        return []
    rows: list[tuple[str, ...]] = []
    for index, (threshold, risk) in enumerate(zip(curve.threshold, curve.risk, strict=True)):
        lower = (*curve.threshold[index + 1 : index + 2], None)[0]
        typed = (
            "rater alone" if threshold is None else typed_threshold(threshold, -math.inf if lower is None else lower)
        )
        shares = (f"{column[index]:.1%}" for column in (curve.share, curve.coverage))
        rows.append((typed, *shares, UNDEFINED if risk is None else four(risk)))
    return rows
