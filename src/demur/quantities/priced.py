"""Cost quantities: at a price of an abstention, over all prices, at a fixed threshold, and cross-fitted."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from demur.quantities.costs import UNKNOWN, CostEnvelope, cheapest_plateau, price_of
from demur.quantities.coverage import RiskCoverage
from demur.quantities.curve import Curve
from demur.quantities.exact import lower_hull_of_sums
from demur.quantities.registry import Parameter, quantity
from demur.quantities.replicates import Replicates
from demur.quantities.table import Table
from demur.types import Floats

COST, AT_THRESHOLD, CROSSFIT, SAVING, OF_ALL = "cost", "cost_at_threshold", "cost_crossfit", "saving", "cost_of_all"
PRICE = Parameter("A", price_of, "0.1")
PRICES = ("0.01", "0.05", "0.1", "0.2", "0.5")
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
def cost(curve: RiskCoverage, price: Fraction) -> Any:
    """Lowest cost at a price of an abstention.

    What a unit costs on average if the threshold is set as well as it can be, with errors at their share of the largest
    loss and abstentions at the price. Lower is better. The threshold is chosen on the units it is judged by, so it
    flatters: the cross-fitted cost does not.

    Formula: E(a) = min_j [generalized_risk_j / largest loss + a·(1 − coverage_j)], declining everything (a) among them.
    Ties: a plateau is accepted whole; of two points that cost the same the larger coverage is taken.
    Abstentions: cost a each, and so does every answer that the threshold declines.
    Reference: Chow (1970), On optimum recognition error and reject tradeoff, IEEE Trans. Inf. Theory 16.

    >>> from demur import grade_units
    >>> answers = {"truth": [1, 1, 1, 1, 1], "prediction": [1, 1, 0, 1, 0], "loss": "zero_one"}
    >>> cost(Curve.of(grade_units([9, 8, 7, 6, 5], **answers)), Fraction(1, 10))
    0.06
    """
    return _of_sample(curve, lambda own: CostEnvelope.of(own).cost(price), lambda drawn: _lowest(drawn, price))


@_cost("saving@A", title="saving@A", better="higher")
def saving(curve: RiskCoverage, price: Fraction) -> Any:
    """What the confidence is worth at a price of an abstention.

    How much less a unit costs with the best threshold than with the cheaper of answering everything one can and
    declining everything. Higher is better; 0 where no threshold helps.

    Formula: min(E_all(a), a) − E(a), with E_all(a) = generalized_risk / largest loss + a·(1 − Cmax).
    Abstentions: cost a each.
    Reference: Chow (1970), for the cost; the reference is ours.

    >>> from demur import grade_units
    >>> answers = {"truth": [1, 1, 1, 1, 1], "prediction": [1, 1, 0, 1, 0], "loss": "zero_one"}
    >>> saving(Curve.of(grade_units([9, 8, 7, 6, 5], **answers)), Fraction(1, 2))
    0.1
    """
    return _of_sample(
        curve,
        lambda own: CostEnvelope.of(own).saving(price),
        lambda drawn: np.minimum(_of_all(drawn, price), float(price)) - _lowest(drawn, price),
    )


@_cost("cost_of_all@A", title="cost of answering all@A", point_only=True)
def cost_of_all(curve: RiskCoverage, price: Fraction) -> Any:
    """Cost of answering everything at a price of an abstention.

    What a unit costs on average if no answer is declined. Lower is better.

    Formula: E_all(a) = generalized_risk / largest loss + a·(1 − Cmax).
    Ties: none, confidences are not looked at.
    Abstentions: cost a each.
    Reference: Chow (1970), for the cost.

    >>> from demur import grade_units
    >>> answers = {"truth": [1, 1, 1, 1], "prediction": [1, 1, 0, None], "loss": "zero_one"}
    >>> cost_of_all(Curve.of(grade_units([9, 8, 7, 6], **answers)), Fraction(1, 2))
    0.375
    """
    return _of_sample(
        curve, lambda own: CostEnvelope.of(own).points[-1].cost(price), lambda drawn: _of_all(drawn, price)
    )


def _on_cost_at_threshold(sample: Replicates, price: Fraction) -> Floats:
    """Influences of the clusters: their cost at the threshold minus the mean cost of their units, per unit."""
    accepted, lost = (
        part[:, None]
        for part in accepted_by_cluster(sample.table, [_cheapest_plateau(sample.table, price)] * sample.table.clusters)
    )
    paid = lost / _scale(sample.table) - float(price) * accepted
    expected = (_at_threshold(sample, price) - float(price)) * sample.table.cluster_units[:, None]
    return np.asarray((paid - expected) / sample.units)


@_cost(
    "cost_at_threshold@A",
    title="cost at this threshold@A",
    intervals=("mean", "difference"),
    influence=_on_cost_at_threshold,
)
def cost_at_threshold(curve: RiskCoverage, price: Fraction) -> Any:
    """Cost at the threshold that is the cheapest in the data, held fixed.

    The same number as the lowest cost, and another interval: bootstrap samples keep the threshold of the data, so it is
    about this threshold, not about choosing one. Lower is better.

    Formula: generalized_risk / largest loss + a·(1 − coverage) at the threshold of E(a).
    Abstentions: cost a each, and so does every answer that the threshold declines.
    Reference: Chow (1970), for the cost.

    >>> from demur import grade_units
    >>> answers = {"truth": [1, 1, 1, 1, 1], "prediction": [1, 1, 0, 1, 0], "loss": "zero_one"}
    >>> cost_at_threshold(Curve.of(grade_units([9, 8, 7, 6, 5], **answers)), Fraction(1, 10))
    0.06
    """
    return _of_sample(curve, lambda own: CostEnvelope.of(own).cost(price), lambda drawn: _at_threshold(drawn, price))


@_area("cost_area", title="cost area")
def cost_area(curve: RiskCoverage) -> Any:
    """Area under the lowest cost.

    The lowest cost averaged over every price of an abstention from 0 to 1. Lower is better.

    Formula: ∫₀¹ E(a) da, exact from the vertices of the lower convex hull of coverage and generalized risk.
    Abstentions: cost a each: abstaining more does not make it smaller by itself.
    Reference: Drummond & Holte (2006), Cost curves, Machine Learning 65, for costs over all prices.

    >>> from demur import grade_units
    >>> answers = {"truth": [1, 1, 1, 1, 1], "prediction": [1, 1, 0, 1, 0], "loss": "zero_one"}
    >>> cost_area(Curve.of(grade_units([9, 8, 7, 6, 5], **answers)))
    0.25
    """
    return _of_sample(
        curve, lambda own: CostEnvelope.of(own).area, lambda drawn: _areas(drawn, drawn.count, drawn.loss_sum)
    )


@_area("cost_area_random", title="cost area, random order")
def cost_area_random(curve: RiskCoverage) -> Any:
    """Area under the lowest cost of a confidence that says nothing.

    What the cost area would be if everything were answered or nothing, whichever is cheaper. Lower is better.

    Formula: ∫₀¹ min(a, E_all(a)) da.
    Ties: none, confidences are not looked at.
    Abstentions: cost a each.
    Reference: Drummond & Holte (2006), Cost curves, Machine Learning 65, for costs over all prices.

    >>> from demur import grade_units
    >>> cost_area_random(Curve.of(grade_units([9, 8], truth=[1, 1], prediction=[1, 0], loss="zero_one")))
    0.375
    """
    return _of_sample(
        curve,
        lambda own: CostEnvelope.of_random(own).area,
        lambda drawn: _areas(drawn, drawn.count[-1:], drawn.loss_sum[-1:]),
    )


@_area("cost_area_optimal", title="cost area, oracle order")
def cost_area_optimal(curve: RiskCoverage) -> Any:
    """Area under the lowest cost of the oracle order.

    What the cost area would be if confidence sorted these very losses: a floor for every ranking. Lower is better.

    Formula: ∫₀¹ E(a) da of the answered losses in ascending order.
    Ties: broken, every unit is an operating point.
    Abstentions: cost a each.
    Reference: Drummond & Holte (2006), Cost curves, Machine Learning 65, for costs over all prices.

    >>> from demur import grade_units
    >>> cost_area_optimal(Curve.of(grade_units([9, 8], truth=[1, 1], prediction=[0, 1], loss="zero_one")))
    0.25
    """
    return _of_sample(
        curve, lambda own: CostEnvelope.of_oracle(own).area, lambda drawn: _areas(drawn, *drawn.level_sums)
    )


@dataclass(frozen=True, slots=True, eq=False)
class HeldOut:
    """Sums over units judged by thresholds chosen without them: losses, accepted units, all units; the largest loss.

    For draws, `weights` hold the weight of each cluster (a column) in each draw (a row).
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


