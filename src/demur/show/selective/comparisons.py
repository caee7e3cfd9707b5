"""Sections on paired differences, and on the confidences in comparison."""

import math
from collections import Counter

from demur.drawing.confidence import ConfidenceBars, histogram, reliability_diagram
from demur.drawing.forest import around_zero, difference_strip, scale_strip
from demur.inference.key import Key
from demur.results.file_models import CurveRecord, ReliabilityTable
from demur.results.pictures import reliability_bins
from demur.results.study import AREA
from demur.results.table import Results
from demur.show.differences import Difference, differences
from demur.show.names import NamedSystem, Pair, pairs_of, shown_in_full, systems_of, why_skipped
from demur.show.sections import Content, section
from demur.show.statements.confidences import CalibrationError, FairDifferences, HistogramHalves
from demur.show.statements.decisions import conclusion, nothing_common
from demur.show.text import UNDEFINED, interval_heading, three, title_of, with_interval

Records = dict[NamedSystem, CurveRecord]


def _records(results: Results, confidence: str) -> Records:
    return {system: results.curves[system.system, confidence] for system in systems_of(results)}


@section("differences", "Paired differences", task="selective", order=30)
def forests(results: Results) -> Content | None:
    """The section of forest plots: each other system minus the baseline, by confidence; None for a single system."""
    pairs, confidences = pairs_of(results), results.selective.confidences
    if not pairs:
        return None
    in_full = shown_in_full(results)
    by_confidence = [[_forest(results, confidence, pair) for pair in pairs] for confidence in in_full]
    return {
        "interval": interval_heading(results),
        "by_confidence": by_confidence,
        "others": len(confidences) - len(in_full),
        "has_margin": any(
            row.has_margin
            for forests in by_confidence
            for forest in forests
            for _, _, panel in forest["panels"]
            for row, _ in panel["rows"]
        ),
    }


def _forest(results: Results, confidence: str, pair: Pair) -> Content:
    rows, other, base = differences(results, confidence, pair), pair.other.label, pair.baseline.label
    better = f"← {other} is better · {base} is better →"
    panels = {
        "area": ("Areas up to a common coverage", better),
        "risk": ("Risk at a coverage", better),
        "all": ("Risk of all answers", f"← {other} has the lower risk · {base} has the lower risk →"),
        "coverage": ("Share of the items answered", f"← {base} answers more · {other} answers more →"),
    }
    defined = [row for row in rows if not math.isnan(row.estimate.value)]
    drawn = [
        (heading, directions, _panel([row for row in defined if row.panel == name]))
        for name, (heading, directions) in panels.items()
        if any(row.panel == name for row in defined)
    ]
    undefined = [f"{row.name}: {row.conclusion.words}" for row in rows if row not in defined]
    return {"pair": pair, "panels": drawn, "unknown": undefined, "takeaway": _takeaway(defined)}


def _panel(rows: list[Difference]) -> Content:
    frame = around_zero(row.drawn for row in rows)
    return {"scale": scale_strip(frame), "rows": [(row, difference_strip(row.drawn, frame)) for row in rows]}


def _takeaway(rows: list[Difference]) -> FairDifferences:
    judged = [row for row in rows if row.panel in ("area", "risk")]
    winners = [row.pair.named(row.decision.winner).name for row in judged if row.decision.winner is not None]
    return FairDifferences(sum(row.decision.comparable for row in judged), tuple(Counter(winners).items()))


@section("signals", "Which signal", task="selective", order=70)
def signals(results: Results) -> Content:
    """The section that compares all confidences at a common coverage, with their reliability."""
    study, in_full = results.selective, shown_in_full(results)
    first = results[Key(results.systems[0], _area(results), study.confidences[0])]
    return {
        "area": title_of(first) if _is_common(results, study.confidences[0]) else "",
        "pairs": pairs_of(results),
        "skipped": [(skip.name, why_skipped(results, skip)) for skip in study.skipped],
        "rows": [_signal(results, name) for name in study.confidences],
        "pictures": [_pictures(_records(results, name), drawn=name in in_full) for name in study.confidences],
        "others": len(study.confidences) - len(in_full),
    }


def _is_common(results: Results, confidence: str) -> bool:
    return len(results.systems) == 1 or not nothing_common(results, confidence)


def _area(results: Results) -> str:
    """The quantity that signals are compared by: the headline of several systems, or the whole area of one."""
    return results.selective.headline.quantity if len(results.systems) > 1 else AREA


def _signal(results: Results, confidence: str) -> Content:
    """Operating points, area and ECE of each system, and the difference of each pair with its decision."""
    records, quantity = _records(results, confidence), _area(results)
    common, areas, errors = _is_common(results, confidence), [], {}
    for system, record in records.items():
        area = with_interval(results, results[Key(system.system, quantity, confidence)], three) if common else UNDEFINED
        areas.append(area if record.defined else "nothing is answered")
        errors[system.label] = _calibration_error(record.reliability).words if record.reliability else UNDEFINED
    named = ", ".join(error if len(errors) == 1 else f"{label} {error}" for label, error in errors.items())
    keys = [(pair, pair.key(quantity, confidence)) for pair in pairs_of(results)]
    return {
        "name": confidence,
        "points": [len(record.curve.coverage) for record in records.values()],
        "areas": areas,
        "ece": named if any(record.reliability for record in records.values()) else UNDEFINED,
        "differences": [
            (with_interval(results, results[key], three), conclusion(results, key, pair.labels).words)
            if common
            else ("", "")
            for pair, key in keys
        ],
    }


def _histogram_halves(bars: ConfidenceBars) -> HistogramHalves:
    half = len(bars.right) // 2
    parts = ((bars.right[part], bars.wrong[part]) for part in (slice(half, None), slice(half)))
    upper, lower = ((sum(right), sum(right) + sum(wrong)) for right, wrong in parts)
    return HistogramHalves(upper, lower, bars.abstained)


def _calibration_error(table: ReliabilityTable) -> CalibrationError:
    expected = table.ece_if_calibrated
    return CalibrationError(table.ece, expected.mean if expected else None)


def _pictures(records: Records, *, drawn: bool) -> Content:
    """The reliability diagram and the histograms of a confidence, the latter only if `drawn`."""
    bars = [
        (system, ConfidenceBars(system.style, counts.edges, counts.right, counts.wrong, counts.abstained))
        for system, record in records.items()
        if drawn and (counts := record.histogram)
    ]
    top = max((chart.tallest for _, chart in bars), default=0) or 1
    tables = [(system, table) for system, record in records.items() if (table := record.reliability)]
    errors = "; ".join(
        f"{system.label}: expected calibration error {_calibration_error(table).words}" for system, table in tables
    )
    words = f"Reliability: share that was right against what the confidence says. {errors}."
    bins = [reliability_bins(table, system.label, system.style) for system, table in tables]
    return {
        "reliability": reliability_diagram(bins, words).svg if bins else None,
        "calibration": errors,
        "histograms": [(system, histogram(chart, top).svg, _histogram_halves(chart)) for system, chart in bars],
    }
