"""Counts and bias by plain loops. A row is (truth, answer): no answer is an abstention, no truth no score."""

from collections.abc import Sequence
from fractions import Fraction

from demur.audit.loops.registry import loop, mean

Rows = Sequence[tuple[int | None, int | None]]

loop("units")(lambda rows: Fraction(len(rows)))
loop("answered")(lambda rows: Fraction(sum(answer is not None for _, answer in rows)))


@loop("bias")
def bias(rows: Rows) -> Fraction | float | None:
    """The mean of answer − truth."""
    scored = [(truth, answer) for truth, answer in rows if truth is not None and answer is not None]
    return mean(Fraction(answer - truth) for truth, answer in scored)