def accepted_by_cluster(table: Table, last: Any) -> tuple[Floats, Floats]:
    """The number of accepted answers of each cluster and their summed loss, up to a plateau per cluster."""
    plateaus = table.plateaus
    accepted_entries = plateaus.step <= np.asarray(last)[plateaus.cluster]
    owner = plateaus.cluster[accepted_entries]
    accepted, lost = (
        np.bincount(owner, part[accepted_entries], minlength=table.clusters) for part in (plateaus.count, plateaus.loss)
    )
    return accepted.astype(np.float64), lost.astype(np.float64)


def _of_sample(sample: Any, exact: Callable[[Curve], Any], drawn: Callable[[Replicates], Floats]) -> Any:
    """A cost of the data in fractions, or of replicates in arrays; nan where the largest loss is not known."""
    if isinstance(sample, Curve):
        return math.nan if sample.largest_loss is None else exact(sample)
    if sample.table.largest_loss is None:
        return np.full(len(sample.units), math.nan)
    return drawn(sample)


def _scale(table: Table) -> float:
    return math.nan if table.largest_loss is None else table.largest_loss


def _paid(sample: Replicates, price: Fraction) -> Floats:
    """The cost of a unit at each plateau (a row); a sum of nonnegative terms, so rounding cannot make it negative."""
    paid = sample.loss_sum / _scale(sample.table) + float(price) * (sample.units - sample.count)
    return np.asarray(paid / sample.units)


