"""Figures of the ids that a system selects to show, as means over queries.

A row is (gold, shown, hits): how many ids there are to find, how many are shown, and how many of those are gold.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple

from demur.extensions.audit.retrieval_figures.numbers import Figure, Number, mean

Rows = Sequence["Shown"]


class Shown(NamedTuple):
    """One query: the numbers of gold ids, of shown ids, and of gold ids among the shown ones."""

    gold: int
    shown: int
    hits: int


# With nothing to find, showing nothing is right: 1 each. With something to find, showing nothing is 0 each.
MEANS: dict[str, Callable[[Shown], Fraction | None]] = {
    "evidence_recall": lambda row: Fraction(row.hits, row.gold) if row.gold else Fraction(row.shown == 0),
    "evidence_precision": lambda row: Fraction(row.hits, row.shown) if row.shown else Fraction(row.gold == 0),
    "evidence_f1": lambda row: Fraction(2 * row.hits, row.gold + row.shown) if row.gold + row.shown else Fraction(1),
    "average_k": lambda row: Fraction(row.shown),
    "empty_precision": lambda row: None if row.shown else Fraction(row.gold == 0),
    "empty_recall": lambda row: None if row.gold else Fraction(row.shown == 0),
    "false_evidence_rate": lambda row: None if row.gold else Fraction(row.shown > 0),
}


def _mean_of(worth: Callable[[Shown], Fraction | None]) -> Figure:
    def mean_worth(rows: Rows) -> Number | None:
        worths = [worth(Shown(*row)) for row in rows]
        return mean(value for value in worths if value is not None)

    return mean_worth


def _empty_f1(rows: Rows) -> Number | None:
    """Twice the queries without gold and with nothing shown, over those without gold plus those with nothing shown."""
    right = sum(gold == 0 and shown == 0 for gold, shown, _ in rows)
    either = sum((gold == 0) + (shown == 0) for gold, shown, _ in rows)
    return Fraction(2 * right, either) if either else None


FIGURES: dict[str, Figure] = {name: _mean_of(worth) for name, worth in MEANS.items()} | {"empty_f1": _empty_f1}
