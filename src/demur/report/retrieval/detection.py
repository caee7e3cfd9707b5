"""No-evidence detection on the page: probabilities, thresholds, the gate's curve, and the decision to show nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from demur.drawing.risk_coverage import RiskCurve, risk_coverage
from demur.report.retrieval_names import number_title, rate_text
from demur.report.sides import isolated
from demur.report.systems import cell, systems_of
from demur.verdict import three

if TYPE_CHECKING:
    from collections.abc import Iterator

    from demur.report.sides import Side
    from demur.retrieval_artifact import DetectionNumbers, GateNumbers, RetrievalMetrics, SystemNumbers

_RULES = {"threshold": "the gate’s threshold", "selected_ids": "the selection", "ranked_ids": "the list"}


@dataclass(frozen=True, slots=True)
class Told:
    """What the probabilities of some systems tell; systems that share them share a place."""

    names: str
    everyone: bool
    single_class: bool
    rows: tuple[tuple[str, str, str, str], ...]
    thresholds: tuple[tuple[str, str, str, str], ...]
    curve: str | None
    gate: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Decisions:
    """The decision to show nothing: what it is by, and how often it is right."""

    side: Side
    rule: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Detection:
    """Probabilities, and decisions."""

    told: tuple[Told, ...]
    columns: tuple[str, ...]
    decisions: tuple[Decisions, ...]


def detection(metrics: RetrievalMetrics) -> Detection:
    """How well the systems know where there is nothing."""
    columns = [*next(iter(metrics.systems.values())).empty_decision]
    return Detection(
        told=tuple(_told(metrics, names, one) for names, one in _shared(metrics)),
        columns=tuple(map(number_title, columns)),
        decisions=tuple(
            Decisions(
                side, _RULES[one.empty_decision_by], tuple(cell(one.empty_decision.get(name)) for name in columns)
            )
            for side, one in zip(systems_of(metrics), metrics.systems.values(), strict=True)
        ),
    )


def _shared(metrics: RetrievalMetrics) -> list[tuple[list[str], SystemNumbers]]:
    found: list[tuple[list[str], SystemNumbers]] = []
    for name, system in metrics.systems.items():
        if system.detection is None:
            continue
        same = next(
            (names for names, one in found if (one.detection, one.gate) == (system.detection, system.gate)), None
        )
        if same is None:
            found.append(([name], system))
        else:
            same.append(name)
    return found


def _told(metrics: RetrievalMetrics, names: list[str], system: SystemNumbers) -> Told:
    told = system.detection
    assert told is not None  # noqa: S101  (asked for where there is one)
    places = {one.metric: one.place for one in metrics.reference_ranges if one.system == names[0]}
    return Told(
        names=", ".join(map(isolated, names)),
        everyone=len(names) == len(metrics.systems),
        single_class=told.single_class,
        rows=tuple(
            (number_title(name), cell(one), cell(told.macro.get(name)), places.get(name, ""))
            for name, one in told.micro.items()
        ),
        thresholds=tuple(_thresholds(told)),
        curve=_curve(system.gate) if system.gate else None,
        gate=tuple((number_title(name), cell(one)) for name, one in system.gate.metrics.items()) if system.gate else (),
    )


def _thresholds(told: DetectionNumbers) -> Iterator[tuple[str, str, str, str]]:
    for rate, at in told.threshold_at_fpr.items():
        line = "no finite threshold" if at.threshold is None else f"{at.threshold:.6g}"
        yield rate_text(rate), line, three(at.tpr), three(at.fpr)


def _curve(gate: GateNumbers) -> str:
    curve, mae = gate.curve, gate.metrics.get("mae")
    cmax = curve.coverage[-1] if curve.coverage else 0.0
    random = None if mae is None or mae.value is None else (mae.value, mae.value)
    drawn = RiskCurve("run", "left", curve.coverage, curve.selective_risk, cmax, random)
    return risk_coverage([drawn], "selective", units="queries that are let through").svg
