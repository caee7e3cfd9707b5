"""Sections on no-evidence detection and on selections: probabilities, thresholds, the gate, decisions."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from demur.drawing.labels import isolated
from demur.drawing.risk_coverage import RiskCurve, risk_coverage
from demur.drawing.system_styles import STYLES
from demur.extensions.retrieval.headings import by_heading, pooled, pooled_and_mean, title
from demur.extensions.retrieval.statements.detection import SingleClass, chance_numbers, empty_decision
from demur.extensions.retrieval.study import study_of
from demur.inference.estimates import Estimate
from demur.inference.key import Key
from demur.quantities import Measure
from demur.results.table import Results
from demur.show.names import systems_of
from demur.show.sections import Content, section
from demur.show.text import cell, three

_MOST_BREACHES = 50


@section("detection", "No evidence here", task="retrieval", order=50)
def detection(results: Results) -> Content:
    """How well the systems detect queries without evidence; systems with the same probabilities are merged."""
    first = pooled(results, results.systems[0], "decision")
    decisions = []
    for named, system in zip(systems_of(results), study_of(results).systems, strict=True):
        cells = [cell(results, results.get(replace(row.key, system=system.name))) for row in first]
        decisions.append((named, empty_decision(system), cells))
    shared: dict[tuple[str, ...], list[str]] = {}
    for name in results.systems:
        shared.setdefault(chance_numbers(results, name, "forecasts", "curve"), []).append(name)
    probabilities = [_probabilities(results, names) for numbers, names in shared.items() if numbers]
    return {"probabilities": probabilities, "columns": [title(row.key) for row in first], "decisions": decisions}


def _probabilities(results: Results, names: list[str]) -> Content:
    rows = pooled(results, names[0], "forecasts")
    return {
        "names": ", ".join(map(isolated, names)),
        "everyone": len(names) == len(results.systems),
        "single_class": SingleClass() if any(row.by_convention for row in rows) else None,
        "rows": [(title(row.key), *pooled_and_mean(results, row.key)) for row in rows],
        "thresholds": [*thresholds(rows)],
        "curve": _curve(results, names[0]),
        "gate": [(title(row.key), cell(results, row)) for row in pooled(results, names[0], "curve")],
    }


def thresholds(rows: list[Estimate]) -> Iterator[tuple[str, str | None, str, str]]:
    """For each false positive rate: the threshold that keeps to it, if a finite one does, and both rates there."""
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
    curve = RiskCurve("gate", STYLES[0].style, record.curve.coverage, record.curve.selective_risk, record.cmax, random)
    return risk_coverage([curve], units="queries that are let through").svg


def selections_of(results: Results, system: str) -> dict[str, list[Estimate]]:
    """The selection numbers of a system, by policy; "as selected" is its own selection."""
    headings = by_heading(results.where(system=system, group=None, minus=None)).items()
    return {heading.policy or "as selected": rows for heading, rows in headings if heading.family == "selection"}


@section("shown", "What is shown", task="retrieval", order=60)
def what_is_shown(results: Results) -> Content | None:
    """Selections and policies side by side, and which break the bounds; None without selections."""
    columns, rows, breaches = list[str](), list[Any](), list[Any]()
    for named, system in zip(systems_of(results), study_of(results).systems, strict=True):
        for chosen_by, numbers in selections_of(results, system.name).items():
            columns = [title(number.key) for number in numbers]
            rows.append((named, chosen_by, [cell(results, number) for number in numbers]))
        if system.breaches:
            first = system.breaches[:_MOST_BREACHES]
            breaches.append((named, first, len(system.breaches) - len(first)))
    return {"columns": columns, "rows": rows, "breaches": breaches} if rows else None
