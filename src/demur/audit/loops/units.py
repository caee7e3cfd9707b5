"""Counts and bias by plain loops. A row is (truth, answer), the answer None for an abstention."""

from collections.abc import Sequence
from fractions import Fraction

from demur.audit.loops.registry import Number, loop, mean

Rows = Sequence[tuple[int, int | None]]


@loop("units")
def units(rows: Rows) -> Number:
    """How many units there are."""
    return Fraction(len(rows))


@loop("answered")
def answered(rows: Rows) -> Number:
    """How many of them are answered."""
    return Fraction(sum(answer is not None for _, answer in rows))


@loop("bias")
def bias(rows: Rows) -> Number | None:
    """The mean of answer − truth."""
    return mean(Fraction(answer - truth) for truth, answer in rows if answer is not None)
