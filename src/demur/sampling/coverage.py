"""Coverages, risks and thresholds parsed exactly as they are typed: 0.3 is three tenths, not the nearest double."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from demur.errors import UserError, literal
from demur.facts.columns import written_number

_WRITTEN = re.compile(r"[0-9]{1,30}(\.[0-9]{0,400})?|\.[0-9]{1,400}|[0-9]{1,30}/[1-9][0-9]{0,30}")
_MOST_DIGITS = 400
_KEY_DIGITS = 2
_FLOAT_SLACK = Fraction(1, 10**12)


def risk_of(text: str) -> Fraction:
    """Parse a risk as an exact fraction, 0 or more; losses, and so risks, may be larger than 1.

    >>> risk_of("0.1"), risk_of("1/3")
    (Fraction(1, 10), Fraction(1, 3))
    """
    if not _WRITTEN.fullmatch(text):
        raise UserError(f"risk {literal(text)}, expected a number, 0 or more, as 0.1 or 1/3")
    return Fraction(text)


def typed_share(text: str, *, bare: bool = True) -> str:
    """Convert a percentage to a share, digits kept: text with %, or if `bare` any number above 1; else return it.

    The share has as many digits as were typed.

    >>> [typed_share(text) for text in ("72%", "72.0 %", "72", "0.72", "1", "100/3")]
    ['0.72', '0.720', '0.72', '0.72', '1', '1/3']
    """
    number = text.removesuffix("%").rstrip()
    if not _WRITTEN.fullmatch(number) or (text == number and not (bare and Fraction(number) > 1)):
        return text
    if "/" in number:
        return str(Fraction(number) / 100)
    sign, digits, exponent = Decimal(number).as_tuple()
    return format(Decimal((sign, digits, int(exponent) - 2)), "f")


def threshold_of(text: str) -> float:
    """Parse a threshold on a confidence, which may be any finite number.

    >>> threshold_of("0.7"), threshold_of("-2")
    (0.7, -2.0)
    """
    number = written_number(text)
    if number is None or not math.isfinite(number):
        raise UserError(f"threshold {literal(text)}, expected a number, as 0.7")
    return number


@dataclass(frozen=True, slots=True)
class Coverage:
    """A requested coverage in (0, 1].

    Text is the exact decimal. A float stands for the decimal it prints as and reaches k/N within one part in 10¹²,
    so that 0.1 + 0.2 reaches 3/10 and a Cmax that went through a float reaches its own operating point.

    >>> Coverage.of("0.3").units_needed(10), Coverage.of(0.1 + 0.2).units_needed(10)
    (3, 3)
    >>> Coverage.of(0.1 + 0.2).text, Coverage.of(0.3).text
    ('~0.30000000000000004', '0.3')
    """

    text: str
    value: Fraction = field(compare=False)
    slack: Fraction = field(default=Fraction(0), compare=False)

    @classmethod
    def of(cls, value: str | float | Fraction | Decimal | Coverage) -> Coverage:
        """Parse a coverage from text, a number or a fraction."""
        if isinstance(value, Coverage):
            return value
        target = cls._text(value) if isinstance(value, str) else cls._number(value)
        if target is None or not 0 < target.value <= 1:
            raise UserError(f"coverage {literal(value)}, expected a number above 0 and at most 1, as 0.3 or 1/3")
        return target

    @classmethod
    def _text(cls, text: str) -> Coverage | None:
        """Decimals and fractions are exact; a ~ before them marks what came from a float."""
        plain = text.removeprefix("~")
        if not _WRITTEN.fullmatch(plain):
            return None
        return cls(text, Fraction(plain), _FLOAT_SLACK if text.startswith("~") else Fraction(0))

    @classmethod
    def _number(cls, value: Any) -> Coverage | None:
        if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating, Fraction, Decimal)):
            return None
        if isinstance(value, Decimal):
            wild = not value.is_finite() or value.adjusted() < -_MOST_DIGITS
            return None if wild else cls._text(format(value, "f"))
        if isinstance(value, (int, np.integer, Fraction)):
            return cls._text(str(value)) if 0 < value <= 1 else None
        text = np.format_float_positional(value, unique=True, trim="-")
        short = len(text) <= len("0.123456")  # so few digits are as good as typed, whatever the number of units
        return cls._text(text if short else f"~{text}")

    @lru_cache(maxsize=4096)  # noqa: B019  (coverages are few, small and for ever equal)
    def units_needed(self, units: int) -> int:
        """The smallest number k of accepted units for which k / `units` reaches this coverage."""
        return math.ceil(self.least_share * units)

    @property
    def least_share(self) -> Fraction:
        """The smallest share of accepted units that counts as reaching this coverage."""
        return self.value * (1 - self.slack) if self.slack else self.value

    @lru_cache(maxsize=4096)  # noqa: B019
    def position(self, units: int) -> Fraction:
        """The coverage times `units`; a float within rounding of a whole number of units is that number."""
        exact = self.value * units
        nearest = round(exact)
        return Fraction(nearest) if abs(exact - nearest) <= self.slack * exact else exact

    @property
    def key(self) -> str:
        """The coverage as a key in a results file: the decimal as typed, with at least two digits.

        >>> [Coverage.of(text).key for text in ("0.1", "0.101", ".5", "1")]
        ['0.10', '0.101', '0.50', '1.00']
        """
        whole, _, digits = self.text.removeprefix("~").partition(".")
        return f"{whole or '0'}.{digits:0<2}"

    @classmethod
    def of_key(cls, key: str) -> Coverage:
        """Parse a coverage from its key in a results file.

        >>> [Coverage.of_key(Coverage.of(text).key).text for text in ("0.1", "0.101", "1", "1/3")]
        ['0.1', '0.101', '1', '1/3']
        """
        return cls.of(key.removesuffix(".00") if "/" in key else key).plain

    @property
    def plain(self) -> Coverage:
        """The same coverage in the shortest spelling that has the same key: 0.10 becomes 0.1.

        >>> [Coverage.of(text).plain.text for text in ("0.10", ".5", "1.0", "0.100", "1/3")]
        ['0.1', '0.5', '1', '0.100', '1/3']
        """
        whole, _, digits = self.key.partition(".")
        if "/" in self.text or self.text.startswith("~") or len(digits) != _KEY_DIGITS:
            return self
        return Coverage(f"{whole}.{digits}".rstrip("0").rstrip("."), self.value)

    def __hash__(self) -> int:
        return hash(self.text)

    def __float__(self) -> float:
        return float(self.value)
