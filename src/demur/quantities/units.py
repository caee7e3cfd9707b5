"""Counts and bias of some of the units: what is reported item by item."""

import math
from dataclasses import dataclass

from demur.quantities.registry import quantity


@dataclass(frozen=True, slots=True)
class UnitSums:
    """How many units there are, how many are answered, and the sum of answer − truth over those."""

    units: int
    answered: int
    errors: int


@quantity("units", of="units", title="units", better="neither", point_only=True, shown=())
def units(sums: UnitSums) -> float:
    """Number of units.

    How many units a number is over. Neither way is better.

    Formula: N.
    Abstentions: counted.
    Reference: none; it is a count.

    >>> units(UnitSums(10, 4, 2))
    10.0
    """
    return float(sums.units)


@quantity("answered", of="units", title="answered", better="neither", point_only=True, shown=())
def answered(sums: UnitSums) -> float:
    """Number of answered units.

    How many units a risk is over. Neither way is better by itself.

    Formula: K.
    Abstentions: not counted.
    Reference: none; it is a count.

    >>> answered(UnitSums(10, 4, 2))
    4.0
    """
    return float(sums.answered)


@quantity(
    "bias", of="units", title="bias", better="neither", undefined="no unit is answered", point_only=True, shown=()
)
def bias(sums: UnitSums) -> float:
    """Mean signed error.

    Whether answers are too high or too low on average: 0 is neither.

    Formula: Σ (answer − truth) / K.
    Abstentions: left out.
    Reference: none; it is a mean.

    >>> bias(UnitSums(10, 4, 2))
    0.5
    """
    return sums.errors / sums.answered if sums.answered else math.nan
