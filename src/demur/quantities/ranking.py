"""Ranking metrics: how much of what there was to find is near the top of a list. One number a query, all at once.

Where a query has nothing to find every one of them is 0: that is why means are given over the queries with gold and
over all queries, never over one of them without saying which.
"""

import math
import re
from functools import cached_property, partial
from typing import Any

import numpy as np

from demur.errors import UserError, literal
from demur.facts.rankings import Rankings
from demur.quantities.forecasts import over
from demur.quantities.registry import Measure, Parameter, quantity
from demur.types import Floats

_DEEPEST = 10**8


def checked_depth(k: Any) -> int:
    """How many ids of a list are looked at: an integer of at least 1."""
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or not 1 <= k <= _DEEPEST:
        raise UserError(f"k {literal(k)}, expected an integer, 1 or more (and at most {_DEEPEST})")
    return int(k)


class Top:
    """The first `k` ids of every list. With `effective`, a list shorter than k is judged by its own length.

    Of each hit: its `query`, its `rank` from 1, and its `number` among the hits of its query. Of each query: how many
    `hits` it has, how many `gold` ids there are to find, and the `limit` of how many could have been returned.
    """

    def __init__(self, rankings: Rankings, k: int, *, effective: bool = False) -> None:
        self.rankings, self.k = rankings, checked_depth(k)
        within = rankings.hit_rank <= k
        self.query, self.rank = rankings.hit_query[within], rankings.hit_rank[within]
        self.number = rankings.hit_number[within]
        self.hits = np.bincount(self.query, minlength=len(rankings))
        self.gold = rankings.gold_count
        self.limit = np.minimum(k, rankings.candidates) if effective else np.full(len(rankings), k)

    def total(self, per_hit: Floats) -> Floats:
        """Of each query: the sum over its hits, added in the order of the ranks."""
        return np.asarray(np.bincount(self.query, per_hit, minlength=len(self.rankings)), np.float64)

    @cached_property
    def discounts(self) -> Floats:
        """1/log2(i + 1) for each rank i that matters."""
        last = min(self.k, max(int(self.rank.max(initial=0)), int(self.gold.max(initial=0))))
        return np.array([1.0 / math.log2(rank + 1) for rank in range(1, last + 1)])


DEPTH = Parameter("K", lambda text: checked_depth(int(text) if re.fullmatch("[0-9]{1,9}", text) else text), "10")


_ranking = partial(
    quantity,
    of="ranking",
    parameter=DEPTH,
    defaults=("1", "3", "5", "10"),
    better="higher",
    intervals=("mean", "difference"),
    limits=lambda _, __: (0.0, 1.0),
    shown=("definitions",),
)


def per_query(rankings: Rankings, measures: list[Measure], *, effective: bool = False) -> dict[Measure, Floats]:
    """Every measure of every query. Hits are looked up once for each depth."""
    tops = {measure.value: Top(rankings, measure.value, effective=effective) for measure in measures}
    return {measure: measure.quantity.function(tops[measure.value]) for measure in measures}


@_ranking("recall@K", title="Recall@K")
def recall(top: Top) -> Floats:
    """Share of the gold ids that are among the first K.

    How much of the evidence a reader of K ids gets to see. Higher is better.

    Formula: |top-K ∩ gold| / |gold|.
    Reference: Manning, Raghavan, Schütze (2008), Introduction to Information Retrieval, chapter 8.

    >>> from demur.facts.ranking_columns import rankings_of
    >>> recall(Top(rankings_of([{"a", "b", "c"}], [["a", "x", "b"]]), 2)).tolist()
    [0.3333333333333333]
    """
    return over(top.hits, top.gold, 0.0)


@_ranking("precision@K", title="Precision@K")
def precision(top: Top) -> Floats:
    """Share of the first K places that hold a gold id.

    How much of what a reader is shown is evidence. Higher is better.

    Formula: |top-K ∩ gold| / K; with effective K, / min(K, candidates).
    Abstentions: an empty list holds nothing: 0.
    Reference: Manning, Raghavan, Schütze (2008), Introduction to Information Retrieval, chapter 8.

    >>> from demur.facts.ranking_columns import rankings_of
    >>> facts = rankings_of([{"a", "b"}], [["a", "x", "b"]])
    >>> precision(Top(facts, 5)).tolist(), precision(Top(facts, 5, effective=True)).tolist()
    ([0.4], [0.6666666666666666])
    """
    return over(top.hits, top.limit, 0.0)


