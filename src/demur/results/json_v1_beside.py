"""Costs, raters and published points in the nested file: their models, and their members from the rows."""

import math
from collections.abc import Iterator

from demur.files.strict_model import Count, Part, Share
from demur.inference.estimates import Estimate
from demur.inference.key import Group, Key
from demur.inference.warnings import OFTEN
from demur.quantities.costs import price_of
from demur.quantities.priced import AT_THRESHOLD, COST, CROSSFIT, OF_ALL, SAVING
from demur.results.gaps import ANSWERED_BY, both_key, gap_key, gap_verdict, system_key
from demur.results.json_v1_cells import written
from demur.results.parts import Many, Number, Pair, Switch
from demur.results.table import Results
from demur.types import Json


class CheapestPoint(Part):
    """The cheapest operating point at a price, its cost, and that cost with the threshold chosen on other clusters."""

    a: Share
    threshold: Number
    coverage: Share
    risk: Number
    cost: float
    ci95: Pair | None
    fixed_threshold_ci95: Pair | None
    crossfit: Number


class SavingAt(Part):
    """What the confidence is worth at a price."""

    a: Share
    value: float
    ci95: Pair | None


class Costs(Part):
    """What errors and abstentions cost together, at each price of an abstention."""

    a: Many[Share]
    optimal: Many[CheapestPoint]
    switches: Many[Switch]
    area: float
    area_random: float
    area_optimal: float
    answer_all: Many[float]
    decline_all: Many[Share]
    saving: Many[SavingAt]


def costs_of(results: Results, system: str, confidence: str) -> Json | None:
    """The member `cost` of a run; None where no price was given."""
    prices = results.selective.abstention_costs
    if not prices:
        return None

    def row(stem: str, price: str = "") -> Estimate | None:
        return results.get(Key(system, f"{stem}@{price}" if price else stem, confidence))

    def value(stem: str, price: str = "") -> float | None:
        estimate = row(stem, price)
        return None if estimate is None else estimate.value

    numbers = [float(price_of(price)) for price in prices]
    return {
        "a": numbers,
        "optimal": [*_cheapest(results, system, confidence)],
        "switches": results.curves[system, confidence].switches,
        "area": value("cost_area"),
        "area_random": value("cost_area_random"),
        "area_optimal": value("cost_area_optimal"),
        "answer_all": [value(OF_ALL, price) for price in prices],
        "decline_all": numbers,
        "saving": [
            {"a": number, "value": value(SAVING, price), "ci95": _ends(row(SAVING, price))}
            for price, number in zip(prices, numbers, strict=True)
        ],
    }


def _cheapest(results: Results, system: str, confidence: str) -> Iterator[Json]:
    curve = results.curves[system, confidence].curve
    for price in results.selective.abstention_costs or ():
        row, fixed, crossfit = (
            results.get(Key(system, f"{stem}@{price}", confidence)) for stem in (COST, AT_THRESHOLD, CROSSFIT)
        )
        if row is not None:
            accepts = row.at in curve.coverage
            yield {
                "a": float(price_of(price)),
                "threshold": row.threshold,
                "coverage": row.at,
                "risk": curve.selective_risk[curve.coverage.index(row.at)] if accepts and row.at else None,
                "cost": row.value,
                "ci95": _ends(row),
                "fixed_threshold_ci95": _ends(fixed),
                "crossfit": None if crossfit is None else crossfit.value,
            }


def _ends(row: Estimate | None) -> tuple[float, float] | None:
    return None if row is None or row.percentile is None else row.percentile.ends


class GapNumbers(Part):
    """The risk of a point minus that of the system: positive where the system errs less."""

    value: Number
    ci95: Pair | None
    ci95_recommended: Pair | None
    ci95_simultaneous: Pair | None
    std_error: Number
    p_value: Share | None
    drop_rate: Share | None


class AnsweredByBoth(Part):
    """The units that the rater and the system answer: their risks, and the rater's minus the system's."""

    n: Count
    system: float
    rater: float
    delta: GapNumbers


class BesidePoint(Part):
    """A system beside one point: its risk at the coverage of the point, the gap, and the verdict."""

    system_risk_at_coverage: Number
    achieved: Share
    risk_gap: GapNumbers
    rater_risk_on_answered: Number
    answered_by_both: AnsweredByBoth | None
    verdict: str
    notes: Many[str]


def external_of(results: Results, system: str, confidence: str) -> Json | None:
    """The member `external` of a run; None without raters and points."""
    points = results.selective.external_points
    return {point.name: _beside(results, point.name, system, confidence) for point in points} if points else None


def _beside(results: Results, name: str, system: str, confidence: str) -> Json:
    gap, own = results[gap_key(name, system, confidence)], results[system_key(name, system, confidence)]
    both = results.get(both_key(name, system, minus=system))
    rater = results.get(both_key(name, system))
    answered: Json | None = None
    if both is not None and rater is not None:
        answered = {
            "n": int(results[Key(name, "answered", group=Group(ANSWERED_BY, system))].value),
            "system": results[both_key(system, name)].value,
            "rater": rater.value,
            "delta": _gap(both),
        }
    return {
        "system_risk_at_coverage": written(own, "value"),
        "achieved": own.at,
        "risk_gap": _gap(gap),
        "rater_risk_on_answered": None if rater is None else rater.value,
        "answered_by_both": answered,
        "verdict": gap_verdict(gap, results.selective.margin),
        "notes": [*_notes(gap)],
    }


def _notes(gap: Estimate) -> Iterator[str]:
    if math.isnan(gap.value):
        yield "beyond_cmax"
    elif gap.no_interval == "no_uncertainty":
        yield gap.no_interval
    if gap.drop_rate > OFTEN:
        yield "target_near_cmax"


def _gap(row: Estimate) -> Json:
    intervals = {"ci95": row.percentile, "ci95_recommended": row.recommended, "ci95_simultaneous": row.simultaneous}
    numbers = {name: written(row, name) for name in ("value", "std_error", "p_value", "drop_rate")}
    return {name: made and made.ends for name, made in intervals.items()} | numbers
