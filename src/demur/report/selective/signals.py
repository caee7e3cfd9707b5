"""Signals: every confidence side by side at a common coverage, and whether its numbers mean what they say."""

from collections.abc import Mapping

from demur.drawing.confidence import ConfidenceBars, histogram, reliability_diagram
from demur.inference.key import Key
from demur.report.differences import nothing_common, says_in_full
from demur.report.names import NamedSystem, Pair, pairs_of, systems_of, why_skipped
from demur.report.sections import Content, section
from demur.report.selective.sentences import cut_area
from demur.report.text import UNDEFINED, title_of, with_interval
from demur.results.parts import CurveRecord
from demur.results.pictures import reliability_bins
from demur.results.table import Results

Records = Mapping[NamedSystem, CurveRecord]


@section("signals", "Which signal", task="selective", order=60)
def signals(results: Results) -> Content:
    """Every confidence side by side, and the pictures of each."""
    study, systems = results.selective, systems_of(results)
    first = results[Key(results.systems[0], cut_area(results), study.confidences[0])]
    records = {name: {each: results.curves[each.system, name] for each in systems} for name in study.confidences}
    return {
        "area": "" if nothing_common(results, study.confidences[0]) else title_of(first),
        "pairs": pairs_of(results),
        "skipped": [(each.name, why_skipped(results, each)) for each in study.skipped],
        "rows": [_row(results, name, by_system) for name, by_system in records.items()],
        "pictures": [*map(_pictures, records.values())],
    }


def _row(results: Results, confidence: str, records: Records) -> Content:
    """Operating points, area and ECE of each system, and of each pair the difference and what it says."""
    return {
        "name": confidence,
        "points": [len(record.curve.coverage) for record in records.values()],
        "areas": [_area(results, system.system, confidence) for system in records],
        "ece": _ece(records),
        "differences": [_difference(results, confidence, pair) for pair in pairs_of(results)],
    }


def _difference(results: Results, confidence: str, pair: Pair) -> tuple[str, str]:
    if nothing_common(results, confidence):
        return "", ""
    key = pair.key(cut_area(results), confidence)
    return with_interval(results, results[key]), says_in_full(results, pair, key)


def _ece(records: Records) -> str:
    """The calibration error of each system whose confidence is a probability, with its word where there are several."""
    tables = {system.word: record.reliability for system, record in records.items()}
    if not any(tables.values()):
        return UNDEFINED
    values = {word: f"{table.ece:.3f}" if table else UNDEFINED for word, table in tables.items()}
    return ", ".join(value if len(values) == 1 else f"{word} {value}" for word, value in values.items())


def _area(results: Results, system: str, confidence: str) -> str:
    if not results.curves[system, confidence].defined:
        return "nothing is answered"
    if nothing_common(results, confidence):
        return UNDEFINED
    return with_interval(results, results[Key(system, cut_area(results), confidence)])


def _pictures(records: Records) -> Content:
    """How reliable a confidence is, and how it is spread."""
    bars = [
        (system, ConfidenceBars(system.style, counts.edges, counts.right, counts.wrong, counts.abstained))
        for system, record in records.items()
        if (counts := record.histogram)
    ]
    top = max((each.tallest for _, each in bars), default=0) or 1
    histograms = [(system, histogram(each, top).svg, each.abstained) for system, each in bars]
    return {"reliability": _reliability(records), "histograms": histograms}


def _reliability(records: Records) -> str | None:
    drawn = [(system, table) for system, record in records.items() if (table := record.reliability)]
    if not drawn:
        return None
    errors = "; ".join(f"{system.word}: expected calibration error {table.ece:.3f}" for system, table in drawn)
    words = f"Reliability: share that was right against what the confidence says. {errors}."
    bins = [reliability_bins(table, system.word, system.style) for system, table in drawn]
    return reliability_diagram(bins, words).svg
