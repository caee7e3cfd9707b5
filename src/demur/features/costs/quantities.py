"""Cost quantities: at a price of an abstention, over all prices, at a fixed threshold, and cross-fitted."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from demur.features.costs.envelope import cheapest_point
from demur.features.costs.prices import UNKNOWN, price_of
from demur.quantities.registry import Parameter, family, quantity
from demur.sampling.hull import lower_hull_of_sums
from demur.sampling.numbers import Number, least
from demur.sampling.sample import Sample
from demur.types import Floats

COST, AT_THRESHOLD, CROSSFIT, SAVING, OF_ALL = "cost", "cost_at_threshold", "cost_crossfit", "saving", "cost_of_all"
PRICE = Parameter("A", price_of, "0.1")
PRICES = ("0.01", "0.05", "0.1", "0.2", "0.5")
_COMPUTED_BY = "evaluate(…, abstention_costs=…) computes it"
family("costs", _COMPUTED_BY, {"Ties": "equal confidences are one operating point."}, of_curves=True, comparable=False)
family("held_out", _COMPUTED_BY, {"Ties": "equal confidences are accepted or declined together."}, comparable=False)
_cost = partial(
    quantity,
    of="costs",
    parameter=PRICE,
    defaults=PRICES,
    undefined=UNKNOWN,
    limits=lambda _, __: (0.0, 1.0),
    reported=False,
    shown=(),
)
_area = partial(
    quantity,
    of="costs",
    undefined=UNKNOWN,
    limits=lambda _, __: (0.0, 0.5),
    loss_free=True,
    point_only=True,
    reported=False,
    shown=(),
)


@_cost("cost@A", title="cost@A")
def cost(s: Sample, price: Fraction) -> Number:
    """Lowest cost at a price of an abstention.

    What a unit costs on average if the threshold is set as well as it can be, with errors at their share of the largest
    loss and abstentions at the price. Lower is better. The threshold is chosen on the units it is judged by, so it
    flatters: the cross-fitted cost does not.

    Formula: E(a) = min_j [generalized_risk_j / largest loss + a·(1 − coverage_j)], declining everything (a) among them.
    Ties: a plateau is accepted whole; of two points that cost the same the larger coverage is taken.
    Abstentions: cost a each, and so does every answer that the threshold declines.
    Reference: Chow (1970), On optimum recognition error and reject tradeoff, IEEE Trans. Inf. Theory 16.

    >>> from demur import Curve, grade_units
    >>> answers = {"truth": [1, 1, 1, 1, 1], "prediction": [1, 1, 0, 1, 0], "loss": "zero_one"}
    >>> cost(Curve.of(grade_units([9, 8, 7, 6, 5], **answers)), Fraction(1, 10))
    0.06
    """
    k, losses = s.curve.sums
    cheapest = np.argmin(losses / s.table.largest + float(price) * (s.sizes - k), axis=0)
    count, loss = map(s.stepwise, s.curve.points(cheapest))
    return least(_paid(s, count, loss, price), s.constant(price))


@_cost("saving@A", title="saving@A", better="higher")
def saving(s: Sample, price: Fraction) -> Number:
    """What the confidence is worth at a price of an abstention.

    How much less a unit costs with the best threshold than with the cheaper of answering everything one can and
    declining everything. Higher is better; 0 where no threshold helps.

    Formula: min(E_all(a), a) − E(a), with E_all(a) = generalized_risk / largest loss + a·(1 − Cmax).
    Abstentions: cost a each.
    Reference: Chow (1970), for the cost; the reference is ours.

    >>> from demur import Curve, grade_units
    >>> answers = {"truth": [1, 1, 1, 1, 1], "prediction": [1, 1, 0, 1, 0], "loss": "zero_one"}
    >>> saving(Curve.of(grade_units([9, 8, 7, 6, 5], **answers)), Fraction(1, 2))
    0.1
    """
    return least(cost_of_all(s, price), s.constant(price)) - cost(s, price)


@_cost("cost_of_all@A", title="cost of answering all@A", point_only=True)
def cost_of_all(s: Sample, price: Fraction) -> Number:
    """Cost of answering everything at a price of an abstention.

    What a unit costs on average if no answer is declined. Lower is better.

    Formula: E_all(a) = generalized_risk / largest loss + a·(1 − Cmax).
    Ties: none, confidences are not looked at.
    Abstentions: cost a each.
    Reference: Chow (1970), for the cost.

    >>> from demur import Curve, grade_units
    >>> answers = {"truth": [1, 1, 1, 1], "prediction": [1, 1, 0, None], "loss": "zero_one"}
    >>> cost_of_all(Curve.of(grade_units([9, 8, 7, 6], **answers)), Fraction(1, 2))
    0.375
    """
    return _paid(s, s.answered, s.loss, price)


@_cost("cost_at_threshold@A", title="cost at this threshold@A", intervals=("mean", "difference"))
def cost_at_threshold(s: Sample, price: Fraction) -> Number:
    """Cost at the threshold that is the cheapest in the data, held fixed.

    The same number as the lowest cost, and another interval: bootstrap samples keep the threshold of the data, so it is
    about this threshold, not about choosing one. Lower is better.

    Formula: generalized_risk / largest loss + a·(1 − coverage) at the threshold of E(a).
    Abstentions: cost a each, and so does every answer that the threshold declines.
    Reference: Chow (1970), for the cost.

    >>> from demur import Curve, grade_units
    >>> answers = {"truth": [1, 1, 1, 1, 1], "prediction": [1, 1, 0, 1, 0], "loss": "zero_one"}
    >>> cost_at_threshold(Curve.of(grade_units([9, 8, 7, 6, 5], **answers)), Fraction(1, 10))
    0.06
    """
    known = s.table.largest_loss is not None
    points = cheapest_point(s.table.points.count, s.table.points.loss_sum, price, s.table.largest) if known else 0
    return _paid(s, *s.accepted(points), price)


@_area("cost_area", title="cost area")
def cost_area(s: Sample) -> Number:
    """Area under the lowest cost.

    The lowest cost averaged over every price of an abstention from 0 to 1. Lower is better.

    Formula: ∫₀¹ E(a) da, exact from the vertices of the lower convex hull of coverage and generalized risk.
    Abstentions: cost a each: abstaining more does not make it smaller by itself.
    Reference: Drummond & Holte (2006), Cost curves, Machine Learning 65, for costs over all prices.

    >>> from demur import Curve, grade_units
    >>> answers = {"truth": [1, 1, 1, 1, 1], "prediction": [1, 1, 0, 1, 0], "loss": "zero_one"}
    >>> cost_area(Curve.of(grade_units([9, 8, 7, 6, 5], **answers)))
    0.25
    """
    return _cost_area(s, *s.curve.sums)


@_area("cost_area_random", title="cost area, random order")
def cost_area_random(s: Sample) -> Number:
    """Area under the lowest cost of a confidence that says nothing.

    What the cost area would be if everything were answered or nothing, whichever is cheaper. Lower is better.

    Formula: ∫₀¹ min(a, E_all(a)) da.
    Ties: none, confidences are not looked at.
    Abstentions: cost a each.
    Reference: Drummond & Holte (2006), Cost curves, Machine Learning 65, for costs over all prices.

    >>> from demur import Curve, grade_units
    >>> cost_area_random(Curve.of(grade_units([9, 8], truth=[1, 1], prediction=[1, 0], loss="zero_one")))
    0.375
    """
    k, losses = s.curve.sums
    return _cost_area(s, k[[0, -1]], losses[[0, -1]])


@_area("cost_area_optimal", title="cost area, oracle order")
def cost_area_optimal(s: Sample) -> Number:
    """Area under the lowest cost of the oracle order.

    What the cost area would be if confidence sorted these very losses: a floor for every ranking. Lower is better.

    Formula: ∫₀¹ E(a) da of the answered losses in ascending order.
    Ties: broken, every unit is an operating point.
    Abstentions: cost a each.
    Reference: Drummond & Holte (2006), Cost curves, Machine Learning 65, for costs over all prices.

    >>> from demur import Curve, grade_units
    >>> cost_area_optimal(Curve.of(grade_units([9, 8], truth=[1, 1], prediction=[0, 1], loss="zero_one")))
    0.25
    """
    return _cost_area(s, *s.oracle.sums)


@dataclass(frozen=True, slots=True, eq=False)
class HeldOut:
    """Sums over units judged by thresholds chosen without them: losses, accepted units, all units; the largest loss.

    For draws, `weights` are those of the clusters in each of them.
    """

    lost: Any
    accepted: Any
    units: Any
    largest: Any = 1
    weights: Any = None


@quantity(
    "cost_crossfit@A",
    of="held_out",
    parameter=PRICE,
    defaults=PRICES,
    title="cross-fitted cost@A",
    undefined=f"{UNKNOWN}, or there is no other cluster to choose a threshold on",
    limits=lambda _, __: (0.0, 1.0),
    intervals=("mean", "difference"),
    reported=False,
    shown=(),
)
def cost_crossfit(held_out: HeldOut, price: Fraction) -> Any:
    """Cross-fitted cost at a price of an abstention.

    What a unit costs on average if the threshold is chosen on other clusters than its own: the number for a paper.
    Lower is better.

    Formula: clusters are in folds, and each fold is judged by the cheapest threshold of the others:
        (Σ loss of the accepted / largest loss + a·Σ declined) / N.
    Abstentions: cost a each, and so does every answer that the threshold declines.
    Reference: Stone (1974), Cross-validatory choice and assessment of statistical predictions, JRSS B 36.

    >>> cost_crossfit(HeldOut(lost=Fraction(1), accepted=2, units=4), Fraction(1, 10))
    0.3
    """
    declined = (price if held_out.weights is None else float(price)) * (held_out.units - held_out.accepted)
    return (held_out.lost / held_out.largest + declined) / held_out.units


def _paid(s: Sample, count: Number, loss: Number, price: Fraction) -> Number:
    """What a unit costs if so many answers with so much loss are accepted."""
    return (loss / s.constant(s.table.largest) + (s.units - count) * s.constant(price)) / s.units


def _cost_area(s: Sample, k: Floats, losses: Floats) -> Number:
    """The cost area of some points: ½, that of declining everything, minus what each edge of their hull saves.

    An edge of w units with the summed loss r saves a·w − r at every price a above its switch r/w.
    """
    saved, largest = [], s.constant(s.table.largest)
    for count, loss in zip(k.T, losses.T, strict=True):
        held = np.flatnonzero(np.diff(count, prepend=0) > 0)
        kept = held[lower_hull_of_sums(count[held].astype(np.int64), loss[held])]
        width, rise = (s.exactly(np.diff(sums[kept], prepend=0)) for sums in (count, loss))
        with np.errstate(invalid="ignore"):  # where the largest loss is not known
            start = np.clip(rise / (width * largest.value), 0, 1)
        saved.append(np.sum(width * largest.value * (1 - start**2) / 2 - rise * (1 - start)))
    return s.constant(0.5) - Number(np.array(saved), None) / (s.units * largest)
