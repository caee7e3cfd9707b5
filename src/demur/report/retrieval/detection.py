"""No-evidence detection on the page: probabilities, thresholds, the gate's curve, and the decision to show nothing."""

import math
from collections.abc import Iterator
from dataclasses import replace

from demur.drawing.risk_coverage import RiskCurve, risk_coverage
from demur.inference.estimates import Estimate
from demur.inference.key import Group, Key
from demur.quantities import Measure
from demur.report.names import isolated
from demur.report.retrieval.places import (
    DECISION,
    DETECTION,
    GATE,
    cell,
    chance_numbers,
    pooled_places,
    range_place,
    systems_of,
    title,
)
from demur.report.sections import Content, section
from demur.report.text import three
from demur.results.table import Results

_RULES = {"threshold": "the gate’s threshold", "selected_ids": "the selection", "ranked_ids": "the list"}


@section("detection", "No evidence here", task="retrieval", order=50)
def detection(results: Results) -> Content:
    """How well the systems know where there is nothing."""
    first = pooled_places(results, results.systems[0]).get(DECISION, [])
    decisions = [
        (
            named,
            _RULES[system.empty_decision_by],
            [cell(results, results.get(replace(row.key, system=system.name))) for row in first],
        )
        for named, system in zip(systems_of(results), results.retrieval.systems, strict=True)
    ]
    shared: dict[tuple[str, ...], list[str]] = {}
    for system in results.systems:
        numbers = chance_numbers(results, system, "forecasts", "curve")
        if numbers:
            shared.setdefault(numbers, []).append(system)
    told = [_probabilities(results, names) for names in shared.values()]
    return {"probabilities": told, "columns": [title(row.key) for row in first], "decisions": decisions}


def _probabilities(results: Results, names: list[str]) -> Content:
    """What the probabilities of some systems tell; systems that share them are listed together."""
    places = pooled_places(results, names[0])
    rows = places.get(DETECTION, [])
    return {
        "names": ", ".join(map(isolated, names)),
        "everyone": len(names) == len(results.systems),
        "single_class": any(row.by_convention for row in rows),
        "rows": [*detection_rows(results, rows)],
        "thresholds": [*thresholds(rows)],
        "curve": _curve(results, names[0]),
        "gate": [(title(row.key), cell(results, row)) for row in places.get(GATE, [])],
    }


def detection_rows(results: Results, rows: list[Estimate]) -> Iterator[tuple[str, str, str, str]]:
    """Each number: its title, pooled, averaged over criteria, and where it falls among the reference ranges."""
    for row in rows:
        over_criteria = results.get(replace(row.key, group=Group("criterion")))
        yield title(row.key), cell(results, row), cell(results, over_criteria), range_place(results, row.key)


def thresholds(rows: list[Estimate]) -> Iterator[tuple[str, str | None, str, str]]:
    """Of each rate of false alarms: the probability that keeps it, if a finite one does, and both rates there."""
    for row in rows:
        measure = Measure.of(row.key.quantity)
        if measure.quantity.parameter is not None:
            threshold = None if row.threshold is None else f"{row.threshold:.6g}"
            yield f"{measure.value:.0%}", threshold, three(row.value), three(row.at or 0.0)


def _curve(results: Results, system: str) -> str | None:
    record, risk = results.curves.get((system, "prob")), results.get(Key(system, "risk", "prob"))
    if record is None:
        return None
    random = None if risk is None or math.isnan(risk.value) else (risk.value, risk.value)
    curve = RiskCurve("run", "left", record.curve.coverage, record.curve.selective_risk, record.cmax, random)
    return risk_coverage([curve], "selective", units="queries that are let through").svg
