"""Costs: what errors and abstentions cost together, at every price of an abstention.

An accepted answer costs its loss as a share of the largest possible loss; an abstention, and an answer below the
threshold, cost the price a. As a grows, the cheapest operating point moves along the lower convex hull of coverage and
generalized risk, from declining everything to answering everything.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demur.errors import UserError
from demur.features.costs.prices import UNKNOWN, price_of
from demur.options import as_blank
from demur.quantities.curve import Curve
from demur.sampling.hull import lower_hull_of_sums
from demur.sampling.plateaus import Points


@dataclass(frozen=True, slots=True)
class CostPoint:
    """An operating point for costs: coverage, and generalized risk in units of the largest loss (`lost`).

    The threshold is None if everything is declined.
    """

    coverage: Fraction
    lost: Fraction
    threshold: float | None = None

    def cost(self, price: Fraction) -> Fraction:
        """The mean cost of a unit at a price."""
        return self.lost + price * (1 - self.coverage)


@dataclass(frozen=True, slots=True)
class CostOptimum:
    """The cheapest operating point at a price; threshold and risk are None if everything is declined.

    The risk is the mean loss of the accepted answers; the cost per unit is relative to the largest loss.
    """

    price: Fraction
    threshold: float | None
    coverage: Fraction
    risk: Fraction | None
    cost: Fraction


@dataclass(frozen=True)
class CostEnvelope:
    """The operating points that are the cheapest at some price, from declining everything to answering everything.

    `switches` are the exact prices at which the cheapest point changes. At a switch both points cost the same, and the
    larger coverage is taken.
    """

    points: tuple[CostPoint, ...]

    @classmethod
    def of(cls, curve: Curve) -> CostEnvelope:
        """The envelope of a curve whose largest loss is known."""
        return cls(_points(curve, curve.points, curve.cheapest_points.tolist()))

    @classmethod
    def of_oracle(cls, curve: Curve) -> CostEnvelope:
        """The envelope of the same losses in the oracle order: each level of loss is a vertex."""
        order = curve.oracle_order
        return cls(_points(curve, order, range(len(order.count)), thresholds=False))

    @classmethod
    def of_random(cls, curve: Curve) -> CostEnvelope:
        """The envelope of an uninformative confidence: everything is answered, or nothing."""
        return cls(_points(curve, curve.points, range(len(curve))[-1:]))

    @cached_property
    def switches(self) -> tuple[Fraction, ...]:
        """The price at which each point, from the second on, becomes the cheapest."""
        return tuple((b.lost - a.lost) / (b.coverage - a.coverage) for a, b in pairwise(self.points))

    def best(self, price: Fraction) -> CostPoint:
        """The cheapest point at a price; of several, the one with the largest coverage."""
        return self.points[sum(switch <= price for switch in self.switches)]

    def cost(self, price: Fraction) -> Fraction:
        """The lowest mean cost of a unit at a price."""
        return self.best(price).cost(price)

    @cached_property
    def area(self) -> Fraction:
        """The integral of the lowest cost over the prices from 0 to 1."""
        zero, one = Fraction(0), Fraction(1)
        total, ends = zero, [zero, *(min(max(price, zero), one) for price in self.switches)]
        for point, low, high in zip(self.points, ends, [*ends[1:], one], strict=True):
            total += point.lost * (high - low) + (1 - point.coverage) * (high**2 - low**2) / 2
        return total

    def saving(self, price: Fraction) -> Fraction:
        """The saving over the cheaper of answering everything and declining everything."""
        return min(self.points[-1].cost(price), price) - self.cost(price)


def cost_optimal(curve: Curve, price: str | float | Fraction) -> CostOptimum:
    """The cheapest operating point at a price of an abstention.

    >>> from demur import Curve, grade_units
    >>> right = {"truth": [1, 1, 1, 1, 1], "prediction": [1, 1, 0, 1, 0], "loss": "zero_one"}
    >>> curve = Curve.of(grade_units([9, 8, 7, 6, 5], **right))
    >>> best = cost_optimal(curve, "1:10")
    >>> best.threshold, float(best.coverage), float(best.risk), float(best.cost)
    (8.0, 0.4, 0.0, 0.06)
    """
    exact_price = price_of(price)
    best = CostEnvelope.of(curve).best(exact_price)
    risk = None if best.threshold is None else best.lost / best.coverage * _scale(curve) / curve.divisor
    return CostOptimum(exact_price, best.threshold, best.coverage, risk, best.cost(exact_price))


def cheapest_point(count: NDArray[Any], loss_sum: NDArray[Any], price: Fraction, largest: float) -> int:
    """The number of points up to which accepting answers has the lowest cost, 0 for none; of several, the most.

    The sums are cumulative, and an empty plateau repeats those before it.
    """
    nonempty = np.flatnonzero(np.diff(count, prepend=0) > 0)
    sums = [Fraction(value) for value in loss_sum[nonempty].tolist()]
    cheapest, lowest = 0, Fraction(0)
    for index in lower_hull_of_sums(count[nonempty].astype(np.int64), loss_sum[nonempty]).tolist():
        cost = sums[index] / Fraction(largest) - price * int(count[nonempty[index]])
        if cost <= lowest:
            cheapest, lowest = int(nonempty[index]) + 1, cost
    return cheapest


def _points(
    curve: Curve, points: Points, vertices: range | list[int], *, thresholds: bool = True
) -> tuple[CostPoint, ...]:
    units, scale = max(curve.units, 1), _scale(curve)
    return (
        CostPoint(Fraction(0), Fraction(0)),
        *(
            CostPoint(
                Fraction(int(points.count[index]), units),
                Fraction(points.loss_sum[index].item()) / (units * scale),
                float(curve.threshold[index]) if thresholds else None,
            )
            for index in vertices
        ),
    )


def _scale(curve: Curve) -> Fraction:
    if curve.largest_loss is None:
        raise UserError(f"{UNKNOWN}, and a price is in largest losses: give it, {as_blank('loss_max')}")
    return Fraction(curve.largest_loss)
