"""Sums, means and percentiles: exact where the values are, and rounded once where they are floats."""

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import TypeVar

Number = Fraction | float
Figure = Callable[..., Number | None]

_Value = TypeVar("_Value", Fraction, float)


def total(values: Iterable[Number]) -> Number:
    """The sum: exact for fractions, over a common denominator; rounded once for floats."""
    listed = [*values]
    exact = [value for value in listed if not isinstance(value, float)]
    if len(exact) < len(listed):
        return math.fsum(listed)
    common = math.lcm(*(value.denominator for value in exact))
    return Fraction(sum(value.numerator * (common // value.denominator) for value in exact), common)


def mean(values: Iterable[Number]) -> Number | None:
    """The mean; None if there are no values."""
    listed = [*values]
    return total(listed) / len(listed) if listed else None


def ratio(part: _Value, whole: _Value) -> _Value | None:
    """Divide two numbers; None if the divisor is 0."""
    return part / whole if whole else None


def percentile(ordered: Sequence[float], share: float) -> float:
    """The value at a share of an ordered list, by linear interpolation."""
    position = share * (len(ordered) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)
