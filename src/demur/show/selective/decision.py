"""The section for decisions: one sentence and one picture of an operating point, and answers to five questions."""

from collections.abc import Iterator
from dataclasses import replace

from demur.drawing.labels import isolated
from demur.drawing.risk_coverage import MOST_MARKERS, RiskCurve, risk_coverage
from demur.inference.key import Key
from demur.results.file_models import CurveRecord
from demur.results.pictures import risk_curve
from demur.results.table import Results
from demur.sampling.coverage import Coverage
from demur.show.names import NamedSystem, systems_of
from demur.show.sections import FEW, Content, section
from demur.show.selective.cases import item_numbers
from demur.show.selective.operating import Mark, Start, marked, point_cells, points_at, start_of
from demur.show.shown_rule import ShownRule
from demur.show.statements.methods import resampling
from demur.show.statements.of_features import not_asked, said_by_features
from demur.show.statements.operating_points import (
    LEVEL,
    ComparedWithNobody,
    WorstItems,
    answering_less,
    intervals_of_risk,
    risk_words,
    risks_of_all,
    spoken,
)
from demur.show.statements.population import answered, population
from demur.show.statements.statement import Statement
from demur.show.statements.verdict import verdict
from demur.show.text import UNDEFINED, interval_heading, interval_text, shown_interval, three, threshold_at

_SIZE = (680, 400)
_IN_FULL, _HIGHER = 2, 1.2


@section("decision", "Decision", task="selective", order=10, with_rule=True)
def decision(results: Results, rule: ShownRule | None) -> Content:
    """The section for decisions: the sentence, curves and operating point by confidence, and the five questions."""
    mark, study = None if rule is None else marked(results, rule), results.selective
    start = start_of(results, mark)
    curves = {name: _curves(results, name, mark) for name in study.confidences}
    return {
        "answered": any(record.defined for record in results.curves.values()),
        "verdict": verdict(results),
        "answers": [*five_answers(results)],
        "rule": None if rule is None else (rule.sentence, rule.lines),
        "start": start,
        "others": len(results.systems) - len(spoken(results)),
        "interval": LEVEL if study.bootstrap else "interval",
        "grid_interval": interval_heading(results),
        "lower_is_surer": results.lower_is_surer,
        "grid": {Coverage.of(text).key: _risks_at(results, study.confidences[0], text) for text in study.coverages},
        "points": [*_few_points(results)],
        "confidences": [_confidence(results, start, index, drawn) for index, drawn in enumerate(curves.values())],
    }


def _curves(results: Results, confidence: str, mark: Mark | None) -> list[RiskCurve]:
    """The curves to draw: one or two systems with bands and references, many without."""
    drawn = []
    for system in systems_of(results):
        curve = risk_curve(results, system.system, confidence, system.label)
        curve = replace(curve, share=risk_words(results).percent)
        if len(results.systems) == 1:
            curve = replace(curve, label="")
        if len(results.systems) > _IN_FULL:
            curve = replace(curve, random=None, oracle=(), band=None)
        if mark and (mark.system, mark.confidence) == (system.system, confidence) and mark.point is not None:
            curve = replace(curve, mark=(curve.coverage[mark.point], curve.risk[mark.point], mark.words))
        drawn.append(curve)
    return drawn


def _confidence(results: Results, start: Start, index: int, drawn: list[RiskCurve]) -> Content:
    top = _HIGHER * max((max(curve.risk, default=0.0) for curve in drawn), default=0.0)
    name, systems = results.selective.confidences[index], systems_of(results)
    records = [results.curves[system.system, name] for system in systems]
    chosen = zip(systems, records, start.points[index], strict=True)
    return {
        "said": points_at(results, start, index),
        "svg": risk_coverage(drawn, top=top, size=_SIZE).svg,
        "takeaway": answering_less(results, name),
        "has_bands": any(curve.band is not None for curve in drawn),
        "has_references": any(curve.random is not None for curve in drawn),
        "signature": results.selective.signature(name),
        "chosen": [(system, point_cells(results, record, point, start.way)) for system, record, point in chosen],
    }


def _few_points(results: Results) -> Iterator[tuple[NamedSystem, list[tuple[str, ...]]]]:
    for system in systems_of(results):
        record = results.curves[system.system, results.selective.confidences[0]]
        if 0 < len(record.curve.coverage) <= MOST_MARKERS:
            yield system, _points(results, record)


def _points(results: Results, record: CurveRecord) -> list[tuple[str, ...]]:
    curve, words = record.curve, risk_words(results)
    columns = zip(curve.coverage, curve.selective_risk, curve.generalized_risk, strict=True)
    units = results.selective.units
    return [
        (threshold_at(record, i), f"{share:.1%}", f"{round(share * units)}", words.risk(risk), f"{general:.3g}")
        for i, (share, risk, general) in enumerate(columns)
    ]


def _risks_at(results: Results, confidence: str, text: str) -> list[tuple[str, str, str]]:
    """At a requested coverage: what each system reaches, its risk there and the interval."""
    cells = []
    for system in results.systems:
        row = results[Key(system, f"risk@{text}", confidence)]
        shown_cells = ("beyond Cmax", UNDEFINED, UNDEFINED)
        if row.at is not None:
            shown_cells = (f"{row.at:.1%}", three(row.value), interval_text(shown_interval(results, row)))
        cells.append(shown_cells)
    return cells


def five_answers(results: Results) -> Iterator[tuple[str, list[Statement]]]:
    """Five questions of a clinician with short answers, under the first confidence."""
    confidence = results.selective.confidences[0]
    yield "How many cases?", [answered(results), population(results)]
    yield "How wrong?", [risks_of_all(results, confidence)]
    resampled = results.study.bootstrap is not None
    yield "How sure?", [intervals_of_risk(results, confidence) if resampled else resampling(results)]
    yield "Compared with whom?", [_compared_with(results)]
    of_items = [*not_asked("for_whom"), _worst_items(results)]
    yield "For whom is it worse?", said_by_features(results, "for_whom") or of_items


def _compared_with(results: Results) -> Statement:
    if len(results.systems) > 1:
        return verdict(results).headline
    said = said_by_features(results, "compared_with")
    return said[0] if said else ComparedWithNobody(tuple(not_asked("compared_with")))


def _worst_items(results: Results) -> WorstItems:
    table, worst = item_numbers(results), []
    for system in spoken(results):
        own = {item: numbers for (item, name), numbers in table.items() if name == system.system}
        judged = {item: numbers["risk"] for item, numbers in own.items() if numbers["answered"] >= FEW}
        if len(judged) > 1:
            item = max(judged, key=lambda name: judged[name])
            worst.append((system.name, isolated(item), judged[item]))
    summarized = results.execution is not None and bool(results.execution.left_out)
    return WorstItems(risk_words(results), tuple(worst), len(table), FEW, summarized)
