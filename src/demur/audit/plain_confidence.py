"""Confidences by plain formulas, one unit at a time, from a run's signals and the content of a calibration file."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from demur.audit.plain_calibration import calibrated, fitted_on
from demur.columns import MISSING
from demur.errors import UserError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from demur.items import Items

DECIMALS = 12
CAUTIOUS = {
    "llm_evidence_count": 0.0,
    "keyword_evidence_count": 0.0,
    "retrieval_similarity_mean": 0.0,
    "retrieval_similarity_max": 0.0,
    "verbalized_confidence": 3.0,
    "token_msp": 0.0,
    "consistency_modal_confidence": 0.0,
}
_NULL_IN_A_VARIANT = ("retrieval_similarity_mean", "retrieval_similarity_max", "verbalized_confidence")
_PARTS = 2


@dataclass(frozen=True, slots=True)
class Formula:
    """A confidence as a function of signals; `composite` ones are rounded, a `share` can be read as a probability."""

    signals: tuple[str, ...]
    value: Callable[..., float]
    composite: bool = False
    share: bool = True


@dataclass(frozen=True, slots=True)
class Ranked:
    """The confidence of each answered unit, in the order of the units, and how many nulls something stood in for."""

    values: list[float]
    filled: Mapping[str, int] = field(default_factory=dict)
    composite: bool = False
    share: bool = False


def _clip(value: float) -> float:
    return min(max(value, 0.0), 1.0)


def _evidence(count: float) -> float:
    return min(count, 3.0) / 3


def _spoken(said: float) -> float:
    return _clip((said - 1) / 4)


_COUNT, _MEAN, _SAID, _AGREE = (
    "llm_evidence_count",
    "retrieval_similarity_mean",
    "verbalized_confidence",
    "consistency_modal_confidence",
)
FORMULAS = {
    "llm": Formula((_COUNT,), lambda count: count, share=False),
    "total_evidence": Formula((_COUNT, "keyword_evidence_count"), lambda count, more: count + more, share=False),
    "retrieval_similarity_mean": Formula((_MEAN,), lambda mean: mean, share=False),
    "retrieval_similarity_max": Formula(("retrieval_similarity_max",), lambda nearest: nearest, share=False),
    "hybrid_evidence_similarity": Formula(
        (_COUNT, _MEAN), lambda count, mean: 0.5 * _evidence(count) + 0.5 * _clip(mean), composite=True
    ),
    "verbalized": Formula((_SAID,), _spoken),
    "hybrid_verbalized": Formula(
        (_SAID, _COUNT, _MEAN),
        lambda said, count, mean: 0.4 * _spoken(said) + 0.3 * _evidence(count) + 0.3 * _clip(mean),
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


def ranked(items: Items, name: str, calibration: Any = None) -> Ranked:
    """The confidence of that name; an error says why it cannot be recomputed."""
    return _rounded(_made(items, name, calibration))


def _rounded(made: Ranked) -> Ranked:
    if not made.composite:
        return made
    return Ranked([round(value, DECIMALS) for value in made.values], made.filled, share=made.share)


def _made(items: Items, name: str, calibration: Any) -> Ranked:
    """Not yet rounded: what is made of it is rounded once, at the end."""
    if name in FORMULAS:
        return _by_formula(items, FORMULAS[name])
    if name.startswith("secondary:"):
        return _combined(items, name, calibration)
    if name in ("calibrated", "verbalized_calibrated") or name.startswith("calibrated:"):
        return _by_calibration(items, name, calibration)
    if name in items.signals:
        values, _ = _signal(items, name, null=None)
        return Ranked(values)
    raise UserError(f"nobody knows how to recompute the confidence {shown(name)}")


def _by_formula(items: Items, formula: Formula) -> Ranked:
    columns, filled = [], {}
    for name in formula.signals:
        null = CAUTIOUS[name] if name in _NULL_IN_A_VARIANT else None
        values, nulls = _signal(items, name, null, optional=name == "keyword_evidence_count")
        columns.append(values)
        if nulls:
            filled[name] = nulls
    values = [formula.value(*row) for row in zip(*columns, strict=True)]
    return Ranked(values, filled, formula.composite, formula.share)


def _signal(items: Items, name: str, null: float | None, *, optional: bool = False) -> tuple[list[float], int]:
    """A signal of each answered unit, and how many nulls something stood in for."""
    answered = [unit for unit in range(len(items)) if items.answered[unit]]
    if name not in items.signals:
        if optional or not answered:
            return [0.0] * len(answered), 0
        raise UserError(f"the data have no {name}")
    values, nulls = [], 0
    for unit in answered:
        cell = items.signals[name].cell(unit)
        if cell is None and null is not None:
            cell, nulls = null, nulls + 1
        if cell is MISSING or not isinstance(cell, (int, float)):
            raise UserError(f"{items.place(unit)}: {name} is no number")
        values.append(float(cell))
    return values, nulls


def _combined(items: Items, name: str, calibration: Any) -> Ranked:
    inner, _, how = name.removeprefix("secondary:").rpartition(":")
    parts = inner.split("+")
    if len(parts) != _PARTS or how not in ("average", "product"):
        raise UserError(f"{shown(name)} is no combination of two variants")
    one, other = (_made(items, part, calibration) for part in parts)
    pairs = zip(one.values, other.values, strict=True)
    values = [(a + b) / 2 if how == "average" else a * b for a, b in pairs]
    uses_calibration = any("calibrated" in part for part in parts)
    return Ranked(values, {**one.filled, **other.filled}, composite=True, share=uses_calibration)


def _by_calibration(items: Items, name: str, calibration: Any) -> Ranked:
    if calibration is None:
        raise UserError("needs --calibration")
    features, variant = fitted_on(calibration)
    if name == "verbalized_calibrated":
        serves = calibration["method"] == "temperature_scaling" and (features == [_SAID] or variant == "verbalized")
    else:
        serves = name == "calibrated" if variant is None else name == f"calibrated:{variant}"
    if not serves:
        raise UserError("needs another --calibration: the one given was fitted on something else")
    if variant is not None:
        made = _rounded(_made(items, variant, None))
        return Ranked([calibrated(calibration, [value]) for value in made.values], made.filled, share=True)
    columns, filled = [], {}
    for feature in features:
        values, nulls = _signal(items, feature, CAUTIOUS.get(feature))
        if calibration["method"] == "temperature_scaling" and feature == _SAID:
            values = [_spoken(value) for value in values]
        columns.append(values)
        if nulls:
            filled[feature] = nulls
    return Ranked([calibrated(calibration, list(row)) for row in zip(*columns, strict=True)], filled, share=True)
