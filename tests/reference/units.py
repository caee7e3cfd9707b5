"""Counts and bias by plain loops. A row is (truth, answer): no answer is an abstention, no truth no score."""

from collections.abc import Sequence
from fractions import Fraction

from demur.audit.retrieval_figures.numbers import Number, mean
from reference.registry import register

Rows = Sequence[tuple[int | None, int | None]]


def _bias(rows: Rows) -> Number | None:
    """The mean of answer − truth."""
    return mean(Fraction(answer - truth) for truth, answer in rows if truth is not None and answer is not None)


register(
    {
        "units": lambda rows: Fraction(len(rows)),
        "answered": lambda rows: Fraction(sum(answer is not None for _, answer in rows)),
        "bias": _bias,
    }
)
