"""Recall, precision, hits, reciprocal rank, average precision and nDCG at K, as means over queries.

A query without gold counts 0.

A row is (gold, hits): how many ids there are to find, and for each rank whether it holds one of them. Where judgments
are graded, (gold, hits, grades, judged): also the grade at each rank, 0 for none, and all grades above 0 there are.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple

from demur.extensions.audit.retrieval_figures.numbers import Figure, Number, mean

Worth = Callable[["Ranked", int, int], Number]


class Ranked(NamedTuple):
    """One query: the number of gold ids, and which ranks have one; grades are 1 where none are given."""

    gold: int
    hits: tuple[bool, ...]
    grades: tuple[int, ...] = ()
    judged: tuple[int, ...] = ()

    def ranks(self, k: int) -> list[int]:
        """The ranks up to k at which there is a gold id."""
        return [rank for rank, is_gold in enumerate(self.hits[:k], 1) if is_gold]

    def hits_within(self, k: int) -> int:
        """The number of gold ids among the first k."""
        return sum(self.hits[:k])

    def precisions(self, k: int) -> Fraction:
        """The sum of the precisions at each hit among the first k."""
        return sum((Fraction(number, rank) for number, rank in enumerate(self.ranks(k), 1)), Fraction(0))

    def gain(self, k: int) -> float:
        """The discounted gain: the grades of the first k, each discounted by its rank."""
        return discounted((self.grades or self.hits)[:k])

    def ideal_gain(self, k: int) -> float:
        """The discounted gain of the ideal ranking, in which the highest grades come first."""
        grades = sorted(self.judged, reverse=True) if self.judged else [1] * self.gold
        return discounted(grades[:k])


def discounted(grades: Sequence[int]) -> float:
    """The sum of grades from the first rank on, each divided by log2(rank + 1)."""
    return math.fsum(grade / math.log2(rank + 1) for rank, grade in enumerate(grades, 1))


def ideal(hits: int) -> float:
    """The discounted gain of this many hits at the first ranks."""
    return discounted([1] * hits)


def over(part: Number, whole: Number) -> Number:
    """Divide two numbers; 0 if the divisor is 0."""
    if not whole:
        return Fraction(0)
    return Fraction(part, whole) if isinstance(part, int) and isinstance(whole, int) else part / whole


# The value of a query, given K and the length its list is judged by: K or, if effective, at most its candidates.
WORTHS: dict[str, Worth] = {
    "recall@K": lambda row, k, _: over(row.hits_within(k), row.gold),
    "precision@K": lambda row, k, length: over(row.hits_within(k), length),
    "hit@K": lambda row, k, _: Fraction(row.hits_within(k) > 0),
    "mrr@K": lambda row, k, _: next((Fraction(1, rank) for rank in row.ranks(k)), Fraction(0)),
    "map@K": lambda row, k, length: over(row.precisions(k), min(row.gold, length)),
    "map_trec@K": lambda row, k, _: over(row.precisions(k), row.gold),
    "ndcg@K": lambda row, k, length: over(row.gain(k), row.ideal_gain(length)),
}


def _mean_of(worth: Worth) -> Figure:
    def mean_worth(rows: Sequence[Ranked], k: int, *, effective: bool = False) -> Number | None:
        judged = [Ranked(*row) for row in rows]
        return mean(worth(row, k, min(k, len(row.hits)) if effective else k) for row in judged)

    return mean_worth


FIGURES: dict[str, Figure] = {name: _mean_of(worth) for name, worth in WORTHS.items()}