@_ranking("hit@K", title="Hit@K")
def hit(top: Top) -> Floats:
    """Whether any gold id is among the first K; its mean is the hit rate.

    The share of the queries for which a reader of K ids sees any evidence at all. Higher is better.

    Formula: 1 if top-K ∩ gold is not empty, else 0.
    Reference: trec_eval, success.

    >>> from demur.facts.ranking_columns import rankings_of
    >>> hit(Top(rankings_of([{"a"}, {"a"}], [["x", "a"], ["x"]]), 2)).tolist()
    [1.0, 0.0]
    """
    return (top.hits > 0).astype(np.float64)


@_ranking("mrr@K", title="MRR@K")
def mrr(top: Top) -> Floats:
    """Reciprocal of the rank of the first gold id, if that is K at most.

    How soon a reader meets the first piece of evidence. Higher is better.

    Formula: 1 / rank of the first id in gold among the first K, 0 if there is none.
    Reference: Voorhees (1999), The TREC-8 question answering track report.

    >>> from demur.facts.ranking_columns import rankings_of
    >>> mrr(Top(rankings_of([{"a", "b"}], [["x", "b", "a"]]), 3)).tolist()
    [0.5]
    """
    first = top.number == 1
    found = np.zeros(len(top.rankings))
    found[top.query[first]] = 1.0 / top.rank[first]
    return found


@_ranking("map@K", title="MAP@K")
def average_precision(top: Top) -> Floats:
    """Average precision: the mean of the precisions at the hits, of as many as there could be; its mean is MAP.

    Rewards having the evidence, and having it early. Higher is better.

    Formula: Σ over hits at rank i ≤ K of (hits up to i)/i, divided by min(|gold|, K); with effective K, by
    min(|gold|, K, candidates).
    Reference: Manning, Raghavan, Schütze (2008), Introduction to Information Retrieval, chapter 8.

    >>> from demur.facts.ranking_columns import rankings_of
    >>> average_precision(Top(rankings_of([{"a", "b", "c"}], [["a", "b", "x"]]), 2)).tolist()
    [1.0]
    """
    return over(top.total(top.number / top.rank), np.minimum(top.gold, top.limit), 0.0)


@_ranking("map_trec@K", title="MAP@K (÷ gold)")
def average_precision_trec(top: Top) -> Floats:
    """Average precision as trec_eval has it, divided by all there was to find.

    A list cut at K < |gold| cannot reach 1. Higher is better.

    Formula: Σ over hits at rank i ≤ K of (hits up to i)/i, divided by |gold|.
    Reference: trec_eval, map_cut; ir-measures, AP@K.

    >>> from demur.facts.ranking_columns import rankings_of
    >>> average_precision_trec(Top(rankings_of([{"a", "b", "c"}], [["a", "b", "x"]]), 2)).tolist()
    [0.6666666666666666]
    """
    return over(top.total(top.number / top.rank), top.gold, 0.0)


@_ranking("ndcg@K", title="nDCG@K")
def ndcg(top: Top) -> Floats:
    """Normalised discounted cumulative gain: later hits count less, relative to the ideal order.

    1 if the first places all hold evidence, as long as there is any. Higher is better.

    Formula: Σ over hits at rank i ≤ K of 1/log2(i + 1), divided by the same sum over i = 1 … min(|gold|, K); with
    effective K, over i = 1 … min(|gold|, K, candidates).
    Reference: Järvelin, Kekäläinen (2002), Cumulated gain-based evaluation of IR techniques.

    >>> from demur.facts.ranking_columns import rankings_of
    >>> ndcg(Top(rankings_of([{"a", "b"}], [["a", "b", "x"]]), 10)).tolist()
    [1.0]
    """
    ideal = np.concatenate([[0.0], np.cumsum(top.discounts)])
    return over(top.total(top.discounts[top.rank - 1]), ideal[np.minimum(top.gold, top.limit)], 0.0)
