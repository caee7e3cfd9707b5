"""Prices of an abstention: exact shares of the largest loss, from text and as text."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

import numpy as np

from demur.errors import UserError, literal

UNKNOWN = "the largest loss is not known"
_DECIMALS = 30
_WRITTEN = re.compile(r"[01](\.[0-9]{0,30})?|\.[0-9]{1,30}|[0-9]{1,12}[:/][1-9][0-9]{0,11}")


def price_of(value: str | float | Fraction | Decimal) -> Fraction:
    """The price of an abstention as an exact share of the largest loss, from text such as 0.1, 1/10 or 1:10.

    >>> price_of("0.1"), price_of("1:10"), price_of(0.1)
    (Fraction(1, 10), Fraction(1, 10), Fraction(1, 10))
    """
    text = str(value)
    if isinstance(value, (float, np.floating)):
        text = np.format_float_positional(value, unique=True, trim="-")
    if not _WRITTEN.fullmatch(text) or Fraction(text.replace(":", "/")) > 1:
        raise UserError(f"price of an abstention {literal(value)}, expected a number 0 to 1, as 0.1 or 1:10")
    return Fraction(text.replace(":", "/"))


def price_text(price: Fraction) -> str:
    """A price as a decimal if that is exact, otherwise as a fraction.

    >>> price_text(price_of("1:10")), price_text(price_of("1:3"))
    ('0.1', '1/3')
    """
    power = next((n for n in range(_DECIMALS + 1) if 10**n % price.denominator == 0), None)
    if power is None:
        return str(price)
    whole = f"{price.numerator * 10**power // price.denominator:0{power + 1}d}"
    return f"{whole[:-power]}.{whole[-power:]}" if power else whole
