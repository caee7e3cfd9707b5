"""Ranking by plain loops: the mean over queries, one with nothing to find being worth 0.

A row is (gold, hits): how many ids there are to find, and for each rank whether it holds one of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from demur.audit.loops.registry import LOOPS, loop, mean

if TYPE_CHECKING:
    from demur.audit.loops.registry import Number


class Ranked(NamedTuple):
    """One query: how many ids there are to find, and which ranks hold one."""

    gold: int
    hits: tuple[bool, ...]

    def found(self, k: int) -> int:
        """How many of the first k are gold."""
        return sum(self.hits[:k])


Worth = Callable[[Ranked, int, int], "Number"]


def per_query(name: str) -> Callable[[Worth], Worth]:
    """Register the mean of what each query is worth, given its row, K, and the length it is judged by.

    That length is K; with `effective`, it is at most the number of candidates.
    """

    def register(worth: Worth) -> Worth:
        @loop(name)
        def average(rows: Sequence[Ranked], k: int, *, effective: bool = False) -> Number | None:
            judged = (Ranked(*row) for row in rows)
            return mean(worth(row, k, min(k, len(row.hits)) if effective else k) for row in judged)

        LOOPS[name].__doc__ = average.__doc__ = worth.__doc__
        return worth

    return register


@per_query("recall@K")
def recall(row: Ranked, k: int, _: int) -> Number:
    """The share of the gold ids among the first K."""
    return over(row.found(k), row.gold)


@per_query("precision@K")
def precision(row: Ranked, k: int, length: int) -> Number:
    """The share of the first K that is gold."""
    return over(row.found(k), length)


@per_query("hit@K")
def hit(row: Ranked, k: int, _: int) -> Number:
    """Whether any of the first K is gold."""
    return Fraction(any(row.hits[:k]))


@per_query("mrr@K")
def reciprocal_rank(row: Ranked, k: int, _: int) -> Number:
    """One over the rank of the first gold id, if it is among the first K."""
    return next((Fraction(1, rank) for rank, is_gold in enumerate(row.hits[:k], 1) if is_gold), Fraction(0))


@per_query("map@K")
def average_precision(row: Ranked, k: int, length: int) -> Number:
    """The precisions at the hits, over as many hits as there could be among the first K."""
    return over(precision_sum(row, k), min(row.gold, length))


@per_query("map_trec@K")
def average_precision_trec(row: Ranked, k: int, _: int) -> Number:
    """The precisions at the hits, over all there is to find."""
    return over(precision_sum(row, k), row.gold)


@per_query("ndcg@K")
def ndcg(row: Ranked, k: int, length: int) -> Number:
    """The discounted gain over that of the best order."""
    return over(gain(row, k), ideal(min(row.gold, length)))


def precision_sum(row: Ranked, k: int) -> Fraction:
    """The precision at each hit among the first k, summed."""
    ranks = [rank for rank, is_gold in enumerate(row.hits[:k], 1) if is_gold]
    return sum((Fraction(found, rank) for found, rank in enumerate(ranks, 1)), Fraction(0))


def gain(row: Ranked, k: int) -> float:
    """Each hit among the first k, discounted by its rank."""
    return math.fsum(1 / math.log2(rank + 1) for rank, is_gold in enumerate(row.hits[:k], 1) if is_gold)


def ideal(hits: int) -> float:
    """The discounted gain of so many hits at the first ranks."""
    return gain(Ranked(hits, (True,) * hits), hits)


def over(part: Number, whole: Number) -> Number:
    """One number over another, 0 where there is nothing to divide by."""
    if not whole:
        return Fraction(0)
    return part / whole if isinstance(part, (float, Fraction)) else Fraction(part) / Fraction(whole)
