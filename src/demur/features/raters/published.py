"""Published points: their risk on the scale of the evaluation, its uncertainty, their estimates and their record."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from demur.errors import UserError, shown
from demur.features.raters.intervals import half_width_error, wilson
from demur.features.raters.points import NumbersOfPoint
from demur.inference.estimates import Estimate
from demur.inference.intervals import Interval
from demur.inference.key import Key
from demur.inference.student import normal_quantile
from demur.inference.views import CurveView
from demur.sampling.coverage import Coverage
from demur.types import Json

OTHER_PEOPLE, UNKNOWN_CLUSTERING, NO_UNCERTAINTY = "other participants", "clustering_unknown", "no_uncertainty"
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class PublishedPoint:
    """A point as published, and its risk in the loss of the evaluation, with interval and standard error if known."""

    numbers: NumbersOfPoint
    risk: float
    interval: Interval | None
    std_error: float | None

    @classmethod
    def of(cls, numbers: NumbersOfPoint, views: Sequence[CurveView]) -> PublishedPoint:
        """Check that a point has the loss of the evaluation, a possible risk, and what its interval needs."""
        scaled, table = _on_our_scale(numbers, views[0]), views[0].table
        if table.largest_loss is not None and scaled.risk > table.largest_loss / table.divisor * (1 + _ROUNDING):
            most = f"expected at most the largest loss, {table.largest_loss / table.divisor:g}"
            raise UserError(f"point {shown(numbers.name)}: its risk is {scaled.risk:.4g}, {most}")
        interval = _interval(scaled, views)
        error = scaled.std_error
        if scaled.spread is not None and scaled.answered is not None:
            error = scaled.spread / math.sqrt(scaled.answered)
        elif error is None and interval is not None:
            error = half_width_error(interval)
        return cls(numbers, scaled.risk, interval, error)

    @property
    def coverage(self) -> Coverage:
        """The coverage, exact where it was counted."""
        answered, units = self.numbers.answered, self.numbers.units
        return Coverage.of(self.numbers.coverage if answered is None or units is None else Fraction(answered, units))

    def estimates(self) -> Iterator[Estimate]:
        """The estimates of its coverage and risk."""
        point, reason = self.numbers, "" if self.std_error is not None else NO_UNCERTAINTY
        reached = None if point.answered is None or point.units is None else wilson(point.answered, point.units)
        key = Key(point.name, "cmax")
        yield Estimate(key, point.coverage, recommended=reached, no_interval="" if reached else reason)
        error = math.nan if self.std_error is None else self.std_error
        yield Estimate(Key(point.name, "risk"), self.risk, error, recommended=self.interval, no_interval=reason)

    def record(self) -> Json:
        """The point as a file records it."""
        point, estimates = self.numbers, zip(("coverage", "risk"), self.estimates(), strict=True)
        notes = [OTHER_PEOPLE]
        notes += [UNKNOWN_CLUSTERING] if point.kind == "counts" else []
        notes += [NO_UNCERTAINTY] if self.std_error is None else []
        notes += [f"converted from {point.loss}"] if self.risk != point.risk else []
        return {
            "name": point.name,
            "kind": point.kind,
            "source": point.source,
            "population": point.population,
            "given": point.given,
            "loss": point.loss,
            "coverage": point.coverage,
            "risk": self.risk,
            "n_units": point.units,
            "n_answered": point.answered,
            "ci95": {name: row.recommended.ends if row.recommended else None for name, row in estimates},
            "note": notes,
        }


def _on_our_scale(point: NumbersOfPoint, view: CurveView) -> NumbersOfPoint:
    """A point with its risk converted to the loss of the evaluation; only abs and abs_norm can be converted."""
    ours, theirs = view.graded.loss_name, point.loss
    if theirs is None or theirs == ours:
        return point
    largest = view.table.largest_loss
    if {ours, theirs} != {"abs", "abs_norm"} or largest is None:
        raise UserError(f"point {shown(point.name)}: its loss is {shown(theirs)}, that of the evaluation {shown(ours)}")
    factor = 1 / largest if ours == "abs_norm" else largest
    ends = None if point.ends is None else (point.ends[0] * factor, point.ends[1] * factor)
    spread, error = (None if number is None else number * factor for number in (point.spread, point.std_error))
    return replace(point, risk=point.risk * factor, ends=ends, spread=spread, std_error=error, loss=None)


def _zero_one(view: CurveView) -> bool:
    losses = set(view.table.level_loss.tolist())
    return view.table.largest_loss == view.table.divisor and losses <= {0.0, float(view.table.divisor)}


def _interval(point: NumbersOfPoint, views: Sequence[CurveView]) -> Interval | None:
    """The interval of the risk: as published, or of counts of right and wrong."""
    error = point.std_error
    if point.answered is not None:
        if point.spread is None and not all(map(_zero_one, views)):
            raise UserError(f"point {shown(point.name)}: counts of a loss that is not 0 or 1 need its spread, sd=")
        if point.spread is None:
            return wilson(point.risk * point.answered, point.answered)
        error = point.spread / math.sqrt(point.answered)
    elif point.ends is not None:
        return Interval("published", *point.ends)
    if error is None:
        return None
    reach = normal_quantile(0.975) * error
    return Interval("published", max(point.risk - reach, 0.0), point.risk + reach)
