"""The section for decisions: one sentence and one picture of an operating point, and five questions answered."""

import math
from collections.abc import Iterator
from dataclasses import replace

from demur.decide.rule import Rule
from demur.decide.words import rule_text, sentence
from demur.drawing.labels import isolated
from demur.drawing.risk_coverage import MOST_MARKERS, RiskCurve, risk_coverage
from demur.errors import shown
from demur.inference.key import Key
from demur.report.names import NamedSystem, systems_of
from demur.report.sections import FEW, Content, section
from demur.report.selective.beside import beside_sentences
from demur.report.selective.cases import item_numbers
from demur.report.selective.groups import group_tables
from demur.report.selective.operating import (
    LEVEL,
    Mark,
    Start,
    ends_at,
    marked,
    point_cells,
    spoken,
    spoken_sentence,
    start_of,
    words_of,
)
from demur.report.selective.overview import verdict
from demur.report.text import UNDEFINED, interval_text, level_of, listing, shown_interval, three, threshold_at
from demur.results.parts import CurveRecord
from demur.results.pictures import risk_curve
from demur.results.table import Results
from demur.sampling.coverage import Coverage

_SIZE = (680, 400)
_IN_FULL, _HIGHER = 2, 1.2
_NO_ITEMS = "Items are compared if an instrument fixes them, or if up to 30 are named, with at least 10 units each."


@section("decision", "Decision", task="selective", order=10, with_rule=True)
def decision(results: Results, rule: Rule | None) -> Content:
    """The sentence, the curves and the operating point of every confidence, and the five questions."""
    mark, study = None if rule is None else marked(results, rule), results.selective
    start = start_of(results, mark)
    curves = {name: _curves(results, name, mark) for name in study.confidences}
    return {
        "answered": any(record.defined for record in results.curves.values()),
        "verdict": verdict(results),
        "answers": [*five_answers(results)],
        "rule": None if rule is None else (sentence(rule), rule_text(rule).splitlines()),
        "start": start,
        "others": len(results.systems) - len(spoken(results)),
        "interval": LEVEL if study.bootstrap else "interval",
        "grid_interval": level_of(results) if study.bootstrap else "nothing resampled",
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
        curve = replace(curve, share=words_of(results).percent)
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
        "sentence": spoken_sentence(results, start, index),
        "svg": risk_coverage(drawn, top=top, size=_SIZE).svg,
        "takeaway": takeaway(results, name),
        "has_bands": any(curve.band is not None for curve in drawn),
        "has_references": any(curve.random is not None for curve in drawn),
        "signature": str(results.selective.signature(name)),
        "chosen": [(system, point_cells(results, record, point, start.way)) for system, record, point in chosen],
    }


def takeaway(results: Results, confidence: str) -> str:
    """The curves in one line: the effect on the risk of answering half as much."""
    words, texts = words_of(results), []
    for system in spoken(results):
        curve = results.curves[system.system, confidence].curve
        if len(curve.coverage) > 1:
            half = min(range(len(curve.coverage)), key=lambda i: abs(curve.coverage[i] - curve.coverage[-1] / 2))
            now, then = curve.selective_risk[-1], curve.selective_risk[half]
            change = f"{'falls' if then < now else 'rises'} from {words.risk(now)} to {words.risk(then)}"
            less = f"from {curve.coverage[-1]:.1%} to {curve.coverage[half]:.1%} of the items"
            risk = change if then != now else f"stays at {words.risk(now)}"
            texts.append(f"if {system.name} answers less, {less}, its risk {risk}")
    text = "; ".join(texts)
    return f"{text[:1].upper()}{text[1:]}." if text else "There is one operating point: no threshold changes anything."


def _few_points(results: Results) -> Iterator[tuple[NamedSystem, list[tuple[str, ...]]]]:
    """The operating points of systems that have few."""
    for system in systems_of(results):
        record = results.curves[system.system, results.selective.confidences[0]]
        if 0 < len(record.curve.coverage) <= MOST_MARKERS:
            yield system, _points(results, record)


def _points(results: Results, record: CurveRecord) -> list[tuple[str, ...]]:
    curve, words = record.curve, words_of(results)
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


