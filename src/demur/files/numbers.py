"""Conversion of numbers from files: JSON allows numbers too large for a double."""

import math


def finite_float(value: object) -> float | None:
    """The number as a finite float, or None for anything else (bool, text, infinite, too large).

    >>> finite_float(2), finite_float(True), finite_float("2"), finite_float(10**400)
    (2.0, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
