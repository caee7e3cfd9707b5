"""Confidences of a run by name.

A name is that of a registered variant, of a signal, or of a combination: `secondary:a+b:average` (or `product`) of two
variants, or `calibrated:a` of a variant and a calibration fitted for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from demur.confidences.features import CalibratorFeatureExtractor, Features, Need, first_problem
from demur.confidences.variants import DECIMALS, NEED_CALIBRATION, VARIANTS, Confidence, Variant, spread
from demur.errors import UserError, literal, shown, unknown
from demur.facts.column_names import Likeness, confidence_likeness
from demur.facts.columns import State
from demur.facts.items import Items
from demur.facts.paths import SignalColumns
from demur.facts.signals import SIGNALS, listed_names
from demur.types import Flags, Floats

if TYPE_CHECKING:
    from demur.confidences.calibration import AnyCalibration

Names = str | Sequence[str]
DEFAULT = ("llm", "total_evidence")
_COMBINE: dict[str, Callable[[Floats, Floats], Floats]] = {
    "average": lambda first, second: (first + second) / 2,
    "product": lambda first, second: first * second,
}
_SECONDARY = f"secondary:<variant>+<variant>:<{'|'.join(_COMBINE)}>"


@dataclass(frozen=True, slots=True)
class _Calibrated:
    """A calibration applied to the signals or to the variant that it was fitted on."""

    name: str
    calibration: AnyCalibration
    composite: bool = False

    def problem(self, items: Items) -> str | None:
        if self.calibration.variant is not None:
            return _source(self.calibration.variant, None).problem(items)
        return first_problem(CalibratorFeatureExtractor(self.calibration.features or ()).needs, items)

    def of(self, items: Items) -> Confidence:
        if not items.answered.any():
            return Confidence(self.name, np.full(len(items), np.nan), {}, self.calibration)
        inputs, filled = calibration_inputs(items, self.calibration.features, self.calibration.variant)
        try:
            values = spread(self.name, items, self.calibration(inputs))
        except UserError as error:
            raise UserError(f"{shown(self.name)}: {error} (of the answered units)") from None
        return Confidence(self.name, values, filled, self.calibration, inputs, is_probability=True)


@dataclass(frozen=True, slots=True)
class _Secondary:
    """Two confidences combined before they are rounded, because rounding twice would make equal values differ."""

    name: str
    parts: tuple[Maker, Maker]
    combine: Callable[[Floats, Floats], Floats]
    composite: bool = True

    def problem(self, items: Items) -> str | None:
        return self.parts[0].problem(items) or self.parts[1].problem(items)

    def of(self, items: Items) -> Confidence:
        first, second = (part.of(items) for part in self.parts)
        with np.errstate(over="ignore"):
            combined = self.combine(first.values, second.values)
        reversed_ = (first.values < 0) & (second.values < 0) & (combined > 0)
        if reversed_.any():
            unit = items.place(int(np.argmax(reversed_)))
            raise UserError(f"{self.name}: {unit}: two negative confidences would make a high one; take the average")
        values = spread(self.name, items, combined[items.answered])
        filled = {**first.nulls_filled, **second.nulls_filled}
        return Confidence(self.name, values, filled, first.calibration or second.calibration)


class _Signal(Variant):
    """A signal that is used as a confidence unchanged."""

    __slots__ = ()

    def problem(self, items: Items) -> str | None:
        declared = SIGNALS.get(self.name)
        if declared and declared.lower_is_more_confident:
            return f"lower means more confident in {self.name}: use a variant made of it"
        return first_problem(self.needs, items)


Maker = Variant | _Calibrated | _Secondary  # composite ones are rounded once, at the end


def confidence(items: Items, name: str, calibration: AnyCalibration | None = None) -> Confidence:
    """The confidence of every unit of a run, by the name of a variant, of a combination, or of a signal.

    If a variant and a signal have the same name, it means the variant: `token_pe` is 1/(1 + the signal).
    """
    result = unrounded(items, name, calibration)
    composite = _source(name, calibration, items).composite
    return replace(result, values=np.round(result.values, DECIMALS)) if composite else result


def unrounded(items: Items, name: str, calibration: AnyCalibration | None = None) -> Confidence:
    """The confidence before rounding: values of a composite that are equal exactly may differ in their last bits."""
    source = _source(name, calibration, items)
    problem = source.problem(items)
    if problem:
        variants = [variant for variant, reason in served(items, calibration).items() if reason is None]
        raise UserError(f"{shown(name)}: {problem}; {can_serve(items, variants)}")
    return source.of(items)


def unrated(items: Items, name: str, calibration: AnyCalibration | None = None) -> Flags:
    """Flags of the units with a null or NaN in a required signal; nulls with a declared meaning do not count."""
    lacking = np.zeros(len(items), dtype=bool)
    for need in _needs(_source(name, calibration, items)):
        if (column := items.signals.get(need.signal)) is not None:
            lacking |= column.abstains() & (~column.is_(State.NULL) if need.null is not None else True)
    return lacking


def _needs(source: Maker) -> Sequence[Need]:
    if isinstance(source, _Secondary):
        return [need for part in source.parts for need in _needs(part)]
    if isinstance(source, Variant):
        return source.needs
    if source.calibration.variant is not None:
        return _needs(_source(source.calibration.variant, None))
    return CalibratorFeatureExtractor(source.calibration.features or ()).needs


def calibration_inputs(items: Items, features: Sequence[str] | None, variant: str | None) -> Features:
    """The inputs of a calibrator for the answered units: its features, or its variant."""
    if variant is None:
        return CalibratorFeatureExtractor(features or ())(items)
    column = confidence(items, variant)
    return Features({variant: column.values[items.answered]}, column.nulls_filled)


def can_serve(items: Items, variants: Sequence[str]) -> str:
    """A phrase that lists the confidences a run supports: variants, and undeclared signals by name."""
    own = [shown(name) for name, column in items.signals.items() if name not in SIGNALS and column.usable().any()]
    signals = f"; signals of its own, by name: {', '.join(own)}" if own else ""
    return f"this run can serve: {', '.join(variants) or 'no variant'}{signals}"


def usual_signals() -> frozenset[str]:
    """The signals that the default confidences need."""
    return frozenset(need.signal for name in DEFAULT for need in VARIANTS[name].needs if need.absent is None)


def only_signal(items: Items) -> str | None:
    """The one signal that is named like a confidence and is a number for every answer, if there is exactly one.

    None if the run can serve the default confidences.
    """
    if all(_source(name, None).problem(items) is None for name in DEFAULT):
        return None
    numeric = [name for name, column in items.signals.items() if column.usable()[items.answered].all()]
    named = confidence_likeness(numeric)
    return next(iter(named)) if [*named.values()] == [Likeness.CLEAR] else None


def served(items: Items, calibration: AnyCalibration | None = None) -> dict[str, str | None]:
    """For every variant by name, the reason why a run does not support it, None if it does."""
    reasons: dict[str, str | None] = {}
    for name in _names(calibration):
        try:
            reasons[name] = _source(name, calibration).problem(items)
        except UserError as error:
            reasons[name] = str(error).removeprefix(f"{shown(name)}: ")
    return reasons


def chosen(
    items: Items, names: Names, calibration: AnyCalibration | None = None
) -> tuple[dict[str, Confidence], dict[str, str]]:
    """The confidences of these names, and the reasons for those that `all` leaves out.

    Names come as a list, or as a text with commas between them. `default` is `llm,total_evidence`; `all` is every
    variant that the run, and the calibration if there is one, serve.
    """
    if names == "all":
        reasons = served(items, calibration)
        able = {name: confidence(items, name, calibration) for name, reason in reasons.items() if reason is None}
        return able, {name: reason for name, reason in reasons.items() if reason is not None}
    listed = DEFAULT if names == "default" else listed_names(names, items.signals)
    if "" in listed or not listed:
        raise UserError(f"confidence {literal(names)}, expected names separated by commas")
    if len(set(listed)) < len(listed):
        raise UserError(f"confidence {shown(names)}: the same name appears twice")
    return {name: confidence(items, name, calibration) for name in listed}, {}


def signals_for(items: Items, names: Names) -> list[str]:
    """The signals of a run that confidences are computed from, calibrated ones excepted; `names` as in `chosen`."""
    sources = (_source(name, None, items) for name in chosen(items, names)[0])
    made = (source for source in sources if not isinstance(source, _Calibrated))
    wanted = dict.fromkeys(need.signal for source in made for need in _needs(source))
    return [name for name in wanted if name in items.signals]


def _names(calibration: AnyCalibration | None) -> Iterator[str]:
    yield from VARIANTS
    yield from NEED_CALIBRATION
    if calibration is not None and calibration.variant is not None:
        yield f"calibrated:{calibration.variant}"


def _source(name: str, calibration: AnyCalibration | None, items: Items | None = None) -> Maker:
    if not isinstance(name, str):
        raise UserError(f"confidence {literal(name)}, expected the name of a variant or of a signal")
    if name in VARIANTS and not _hides_a_signal(name, items):
        return VARIANTS[name]
    if name in NEED_CALIBRATION or name.startswith("calibrated:"):
        return _Calibrated(name, _fitting(name, calibration))
    if name.startswith("secondary:"):
        inner, _, how = name.removeprefix("secondary:").rpartition(":")
        parts = inner.split("+")
        if len(parts) != 2 or any(part.startswith("secondary:") for part in parts):  # noqa: PLR2004
            raise UserError(f"{shown(name)} is not a combination of two variants: write {_SECONDARY}")
        if how not in _COMBINE:
            raise unknown("combination of two variants", how, _COMBINE)
        first, second = (_source(part, calibration) for part in parts)
        return _Secondary(name, (first, second), _COMBINE[how])
    if items is not None and name in items.signals:
        bounds = (0.0, 1.0) if name in items.probabilities else ()
        return _Signal(name, (Need(name),), lambda signal: signal, *bounds)
    known = _names(calibration) if items is None else _nameable(items, calibration)
    raise unknown("confidence variant or signal", name, known)


def _hides_a_signal(variant: str, items: Items | None) -> bool:
    made_of = {need.signal for need in VARIANTS[variant].needs}
    return items is not None and variant in items.signals and made_of.isdisjoint(items.signals)


def _nameable(items: Items, calibration: AnyCalibration | None) -> list[str]:
    own = named_signals(items)
    variants = [*_names(calibration)] if any(name in SIGNALS for name in own) else []
    return [*variants, *(name for name in own if items.signals[name].usable().any())]


def named_signals(items: Items) -> list[str]:
    """The names of the signals of a run, and paths to members of objects among them, without those with a role."""
    members = items.signals.members if isinstance(items.signals, SignalColumns) else []
    played = {*(items.source.columns or {}).values()} if items.source else set()
    return [name for name in (*items.signals, *members) if name not in played]


def _fitting(name: str, calibration: AnyCalibration | None) -> AnyCalibration:
    """The calibration, checked to be fitted for the confidence of this name."""
    if calibration is None:
        # The reason is recorded in files, which are the same whichever way an evaluation was asked for.
        raise UserError(f"{shown(name)}: needs a calibration (demur calibrate fits one, --calibration gives it)")
    fitted_on = f"the variant {calibration.variant}" if calibration.variant else ", ".join(calibration.features or ())
    given = f"{shown(name)}: the calibration given is {calibration.method} fitted on {fitted_on}"
    if name == "calibrated" and calibration.features is None:
        raise UserError(f"{given}: ask for calibrated:{calibration.variant}")
    if name == "verbalized_calibrated":
        spoken = calibration.features == ("verbalized_confidence",) or calibration.variant == "verbalized"
        if calibration.method != "temperature_scaling" or not spoken:
            raise UserError(f"{given}; it takes temperature_scaling fitted on verbalized_confidence")
    if name.startswith("calibrated:") and name != f"calibrated:{calibration.variant}":
        raise UserError(f"{given}, and serves nothing else")
    return calibration
