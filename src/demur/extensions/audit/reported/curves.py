"""Figures of a risk–coverage curve: by demur's definitions, and by known alternatives to them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from demur.confidences.variants import VARIANTS
from demur.errors import shown
from demur.extensions.audit.reported.contexts import Context
from demur.extensions.audit.reported.names import SELECTIVE, ReportedQuantity
from demur.facts.items import Items
from demur.quantities.curve import Curve
from demur.quantities.registry import QUANTITIES
from demur.sampling.coverage import Coverage
from demur.sampling.exact import ExactLine, ExactSample
from demur.sampling.graded import Graded
from demur.sampling.line import Line
from demur.sampling.numbers import Number
from demur.types import Floats

RUN_COUNTS: dict[str, Callable[[Items, int], int]] = {
    "participants_total": lambda _, everyone: everyone,
    "participants_included": lambda items, _: len(items.cluster_ids),
    "participants_failed": lambda items, everyone: everyone - len(items.cluster_ids),
    "items_total": lambda items, _: len(items),
    "items_predicted": lambda items, _: int(items.answered.sum()),
    "items_abstained": lambda items, _: len(items) - int(items.answered.sum()),
}
UNRANKED = ("cmax", "risk", "aurc_optimal", "augrc_optimal", "aurc_random", "augrc_random")
_NEIGHBOURS = ("risk", "cmax", "aurc", "augrc", "naurc", "naugrc", "eaurc", "eaugrc", "aurc_optimal", "augrc_optimal")
_SHORT = "no flat start: integrated from the first operating point"


def _first(values: Any) -> Any:
    return np.array([sum(map(Fraction, values[:1].tolist()))], object)


@dataclass(frozen=True, eq=False)
class _LineFromFirstPoint(ExactLine):
    """A line whose areas begin after so many units."""

    start: int = field(kw_only=True)

    def _area_upto(self, end: Number, *, selective: bool) -> Number:
        before = Number(np.minimum(end.value, self.start))
        return super()._area_upto(end, selective=selective) - super()._area_upto(before, selective=selective)

    def _area_by_unit(self, loss: Floats) -> Number:
        return super()._area_by_unit(loss) - Number(_first(loss))

    def hull_area(self) -> Any:
        return super().hull_area() - _first(self.data.loss_sum)


class _SampleFromFirstPoint(ExactSample):
    """The data, with lines that begin at their first point: of the oracle order, at its first unit."""

    @cached_property
    def curve(self) -> Line:
        points = self.table.points
        start = int(points.count[0]) if len(points.count) else 0
        return _LineFromFirstPoint(self.table.plateaus, self.weights, self.table.whole, data=points, start=start)

    @cached_property
    def oracle(self) -> Line:
        points = self.table.oracle_points
        return _LineFromFirstPoint(self.table.levels, self.weights, self.table.whole, data=points, start=1)


class _FromFirstPoint(Curve):
    """A curve whose areas begin at its first operating point, as those of some tools do."""

    @classmethod
    def of_curve(cls, curve: Curve) -> _FromFirstPoint:
        return cls(**{each.name: getattr(curve, each.name) for each in fields(curve)})

    @cached_property
    def sample(self) -> ExactSample:
        return _SampleFromFirstPoint.of(super().sample.table)


def _untied(graded: Graded) -> Curve:
    distinct = np.empty(graded.answered)
    distinct[np.argsort(-graded.confidence, kind="stable")] = -np.arange(graded.answered)
    return Curve.of(replace(graded, confidence=distinct))


CURVES: dict[str, Callable[[Graded], Curve]] = {
    "abstentions left out of the denominator": lambda graded: replace(Curve.of(graded), units=max(graded.answered, 1)),
    _SHORT: lambda graded: _FromFirstPoint.of_curve(Curve.of(graded)),
    "ties broken: each unit an operating point": _untied,
    f"ties broken, {_SHORT}": lambda graded: _FromFirstPoint.of_curve(_untied(graded)),
}


def other_figures(context: Context) -> Iterator[tuple[str, Context]]:
    """Other numbers of the same run that a figure may be: of another count, confidence, coverage or area."""
    name, at = context.quantity.name, context.quantity.number
    if name in RUN_COUNTS:
        for other in (other for other in RUN_COUNTS if other != name):
            yield f"it is the count {other}", replace(context, quantity=ReportedQuantity(other))
        return
    for other in VARIANTS:
        if name not in UNRANKED and other != context.confidence:
            yield f"ranked by {other}, not {shown(context.confidence or '')}", replace(context, confidence=other)
    if name in SELECTIVE and not context.quantity.achieved:
        tenths = sorted((Fraction(n, 10) for n in range(1, 11)), key=lambda tenth: abs(tenth - at))
        nearest = [context.quantity.at(tenth) for tenth in tenths if name.endswith("@C") and tenth != at]
        for quantity in (*nearest, *(ReportedQuantity(other) for other in _NEIGHBOURS if other != name)):
            yield f"it is {quantity}", replace(context, quantity=quantity)


def parameters(quantity: ReportedQuantity) -> tuple[Coverage | Fraction, ...]:
    """The coverage or the risk of a figure at an operating point, in a tuple; empty for other figures."""
    if "@" not in quantity.name:
        return ()
    return (_exactly(quantity.number) if quantity.name.endswith("@C") else quantity.number,)


def of_sample(quantity: ReportedQuantity, sample: Any) -> Any:
    """The value of a figure of a curve, or its values in a block of replicates; nan where it is undefined."""
    return QUANTITIES[quantity.name].function(sample, *parameters(quantity))


def of_curve(quantity: ReportedQuantity, curve: Curve) -> float | None:
    """The value of a figure of a curve, or the coverage it is achieved at; None where it is undefined."""
    if not quantity.achieved:
        value = float(of_sample(quantity, curve))
    elif quantity.name == "risk@C":
        value = curve.at(_exactly(quantity.number)).achieved
    else:
        value = float(min(quantity.number, curve.coverage_reached))
    return None if math.isnan(value) else value


def _exactly(coverage: Fraction) -> Coverage:
    return Coverage(str(coverage), coverage)
