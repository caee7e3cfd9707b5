"""No-evidence detection on the page: probabilities, thresholds, the gate's curve, and the decision to show nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from demur.drawing.risk_coverage import RiskCurve, risk_coverage
from demur.inference.key import Group, Key
from demur.quantities import Measure
from demur.report.names import isolated
from demur.report.retrieval.places import Place, by_place, cell, chance_numbers, placed_figures, systems_of, title
from demur.report.sections import section
from demur.report.text import three

if TYPE_CHECKING:
    from demur.inference.estimates import Estimate
    from demur.report.names import NamedSystem
    from demur.results.table import Results

RULES = {"threshold": "the gate’s threshold", "selected_ids": "the selection", "ranked_ids": "the list"}
DETECTION, GATE, DECISION = Place("forecasts", "all"), Place("curve", "all"), Place("decision", "all")


@dataclass(frozen=True, slots=True)
class Threshold:
    """From which probability on false alarms stay within a rate, and the rates reached there."""

    rate: str
    threshold: str
    tpr: str
    fpr: str

    @classmethod
    def of(cls, estimate: Estimate, otherwise: str = "no finite threshold") -> Threshold:
        """Of a true positive rate at a false positive rate."""
        line = otherwise if estimate.threshold is None else f"{estimate.threshold:.6g}"
        rate = f"{Measure.of(estimate.key.quantity).value:.0%}"
        return cls(rate, line, three(estimate.value), three(estimate.at or 0.0))


@dataclass(frozen=True, slots=True)
class Probabilities:
    """What the probabilities of some systems tell; systems that share them are listed together."""

    names: str
    everyone: bool
    single_class: bool
    rows: tuple[tuple[str, str, str, str], ...]
    thresholds: tuple[Threshold, ...]
    curve: str | None
    gate: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class EmptyDecision:
    """The decision of one system to show nothing: what it is by, and how often it is right."""

    system: NamedSystem
    rule: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Detection:
    """Probabilities, and decisions."""

    probabilities: tuple[Probabilities, ...]
    columns: tuple[str, ...]
    decisions: tuple[EmptyDecision, ...]


@section("detection", "No evidence here", task="retrieval", order=50)
def detection(results: Results) -> Detection:
    """How well the systems know where there is nothing."""
    pooled = {system: pooled_places(results, system) for system in results.systems}
    first = pooled[results.systems[0]].get(DECISION, [])
    decisions = [
        EmptyDecision(
            named,
            RULES[system.empty_decision_by],
            tuple(cell(results, results.get(replace(row.key, system=system.name))) for row in first),
        )
        for named, system in zip(systems_of(results), results.retrieval.systems, strict=True)
    ]
    shared: dict[object, list[str]] = {}
    for system, places in pooled.items():
        if DETECTION in places:
            shared.setdefault(chance_numbers(results, system, "forecasts", "curve"), []).append(system)
    return Detection(
        probabilities=tuple(_probabilities(results, names, pooled[names[0]]) for names in shared.values()),
        columns=tuple(title(row.key) for row in first),
        decisions=tuple(decisions),
    )


def pooled_places(results: Results, system: str) -> dict[Place, list[Estimate]]:
    """The numbers of a system over all criteria and folds, place by place."""
    return by_place(results.where(system=system, group=None, minus=None))


def thresholds(rows: list[Estimate]) -> list[Estimate]:
    """The true positive rates at a false positive rate."""
    return [row for row in rows if Measure.of(row.key.quantity).quantity.parameter is not None]


def _probabilities(results: Results, names: list[str], places: dict[Place, list[Estimate]]) -> Probabilities:
    rows, gate = places[DETECTION], places.get(GATE, [])
    placed = placed_figures(results, names[0])
    return Probabilities(
        names=", ".join(map(isolated, names)),
        everyone=len(names) == len(results.systems),
        single_class=any(row.by_convention for row in rows),
        rows=tuple(
            (
                title(row.key),
                cell(results, row),
                cell(results, results.get(replace(row.key, group=Group("criterion")))),
                placed[row.key.quantity].place if row.key.quantity in placed else "",
            )
            for row in rows
        ),
        thresholds=tuple(map(Threshold.of, thresholds(rows))),
        curve=_curve(results, names[0]),
        gate=tuple((title(row.key), cell(results, row)) for row in gate),
    )


def _curve(results: Results, system: str) -> str | None:
    record, risk = results.curves.get((system, "prob")), results.get(Key(system, "risk", "prob"))
    if record is None:
        return None
    random = None if risk is None or math.isnan(risk.value) else (risk.value, risk.value)
    curve = RiskCurve("run", "left", record.curve.coverage, record.curve.selective_risk, record.cmax, random)
    return risk_coverage([curve], "selective", units="queries that are let through").svg
