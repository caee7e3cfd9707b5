"""Curves: the risk–coverage charts of every variant, and tables of those with few operating points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from demur.drawing.risk_coverage import MOST_MARKERS, risk_coverage
from demur.picture_data import risk_curve
from demur.report.numbers import runs_of, threshold_at
from demur.report.sides import sides_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from demur.artifact import Metrics
    from demur.artifact_numbers import VariantNumbers
    from demur.drawing.risk_coverage import Kind
    from demur.report.sides import Side

KINDS: tuple[Kind, ...] = ("selective", "generalized")


@dataclass(frozen=True, slots=True)
class CurvePicture:
    """One variant's curves of one kind of risk."""

    kind: Kind
    svg: str


@dataclass(frozen=True, slots=True)
class CurvesOfVariant:
    """One variant: its pictures, how many working points each run has, and tables of those that are few."""

    pictures: tuple[CurvePicture, ...]
    points: tuple[tuple[Side, int], ...]
    tables: tuple[tuple[Side, list[tuple[str, ...]]], ...]
    has_bands: bool
    has_oracle: bool


def curves(metrics: Metrics) -> list[CurvesOfVariant]:
    """The pictures of every variant, all of a kind on one scale."""
    entries = [runs_of(entry) for entry in metrics.confidence_variants.values()]
    sides = sides_of(metrics)
    drawn = {
        kind: [
            [risk_curve(one, kind, side.word, side.style) for side, one in zip(sides, runs, strict=True)]
            for runs in entries
        ]
        for kind in KINDS
    }
    tops = {kind: max((curve.highest for pair in drawn[kind] for curve in pair), default=0.0) for kind in KINDS}
    return [
        CurvesOfVariant(
            pictures=tuple(
                CurvePicture(kind, risk_coverage(drawn[kind][index], kind, top=tops[kind]).svg) for kind in KINDS
            ),
            points=tuple((side, len(one.curve.coverage)) for side, one in zip(sides, runs, strict=True)),
            tables=tuple(
                (side, [*_rows(one, metrics.population.items_total)])
                for side, one in zip(sides, runs, strict=True)
                if 0 < len(one.curve.coverage) <= MOST_MARKERS
            ),
            has_bands=any(one.bands is not None for one in runs),
            has_oracle=any(one.reference is not None for one in runs),
        )
        for index, runs in enumerate(entries)
    ]


def _rows(one: VariantNumbers, items: int) -> Iterator[tuple[str, ...]]:
    curve = one.curve
    columns = (curve.coverage, curve.selective_risk, curve.generalized_risk)
    for point, (coverage, selective, generalized) in enumerate(zip(*columns, strict=True)):
        accepted = f"{round(coverage * items)}"
        yield threshold_at(one, point), f"{coverage:.1%}", accepted, f"{selective:.4g}", f"{generalized:.4g}"
