"""Costs in result files: the models of their members, and the members from the rows."""

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal

from demur.features.costs.options import FOLDS
from demur.features.costs.options import Costs as CostOptions
from demur.features.costs.prices import price_of
from demur.features.costs.quantities import AT_THRESHOLD, COST, CROSSFIT, OF_ALL, SAVING
from demur.features.costs.recorded import prices_of, switches_of
from demur.files.strict_model import SPARSE, Declared, Part, Placed, Share
from demur.inference.estimates import Estimate
from demur.inference.key import Key
from demur.results.feature_files import FileMembers
from demur.results.file_models import Many, Number, Pair
from demur.results.table import Results
from demur.types import Json

# At the price `a` the cheapest threshold moves `from` one `to` the next; null declines everything.
_SWITCH = ("a", "from", "to")
Switch = dict[Literal["a", "from", "to"], Number]


def _checked(switches: Any) -> Any:
    """Check that every switch of thresholds has its three members."""
    if any(len(switch) < len(_SWITCH) or switch["a"] is None for switch in switches or ()):
        raise ValueError(f"a switch of thresholds lacks {', '.join(_SWITCH[:-1])} or {_SWITCH[-1]}")
    return switches


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
    switches: Annotated[Many[Switch], Declared(checked=_checked)]
    area: float
    area_random: float
    area_optimal: float
    answer_all: Many[float]
    decline_all: Many[Share]
    saving: Many[SavingAt]


_Switches = Annotated[Many[Switch] | None, SPARSE, Declared(checked=_checked)]


class CostMembers(FileMembers):
    """The prices of a study, the switch points of a curve, and the costs of a run."""

    study: ClassVar = {
        "abstention_costs": Placed(Annotated[Many[str] | None, SPARSE], order=10),
        "cross_fit": Placed(Annotated[int | None, SPARSE], order=11),
    }
    nested: ClassVar = {
        name: member._replace(before="estimates", order=member.order + 10) for name, member in study.items()
    }
    curve: ClassVar = {"switches": Placed(_Switches, order=10)}
    run: ClassVar = {"cost": Placed(Annotated[Costs | None, SPARSE], order=20)}

    def recorded(self, study: Any) -> CostOptions | None:
        """The prices and the folds."""
        prices = study.abstention_costs
        return CostOptions(*prices, cross_fit=study.cross_fit or FOLDS) if prices else None

    def encoded(self, results: Results, system: str, confidence: str) -> Json:
        """The costs of a run."""
        return {"cost": costs_of(results, system, confidence)} if prices_of(results) else {}

    def curve_of(self, run: Any) -> Json:
        """The switch points, which are among the costs of a run."""
        return {"switches": None if run.cost is None else run.cost.switches}


def costs_of(results: Results, system: str, confidence: str) -> Json:
    """The member `cost` of a run."""
    prices = prices_of(results)

    def row(stem: str, price: str = "") -> Estimate | None:
        return results.get(Key(system, f"{stem}@{price}" if price else stem, confidence))

    def value(stem: str, price: str = "") -> float | None:
        estimate = row(stem, price)
        return None if estimate is None else estimate.value

    numbers = [float(price_of(price)) for price in prices]
    return {
        "a": numbers,
        "optimal": [*_cheapest(results, system, confidence)],
        "switches": switches_of(results.curves[system, confidence]),
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
    for price in prices_of(results):
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
