"""Counts and bias by plain loops. A row is (truth, answer), the answer None for an abstention."""

from collections.abc import Sequence
from fractions import Fraction

from demur.audit.loops.registry import loop, mean

Rows = Sequence[tuple[int, int | None]]

loop("units")(lambda rows: Fraction(len(rows)))
loop("answered")(lambda rows: Fraction(sum(answer is not None for _, answer in rows)))


@loop("bias")
def bias(rows: Rows) -> Fraction | float | None:
    """The mean of answer − truth."""
    return mean(Fraction(answer - truth) for truth, answer in rows if answer is not None)
