"""Quantities: the registered functions of curves, forecasts, rankings and selected evidence that yield a number.

The order of these imports is the order quantities are listed in.
"""

# isort: off
from demur.quantities import areas, excess, operating, thresholds, matched, priced  # noqa: F401
from demur.quantities import calibration, detection, ranking, evidence  # noqa: F401

# isort: on
from demur.quantities.excess import augrc_optimal_zero_one, aurc_optimal_zero_one
from demur.quantities.forecasts import Forecasts
from demur.quantities.registry import QUANTITIES, Measure, Quantity, default_measures, quantities, quantity
from demur.quantities.scores import Scores

__all__ = [
    "QUANTITIES",
    "Forecasts",
    "Measure",
    "Quantity",
    "Scores",
    "augrc_optimal_zero_one",
    "aurc_optimal_zero_one",
    "default_measures",
    "quantities",
    "quantity",
]