def five_answers(results: Results) -> Iterator[tuple[str, str]]:
    """Five questions of a clinician with short answers, under the first confidence."""
    yield "How many cases?", _how_many(results)
    yield "How wrong?", _how_wrong(results)
    yield "How sure?", _how_sure(results)
    yield "Compared with whom?", _compared_with(results)
    yield "For whom is it worse?", _worst_group(results)


def _how_many(results: Results) -> str:
    study, systems = results.selective, systems_of(results)
    counts = [
        f"{system.name} {'answers ' if not index else ''}{counts_of.answered} of {study.units} items"
        f" ({counts_of.answered / max(study.units, 1):.1%})"
        for index, (system, counts_of) in enumerate(zip(systems, study.systems, strict=True))
    ]
    failed = f"; {study.clusters_failed} more failed and are excluded" if study.clusters_failed else ""
    return f"Without a threshold {listing(counts)}, of {study.clusters_included} {study.noun}s{failed}."


def _how_wrong(results: Results) -> str:
    study, words, confidence = results.selective, words_of(results), results.selective.confidences[0]
    risk_of = [(system, results[Key(system.system, "risk", confidence)].value) for system in systems_of(results)]
    risks = [f"{words.risk(risk)} for {system.name}" for system, risk in risk_of if not math.isnan(risk)]
    if not risks:
        return "Nothing is answered, so nothing can be wrong."
    subject = "The share of wrong answers" if words.percent else f"The mean loss ({shown(study.loss.definition)})"
    unequal = len({results.curves[system, confidence].cmax for system in results.systems}) > 1
    aside = " They answer different items, so these errors alone do not compare them." if unequal else ""
    return f"{subject} among all answers is {listing(risks)}.{aside}"


def _how_sure(results: Results) -> str:
    study, confidence, words = results.selective, results.selective.confidences[0], words_of(results)
    texts = list[str]()
    if study.bootstrap is None:
        return "Nothing was resampled: there are no intervals, and the uncertainty is not known."
    for system in systems_of(results):
        record = results.curves[system.system, confidence]
        ends = ends_at(words, record, len(record.curve.coverage) - 1) if record.defined else None
        between = f"{ends[0]}{words.unit} to {ends[1]}{words.unit}" if ends else "not known"
        texts.append(f"{between} for {system.name}")
    return f"The {LEVEL} of that risk is {listing(texts)}, from {study.clusters_included} {study.noun}s."


def _compared_with(results: Results) -> str:
    if len(results.systems) > 1:
        return verdict(results).headline
    if results.selective.external_points:
        return next(beside_sentences(results, results.selective.confidences[0]))
    return "With nobody: this is one system, and no rater or published point was given (--rater, --point)."


def _worst_group(results: Results) -> str:
    tables = group_tables(results, results.selective.confidences[0])
    if tables:
        several = len(results.systems) > 1
        heads = (f"By {isolated(group.name)}{f', {group.system.name}' if several else ''}" for group in tables)
        texts = [f"{head}: {' '.join(group.sentences[:2])}" for head, group in zip(heads, tables, strict=True)]
        return " ".join(texts[:_IN_FULL])
    return f"No groups were given (--group). {_worst_item(results)}"


def _worst_item(results: Results) -> str:
    """The item with the highest risk of each system, among those with enough answers."""
    words, table, texts = words_of(results), item_numbers(results), []
    for system in spoken(results):
        own = {item: numbers for (item, name), numbers in table.items() if name == system.system}
        judged = {item: numbers["risk"] for item, numbers in own.items() if numbers["answered"] >= FEW}
        if len(judged) > 1:
            worst = max(judged, key=lambda item: judged[item])
            texts.append(f"{isolated(worst)} for {system.name} ({words.risk(judged[worst])})")
    if not table:
        is_summary = results.execution is not None and bool(results.execution.left_out)
        return "Summaries do not tell items apart." if is_summary else _NO_ITEMS
    if not texts:
        return f"No two items have {FEW} answers, so none is called worse."
    return f"By item, it is most often or most severely wrong on {listing(texts)}."
