"""Quantities: registered functions of a sample of answers, of costs, of counts and of forecasts.

The order of these imports is the order quantities are listed in.
"""

# isort: off
from demur.quantities import areas, excess, operating, thresholds, matched, priced  # noqa: F401
from demur.quantities import calibration  # noqa: F401

# isort: on
from demur.quantities.excess import augrc_optimal_zero_one, aurc_optimal_zero_one
from demur.quantities.forecasts import Forecasts
from demur.quantities.registry import Measure, Quantity, all_quantities, default_measures, quantities, quantity
from demur.quantities.scores import Scores

__all__ = [
    "Forecasts",
    "Measure",
    "Quantity",
    "Scores",
    "all_quantities",
    "augrc_optimal_zero_one",
    "aurc_optimal_zero_one",
    "default_measures",
    "quantities",
    "quantity",
]


def __getattr__(name: str) -> object:
    if name == "QUANTITIES":  # with those of extensions, which are registered when they are first needed
        return all_quantities()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
