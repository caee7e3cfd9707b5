"""Calibrations by plain formulas: what the parameters of a calibration file make of one unit."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from demur.errors import UserError, literal

_LEAST = 1e-6


def fitted_on(calibration: Any) -> tuple[list[str], str | None]:
    """The features a calibration was fitted on, or the variant."""
    try:
        features, variant = calibration.get("features"), calibration.get("variant")
        known = isinstance(calibration["model"], dict) and calibration["method"] in _METHODS
    except (AttributeError, KeyError, TypeError):
        known = False
    if not known or (features is None) == (variant is None):
        raise UserError("not a calibration: expected an object with method, model, and features or a variant")
    return list(features or ()), variant


def calibrated(calibration: Any, row: Sequence[float]) -> float:
    """The calibrated confidence of one unit, from its features in the order of the file, or from its variant."""
    method, model = calibration["method"], calibration["model"]
    try:
        return float(_METHODS[method](model, row))
    except (KeyError, TypeError, IndexError, ZeroDivisionError):
        raise UserError(f"the model of the calibration is not that of {literal(method)}") from None


def _temperature(model: Any, row: Sequence[float]) -> float:
    (given,) = row
    share = min(max(given, _LEAST), 1 - _LEAST)
    return _sigmoid((math.log(share) - math.log1p(-share)) / model["temperature"])


def _weighted_sum(model: Any, row: Sequence[float]) -> float:
    columns = zip(row, model["mean"], model["scale"], model["coefficients"], strict=True)
    parts = [weight * ((value - mean) / scale) for value, mean, scale, weight in columns]
    return float(sum(parts, model["intercept"]))


def _logistic(model: Any, row: Sequence[float]) -> float:
    return _sigmoid(_weighted_sum(model, row))


def _linear(model: Any, row: Sequence[float]) -> float:
    return min(max(_weighted_sum(model, row), 0.0), 1.0)


def _isotonic(model: Any, row: Sequence[float]) -> float:
    """Linear between the knots, level beyond them."""
    (value,) = row
    knots = list(zip(model["x"], model["y"], strict=True))
    if value <= knots[0][0]:
        return float(knots[0][1])
    for (x0, y0), (x1, y1) in pairwise(knots):
        if x0 <= value < x1:
            return float(y0 + (y1 - y0) / (x1 - x0) * (value - x0))
    return float(knots[-1][1])


def _sigmoid(odds: float) -> float:
    """Without overflow at either end."""
    if odds >= 0:
        return 1 / (1 + math.exp(-odds))
    small = math.exp(odds)
    return small / (1 + small)


_METHODS = {
    "temperature_scaling": _temperature,
    "platt": _logistic,
    "logistic": _logistic,
    "linear": _linear,
    "isotonic": _isotonic,
}
