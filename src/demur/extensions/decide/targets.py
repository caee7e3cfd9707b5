"""Targets for a threshold, and the operating point that meets each of them. Comparisons are exact."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

import numpy as np

from demur.errors import UserError, literal
from demur.feature import required
from demur.options import as_option
from demur.quantities.curve import Curve
from demur.quantities.losses import is_share, takes_percent
from demur.sampling.coverage import Coverage, risk_of, typed_share
from demur.sampling.graded import Graded

Typed = str | float | Fraction | Decimal
_PERCENT_DIGITS = 2


@dataclass(frozen=True, slots=True)
class TargetKind:
    """A kind of target: how it is parsed, the point that meets it, the message if none does, and its wording."""

    read: Callable[[str], Fraction]
    point: Callable[[Curve, str], int | None]
    unmet: Callable[[Curve], str]
    words: str


def _errors_of(text: str) -> Fraction:
    try:
        return risk_of(text) / 100
    except UserError:
        raise UserError(f"errors per 100 units {literal(text)}, expected a number, 0 or more, as 5 or 12.5") from None


def _within(scale: int, curve: Curve, text: str) -> int | None:
    return curve.last_within(risk_of(text) / scale, "selective" if scale == 1 else "generalized")


def _reaching(curve: Curve, text: str) -> int | None:
    index = int(np.searchsorted(curve.points.count, Coverage.of(text).units_needed(curve.units)))
    if index < len(curve):
        return index
    return len(curve) - 1 if _rounds_to(int(curve.points.count[-1]), curve.units, text) else None


def _rounds_to(count: int, units: int, text: str) -> bool:
    if "/" in text or "~" in text:
        return False
    scale = 10 ** max(len(text.partition(".")[2]), _PERCENT_DIGITS)
    return Fraction((2 * count * scale + units) // (2 * units), scale) == Coverage.of(text).value


def _cheapest(curve: Curve, text: str) -> int | None:
    required("costs", "a target of costs")
    from demur.features.costs.envelope import cost_optimal  # noqa: PLC0415  (a feature may not be there)

    threshold = cost_optimal(curve, text).threshold
    return None if threshold is None else int(np.flatnonzero(curve.threshold == threshold)[0])


def _price_of(text: str) -> Fraction:
    required("costs", "a target of costs")
    from demur.features.costs.prices import price_of  # noqa: PLC0415  (a feature may not be there)

    return price_of(text)


def _smallest_risk(curve: Curve) -> str:
    index = int(np.argmin(curve.selective_risk))
    risk, coverage = curve.selective_risk[index], curve.coverage[index]
    return f"no threshold meets this limit: the smallest risk of an operating point is {risk:.3g}, at {coverage:.1%}"


def _fewest_errors(curve: Curve) -> str:
    index = int(np.argmin(curve.generalized_risk))
    fewest, coverage = 100 * curve.generalized_risk[index], curve.coverage[index]
    return f"no threshold meets this limit: the fewest errors per 100 units are {fewest:.3g}, at {coverage:.1%}"


TARGETS = {
    "risk": TargetKind(risk_of, lambda curve, text: _within(1, curve, text), _smallest_risk, "a risk of at most {}"),
    "coverage": TargetKind(
        lambda text: Coverage.of(text).value,
        _reaching,
        lambda curve: f"no threshold reaches this coverage: the largest is {curve.cmax:.1%}",
        "a coverage of at least {}",
    ),
    "errors_per_100": TargetKind(
        _errors_of,
        lambda curve, text: _within(100, curve, text),
        _fewest_errors,
        "at most {} errors per 100 units",
    ),
    "abstention_cost": TargetKind(
        _price_of,
        _cheapest,
        lambda _: "declining everything is cheapest at this price",
        "the lowest cost where an abstention costs {} of the largest loss",
    ),
}
LIMITS = {"risk": 1, "errors_per_100": 100}  # the targets that limit a loss, and the number of units it is per


@dataclass(frozen=True, slots=True)
class DecisionTarget:
    """A target with its number exactly as typed; percentages are converted to shares."""

    kind: str
    text: str
    value: Fraction

    @classmethod
    def of(cls, **given: Typed | None) -> DecisionTarget:
        """Build the target from the one keyword that is not None; raise an error unless there is exactly one.

        >>> DecisionTarget.of(risk=0.1, coverage=None).value
        Fraction(1, 10)
        """
        named = {kind: value for kind, value in given.items() if value is not None}
        if len(named) != 1:
            options = ", ".join(f"--{kind.replace('_', '-')}" for kind in TARGETS)
            raise UserError(f"{len(named)} targets, expected exactly one of {options}")
        [(kind, value)] = named.items()
        if kind == "coverage":
            text = Coverage.of(_typed_coverage(value)).text  # 0.1 + 0.2 means 3/10
            return cls(kind, text, TARGETS[kind].read(text))
        text = as_typed(value)
        return cls(kind, text, TARGETS[kind].read(typed_share(text, bare=False) if kind == "risk" else text))

    def of_loss(self, graded: Graded) -> DecisionTarget:
        """Convert the target for a loss: for losses that are 0 or 1, a limit above 1 is in per cent.

        A limit above the largest loss is refused, as it limits nothing.
        """
        if self.kind not in LIMITS:
            return self
        largest = None if graded.largest_loss is None else Fraction(graded.largest_loss) / graded.divisor
        target = self._in_shares(graded, largest) if self.kind == "risk" else self
        if largest is not None and target.value > largest:
            words = TARGETS[self.kind].words.format(self.text)
            most = f"{float(largest * LIMITS[self.kind]):g}, which every threshold meets"
            raise UserError(f"{words}: expected no more than {most} (a share of 10 % is 0.1)")
        return target

    def _in_shares(self, graded: Graded, largest: Fraction | None) -> DecisionTarget:
        maximum, words = None if largest is None else float(largest), TARGETS[self.kind].words.format(self.text)
        if self.text.endswith("%") and not takes_percent(graded.loss_name, maximum):
            raise UserError(f"{words}: the loss {graded.loss_name} is no share: give a number, 0 or more")
        if self.text.endswith("%") and largest is None and graded.answered and graded.loss.max() > graded.divisor:
            raise UserError(f"{words}: a loss here is above 1, which is no share: give a number, 0 or more")
        share = typed_share(self.text, bare=is_share(graded.loss_name, maximum))
        if largest is None and self.value > 1 and graded.answered and np.isin(graded.loss, (0, graded.divisor)).all():
            declared = f"write it with %, or declare the largest loss, {as_option('loss_max', '1')}"
            raise UserError(f"{words}: every loss here is 0 or 1; {declared}")
        return self if share == self.text else replace(self, text=as_typed(Fraction(share)), value=Fraction(share))

    def point(self, curve: Curve) -> int | None:
        """Index of the operating point that meets the target with the largest coverage or lowest cost; None if none."""
        return TARGETS[self.kind].point(curve, self.text) if curve.defined else None

    def unmet(self, curve: Curve) -> str:
        """The reason why no operating point meets the target."""
        return TARGETS[self.kind].unmet(curve) if curve.defined else "no unit is answered"


def _typed_coverage(value: Typed) -> Typed:
    text = as_typed(value)
    return share if (share := typed_share(text)) != text else value


def as_typed(value: Typed) -> str:
    """A number as exact text: a float as the shortest decimal, a fraction as a decimal if it has a finite one.

    >>> as_typed(0.1), as_typed("1:10"), as_typed(Fraction(1, 3)), as_typed(Fraction(1, 8))
    ('0.1', '1:10', '1/3', '0.125')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating, Fraction, Decimal)):
        raise UserError(f"target {literal(value)}, expected a number")
    if isinstance(value, (float, np.floating)):
        return np.format_float_positional(value, unique=True, trim="-")
    if isinstance(value, Fraction):
        decimal = Decimal(value.numerator) / value.denominator
        return format(decimal, "f") if Fraction(decimal) == value else str(value)
    return format(value, "f") if isinstance(value, Decimal) else str(value)