def _lowest(sample: Replicates, price: Fraction) -> Floats:
    return np.asarray(_paid(sample, price).min(axis=0, initial=float(price)))


def _of_all(sample: Replicates, price: Fraction) -> Floats:
    return np.asarray(_paid(sample, price)[-1]) if len(sample.count) else np.full(len(sample.units), float(price))


def _cheapest_plateau(table: Table, price: Fraction) -> int:
    """The plateau of the data up to which answers are accepted at the lowest cost; -1 where no cost is known."""
    if table.largest_loss is None:
        return -1
    count, loss_sum = table.plateaus.cumulative(np.ones((table.clusters, 1)), whole=table.whole)
    return cheapest_plateau(count[:, 0], loss_sum[:, 0], price, _scale(table))


def _at_threshold(sample: Replicates, price: Fraction) -> Floats:
    plateau = _cheapest_plateau(sample.table, price)
    return np.asarray(_paid(sample, price)[plateau]) if plateau >= 0 else np.full(len(sample.units), float(price))


def _areas(sample: Replicates, count: Floats, loss_sum: Floats) -> Floats:
    """The cost area of each replicate: ½, that of declining everything, minus what each edge of the hull saves.

    An edge of w units with the summed loss r saves a·w − r at every price a above its switch r/w.
    """
    areas = np.full(len(sample.units), 0.5)
    for replicate, units in enumerate(sample.units):
        nonempty = np.flatnonzero(np.diff(count[:, replicate], prepend=0) > 0)
        sums, lost = count[nonempty, replicate], loss_sum[nonempty, replicate]
        vertices = lower_hull_of_sums(sums.astype(np.int64), lost)
        width, rise = np.diff(sums[vertices], prepend=0), np.diff(lost[vertices], prepend=0) / _scale(sample.table)
        start = np.maximum(rise / width, 0)
        areas[replicate] -= np.sum(width * (1 - start**2) / 2 - rise * (1 - start)) / units
    return areas
