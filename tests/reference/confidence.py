"""Confidences by plain formulas, one unit at a time, from a run's signals and the content of a calibration file."""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from demur.errors import UserError, literal, shown
from demur.facts.columns import MISSING
from demur.facts.items import Items
from demur.facts.signals import SIGNALS

_DECIMALS = 12
_LEAST = 1e-6
_NULL_IN_A_VARIANT = {"retrieval_similarity_mean": 0.0, "retrieval_similarity_max": 0.0, "verbalized_confidence": 3.0}
_COMBINE: dict[str, Callable[[float, float], float]] = {
    "average": lambda left, right: (left + right) / 2,
    "product": lambda left, right: left * right,
}
_CALIBRATED = ("calibrated", "verbalized_calibrated")
_PAIR = 2


class Formula(NamedTuple):
    """A confidence as a function of signals."""

    signals: tuple[str, ...]
    value: Callable[..., float]


def _clip(value: float) -> float:
    return min(max(value, 0.0), 1.0)


def _evidence(count: float) -> float:
    return min(count, 3.0) / 3


def _spoken(level: float) -> float:
    return _clip((level - 1) / 4)


_COUNT, _KEYWORDS, _MEAN = "llm_evidence_count", "keyword_evidence_count", "retrieval_similarity_mean"
_SPOKEN, _AGREE = "verbalized_confidence", "consistency_modal_confidence"
FORMULAS = {
    "llm": Formula((_COUNT,), lambda count: count),
    "total_evidence": Formula((_COUNT, _KEYWORDS), lambda count, more: count + more),
    "retrieval_similarity_mean": Formula((_MEAN,), lambda mean: mean),
    "retrieval_similarity_max": Formula(("retrieval_similarity_max",), lambda nearest: nearest),
    "hybrid_evidence_similarity": Formula(
        (_COUNT, _MEAN), lambda count, mean: 0.5 * _evidence(count) + 0.5 * _clip(mean)
    ),
    "verbalized": Formula((_SPOKEN,), _spoken),
    "hybrid_verbalized": Formula(
        (_SPOKEN, _COUNT, _MEAN),
        lambda level, count, mean: 0.4 * _spoken(level) + 0.3 * _evidence(count) + 0.3 * _clip(mean),
    ),
    "token_msp": Formula(("token_msp",), lambda probability: probability),
    "token_pe": Formula(("token_pe",), lambda entropy: 1 / (1 + entropy)),
    "token_energy": Formula(("token_energy",), lambda energy: _clip(math.exp(min(energy, 0.0)))),
    "consistency": Formula((_AGREE,), lambda agreement: agreement),
    "consistency_inverse_std": Formula(("consistency_score_std",), lambda spread: 1 / (1 + spread)),
    "hybrid_consistency": Formula(
        (_AGREE, _COUNT, _MEAN),
        lambda agreement, count, mean: 0.4 * agreement + 0.3 * _evidence(count) + 0.3 * _clip(mean),
    ),
}


def confidence(items: Items, name: str, calibration: Any = None, *, rounded: bool = True) -> list[float]:
    """The confidence of each answered unit, by the parsed content of a calibration file where it needs one.

    Composite confidences are rounded at the end; unrounded, values that are equal on paper may differ.
    """
    values = _unrounded(items, name, calibration)
    composite = len(FORMULAS[name].signals) > 1 if name in FORMULAS else name.startswith("secondary:")
    return [round(value, _DECIMALS) for value in values] if composite and rounded else values


def _unrounded(items: Items, name: str, calibration: Any) -> list[float]:
    if name in FORMULAS:
        columns = [_signal(items, signal, _NULL_IN_A_VARIANT.get(signal)) for signal in FORMULAS[name].signals]
        return [FORMULAS[name].value(*row) for row in zip(*columns, strict=True)]
    if name.startswith("secondary:"):
        inner, _, operation = name.removeprefix("secondary:").rpartition(":")
        parts = inner.split("+")
        if len(parts) != _PAIR or operation not in _COMBINE or any(part.startswith("secondary:") for part in parts):
            raise UserError(f"{shown(name)} is not a combination of two variants")
        columns = [_unrounded(items, part, calibration) for part in parts]
        return [_COMBINE[operation](*pair) for pair in zip(*columns, strict=True)]
    if name in _CALIBRATED or name.startswith("calibrated:"):
        return _by_calibration(items, name, calibration)
    if name in items.signals:
        return _signal(items, name, null=None)
    raise UserError(f"no plain formula is known for the confidence {shown(name)}")


