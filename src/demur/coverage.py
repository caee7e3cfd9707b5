"""Target coverages, read as what was typed: 0.3 is three tenths, whatever a float makes of it."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from demur.errors import UserError, literal

_EXACT = re.compile(r"[0-9]{1,30}(\.[0-9]{0,400})?|\.[0-9]{1,400}|[0-9]{1,30}/[1-9][0-9]{0,30}")
_FLOAT_SLACK = Fraction(1, 10**12)


@dataclass(frozen=True, slots=True)
class Coverage:
    """A coverage in (0, 1] somebody asks for.

    Text is the exact decimal. A float stands for the decimal it prints as and reaches k/N within one part in 10¹²,
    so that 0.1 + 0.2 reaches 3/10 and a Cmax that went through a float reaches its own working point.

    >>> Coverage.of("0.3").units_needed(10), Coverage.of(0.1 + 0.2).units_needed(10)
    (3, 3)
    """

    text: str
    value: Fraction
    slack: Fraction = Fraction(0)

    @classmethod
    def of(cls, value: str | float | Fraction | Decimal | Coverage) -> Coverage:
        """Read a coverage as it was given."""
        if isinstance(value, Coverage):
            return value
        target = cls._text(value) if isinstance(value, str) else cls._number(value)
        if target is None or not 0 < target.value <= 1:
            raise UserError(f"coverage {literal(value)}, expected a number above 0 and at most 1")
        return target

    @classmethod
    def _text(cls, text: str) -> Coverage | None:
        return cls(text, Fraction(text)) if _EXACT.fullmatch(text) else None

    @classmethod
    def _number(cls, value: object) -> Coverage | None:
        exact = isinstance(value, (int, Fraction, Decimal))
        try:
            number = float(value)  # type: ignore[arg-type]  # whatever has a float, numpy's scalars among them
        except (TypeError, ValueError, OverflowError):
            return None
        if isinstance(value, bool) or not 0 < number <= 1:
            return None
        if exact:
            return cls._text(format(value, "f") if isinstance(value, Decimal) else str(value))
        return cls(format(Decimal(repr(number)), "f"), Fraction(repr(number)), _FLOAT_SLACK)

    def units_needed(self, units: int) -> int:
        """The smallest k for which k of `units` reaches this coverage."""
        return math.ceil(self.value * (1 - self.slack) * units)

    def position(self, units: int) -> Fraction:
        """The coverage in units, on the whole number it stands for when a float falls within its slack of one."""
        exact = self.value * units
        nearest = round(exact)
        return Fraction(nearest) if abs(exact - nearest) <= self.slack * exact else exact

    def __float__(self) -> float:
        return float(self.value)
