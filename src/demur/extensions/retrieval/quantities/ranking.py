"""Ranking metrics: how much of the gold is near the top of a list. One number per query, for all queries at once.

Every metric is 0 for a query without gold: means are therefore given over the queries with gold and over all queries,
and always labelled. Gold are the ids whose grade is at least the relevance level; only the nDCG uses the grades
themselves.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from demur.errors import UserError, literal, shown
from demur.quantities.forecasts import over
from demur.quantities.registry import QUANTITIES, Measure, Parameter, canonical, family, quantities, quantity
from demur.types import Floats, Integers

if TYPE_CHECKING:
    from demur.extensions.retrieval.rankings import Rankings

_DEEPEST = 10**8


def checked_depth(k: Any) -> int:
    """Check a depth, the number of ids considered: an integer of at least 1."""
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or not 1 <= k <= _DEEPEST:
        raise UserError(f"k {literal(k)}, expected an integer, 1 or more (and at most {_DEEPEST})")
    return int(k)


class Top:
    """The first `k` ids of every list, all of them without k.

    With `effective`, a list shorter than k is judged by its own length.

    For each hit: its `query`, its `rank` from 1, and its `number` among the hits of its query. For each query: the
    number of its `hits`, of its `gold` ids, and the `limit` of how many ids could have been returned.
    """

    def __init__(self, rankings: Rankings, k: int | None = None, *, effective: bool = False) -> None:
        self.rankings, self.k = rankings, checked_depth(_DEEPEST if k is None else k)
        within = rankings.hit_rank <= self.k
        self.query, self.rank = rankings.hit_query[within], rankings.hit_rank[within]
        self.number = rankings.hit_number[within]
        self.hits = np.bincount(self.query, minlength=len(rankings))
        self.gold = rankings.gold_count
        self.limit = np.minimum(self.k, rankings.candidates) if effective else np.full(len(rankings), self.k)

    def total(self, per_hit: Floats) -> Floats:
        """The sum over the hits of each query, in the order of the ranks."""
        return self._summed(self.query, per_hit)

    def _summed(self, query: Integers, values: Floats) -> Floats:
        return np.asarray(np.bincount(query, values, minlength=len(self.rankings)), np.float64)

    def gain(self) -> Floats:
        """The discounted cumulative gain of each query: the grades returned, discounted by rank."""
        grades = self.rankings.grades
        if grades is None:
            return self.total(_discounts(self.rank))
        within = grades.hit_rank <= self.k
        return self._summed(grades.hit_query[within], grades.hit[within] * _discounts(grades.hit_rank[within]))

    def ideal_gain(self) -> Floats:
        """The gain of the ideal ranking of each query: its highest grades, up to the limit."""
        grades = self.rankings.grades
        if grades is None:  # the same sums for all queries
            count = np.minimum(self.gold, self.limit)
            return np.cumsum(np.append(0.0, _discounts(np.arange(1, count.max() + 1))))[count]
        query, gold = grades.gold_query, grades.gold[np.lexsort((-grades.gold, grades.gold_query))]
        rank = np.arange(len(query)) - np.searchsorted(query, query) + 1
        within = rank <= self.limit[query]
        return self._summed(query[within], gold[within] * _discounts(rank[within]))


def _discounts(rank: Integers) -> Floats:
    """1/log2(i + 1) of each rank i."""
    last = int(rank.max(initial=0))
    return np.array([1.0 / math.log2(depth + 1) for depth in range(1, last + 1)])[rank - 1]


def _depth(text: str) -> int:
    return checked_depth(int(text) if re.fullmatch("[0-9]{1,9}", text) else text)


DEPTH = Parameter("K", _depth, "10")
DEPTH_OR_ALL = Parameter("K", _depth, "10", optional=True)


COMPUTED_BY = "evaluate_retrieval computes it, of rankings"
family(
    "ranking",
    COMPUTED_BY,
    {
        "Ties": "none: a list has an order.",
        "Abstentions": "an empty list finds nothing: 0.",
        "Undefined": "never; 0 where there is no gold.",
    },
)
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


def ranking_measures(names: Iterable[str]) -> list[Measure]:
    """Parse names such as ndcg@10, nDCG@10, P@5 or AP; all unknown names are reported together.

    >>> [*map(str, ranking_measures(["nDCG@10", "P@5", "AP", "ndcg@10"]))]
    ['ndcg@10', 'precision@5', 'map_trec']
    """
    measures, problems = dict[str, Measure](), list[str]()
    for name in names:
        try:
            measure = Measure.of(name, "ranking")
        except UserError as error:
            problems.append(_no_metric(name, str(error)))
        else:
            written = measure if measure.value is None else replace(measure, text=str(measure.value))
            measures.setdefault(str(written), written)
    if problems:
        raise UserError(f"metrics: {'; '.join(problems)}")
    return [*measures.values()]


def _no_metric(name: Any, complaint: str) -> str:
    """The error message for a name that is not a metric, with the nearest names."""
    import difflib  # noqa: PLC0415  (only needed after a mistake)

    stem, names = canonical(re.split(r"[@(]", str(name))[0]), [entry.name for entry in quantities("ranking")]
    if stem in {entry.stem for entry in quantities("ranking")}:
        in_brackets = f"{shown(name)} has parameters, expected {stem}@10; the level of all is --relevance-level"
        return in_brackets if "(" in str(name) else complaint
    if stem in {entry.stem for entry in QUANTITIES.values()}:
        return f"{shown(name)} is not a metric of rankings, and only these are chosen"
    near = difflib.get_close_matches(str(name).lower(), names, n=2, cutoff=0.4) or names
    return f"{shown(name)} is not known (nearest: {', '.join(near)})"


def per_query(rankings: Rankings, measures: list[Measure], *, effective: bool = False) -> dict[Measure, Floats]:
    """Every measure of every query; hits are looked up once per depth."""
    tops = {measure.value: Top(rankings, measure.value, effective=effective) for measure in measures}
    return {measure: measure.quantity.function(tops[measure.value]) for measure in measures}


@_ranking("recall@K", title="Recall@K", aliases=("R", "Recall"))
def recall(top: Top) -> Floats:
    """Share of the gold ids that are among the first K.

    How much of the evidence a reader of K ids gets to see. Higher is better.

    Formula: |top-K ∩ gold| / |gold|.
    Reference: Manning, Raghavan, Schütze (2008), Introduction to Information Retrieval, chapter 8.

    >>> from demur.extensions.retrieval.ranking_columns import rankings_of
    >>> recall(Top(rankings_of([{"a", "b", "c"}], [["a", "x", "b"]]), 2)).tolist()
    [0.3333333333333333]
    """
    return over(top.hits, top.gold, 0.0)


@_ranking("precision@K", title="Precision@K", aliases=("P", "Precision"))
def precision(top: Top) -> Floats:
    """Share of the first K ranks that hold a gold id.

    How much of what a reader is shown is evidence. Higher is better.

    Formula: |top-K ∩ gold| / K; with effective K, / min(K, candidates).
    Abstentions: an empty list holds nothing: 0.
    Reference: Manning, Raghavan, Schütze (2008), Introduction to Information Retrieval, chapter 8.

    >>> from demur.extensions.retrieval.ranking_columns import rankings_of
    >>> facts = rankings_of([{"a", "b"}], [["a", "x", "b"]])
    >>> precision(Top(facts, 5)).tolist(), precision(Top(facts, 5, effective=True)).tolist()
    ([0.4], [0.6666666666666666])
    """
    return over(top.hits, top.limit, 0.0)


@_ranking("hit@K", title="Hit@K", aliases=("Success",))
def hit(top: Top) -> Floats:
    """Whether any gold id is among the first K; its mean is the hit rate.

    The share of the queries for which a reader of K ids sees any evidence at all. Higher is better.

    Formula: 1 if top-K ∩ gold is not empty, else 0.
    Reference: trec_eval, success.

    >>> from demur.extensions.retrieval.ranking_columns import rankings_of
    >>> hit(Top(rankings_of([{"a"}, {"a"}], [["x", "a"], ["x"]]), 2)).tolist()
    [1.0, 0.0]
    """
    return (top.hits > 0).astype(np.float64)


@_ranking("mrr@K", title="MRR@K", parameter=DEPTH_OR_ALL, aliases=("RR", "MRR"))
def mrr(top: Top) -> Floats:
    """Reciprocal of the rank of the first gold id, if that is K at most.

    How soon a reader meets the first piece of evidence. Without K the whole list is looked at. Higher is better.

    Formula: 1 / rank of the first id in gold among the first K, 0 if there is none.
    Reference: Voorhees (1999), The TREC-8 question answering track report.

    >>> from demur.extensions.retrieval.ranking_columns import rankings_of
    >>> mrr(Top(rankings_of([{"a", "b"}], [["x", "b", "a"]]), 3)).tolist()
    [0.5]
    """
    first = top.number == 1
    reciprocal = np.zeros(len(top.rankings))
    reciprocal[top.query[first]] = 1.0 / top.rank[first]
    return reciprocal


@_ranking("map@K", title="MAP@K")
def average_precision(top: Top) -> Floats:
    """Average precision: the mean of the precisions at the hits, of as many as there could be; its mean is MAP.

    Rewards having the evidence, and having it early. Higher is better.

    Formula: Σ over hits at rank i ≤ K of (hits up to i)/i, divided by min(|gold|, K); with effective K, by
    min(|gold|, K, candidates).
    Reference: Manning, Raghavan, Schütze (2008), Introduction to Information Retrieval, chapter 8.

    >>> from demur.extensions.retrieval.ranking_columns import rankings_of
    >>> average_precision(Top(rankings_of([{"a", "b", "c"}], [["a", "b", "x"]]), 2)).tolist()
    [1.0]
    """
    return over(top.total(top.number / top.rank), np.minimum(top.gold, top.limit), 0.0)


@_ranking("map_trec@K", title="MAP@K (÷ gold)", parameter=DEPTH_OR_ALL, aliases=("AP",))
def average_precision_trec(top: Top) -> Floats:
    """Average precision as trec_eval has it, divided by all there was to find.

    A list cut at K < |gold| cannot reach 1. Without K the whole list is looked at, and MAP is this number. Higher is
    better.

    Formula: Σ over hits at rank i ≤ K of (hits up to i)/i, divided by |gold|.
    Reference: trec_eval, map and map_cut; ir-measures, AP and AP@K.

    >>> from demur.extensions.retrieval.ranking_columns import rankings_of
    >>> average_precision_trec(Top(rankings_of([{"a", "b", "c"}], [["a", "b", "x"]]), 2)).tolist()
    [0.6666666666666666]
    """
    return over(top.total(top.number / top.rank), top.gold, 0.0)


@_ranking("ndcg@K", title="nDCG@K", parameter=DEPTH_OR_ALL, aliases=("nDCG", "NDCG"))
def ndcg(top: Top) -> Floats:
    """Normalised discounted cumulative gain: later hits count less, relative to the ideal order.

    1 if the first ranks hold the most relevant ids, as long as there are any. Without K the whole list is looked at.
    Higher is better.

    Formula: Σ over ranks i ≤ K of grade/log2(i + 1), divided by the same sum over the min(K, number of gold ids)
    highest grades in order; with effective K, over the min(K, candidates) highest. The grade is 1 where judgments are
    not graded, and 0 where an id is not judged, or judged 0 or less; no relevance level is applied.
    Undefined: never; 0 where no id has a grade above 0.
    Reference: Järvelin, Kekäläinen (2002), Cumulated gain-based evaluation of IR techniques; trec_eval, ndcg and
    ndcg_cut; ir-measures, nDCG (dcg log2).

    >>> from demur.extensions.retrieval.ranking_columns import rankings_of
    >>> ndcg(Top(rankings_of([{"a", "b"}], [["a", "b", "x"]]), 10)).tolist()
    [1.0]
    >>> ndcg(Top(rankings_of([{"a": 3, "b": 1}], [["b", "a"]]), 1)).tolist()
    [0.3333333333333333]
    """
    return over(top.gain(), top.ideal_gain(), 0.0)
