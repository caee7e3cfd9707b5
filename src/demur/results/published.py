"""Published points: their scale, estimates, uncertainty and record."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from demur.errors import UserError, shown
from demur.facts.points import NumbersOfPoint
from demur.inference.beside import half_width_error, wilson
from demur.inference.estimates import Estimate
from demur.inference.intervals import Interval
from demur.inference.key import Key
from demur.inference.student import normal_quantile
from demur.inference.views import CurveView
from demur.types import Json

OTHER_PEOPLE, UNKNOWN_CLUSTERING, NO_UNCERTAINTY = "other participants", "clustering_unknown", "no_uncertainty"
_ROUNDING = 1e-12


def on_our_scale(point: NumbersOfPoint, view: CurveView) -> NumbersOfPoint:
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


def _risk_ends(point: NumbersOfPoint, view: CurveView) -> Interval | None:
    """The interval of the risk: as published, or of counts of right and wrong."""
    if point.answered is not None:
        if point.spread is None and not _zero_one(view):
            raise UserError(f"point {shown(point.name)}: counts of a loss that is not 0 or 1 need its spread, sd=")
        if point.spread is None:
            return wilson(point.risk * point.answered, point.answered)
        error = point.spread / math.sqrt(point.answered)
    elif point.ends is not None:
        return Interval("published", *point.ends)
    elif point.std_error is None:
        return None
    else:
        error = point.std_error
    reach = normal_quantile(0.975) * error
    return Interval("published", max(point.risk - reach, 0.0), point.risk + reach)


def check_point(point: NumbersOfPoint, view: CurveView) -> None:
    """Check that a point has the loss of the evaluation, a possible risk, and what its interval needs."""
    risk, largest = on_our_scale(point, view).risk, view.table.largest_loss
    if largest is not None and risk > largest / view.table.divisor * (1 + _ROUNDING):
        most = f"expected at most the largest loss, {largest / view.table.divisor:g}"
        raise UserError(f"point {shown(point.name)}: its risk is {risk:.4g}, {most}")
    point_error(point, view)


def point_error(point: NumbersOfPoint, view: CurveView) -> float | None:
    """The standard error of a point's risk; None where it is not known."""
    scaled = on_our_scale(point, view)
    if scaled.spread is not None and scaled.answered is not None:
        return scaled.spread / math.sqrt(scaled.answered)
    if scaled.std_error is not None:
        return scaled.std_error
    ends = _risk_ends(scaled, view)
    return None if ends is None else half_width_error(ends)


def estimates_of_point(point: NumbersOfPoint, view: CurveView) -> Iterator[Estimate]:
    """The estimates of a point's coverage and risk."""
    scaled, error = on_our_scale(point, view), point_error(point, view)
    answered, units = point.answered, point.units
    reached = wilson(answered, units) if answered is not None and units is not None else None
    risk, reason = _risk_ends(scaled, view), "" if error is not None else NO_UNCERTAINTY
    yield Estimate(Key(point.name, "cmax"), point.coverage, recommended=reached, no_interval="" if reached else reason)
    std_error = math.nan if error is None else error
    yield Estimate(Key(point.name, "risk"), scaled.risk, std_error, recommended=risk, no_interval=reason)


def point_record(point: NumbersOfPoint, view: CurveView) -> Json:
    """A point as a file records it."""
    coverage, risk = estimates_of_point(point, view)
    notes = [OTHER_PEOPLE]
    notes += [UNKNOWN_CLUSTERING] if point.kind == "counts" else []
    notes += [NO_UNCERTAINTY] if point_error(point, view) is None else []
    notes += [f"converted from {point.loss}"] if risk.value != point.risk else []
    sides = (("coverage", coverage), ("risk", risk))
    ends = {name: row.recommended.ends if row.recommended else None for name, row in sides}
    return {
        "name": point.name,
        "kind": point.kind,
        "source": point.source,
        "population": point.population,
        "given": point.given,
        "loss": point.loss,
        "coverage": point.coverage,
        "risk": risk.value,
        "n_units": point.units,
        "n_answered": point.answered,
        "ci95": ends,
        "note": notes,
    }
