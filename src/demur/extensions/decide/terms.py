"""The terms of a certification, which are fixed before the data are seen: limit, level, bounds and thresholds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from demur.confidences.variants import VARIANTS
from demur.errors import UserError, literal, repeated, shown
from demur.extensions.decide.targets import Typed, as_typed
from demur.facts.columns import written_number
from demur.facts.signals import SIGNALS
from demur.options import as_blank, as_option
from demur.sampling.coverage import risk_of
from demur.sampling.graded import Graded


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of a certification: limit α, level δ, largest loss M, and largest number of units of a participant."""

    alpha: Fraction
    delta: Fraction
    largest: Fraction
    max_units: int

    def __post_init__(self) -> None:
        if not 0 < self.alpha < self.largest:
            limits = f"above 0 and below the largest loss, {float(self.largest):g}"
            raise UserError(f"a limit of {float(self.alpha):g}, expected one {limits}")

    @property
    def most_beyond(self) -> Fraction:
        """The largest possible loss of a participant beyond the limit."""
        return (self.largest - self.alpha) * self.max_units


def terms_of(graded: Graded, alpha: Fraction, delta: Typed, max_units: int | None) -> Terms:
    """Determine the terms for these units; a participant with more units than declared is an error."""
    level = risk_of(as_typed(delta))
    if not 0 < level < 1:
        raise UserError(f"delta {literal(delta)}, expected a number between 0 and 1, such as 0.1")
    if graded.largest_loss is None:
        raise UserError(f"the largest loss is not known, and a guarantee needs it: give it, {as_blank('loss_max')}")
    if graded.answered and graded.loss.min() < 0:
        raise UserError("a loss is below 0: nothing can be certified of such losses")
    most = most_units(graded, max_units)
    if most is None:
        raise UserError(
            f"how many units a participant has at most, by design, is not known: give it, {as_blank('max_units')}"
        )
    return Terms(alpha, level, Fraction(graded.largest_loss) / graded.divisor, most)


def most_units(graded: Graded, given: int | None) -> int | None:
    """The largest number of units a participant can have: as given, or the number of items of the instrument."""
    if given is not None and (type(given) is not int or given < 1):
        raise UserError(f"max units {literal(given)}, expected an integer, 1 or more")
    instrument = graded.items.instrument if graded.items else None
    most = len(instrument.items) if given is None and instrument else given
    if most is not None:
        check_units(graded, most)
    return most


def check_units(graded: Graded, most: int) -> None:
    """Raise an error if a participant has more units than the design allows."""
    clusters = graded.grouped
    if clusters.units.max() > most:
        index = int(np.argmax(clusters.units > most))
        noun = graded.items.noun if graded.items else "cluster"
        units = f"{noun} {shown(clusters.ids[index])} has {clusters.units[index]} units"
        raise UserError(
            f"{units}, expected at most {most}, {as_option('max_units')}: nobody may have more than the design allows"
        )


def grid_of(signal: str, grid: Sequence[Typed] | None, *, lowest_first: bool) -> tuple[float, ...]:
    """The thresholds to test on the signal's scale, most confident first: as given, or the signal's declared values."""
    values = _levels(signal) if grid is None else [*map(_threshold, grid)]
    if not values:
        raise UserError(f"{shown(signal)} declares no values: give the thresholds to test, {as_blank('grid')}")
    if twice := repeated(values):
        raise UserError(f"the grid has the threshold {twice[0]:g} twice")
    return tuple(sorted(values, reverse=not lowest_first))


def _levels(signal: str) -> list[float]:
    """The declared values of a signal, or of a variant that is a function of one signal."""
    if signal not in VARIANTS:
        return [*SIGNALS[signal].levels] if signal in SIGNALS else []
    variant = VARIANTS[signal]
    declared = SIGNALS.get(variant.needs[0].signal) if len(variant.needs) == 1 else None
    levels = declared.levels if declared else ()
    return [float(value) for value in variant.function(np.array(levels))] if levels else []


def _threshold(value: Typed) -> float:
    number = written_number(value.strip()) if isinstance(value, str) else float(value)
    if number is None or not math.isfinite(number):
        raise UserError(f"grid: {literal(value)}, expected a threshold, a finite number")
    return number + 0.0
