"""Numbers of a block of replicates that carry their derivatives by the weights of the clusters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import Any

import numpy as np

from demur.types import Flags, Floats


@dataclass(frozen=True, eq=False)
class Term:
    """A summand of a number's derivative; `compute` gives the derivative by the weight of each cluster when needed.

    The derivatives have one row per cluster and one column per replicate, or a single column if they are the same in
    all replicates. `total` is their sum over the clusters of each replicate, where that is known.
    """

    compute: Callable[[], Floats]
    total: Floats | None = None

    @cached_property
    def by_cluster(self) -> Floats:
        """The derivatives, clusters × replicates or clusters × 1."""
        return self.compute()


Slope = Mapping[Term, Floats | float]


@dataclass(frozen=True, eq=False)
class Number:
    """A number in each replicate, and its derivative as a combination of terms: d value = Σ factor · d term.

    Arithmetic carries the derivative along. `slope` is None where there is no derivative, as of a number that jumps;
    a number made of such a one has none either. As an array, a number is its values, which may be fractions.

    >>> x = Number(np.array([2.0]), {Term(lambda: np.array([[1.0], [3.0]])): 1.0})
    >>> (x * x - 1).value, (x * x - 1).influence.tolist()
    (array([3.]), [[4.0], [12.0]])
    """

    value: Floats
    slope: Slope | None = field(default_factory=dict)

    __array_ufunc__ = None  # an array plus a number is a number, not an array of its values

    def __array__(self, dtype: Any = None, copy: Any = None) -> Floats:
        return np.asarray(self.value, dtype)

    def _with(self, value: Floats, own: Floats | float, other: Number, factor: Floats | float) -> Number:
        """A number by its value and its derivatives by two others."""
        if self.slope is None or other.slope is None:
            return Number(value, None)
        slope = {term: each * own for term, each in self.slope.items()}
        for term, each in other.slope.items():
            slope[term] = slope[term] + each * factor if term in slope else each * factor
        return Number(value, slope)

    def __add__(self, other: Number | Floats | float) -> Number:
        other = number(other)
        return self._with(self.value + other.value, 1.0, other, 1.0)

    def __sub__(self, other: Number | Floats | float) -> Number:
        other = number(other)
        return self._with(self.value - other.value, 1.0, other, -1.0)

    def __rsub__(self, other: Floats | float) -> Number:
        return number(other) - self

    def __mul__(self, other: Number | Floats | float) -> Number:
        other = number(other)
        return self._with(self.value * other.value, other.value, other, self.value)

    __radd__, __rmul__ = __add__, __mul__

    def __truediv__(self, other: Number | Floats | float) -> Number:
        divisor = number(other)
        over = divisor.value if np.all(divisor.value) else np.where(divisor.value != 0, divisor.value, np.nan)
        value = self.value / over
        return self._with(value, 1 / over, divisor, -value / over)

    def where(self, flags: Flags, otherwise: float) -> Number:
        """The number where the flag is true, and the constant `otherwise` elsewhere."""
        value = np.where(flags, self.value, otherwise)
        if self.slope is None or np.all(flags):
            return Number(value, self.slope)
        return Number(value, {term: np.where(flags, factor, 0.0) for term, factor in self.slope.items()})

    @property
    def moving(self) -> Number:
        """A number of value 0 with the same derivative."""
        return Number(np.zeros_like(self.value), self.slope)

    @property
    def influence(self) -> Floats:
        """The derivative by the weight of each cluster (a row) in each replicate (a column)."""
        if not self.slope:
            raise ValueError("a number without a derivative has no influences")
        parts = [(term.by_cluster, factor) for term, factor in self.slope.items()]
        shape = np.broadcast_shapes(*(np.shape(array) for pair in parts for array in pair))
        total, part = np.empty(shape), np.empty(shape)
        np.multiply(*parts[0], out=total)
        for derivative, factor in parts[1:]:
            total += np.multiply(derivative, factor, out=part)
        return total


def number(value: Number | Floats | float) -> Number:
    """Convert a constant to a number without derivative; return a number unchanged."""
    return value if isinstance(value, Number) else Number(np.asarray(value))


def least(*numbers: Number) -> Number:
    """The elementwise minimum of some numbers; where several are equal, its derivative is the mean of theirs."""
    with np.errstate(invalid="ignore"):  # of nan, in arrays of fractions
        value = reduce(np.minimum, (each.value for each in numbers))
        unknown = reduce(np.logical_or, (each.value != each.value for each in numbers))
        value = np.where(unknown, np.nan, value) if np.any(unknown) else value
    flags = [each.value == value for each in numbers]
    ties = np.maximum(np.add.reduce(flags, dtype=np.float64), 1)  # nan equals nothing
    moved = (each.moving * (flag / ties) for each, flag in zip(numbers, flags, strict=True))
    return Number(value, reduce(Number.__add__, moved).slope)
