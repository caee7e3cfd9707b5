"""Figures of a risk–coverage curve: as demur defines them, and as they are known to be computed instead."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from demur.audit.reported.contexts import Context
from demur.audit.reported.names import SELECTIVE, ReportedQuantity
from demur.confidences.variants import VARIANTS
from demur.errors import shown
from demur.facts.items import Items
from demur.quantities import QUANTITIES
from demur.quantities.curve import Curve
from demur.sampling.coverage import Coverage
from demur.sampling.graded import Graded

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


class _FromFirstPoint(Curve):
    """A curve whose areas begin at its first operating point, as those of some tools do."""

    @classmethod
    def of_curve(cls, curve: Curve) -> _FromFirstPoint:
        return cls(**{field.name: getattr(curve, field.name) for field in fields(curve)})

    def _start(self, coverage: Coverage | None) -> Coverage | None:
        """The coverage of the first point, or that of a cut before it; None where nothing is answered."""
        if not len(self):
            return None
        first = Fraction(int(self.points.count[0]), self.units)
        return _exactly(first if coverage is None else min(first, coverage.value))

    def selective_area_upto(self, coverage: Coverage | None) -> Fraction:
        whole, start = super().selective_area_upto(coverage), self._start(coverage)
        return whole if start is None else whole - super().selective_area_upto(start)

    def generalized_area_upto(self, coverage: Coverage | None) -> Fraction:
        whole, start = super().generalized_area_upto(coverage), self._start(coverage)
        return whole if start is None else whole - super().generalized_area_upto(start)

    @cached_property
    def optimal_selective_area(self) -> Fraction:
        return super().optimal_selective_area - self._smallest_loss / self.units

    @cached_property
    def optimal_generalized_area(self) -> Fraction:
        return super().optimal_generalized_area - self._smallest_loss / (2 * self.units**2)

    @cached_property
    def achievable_selective_area(self) -> Fraction:
        start = self._start(None)
        return super().achievable_selective_area - (super().selective_area_upto(start) if start else 0)

    @property
    def _smallest_loss(self) -> Fraction:
        """The risk at the first point of the oracle order, which is one unit."""
        return Fraction(self.loss_levels[0].item()) / self.divisor if len(self.loss_levels) else Fraction(0)


def _untied(graded: Graded) -> Curve:
    """Every answer an operating point, equal confidences in the order of the rows."""
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
    """Other figures of the same run that a figure may be: another count, confidence, coverage or area."""
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
    """The coverage or the risk that a figure is at, if it is at one."""
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
