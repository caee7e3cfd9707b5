"""Costs in the nested file: their models, and their members from the rows."""

from collections.abc import Iterator

from demur.files.strict_model import Part, Share
from demur.inference.estimates import Estimate
from demur.inference.key import Key
from demur.quantities.costs import price_of
from demur.quantities.priced import AT_THRESHOLD, COST, CROSSFIT, OF_ALL, SAVING
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
