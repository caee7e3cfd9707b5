"""Confidences by plain formulas, one unit at a time, from a run's signals and the content of a calibration file."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from demur.audit.loops.calibration import calibrated, fitted_on
from demur.columns import MISSING
from demur.errors import UserError, shown
from demur.items import Items
from demur.signals import SIGNALS

_DECIMALS = 12
_NULL_IN_A_VARIANT = {"retrieval_similarity_mean": 0.0, "retrieval_similarity_max": 0.0, "verbalized_confidence": 3.0}
_COMBINE: dict[str, Callable[[float, float], float]] = {
    "average": lambda left, right: (left + right) / 2,
    "product": lambda left, right: left * right,
}
_PAIR = 2


@dataclass(frozen=True, slots=True)
class Formula:
    """A confidence as a function of signals; `composite` ones are rounded, a `share` can be read as a probability."""

    signals: tuple[str, ...]
    value: Callable[..., float]
    composite: bool = False
    share: bool = True


@dataclass(frozen=True, slots=True)
class PlainConfidence:
    """The confidence of each answered unit, in the order of the units, and how many nulls something stood in for."""

    values: list[float]
    filled: Mapping[str, int] = field(default_factory=dict)
    composite: bool = False
    share: bool = False

    def rounded(self) -> PlainConfidence:
        """Values that are equal on paper made equal."""
        values = [round(value, _DECIMALS) for value in self.values] if self.composite else self.values
        return replace(self, values=values, composite=False)


def _clip(value: float) -> float:
    return min(max(value, 0.0), 1.0)


def _evidence(count: float) -> float:
    return min(count, 3.0) / 3


def _spoken(level: float) -> float:
    return _clip((level - 1) / 4)


_COUNT, _KEYWORDS, _MEAN = "llm_evidence_count", "keyword_evidence_count", "retrieval_similarity_mean"
_SPOKEN, _AGREE = "verbalized_confidence", "consistency_modal_confidence"
FORMULAS = {
    "llm": Formula((_COUNT,), lambda count: count, share=False),
    "total_evidence": Formula((_COUNT, _KEYWORDS), lambda count, more: count + more, share=False),
    "retrieval_similarity_mean": Formula((_MEAN,), lambda mean: mean, share=False),
    "retrieval_similarity_max": Formula(("retrieval_similarity_max",), lambda nearest: nearest, share=False),
    "hybrid_evidence_similarity": Formula(
        (_COUNT, _MEAN), lambda count, mean: 0.5 * _evidence(count) + 0.5 * _clip(mean), composite=True
    ),
    "verbalized": Formula((_SPOKEN,), _spoken),
    "hybrid_verbalized": Formula(
        (_SPOKEN, _COUNT, _MEAN),
        lambda level, count, mean: 0.4 * _spoken(level) + 0.3 * _evidence(count) + 0.3 * _clip(mean),
        composite=True,
    ),
    "token_msp": Formula(("token_msp",), lambda probability: probability),
    "token_pe": Formula(("token_pe",), lambda entropy: 1 / (1 + entropy)),
    "token_energy": Formula(("token_energy",), lambda energy: _clip(math.exp(min(energy, 0.0)))),
    "consistency": Formula((_AGREE,), lambda agreement: agreement),
    "consistency_inverse_std": Formula(("consistency_score_std",), lambda spread: 1 / (1 + spread)),
    "hybrid_consistency": Formula(
        (_AGREE, _COUNT, _MEAN),
        lambda agreement, count, mean: 0.4 * agreement + 0.3 * _evidence(count) + 0.3 * _clip(mean),
        composite=True,
    ),
}


def confidence(items: Items, name: str, calibration: Any = None) -> PlainConfidence:
    """The confidence of that name, by the parsed content of a calibration file where it needs one."""
    return _unrounded(items, name, calibration).rounded()


def is_confidence(items: Items, name: str) -> bool:
    """Whether a name is that of a confidence, be it one this run cannot serve."""
    known = name in FORMULAS or name in items.signals or name in ("calibrated", "verbalized_calibrated")
    return known or name.startswith(("calibrated:", "secondary:"))


def _unrounded(items: Items, name: str, calibration: Any) -> PlainConfidence:
    """What is combined of several is rounded once, at the end."""
    if name in FORMULAS:
        return _by_formula(items, FORMULAS[name])
    if name.startswith("secondary:"):
        return _combined(items, name, calibration)
    if name in ("calibrated", "verbalized_calibrated") or name.startswith("calibrated:"):
        return _by_calibration(items, name, calibration)
    if name in items.signals:
        return PlainConfidence(_signal(items, name, null=None)[0])
    raise UserError(f"nobody knows how to recompute the confidence {shown(name)}")


def _by_formula(items: Items, formula: Formula) -> PlainConfidence:
    columns = [_signal(items, name, _NULL_IN_A_VARIANT.get(name)) for name in formula.signals]
    values = [formula.value(*row) for row in zip(*(column for column, _ in columns), strict=True)]
    filled = {name: nulls for name, (_, nulls) in zip(formula.signals, columns, strict=True) if nulls}
    return PlainConfidence(values, filled, formula.composite, formula.share)


def _signal(items: Items, name: str, null: float | None) -> tuple[list[float], int]:
    """A signal of each answered unit, and how many nulls something stood in for."""
    answered = [unit for unit in range(len(items)) if items.answered[unit]]
    if name not in items.signals:
        if name == _KEYWORDS or not answered:  # newer runs do not count keywords
            return [0.0] * len(answered), 0
        raise UserError(f"the data have no {name}")
    values, nulls = [], 0
    for unit in answered:
        cell = items.signals[name].cell(unit)
        if cell is None and null is not None:
            cell, nulls = null, nulls + 1
        if cell is MISSING or not isinstance(cell, (int, float)):
            raise UserError(f"{items.place(unit)}: {name} is not a number")
        values.append(float(cell))
    return values, nulls


def _combined(items: Items, name: str, calibration: Any) -> PlainConfidence:
    inner, _, how = name.removeprefix("secondary:").rpartition(":")
    parts = inner.split("+")
    if len(parts) != _PAIR or how not in _COMBINE or any(part.startswith("secondary:") for part in parts):
        raise UserError(f"{shown(name)} is not a combination of two variants")
    left, right = (_unrounded(items, part, calibration) for part in parts)
    values = [_COMBINE[how](*pair) for pair in zip(left.values, right.values, strict=True)]
    share = any("calibrated" in part for part in parts)
    return PlainConfidence(values, {**left.filled, **right.filled}, composite=True, share=share)


def _by_calibration(items: Items, name: str, calibration: Any) -> PlainConfidence:
    if calibration is None:
        raise UserError("needs --calibration")
    features, variant = fitted_on(calibration)
    is_temperature = calibration["method"] == "temperature_scaling"
    if name == "verbalized_calibrated":
        serves = is_temperature and (features == [_SPOKEN] or variant == "verbalized")
    else:
        serves = name == "calibrated" if variant is None else name == f"calibrated:{variant}"
    if not serves:
        raise UserError("needs another --calibration: the one given was fitted on something else")
    if variant is not None:
        given = confidence(items, variant)
        return PlainConfidence([calibrated(calibration, [value]) for value in given.values], given.filled, share=True)
    columns: list[list[float]] = []
    filled: dict[str, int] = {}
    for feature in features:
        values, nulls = _signal(items, feature, SIGNALS[feature].cautious if feature in SIGNALS else None)
        columns.append([*map(_spoken, values)] if is_temperature and feature == _SPOKEN else values)
        filled |= {feature: nulls} if nulls else {}
    return PlainConfidence([calibrated(calibration, row) for row in zip(*columns, strict=True)], filled, share=True)
