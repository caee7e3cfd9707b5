"""Costs in an evaluation: the rows at each price of an abstention, their bands and switch points."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from demur.errors import UserError
from demur.features.costs.envelope import CostEnvelope, cost_optimal
from demur.features.costs.held_out import HeldOutView
from demur.features.costs.options import Costs
from demur.features.costs.prices import UNKNOWN
from demur.features.costs.quantities import AT_THRESHOLD, COST, CROSSFIT
from demur.inference.estimates import Estimate
from demur.inference.key import Key
from demur.inference.rows import Contrast, Row
from demur.inference.rules import Counted
from demur.inference.uncertainty import judged_together
from demur.inference.views import CurveView
from demur.options import as_blank
from demur.quantities import Measure, quantities
from demur.quantities.curve import Curve
from demur.results.features import Additions
from demur.results.study_of_answers import Evaluation
from demur.sampling.resample import Plan
from demur.types import Json


class CostRows(Additions):
    """What costs add: at each price the lowest cost of every system, its threshold, and bands of differences."""

    def __init__(self, costs: Costs, evaluation: Evaluation, plan: Plan) -> None:
        self.costs, self.views, self.plan = costs, evaluation.views, plan

    @cached_property
    def rows(self) -> Sequence[Row]:
        """Every cost of every system under every confidence."""
        return [*self._rows()] if self.costs.prices else []

    def _rows(self) -> Iterator[Row]:
        of_prices = [entry for entry in quantities("costs") if entry.parameter]
        measures = [Measure.of(f"{entry.stem}@{price}") for price in self.costs.prices for entry in of_prices]
        measures += [Measure(entry) for entry in quantities("costs") if not entry.parameter]
        for confidence, by_system in self.views.items():
            for system, view in by_system.items():
                if view.table.largest_loss is None:
                    raise UserError(
                        f"{UNKNOWN}, and the price of an abstention is a share of it: give it, {as_blank('loss_max')}"
                    )
                for measure in measures:
                    key = Key(system, str(measure), confidence)
                    yield Row.of_curve(key, view, measure, resampled=not measure.quantity.point_only)
                yield from self._cross_fitted(system, confidence, view)

    def _cross_fitted(self, system: str, confidence: str, view: CurveView) -> Iterator[Row]:
        """The cross-fitted costs, where there is a seed and a second cluster."""
        if self.plan.resamples and self.plan.seed is not None and len(view.ids) > 1:
            keys = (Key(system, f"{CROSSFIT}@{price}", confidence) for price in self.costs.prices)
            yield from (_crossfit(key, view, self.plan.seed, self.costs.cross_fit) for key in keys)

    def finished(self, estimates: list[Estimate], contrasts: Sequence[Contrast]) -> list[Estimate]:
        """Add to each lowest cost its coverage and threshold, and to differences their simultaneous intervals."""
        return with_bands([*self._with_thresholds(estimates)], contrasts)

    def _with_thresholds(self, estimates: Iterable[Estimate]) -> Iterator[Estimate]:
        """Add to each lowest cost its coverage and threshold, which is null where everything is declined."""
        for row in estimates:
            stem, _, price = row.key.quantity.partition("@")
            if stem in (COST, AT_THRESHOLD) and row.key.minus is None:
                best = cost_optimal(self.views[row.key.confidence][row.key.system].curve, price)
                yield replace(row, at=float(best.coverage), threshold=best.threshold)
            else:
                yield row

    def curve(self, view: CurveView) -> Json:
        """The prices at which the cheapest threshold changes."""
        return {"switches": switches(view.curve)} if self.costs.prices else {}

    def record(self, estimates: Iterable[Estimate]) -> Json:  # noqa: ARG002
        """The prices and the folds."""
        prices = self.costs.prices
        return {"abstention_costs": prices, "cross_fit": self.costs.cross_fit} if prices else {}


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
