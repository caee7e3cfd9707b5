"""Pictures of an evaluation of answers: risk–coverage curves, paired differences, and every confidence side by side."""

from demur.drawing.confidence import ConfidenceBars, histogram, reliability_diagram
from demur.drawing.forest import ForestPanel, forest
from demur.drawing.risk_coverage import MOST_MARKERS, Kind, risk_coverage
from demur.inference.key import Key
from demur.report.names import NamedSystem, Pair, pairs_of, systems_of, why_skipped
from demur.report.sections import Content, section
from demur.report.selective.overview import cut_area
from demur.report.text import UNDEFINED, level_of, threshold_at, title_of, with_interval
from demur.report.verdict import differences, nothing_common, says_in_full
from demur.results.parts import CurveRecord, ReliabilityTable
from demur.results.pictures import reliability_bins, risk_curve
from demur.results.table import Results

KINDS: tuple[Kind, ...] = ("selective", "generalized")
Records = dict[NamedSystem, CurveRecord]


def _records(results: Results, confidence: str) -> Records:
    return {each: results.curves[each.system, confidence] for each in systems_of(results)}


@section("curves", "Risk and coverage", task="selective", order=30)
def curves(results: Results) -> list[Content]:
    """The pictures of every confidence, all of a kind on one scale, and tables of those with few operating points."""
    systems, confidences, units = systems_of(results), results.selective.confidences, results.selective.units
    drawn = {
        (kind, confidence): [risk_curve(results, each.system, confidence, kind, each.label) for each in systems]
        for kind in KINDS
        for confidence in confidences
    }
    tops = {kind: max(curve.highest for name in confidences for curve in drawn[kind, name]) for kind in KINDS}
    contents = []
    for confidence in confidences:
        records = _records(results, confidence)
        points = {system: len(record.curve.coverage) for system, record in records.items()}
        few = [system for system, count in points.items() if 0 < count <= MOST_MARKERS]
        content = {
            "pictures": {kind: risk_coverage(drawn[kind, confidence], kind, top=tops[kind]).svg for kind in KINDS},
            "points": points,
            "lower_is_surer": confidence in results.lower_is_surer,
            "tables": {system: _operating_points(records[system], units) for system in few},
            "has_bands": any(record.bands is not None for record in records.values()),
            "has_oracle": any(record.reference is not None for record in records.values()),
        }
        contents.append(content)
    return contents


def _operating_points(record: CurveRecord, units: int) -> list[tuple[str, ...]]:
    curve = record.curve
    columns = zip(curve.coverage, curve.selective_risk, curve.generalized_risk, strict=True)
    return [
        (threshold_at(record, point), f"{coverage:.1%}", f"{round(coverage * units)}", f"{risk:.4g}", f"{general:.4g}")
        for point, (coverage, risk, general) in enumerate(columns)
    ]


@section("differences", "Paired differences", task="selective", order=50)
def forests(results: Results) -> Content | None:
    """The forests of every confidence, each other system minus the baseline; nothing where nothing is compared."""
    pairs, confidences = pairs_of(results), results.selective.confidences
    if not pairs:
        return None
    by_confidence = [[_forest(results, confidence, pair) for pair in pairs] for confidence in confidences]
    return {
        "interval": level_of(results) if results.study.bootstrap else "nothing resampled",
        "by_confidence": by_confidence,
        "has_margin": any(row.has_margin for each in by_confidence for forest in each for row in forest["rows"]),
    }


def _forest(results: Results, confidence: str, pair: Pair) -> Content:
    rows, other, base = differences(results, confidence, pair), pair.other.label, pair.baseline.label
    better = (f"← {other} is better", f"{base} is better →")
    more = (f"← {base} answers more", f"{other} answers more →")
    drawn = {name: [row.drawn for row in rows if row.panel == name] for name in ("area", "risk", "coverage")}
    panels = [
        ForestPanel("Areas up to a common coverage", better, rows=drawn["area"]),
        ForestPanel("Risk at a coverage", better, margin=True, rows=drawn["risk"]),
        ForestPanel("Share of the items answered", more, rows=drawn["coverage"]),
    ]
    return {"pair": pair, "svg": forest(panels, f"{other} minus {base}").svg, "rows": rows}


@section("signals", "Which signal", task="selective", order=60)
def signals(results: Results) -> Content:
    """Every confidence side by side at a common coverage, and whether its numbers mean what they say."""
    study = results.selective
    first = results[Key(results.systems[0], cut_area(results), study.confidences[0])]
    return {
        "area": "" if nothing_common(results, study.confidences[0]) else title_of(first),
        "pairs": pairs_of(results),
        "skipped": [(each.name, why_skipped(results, each)) for each in study.skipped],
        "rows": [_signal(results, name) for name in study.confidences],
        "pictures": [_pictures(_records(results, name)) for name in study.confidences],
    }


def _signal(results: Results, confidence: str) -> Content:
    """Operating points, area and ECE of each system, and of each pair the difference and what it says."""
    records, quantity = _records(results, confidence), cut_area(results)
    common, areas, errors = not nothing_common(results, confidence), [], {}
    for system, record in records.items():
        area = with_interval(results, results[Key(system.system, quantity, confidence)]) if common else UNDEFINED
        areas.append(area if record.defined else "nothing is answered")
        errors[system.label] = _ece(record.reliability) if record.reliability else UNDEFINED
    named = ", ".join(error if len(errors) == 1 else f"{label} {error}" for label, error in errors.items())
    keys = [(pair, pair.key(quantity, confidence)) for pair in pairs_of(results)]
    return {
        "name": confidence,
        "points": [len(record.curve.coverage) for record in records.values()],
        "areas": areas,
        "ece": named if any(record.reliability for record in records.values()) else UNDEFINED,
        "differences": [
            (with_interval(results, results[key]), says_in_full(results, pair, key)) if common else ("", "")
            for pair, key in keys
        ],
    }


def _ece(table: ReliabilityTable) -> str:
    """The ECE, and what a calibrated system with the same clusters would show."""
    expected = table.ece_if_calibrated
    return f"{table.ece:.3f}" + (f" (calibrated: about {expected.mean:.3f})" if expected else "")


def _pictures(records: Records) -> Content:
    """How reliable a confidence is, and how it is spread."""
    bars = [
        (system, ConfidenceBars(system.style, counts.edges, counts.right, counts.wrong, counts.abstained))
        for system, record in records.items()
        if (counts := record.histogram)
    ]
    top = max((each.tallest for _, each in bars), default=0) or 1
    tables = [(system, table) for system, record in records.items() if (table := record.reliability)]
    errors = "; ".join(f"{system.label}: expected calibration error {_ece(table)}" for system, table in tables)
    words = f"Reliability: share that was right against what the confidence says. {errors}."
    bins = [reliability_bins(table, system.label, system.style) for system, table in tables]
    return {
        "reliability": reliability_diagram(bins, words).svg if bins else None,
        "histograms": [(system, histogram(each, top).svg, each.abstained) for system, each in bars],
    }
