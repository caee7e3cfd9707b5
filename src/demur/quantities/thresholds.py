"""Thresholds as somebody can type them."""

from decimal import ROUND_FLOOR, Context, Decimal

_MOST_DIGITS = 17


def typed_threshold(threshold: float, next_lower: float) -> str:
    """The shortest decimal that accepts what a threshold accepts: at most it, and above the next lower confidence.

    >>> typed_threshold(2 / 3, 0.5), typed_threshold(0.3, 0.0), typed_threshold(0.12345678, 0.12345671)
    ('0.6', '0.3', '0.12345678')
    >>> typed_threshold(123.0, 50.0), typed_threshold(-2 / 3, -1.0)
    ('100', '-0.7')
    """
    written = Decimal(repr(float(threshold)))  # the binary number is a little more or less than what was meant
    for digits in range(1, _MOST_DIGITS + 1):
        number = float(Context(prec=digits, rounding=ROUND_FLOOR).create_decimal(written))
        if next_lower < number <= threshold:
            return repr(number).removesuffix(".0")
    return repr(float(threshold))
