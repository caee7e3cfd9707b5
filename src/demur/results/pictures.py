"""Data of the pictures of results, for page, notebook and paper; and the HTML of notebooks."""

import math
from collections.abc import Iterator

from demur.drawing.confidence import ReliabilityBins
from demur.drawing.html import html_pictures, html_table
from demur.drawing.labels import isolated, shortened
from demur.drawing.risk_coverage import RiskBand, RiskCurve, risk_coverage
from demur.drawing.system_styles import system_style
from demur.errors import shown
from demur.inference.estimates import Estimate
from demur.inference.key import Key, Minus
from demur.quantities import Measure
from demur.results.file_models import ReliabilityTable, Vertices
from demur.results.table import Results

_PIECES = 12
_NOTEBOOK_SIZE = (480, 300)


def risk_curve(results: Results, system: str, confidence: str, label: str = "") -> RiskCurve:
    """The risk–coverage curve to draw of a system under a confidence, with its bands and references."""
    record, risk = results.curves[system, confidence], results[Key(system, "risk", confidence)].value
    random = None if math.isnan(risk) else (risk, risk)
    oracle = [*_oracle_order(record.reference.oracle)] if random and record.reference else []
    style, curve, bands, band = system_style(results.systems.index(system)).style, record.curve, record.bands, None
    if bands is not None:
        ends = bands.selective_risk
        # Of a band at only some of the operating points straight edges are fair: nothing is known of the steps between.
        stepped = bands.coverage == curve.coverage[: len(bands.coverage)]
        low, high = (side.tolist() for side in ends.simultaneous())
        band = RiskBand(bands.coverage, ends.low, ends.high, low, high, stepped)
    return RiskCurve(label, style, curve.coverage, curve.selective_risk, record.cmax, random, oracle, band)


def reliability_bins(table: ReliabilityTable, label: str, style: str) -> ReliabilityBins:
    """The bins of a reliability diagram that are not empty."""
    points = ((row.mean_predicted, row.fraction_correct, row.count) for row in table.bins)
    return ReliabilityBins.of(label, style, points)


def _oracle_order(vertices: Vertices) -> Iterator[tuple[float, float]]:
    """Straight between the vertices in generalized risk; in selective risk that is divided by the coverage."""
    yield 0.0, vertices.selective_risk[0]
    before = (0.0, 0.0)
    for vertex in zip(vertices.coverage, vertices.generalized_risk, strict=True):
        for piece in range(1, _PIECES + 1):
            coverage, risk = (a + (b - a) * piece / _PIECES for a, b in zip(before, vertex, strict=True))
            yield coverage, risk / coverage
        before = vertex


def notebook_html(results: Results) -> str:
    """The HTML for a notebook: the curves of the first few confidences, and the numbers of the console."""
    names, confidences = results.selective.names("console"), results.selective.confidences
    labels = _labels(results)
    pictures = {}
    for confidence in confidences:
        curves = [risk_curve(results, system, confidence, label) for system, label in labels.items()]
        pictures[shown(confidence)] = risk_coverage(curves, size=_NOTEBOOK_SIZE)
    rows = [row for confidence in confidences for row in _rows(results, confidence, names)]
    return html_pictures(pictures, html_table(("confidence", *names), rows, repr(results)))


def _labels(results: Results) -> dict[str, str]:
    """The labels of several systems in a notebook; a single one has none."""
    labels = map(isolated, shortened(results.systems)) if len(results.systems) > 1 else [""]
    return dict(zip(results.systems, labels, strict=True))


def _rows(results: Results, confidence: str, names: list[str]) -> Iterator[tuple[str, ...]]:
    labels = _labels(results)
    for system, label in labels.items():
        cells = (_with_interval(results[Key(system, name, confidence)]) for name in names)
        yield f"{shown(confidence)}, {label}" if label else shown(confidence), *cells
    baseline = results.study.baseline
    for system in results.systems:
        if baseline is not None and system != baseline:
            differs = results.curves[system, confidence].cmax != results.curves[baseline, confidence].cmax
            cells = (
                "Cmax differs"
                if differs and Measure.of(name).quantity.comparable == "cmax"
                else _with_interval(results[Key(system, name, confidence, minus=Minus("system", baseline))])
                for name in names
            )
            yield f"{shown(confidence)}, {labels[system]} − {labels[baseline]}", *cells


def _with_interval(estimate: Estimate) -> str:
    if math.isnan(estimate.value):
        return "undefined"
    ends = estimate.recommended
    return f"{estimate.value:.4g}" if ends is None else f"{estimate.value:.4g} [{ends.low:.3g}, {ends.high:.3g}]"
