"""Costs by plain loops: every operating point is tried. A row is (loss, confidence); `largest` is the largest loss."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from demur.audit.retrieval_figures.numbers import Number
from reference.registry import Loop, register
from reference.selective import PlainCurve


def points(curve: PlainCurve, largest: Number) -> list[tuple[Fraction, Fraction, Any]]:
    """Coverage, generalized risk in largest losses, and threshold of every point; declining everything is the first."""
    nothing = (Fraction(0), Fraction(0), None)
    reached = [(point.coverage, point.generalized / Fraction(largest), point.threshold) for point in curve.points]
    return [nothing, *reached]


def cheapest(curve: PlainCurve, price: Fraction, largest: Number) -> tuple[Fraction, Any]:
    """The lowest cost and its threshold, None for declining everything; of equals the larger coverage."""
    costs = [(lost + price * (1 - reached), -reached, at) for reached, lost, at in points(curve, largest)]
    lowest, _, threshold = min(costs, key=lambda point: point[:2])
    return lowest, threshold


def paid(loss: Fraction | None, confidence: Any, threshold: Any, price: Fraction, largest: Number) -> Fraction:
    """The cost of one unit at a threshold."""
    declined = loss is None or threshold is None or confidence < threshold
    return price if declined or loss is None else loss / Fraction(largest)


def _of_all(curve: PlainCurve, price: Fraction, *, largest: Number = 1) -> Fraction:
    """The cost at the last operating point."""
    reached, lost, _ = points(curve, largest)[-1]
    return lost + price * (1 - reached)


def _saving(curve: PlainCurve, price: Fraction, *, largest: Number = 1) -> Fraction:
    """The saving over the cheaper of answering everything and nothing."""
    return min(_of_all(curve, price, largest=largest), price) - cheapest(curve, price, largest)[0]


def _at_threshold(curve: PlainCurve, price: Fraction, *, largest: Number = 1, of: Any = None) -> Fraction:
    """The mean cost of the units at the cheapest threshold of the rows `of`, by default these rows."""
    threshold = cheapest(curve if of is None else PlainCurve.of(of), price, largest)[1]
    costs = [paid(unit.loss, unit.confidence, threshold, price, largest) for unit in curve.rows]
    return sum(costs, Fraction(0)) / len(costs)


def _cross_fitted(
    rows: Sequence[tuple[Fraction | None, Any, int]], price: Fraction, *, largest: Number = 1
) -> Fraction | None:
    """The mean cost of the units at the cheapest threshold of the other folds; a row ends with its fold."""
    costs = []
    for fold in {row[2] for row in rows}:
        others = [row[:2] for row in rows if row[2] != fold]
        if not others:
            return None
        threshold = cheapest(PlainCurve(others), price, largest)[1]
        costs += [paid(*row[:2], threshold, price, largest) for row in rows if row[2] == fold]
    return sum(costs, Fraction(0)) / len(costs)


def _area(curve: PlainCurve, *, largest: Number = 1) -> Fraction:
    """The area under the lowest cost, which is linear between prices at which two points cost the same."""
    reached = points(curve, largest)
    prices = {Fraction(0), Fraction(1)}
    for c, g, _ in reached:
        prices |= {(h - g) / (d - c) for d, h, _ in reached if d > c}
    corners = sorted(price for price in prices if 0 <= price <= 1)
    heights = [cheapest(curve, price, largest)[0] for price in corners]
    spans = zip(corners, corners[1:], heights, heights[1:], strict=False)
    return sum(((b - a) * (low + high) / 2 for a, b, low, high in spans), Fraction(0))


def _with_one_confidence(curve: PlainCurve) -> PlainCurve:
    """The curve with one confidence for all answers."""
    return PlainCurve([(unit.loss, 0) for unit in curve.rows])


FORMULAS: dict[str, Loop] = {
    "cost@A": lambda curve, price, largest=1: cheapest(curve, price, largest)[0],
    "saving@A": _saving,
    "cost_of_all@A": _of_all,
    "cost_at_threshold@A": _at_threshold,
    "cost_area": _area,
    "cost_area_random": lambda curve, largest=1: _area(_with_one_confidence(curve), largest=largest),
    "cost_area_optimal": lambda curve, largest=1: _area(curve.oracle, largest=largest),
}
register(FORMULAS, of=PlainCurve.of)
register({"cost_crossfit@A": _cross_fitted})
