"""Costs in results: the rows at each price of an abstention, their bands and switch points."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from demur.errors import UserError, literal
from demur.inference.estimates import Estimate
from demur.inference.held_out import FOLDS, HeldOutView
from demur.inference.key import Key
from demur.inference.rows import Contrast, Row
from demur.inference.rules import Counted
from demur.inference.uncertainty import judged_together
from demur.inference.views import CurveView
from demur.options import as_blank, as_option, option, section
from demur.quantities import Measure, quantities
from demur.quantities.costs import UNKNOWN, CostEnvelope, cost_optimal, price_of, price_text
from demur.quantities.curve import Curve
from demur.quantities.priced import AT_THRESHOLD, COST, CROSSFIT
from demur.sampling.resample import Plan
from demur.types import Json


@section("costs")
@dataclass(frozen=True, slots=True, init=False)
class Costs:
    """Prices of an abstention, as shares of the largest loss, to report the lowest cost at.

    The cost of the procedure is cross-fitted over so many folds of clusters.

    >>> Costs("0.1", "1:4").prices
    ('0.1', '0.25')
    """

    prices: tuple[str, ...] = option(
        (),
        "Price of an abstention as a share of the largest loss, 0.1 or 1:10.",
        flag="--abstention-cost",
        metavar="PRICE",
        repeated=True,
        also=(float,),
        call="Costs('1:10')",
    )
    cross_fit: int = option(FOLDS, "Folds of clusters for the cross-fitted cost.", kind=int)

    def __init__(self, *prices: str | float | Fraction, cross_fit: int = FOLDS) -> None:
        texts = tuple(price_text(price_of(price)) for price in prices)
        if len({*texts}) < len(texts):
            raise UserError("the prices of an abstention have one twice")
        if type(cross_fit) is not int or cross_fit < 2:  # noqa: PLR2004
            raise UserError(f"{as_option('cross_fit')} {literal(cross_fit)}, expected a number of folds, 2 or more")
        if cross_fit != FOLDS and not texts:
            raise UserError(f"{as_option('cross_fit')} is for costs: give a price, {as_blank('prices')}")
        object.__setattr__(self, "prices", texts)
        object.__setattr__(self, "cross_fit", cross_fit)

    @classmethod
    def typed(cls, prices: Iterable[str] = (), cross_fit: int = FOLDS) -> Costs:
        """Costs from the command line or a file."""
        return cls(*prices, cross_fit=cross_fit)


def cost_rows(views: Mapping[str, Mapping[str, CurveView]], costs: Costs, plan: Plan) -> Iterator[Row]:
    """Every cost of every system under every confidence; cross-fitted where there is a seed and a second cluster."""
    if not costs.prices:
        return
    prices = costs.prices
    of_prices = [entry for entry in quantities("costs") if entry.parameter]
    measures = [Measure.of(f"{entry.stem}@{price}") for price in prices for entry in of_prices]
    measures += [Measure(entry) for entry in quantities("costs") if not entry.parameter]
    for confidence, by_system in views.items():
        for system, view in by_system.items():
            if view.table.largest_loss is None:
                raise UserError(
                    f"{UNKNOWN}, and the price of an abstention is a share of it: give it, {as_blank('loss_max')}"
                )
            for measure in measures:
                key = Key(system, str(measure), confidence)
                yield Row.of_curve(key, view, measure, resampled=not measure.quantity.point_only)
            if plan.resamples and plan.seed is not None and len(view.ids) > 1:
                keys = (Key(system, f"{CROSSFIT}@{price}", confidence) for price in prices)
                yield from (_crossfit(key, view, plan.seed, costs.cross_fit) for key in keys)


def _crossfit(key: Key, view: CurveView, seed: int, folds: int) -> Row:
    measure = Measure.of(key.quantity)
    held_out = HeldOutView.cheapest(view, measure.value, seed, folds)
    rule, contrast_rule = measure.quantity.intervals
    return Row(
        key,
        held_out,
        measure,
        measure,
        float(measure(held_out.exact())),
        rule,
        contrast_rule,
        counted=Counted("clusters", len(view.ids), view.varies, low=0.0, high=1.0),
        entries=held_out.entries,
        influence=lambda: held_out.influence(measure.value),
        sums=lambda: (held_out.paid(measure.value), held_out.units),
    )


def with_thresholds(estimates: Iterable[Estimate], views: Mapping[str, Mapping[str, CurveView]]) -> Iterator[Estimate]:
    """Add to each lowest cost its coverage and threshold, which is null where everything is declined."""
    for row in estimates:
        stem, _, price = row.key.quantity.partition("@")
        if stem in (COST, AT_THRESHOLD) and row.key.minus is None:
            best = cost_optimal(views[row.key.confidence][row.key.system].curve, price)
            yield replace(row, at=float(best.coverage), threshold=best.threshold)
        else:
            yield row


def with_bands(estimates: Sequence[Estimate], contrasts: Sequence[Contrast]) -> list[Estimate]:
    """Add to differences of the lowest cost an interval that holds at all prices at once, per confidence."""
    rows = [*estimates]
    of_cost = [contrast for contrast in contrasts if contrast.key.quantity.partition("@")[0] == COST]
    for confidence in dict.fromkeys(contrast.key.confidence for contrast in of_cost):
        family = [contrast for contrast in of_cost if contrast.key.confidence == confidence]
        rows = judged_together(rows, {contrast.key: contrast.counted for contrast in family})
    return rows


def switches(curve: Curve) -> list[Json]:
    """The prices at which the cheapest threshold changes, with both thresholds; null declines everything."""
    envelope = CostEnvelope.of(curve)
    points = zip(envelope.switches, envelope.points, envelope.points[1:], strict=False)
    return [{"a": float(price), "from": before.threshold, "to": after.threshold} for price, before, after in points]