def _signal(items: Items, name: str, null: float | None) -> list[float]:
    """A signal of each answered unit; `null` stands in for one that is null."""
    answered = [unit for unit in range(len(items)) if items.answered[unit]]
    if name not in items.signals:
        if name == _KEYWORDS or not answered:  # newer runs do not count keywords
            return [0.0] * len(answered)
        raise UserError(f"the data have no {name}")
    values = []
    for unit in answered:
        cell = items.signals[name].cell(unit)
        cell = null if cell is None and null is not None else cell
        if cell is MISSING or not isinstance(cell, (int, float)):
            raise UserError(f"{items.place(unit)}: {name} is not a number")
        values.append(float(cell))
    return values


def _by_calibration(items: Items, name: str, calibration: Any) -> list[float]:
    if calibration is None:
        raise UserError("needs --calibration")
    try:
        features, variant = calibration.get("features"), calibration.get("variant")
        known = isinstance(calibration["model"], dict) and calibration["method"] in _METHODS
    except (AttributeError, KeyError, TypeError):
        known = False
    if not known or (features is None) == (variant is None):
        raise UserError("not a calibration: expected an object with method, model, and features or a variant")
    is_temperature = calibration["method"] == "temperature_scaling"
    if name == "verbalized_calibrated":
        serves = is_temperature and (features == [_SPOKEN] or variant == "verbalized")
    else:
        serves = name == "calibrated" if variant is None else name == f"calibrated:{variant}"
    if not serves:
        raise UserError("needs another --calibration: the one given was fitted on something else")
    if variant is not None:
        return [_calibrated(calibration, [value]) for value in confidence(items, variant)]
    columns: list[list[float]] = []
    for feature in features:
        values = _signal(items, feature, SIGNALS[feature].cautious if feature in SIGNALS else None)
        columns.append([*map(_spoken, values)] if is_temperature and feature == _SPOKEN else values)
    return [_calibrated(calibration, row) for row in zip(*columns, strict=True)]


def _calibrated(calibration: Any, row: Sequence[float]) -> float:
    """The calibrated confidence of one unit, from its features in the order of the file, or from its variant."""
    method, model = calibration["method"], calibration["model"]
    try:
        return float(_METHODS[method](model, row))
    except (KeyError, TypeError, IndexError, ZeroDivisionError):
        raise UserError(f"the model of the calibration is not that of {literal(method)}") from None


def _temperature(model: Any, row: Sequence[float]) -> float:
    (value,) = row
    share = min(max(value, _LEAST), 1 - _LEAST)
    return _sigmoid((math.log(share) - math.log1p(-share)) / model["temperature"])


def _weighted_sum(model: Any, row: Sequence[float]) -> float:
    columns = zip(row, model["mean"], model["scale"], model["coefficients"], strict=True)
    parts = [weight * ((value - mean) / scale) for value, mean, scale, weight in columns]
    return float(sum(parts, model["intercept"]))


def _isotonic(model: Any, row: Sequence[float]) -> float:
    """Linear interpolation between the knots, constant beyond them."""
    (value,) = row
    knots = list(zip(model["x"], model["y"], strict=True))
    if value <= knots[0][0]:
        return float(knots[0][1])
    for (x0, y0), (x1, y1) in pairwise(knots):
        if x0 <= value < x1:
            return float(y0 + (y1 - y0) / (x1 - x0) * (value - x0))
    return float(knots[-1][1])


def _sigmoid(odds: float) -> float:
    """The logistic function, without overflow."""
    if odds >= 0:
        return 1 / (1 + math.exp(-odds))
    small = math.exp(odds)
    return small / (1 + small)


_METHODS: dict[str, Callable[[Any, Sequence[float]], float]] = {
    "temperature_scaling": _temperature,
    "platt": lambda model, row: _sigmoid(_weighted_sum(model, row)),
    "logistic": lambda model, row: _sigmoid(_weighted_sum(model, row)),
    "linear": lambda model, row: _clip(_weighted_sum(model, row)),
    "isotonic": _isotonic,
}
