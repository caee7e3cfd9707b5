"""Picture data of an artifact: what page, notebook and paper figure draw of one system's numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from demur.drawing.confidence import ReliabilityBins
from demur.drawing.risk_coverage import RiskBand, RiskCurve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from demur.artifact_numbers import Bands, Bends, Points, Reliable, VariantNumbers
    from demur.drawing.risk_coverage import Kind

_PIECES = 12


def risk_curve(numbers: VariantNumbers, kind: Kind, label: str, style: str) -> RiskCurve:
    """One kind of risk of a system under a variant, with everything that is stored around it."""
    mae, cmax = numbers.mae, numbers.cmax
    random = None if mae is None else (mae, mae) if kind == "selective" else (0.0, mae * cmax)
    oracle = [*_oracle_order(numbers.reference.oracle, kind)] if random and numbers.reference else []
    band = None if numbers.bands is None else _band(numbers.bands, numbers.curve, kind)
    risk = getattr(numbers.curve, f"{kind}_risk")
    return RiskCurve(label, style, numbers.curve.coverage, risk, cmax, random, oracle, band)


def reliability_bins(numbers: Reliable, label: str, style: str) -> ReliabilityBins:
    """The bins of a reliability diagram that hold answers."""
    return ReliabilityBins.of(label, style, ((each.said, each.came_true, each.count) for each in numbers.bins))


def _band(bands: Bands, curve: Points, kind: Kind) -> RiskBand:
    """Of a band at only some of the operating points straight edges are fair: nothing is known of the steps between."""
    ends = bands.selective_risk if kind == "selective" else bands.generalized_risk
    stepped = bands.coverage == curve.coverage[: len(bands.coverage)]
    return RiskBand(bands.coverage, ends.low, ends.high, ends.low_simultaneous, ends.high_simultaneous, stepped)


def _oracle_order(vertices: Bends, kind: Kind) -> Iterator[tuple[float, float]]:
    """Straight between the vertices in generalized risk; in selective risk that is divided by the coverage."""
    yield 0.0, vertices.selective_risk[0] if kind == "selective" else 0.0
    before = (0.0, 0.0)
    for vertex in zip(vertices.coverage, vertices.generalized_risk, strict=True):
        if kind == "generalized":
            yield vertex
            continue
        for piece in range(1, _PIECES + 1):
            coverage, risk = (a + (b - a) * piece / _PIECES for a, b in zip(before, vertex, strict=True))
            yield coverage, risk / coverage
        before = vertex
