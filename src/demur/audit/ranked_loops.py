"""Ranked loops: what one query is worth at a depth K, by the definition and by known other ways."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from demur.rankings import Query


class Selection(NamedTuple):
    """How many candidates were selected, and how many of them are gold."""

    size: int
    gold: int

    @classmethod
    def of(cls, selected: Collection[str], gold: Collection[str]) -> Selection:
        """From the ids."""
        return cls(len(selected), sum(candidate in gold for candidate in selected))


@dataclass(frozen=True, slots=True)
class Judged:
    """One query as the loops see it: which ranks are gold, how many gold there are, and what was selected."""

    post: str
    criterion: str
    fold: str | None
    gold: int
    hits: tuple[bool, ...]
    prob: float | None
    selected: Selection | None

    @classmethod
    def of(cls, query: Query) -> Judged:
        """From the facts."""
        gold = set(query.gold)
        return cls(
            post=str(query.post),
            criterion=str(query.criterion),
            fold=None if query.fold is None else str(query.fold),
            gold=len(gold),
            hits=tuple(candidate in gold for candidate in query.ranked),
            prob=None if query.prob is None else float(query.prob),
            selected=None if query.selected is None else Selection.of(query.selected, gold),
        )


_NOTHING = Selection(0, 0)
AtDepth = Callable[[Judged, int], float]
Loop = Callable[[Sequence[Judged]], float | None]


def mean(values: Iterable[float]) -> float | None:
    """The mean, or None of nothing."""
    listed = [*values]
    return math.fsum(listed) / len(listed) if listed else None


def mean_over_queries(worth: Callable[[Judged], float]) -> Loop:
    """A loop that looks at every query alone."""
    return lambda queries: mean(worth(query) for query in queries)


def _recall(query: Judged, k: int) -> float:
    return _ratio(sum(query.hits[:k]), query.gold)


def _precision(query: Judged, k: int) -> float:
    return sum(query.hits[:k]) / k


def _hit(query: Judged, k: int) -> float:
    return float(any(query.hits[:k]))


def _reciprocal_rank(query: Judged, k: int) -> float:
    for rank, is_gold in enumerate(query.hits[:k], 1):
        if is_gold:
            return 1 / rank
    return 0.0


def _precision_sum(query: Judged, k: int) -> float:
    found, total = 0, 0.0
    for rank, is_gold in enumerate(query.hits[:k], 1):
        if is_gold:
            found += 1
            total += found / rank
    return total


def _average_precision(query: Judged, k: int) -> float:
    return _ratio(_precision_sum(query, k), min(query.gold, k))


def _average_precision_over_gold(query: Judged, k: int) -> float:
    return _ratio(_precision_sum(query, k), query.gold)


def _gain(query: Judged, k: int) -> float:
    return sum(1 / math.log2(rank + 1) for rank, is_gold in enumerate(query.hits[:k], 1) if is_gold)


def _ideal(hits: int) -> float:
    return sum(1 / math.log2(rank + 1) for rank in range(1, hits + 1))


def _ndcg(query: Judged, k: int) -> float:
    return _ratio(_gain(query, k), _ideal(min(query.gold, k)))


def _ratio(above: float, below: float) -> float:
    return above / below if below else 0.0


def _returned(query: Judged, k: int) -> int:
    return min(k, len(query.hits))


def _precision_of_returned(query: Judged, k: int) -> float:
    return _ratio(sum(query.hits[:k]), _returned(query, k))


def _average_precision_of_returned(query: Judged, k: int) -> float:
    return _ratio(_precision_sum(query, k), min(query.gold, _returned(query, k)))


def _ndcg_of_returned(query: Judged, k: int) -> float:
    return _ratio(_gain(query, k), _ideal(min(query.gold, _returned(query, k))))


DEFINITIONS: dict[str, AtDepth] = {
    "recall": _recall,
    "precision": _precision,
    "hit": _hit,
    "mrr": _reciprocal_rank,
    "map": _average_precision,
    "map_trec": _average_precision_over_gold,
    "ndcg": _ndcg,
}
EFFECTIVE = DEFINITIONS | {
    "precision": _precision_of_returned,
    "map": _average_precision_of_returned,
    "ndcg": _ndcg_of_returned,
}
OTHER_WAYS: dict[str, dict[str, AtDepth]] = {
    "recall": {
        "other denominator: ÷ min(gold, K), not ÷ gold": lambda q, k: _ratio(sum(q.hits[:k]), min(q.gold, k)),
    },
    "precision": {
        "other denominator: ÷ the number returned, not ÷ K": _precision_of_returned,
    },
    "mrr": {
        "not cut at K": lambda q, k: _reciprocal_rank(q, max(k, len(q.hits))),
    },
    "map": {
        "other denominator: ÷ gold, not ÷ min(gold, K)": _average_precision_over_gold,
        "other denominator: ÷ the hits found": lambda q, k: _ratio(_precision_sum(q, k), sum(q.hits[:k])),
        "other denominator: K at most the candidates": _average_precision_of_returned,
    },
    "map_trec": {
        "other denominator: ÷ min(gold, K), not ÷ gold": _average_precision,
    },
    "ndcg": {
        "other denominator: ideal over all gold, not min(gold, K)": lambda q, k: _ratio(_gain(q, k), _ideal(q.gold)),
        "other denominator: ideal over the hits found": lambda q, k: _ratio(_gain(q, k), _ideal(sum(q.hits[:k]))),
        "other denominator: K at most the candidates": _ndcg_of_returned,
    },
}


def pooled_recall(queries: Sequence[Judged], k: int) -> float | None:
    """All hits over all gold: a query with much gold counts for more."""
    gold = sum(query.gold for query in queries)
    return sum(sum(query.hits[:k]) for query in queries) / gold if gold else None


def one_without_gold(worth: AtDepth, k: int) -> Loop:
    """The mean when nothing to find counts as everything found."""
    return mean_over_queries(lambda query: worth(query, k) if query.gold else 1.0)


def evidence_recall(query: Judged) -> float:
    """How much of the gold was selected; with no gold, whether nothing was."""
    size, gold = query.selected or _NOTHING
    return gold / query.gold if query.gold else float(size == 0)


def evidence_precision(query: Judged) -> float:
    """How much of the selection is gold; with nothing selected, whether there is no gold."""
    size, gold = query.selected or _NOTHING
    return gold / size if size else float(query.gold == 0)


def evidence_f1(query: Judged) -> float:
    """The harmonic mean of the two, 0 where both are."""
    return _harmonic(evidence_recall(query), evidence_precision(query))


def f1_of_means(queries: Sequence[Judged]) -> float | None:
    """The harmonic mean taken once, of the two means."""
    recall, precision = mean(map(evidence_recall, queries)), mean(map(evidence_precision, queries))
    return None if recall is None or precision is None else _harmonic(recall, precision)


def selected_size(query: Judged) -> int:
    """How many candidates were selected."""
    return (query.selected or _NOTHING).size


def pooled_selection(queries: Sequence[Judged], over: Callable[[Judged], int]) -> float | None:
    """All gold that was selected over all gold, or over all that was selected."""
    below = sum(map(over, queries))
    return sum((query.selected or _NOTHING).gold for query in queries) / below if below else None


def _harmonic(recall: float, precision: float) -> float:
    return 2 * recall * precision / (recall + precision) if recall + precision else 0.0
