"""Target coverages, read as what was typed: 0.3 is three tenths, whatever a float makes of it."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from demur.errors import UserError, shown

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
        target = cls._read(value)
        if target is None or not 0 < target.value <= 1:
            raise UserError(f"coverage {shown(value)}, expected a number above 0 and at most 1")
        return target

    @classmethod
    def _read(cls, value: object) -> Coverage | None:
        if isinstance(value, bool):
            return None
        if isinstance(value, str):
            return cls(value, Fraction(value)) if _EXACT.fullmatch(value) else None
        if isinstance(value, (int, Fraction)):
            return cls(str(value), Fraction(value))
        try:
            decimal = value if isinstance(value, Decimal) else Decimal(repr(float(value)))  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError):
            return None
        if not 0 < decimal <= 1:  # nan, infinities and exponents too wild to write out end here
            return None
        slack = Fraction(0) if isinstance(value, Decimal) else _FLOAT_SLACK
        return cls(format(decimal, "f"), Fraction(decimal), slack)

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
