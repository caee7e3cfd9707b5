"""Selective prediction by plain loops, in fractions. A row is (loss, confidence), the loss None for an abstention."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import cached_property, partial
from itertools import groupby, pairwise
from typing import Any, NamedTuple

from demur.audit.loops.registry import Number, loop, ratio, total

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
    """The operating points of rows; one that is not `anchored` is integrated from its first point, as some do."""

    def __init__(self, rows: Iterable[tuple[Number | None, Any]], *, anchored: bool = True) -> None:
        self.rows = [Unit(loss if loss is None else Fraction(loss), confidence) for loss, confidence in rows]
        self.answered = [unit for unit in self.rows if unit.loss is not None]
        self.losses = [unit.loss for unit in self.rows if unit.loss is not None]
        self.anchored = anchored

    @classmethod
    def of(cls, rows: PlainCurve | Iterable[tuple[Number | None, Any]]) -> PlainCurve:
        """A curve as it is, or the curve of rows."""
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
        """The same losses in the best order: the smallest the most confident, no two alike."""
        ranked = [(loss, -rank) for rank, loss in enumerate(sorted(self.losses))]
        return PlainCurve([*ranked, *[(None, None)] * (len(self.rows) - len(ranked))], anchored=self.anchored)

    @cached_property
    def areas(self) -> tuple[Fraction, Fraction]:
        """AURC and AUGRC, which much is derived from."""
        return self.selective_area(self.points), self.generalized_area(self.points)

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
    vertices, here = [*points[:1]], 0
    while here < len(points) - 1:
        last = vertices[-1]
        slopes = [(point.risk - last.risk) / (point.coverage - last.coverage) for point in points[here + 1 :]]
        lowest = min(slopes)
        here += 1 + max(index for index, slope in enumerate(slopes) if slope == lowest)
        vertices.append(points[here])
    return vertices


def first_reaching(rows: Any, coverage: Fraction) -> Point | None:
    """The first operating point that reaches a coverage, None if none does."""
    return next((point for point in PlainCurve.of(rows).points if point.coverage >= coverage), None)


of_curve = partial(loop, of=PlainCurve.of)


@of_curve("cmax")
def cmax(curve: PlainCurve) -> Fraction:
    """The share of the units that is answered."""
    return Fraction(len(curve.losses), len(curve.rows)) if curve.rows else Fraction(0)


@of_curve("risk")
def risk(curve: PlainCurve) -> Fraction | None:
    """The mean loss of everything answered."""
    return ratio(Fraction(total(curve.losses)), Fraction(len(curve.losses)))


@of_curve("risk@C")
def risk_at(curve: PlainCurve, coverage: Fraction) -> Fraction | None:
    """The selective risk of the first point that reaches a coverage."""
    point = first_reaching(curve, coverage)
    return None if point is None else point.risk


@of_curve("aurc")
def aurc(curve: PlainCurve) -> Fraction:
    """Area under the selective risk."""
    return curve.areas[0]


@of_curve("augrc")
def augrc(curve: PlainCurve) -> Fraction:
    """Area under the generalized risk."""
    return curve.areas[1]


@of_curve("aurc@C")
def aurc_at(curve: PlainCurve, coverage: Fraction) -> Fraction:
    """Area under the selective risk up to a coverage."""
    return curve.selective_area(curve.points, coverage)


@of_curve("augrc@C")
def augrc_at(curve: PlainCurve, coverage: Fraction) -> Fraction:
    """Area under the generalized risk up to a coverage."""
    return curve.generalized_area(curve.points, coverage)


@of_curve("aurc_achievable")
def aurc_achievable(curve: PlainCurve) -> Fraction:
    """AURC over the vertices of the lower convex hull of the points."""
    return curve.selective_area(hull(curve.points))


@of_curve("aurc_harmonic")
def aurc_harmonic(curve: PlainCurve) -> Fraction:
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


@of_curve("aurc_sele")
def aurc_sele(curve: PlainCurve) -> Fraction:
    """Each loss, times the share of the answers that are no more confident."""
    n = len(curve.answered)
    parts = [(u.loss or 0) * sum(other.confidence <= u.confidence for other in curve.answered) for u in curve.answered]
    return Fraction(total(parts)) / (len(curve.rows) * n) if n else Fraction(0)


FORMULAS: dict[str, Callable[[PlainCurve], Fraction | None]] = {
    "naurc": lambda curve: ratio(aurc(curve), cmax(curve)),
    "naugrc": lambda curve: ratio(augrc(curve), cmax(curve)),
    "aurc_optimal": lambda curve: aurc(curve.oracle),
    "augrc_optimal": lambda curve: augrc(curve.oracle),
    "eaurc": lambda curve: aurc(curve) - aurc(curve.oracle),
    "eaugrc": lambda curve: augrc(curve) - augrc(curve.oracle),
    "aurc_gap_pct": lambda curve: ratio(100 * (aurc(curve) - aurc(curve.oracle)), aurc(curve.oracle)),
    "augrc_gap_pct": lambda curve: ratio(100 * (augrc(curve) - augrc(curve.oracle)), augrc(curve.oracle)),
    "achievable_gain_pct": lambda curve: ratio(100 * (aurc(curve) - aurc_achievable(curve)), aurc(curve)),
    "aurc_random": lambda curve: cmax(curve) * (risk(curve) or 0),
    "augrc_random": lambda curve: cmax(curve) ** 2 * (risk(curve) or 0) / 2,
}
for _name, _formula in FORMULAS.items():
    of_curve(_name)(_formula)
