"""Selective prediction by plain loops, in fractions. A row is (loss, confidence), the loss None for an abstention."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import groupby, pairwise
from typing import Any, NamedTuple

from demur.audit.retrieval_figures.numbers import Number, ratio, total
from reference.registry import register

_ONE = Fraction(1)


class Unit(NamedTuple):
    """One unit: the loss of its answer, None if the system abstained, and the confidence in it."""

    loss: Fraction | None
    confidence: Any


class Point(NamedTuple):
    """An operating point: everything with at least this confidence is accepted."""

    coverage: Fraction
    risk: Fraction
    generalized: Fraction
    threshold: Any


class PlainCurve:
    """The risk–coverage curve of rows; unless `anchored`, areas start at the first point, as some tools do."""

    def __init__(self, rows: Iterable[tuple[Number | None, Any]], *, anchored: bool = True) -> None:
        self.rows = [Unit(loss if loss is None else Fraction(loss), confidence) for loss, confidence in rows]
        self.answered = [unit for unit in self.rows if unit.loss is not None]
        self.losses = [unit.loss for unit in self.rows if unit.loss is not None]
        self.anchored = anchored

    @classmethod
    def of(cls, rows: PlainCurve | Iterable[tuple[Number | None, Any]]) -> PlainCurve:
        """The curve itself, or the curve of rows."""
        return rows if isinstance(rows, PlainCurve) else cls(rows)

    @cached_property
    def points(self) -> list[Point]:
        """One point per distinct confidence, the most confident first."""
        points, accepted, lost = [], 0, Fraction(0)
        ordered = sorted(self.answered, key=lambda unit: unit.confidence, reverse=True)
        for threshold, plateau in groupby(ordered, key=lambda unit: unit.confidence):
            losses = [unit.loss for unit in plateau if unit.loss is not None]
            accepted, lost = accepted + len(losses), lost + Fraction(total(losses))
            reached = Fraction(accepted, len(self.rows))
            points.append(Point(reached, lost / accepted, lost / len(self.rows), threshold))
        return points

    @cached_property
    def oracle(self) -> PlainCurve:
        """The same losses in the oracle order: the smallest loss first, without ties."""
        ranked = [(loss, -rank) for rank, loss in enumerate(sorted(self.losses))]
        return PlainCurve([*ranked, *[(None, None)] * (len(self.rows) - len(ranked))], anchored=self.anchored)

    @property
    def cmax(self) -> Fraction:
        """The share of the units that is answered."""
        return Fraction(len(self.losses), len(self.rows)) if self.rows else Fraction(0)

    @property
    def risk(self) -> Fraction | None:
        """The mean loss of everything answered."""
        return ratio(Fraction(total(self.losses)), Fraction(len(self.losses)))

    @cached_property
    def aurc(self) -> Fraction:
        """Area under the selective risk."""
        return self.selective_area(self.points)

    @cached_property
    def augrc(self) -> Fraction:
        """Area under the generalized risk."""
        return self.generalized_area(self.points)

    def selective_area(self, points: Sequence[Point], end: Fraction = _ONE) -> Fraction:
        """Area under the selective risk of points; the first risk holds from coverage 0 on."""
        start = [(Fraction(0), point.risk) for point in points[:1] if self.anchored]
        return area([*start, *((point.coverage, point.risk) for point in points)], end)

    def generalized_area(self, points: Sequence[Point], end: Fraction = _ONE) -> Fraction:
        """Area under the generalized risk of points, from 0 at coverage 0."""
        start = [(Fraction(0), Fraction(0))] if self.anchored else []
        return area([*start, *((point.coverage, point.generalized) for point in points)], end)


def area(corners: Sequence[tuple[Fraction, Fraction]], end: Fraction) -> Fraction:
    """Trapezoids between corners up to `end`, where the height is interpolated."""
    doubled = []
    for (x0, y0), (x1, y1) in pairwise(corners):
        if x1 <= end:
            doubled.append((x1 - x0) * (y0 + y1))
        elif x0 < end:
            height = y0 + (y1 - y0) * (end - x0) / (x1 - x0)
            doubled.append((end - x0) * (y0 + height))
    return Fraction(total(doubled)) / 2


def hull(points: Sequence[Point]) -> list[Point]:
    """The lower convex hull by gift wrapping: from each vertex to the lowest slope ahead, the farthest of equals."""
    vertices, index = [*points[:1]], 0
    while index < len(points) - 1:
        last = vertices[-1]
        slopes = [(point.risk - last.risk) / (point.coverage - last.coverage) for point in points[index + 1 :]]
        lowest = min(slopes)
        index += 1 + max(step for step, slope in enumerate(slopes) if slope == lowest)
        vertices.append(points[index])
    return vertices


def first_reaching(rows: Any, coverage: Fraction) -> Point | None:
    """The first operating point that reaches a coverage, None if none does."""
    return next((point for point in PlainCurve.of(rows).points if point.coverage >= coverage), None)


def _harmonic(curve: PlainCurve) -> Fraction:
    """AURC with the weights 1/i + … + 1/K for rank i, averaged over the orders of each plateau."""
    weights = [Fraction(0)]
    for rank in range(len(curve.losses), 0, -1):
        weights.insert(0, weights[0] + Fraction(1, rank))
    parts, rank = [], 0
    for point in curve.points:
        plateau = [unit.loss or 0 for unit in curve.answered if unit.confidence == point.threshold]
        parts.append(total(plateau) / len(plateau) * total(weights[rank : rank + len(plateau)]))
        rank += len(plateau)
    return Fraction(total(parts)) / len(curve.rows)


def _sele(curve: PlainCurve) -> Fraction:
    """The mean of each loss times the share of the answers that are no more confident."""
    n = len(curve.answered)
    parts = [(u.loss or 0) * sum(other.confidence <= u.confidence for other in curve.answered) for u in curve.answered]
    return Fraction(total(parts)) / (len(curve.rows) * n) if n else Fraction(0)


def _gain(part: Fraction, whole: Fraction) -> Fraction | None:
    return ratio(100 * (part - whole), whole)


def _risk_at(curve: PlainCurve, coverage: Fraction) -> Fraction | None:
    point = first_reaching(curve, coverage)
    return None if point is None else point.risk


def _matched_risk(curve: PlainCurve, coverage: Fraction) -> Fraction | None:
    before, lost = Fraction(0), Fraction(0)
    for point in curve.points:
        if coverage <= point.coverage:
            share = (coverage - before) / (point.coverage - before)
            return (lost + share * (point.generalized - lost)) / coverage
        before, lost = point.coverage, point.generalized
    return None


def _coverage_at_risk(curve: PlainCurve, risk: Fraction) -> Fraction:
    return max((point.coverage for point in curve.points if point.risk <= risk), default=Fraction(0))


def _at_threshold(curve: PlainCurve, threshold: float) -> PlainCurve:
    accepted = [unit if unit.loss is not None and unit.confidence >= threshold else (None, None) for unit in curve.rows]
    return PlainCurve(accepted)


def _achievable(curve: PlainCurve) -> Fraction:
    return curve.selective_area(hull(curve.points))


FORMULAS: dict[str, Callable[..., Fraction | None]] = {
    "cmax": lambda curve: curve.cmax,
    "risk": lambda curve: curve.risk,
    "risk@C": _risk_at,
    "coverage@risk=R": _coverage_at_risk,
    "coverage@threshold=T": lambda curve, threshold: _at_threshold(curve, threshold).cmax,
    "risk@threshold=T": lambda curve, threshold: _at_threshold(curve, threshold).risk,
    "matched_risk@C": _matched_risk,
    "aurc": lambda curve: curve.aurc,
    "augrc": lambda curve: curve.augrc,
    "aurc@C": lambda curve, coverage: curve.selective_area(curve.points, coverage),
    "augrc@C": lambda curve, coverage: curve.generalized_area(curve.points, coverage),
    "naurc": lambda curve: ratio(curve.aurc, curve.cmax),
    "naugrc": lambda curve: ratio(curve.augrc, curve.cmax),
    "aurc_optimal": lambda curve: curve.oracle.aurc,
    "augrc_optimal": lambda curve: curve.oracle.augrc,
    "eaurc": lambda curve: curve.aurc - curve.oracle.aurc,
    "eaugrc": lambda curve: curve.augrc - curve.oracle.augrc,
    "aurc_gap_pct": lambda curve: _gain(curve.aurc, curve.oracle.aurc),
    "augrc_gap_pct": lambda curve: _gain(curve.augrc, curve.oracle.augrc),
    "aurc_achievable": _achievable,
    "achievable_gain_pct": lambda curve: ratio(100 * (curve.aurc - _achievable(curve)), curve.aurc),
    "aurc_random": lambda curve: curve.cmax * (curve.risk or 0),
    "augrc_random": lambda curve: curve.cmax**2 * (curve.risk or 0) / 2,
    "aurc_harmonic": _harmonic,
    "aurc_sele": _sele,
}
register(FORMULAS, of=PlainCurve.of)
