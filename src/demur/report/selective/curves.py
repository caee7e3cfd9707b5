"""Curves: the risk–coverage charts of every confidence, and tables of those with few operating points."""

from collections.abc import Iterator, Mapping

from demur.drawing.risk_coverage import MOST_MARKERS, Kind, risk_coverage
from demur.report.names import systems_of
from demur.report.sections import Content, section
from demur.report.text import threshold_at
from demur.results.parts import Points
from demur.results.pictures import risk_curve
from demur.results.table import Results

KINDS: tuple[Kind, ...] = ("selective", "generalized")


@section("curves", "Risk and coverage", task="selective", order=30)
def curves(results: Results) -> list[Content]:
    """The pictures of every confidence, all of a kind on one scale."""
    systems, confidences = systems_of(results), results.selective.confidences
    drawn = {
        (kind, confidence): [risk_curve(results, each.system, confidence, kind, each.word) for each in systems]
        for kind in KINDS
        for confidence in confidences
    }
    tops = {kind: max(curve.highest for name in confidences for curve in drawn[kind, name]) for kind in KINDS}
    return [
        _curves(
            results,
            confidence,
            {kind: risk_coverage(drawn[kind, confidence], kind, top=tops[kind]).svg for kind in KINDS},
        )
        for confidence in confidences
    ]


def _curves(results: Results, confidence: str, pictures: Mapping[Kind, str]) -> Content:
    """The pictures, how many operating points each system has, and tables of those that are few."""
    records = {each: results.curves[each.system, confidence] for each in systems_of(results)}
    points = {system: len(record.curve.coverage) for system, record in records.items()}
    few = [system for system, count in points.items() if 0 < count <= MOST_MARKERS]
    return {
        "pictures": pictures,
        "points": points,
        "tables": {system: [*_rows(records[system].curve, results.selective.units)] for system in few},
        "has_bands": any(record.bands is not None for record in records.values()),
        "has_oracle": any(record.reference is not None for record in records.values()),
    }


def _rows(curve: Points, units: int) -> Iterator[tuple[str, ...]]:
    columns = (curve.coverage, curve.selective_risk, curve.generalized_risk)
    for point, (coverage, selective, generalized) in enumerate(zip(*columns, strict=True)):
        accepted = f"{round(coverage * units)}"
        yield threshold_at(curve, point), f"{coverage:.1%}", accepted, f"{selective:.4g}", f"{generalized:.4g}"
