"""Retrieval one query at a time, and the detection of queries without evidence: thin calls of the metrics."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any

from demur.errors import UserError
from demur.quantities.detection import checked_rate, detection_measures, single_class, threshold_at_fpr
from demur.quantities.forecasts import Forecasts
from demur.quantities.retrieval import RANKING_METRICS, Top, checked_depth
from demur.ranking_columns import rankings_of

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

__all__ = [
    "compute_threshold_at_fpr",
    "hit_at_k",
    "map_at_k",
    "map_trec_at_k",
    "mrr_at_k",
    "ndcg_at_k",
    "no_evidence_metrics",
    "precision_at_k",
    "recall_at_k",
]


def recall_at_k(gold_ids: Collection[Any], ranked_ids: Sequence[Any], k: int) -> float:
    """Share of the gold ids that are among the first k; 0 if there is no gold.

    >>> recall_at_k({"a", "b"}, ["x", "a", "y"], 2)
    0.5
    """
    return _one("recall@K", gold_ids, ranked_ids, k)


def precision_at_k(gold_ids: Collection[Any], ranked_ids: Sequence[Any], k: int) -> float:
    """Share of the first k places that hold a gold id.

    >>> precision_at_k({"a", "b"}, ["x", "a", "y"], 2)
    0.5
    """
    return _one("precision@K", gold_ids, ranked_ids, k)


def hit_at_k(gold_ids: Collection[Any], ranked_ids: Sequence[Any], k: int) -> float:
    """1 if any gold id is among the first k, else 0.

    >>> hit_at_k({"a", "b"}, ["x", "a", "y"], 1)
    0.0
    """
    return _one("hit@K", gold_ids, ranked_ids, k)


def mrr_at_k(gold_ids: Collection[Any], ranked_ids: Sequence[Any], k: int) -> float:
    """Reciprocal of the rank of the first gold id among the first k; 0 if there is none.

    >>> mrr_at_k({"a", "b"}, ["x", "a", "b"], 3)
    0.5
    """
    return _one("mrr@K", gold_ids, ranked_ids, k)


def map_at_k(gold_ids: Collection[Any], ranked_ids: Sequence[Any], k: int) -> float:
    """Precisions at the hits among the first k, summed and divided by min(|gold|, k).

    >>> map_at_k({"a", "b", "c"}, ["a", "b"], 2)
    1.0
    """
    return _one("map@K", gold_ids, ranked_ids, k)


def map_trec_at_k(gold_ids: Collection[Any], ranked_ids: Sequence[Any], k: int) -> float:
    """Precisions at the hits among the first k, summed and divided by |gold|, as trec_eval does.

    >>> map_trec_at_k({"a", "b", "c"}, ["a", "b"], 2)
    0.6666666666666666
    """
    return _one("map_trec@K", gold_ids, ranked_ids, k)


def ndcg_at_k(gold_ids: Collection[Any], ranked_ids: Sequence[Any], k: int) -> float:
    """Discounted gain of the first k ids over that of the best order; 0 if there is no gold.

    >>> ndcg_at_k({"a"}, ["x", "a"], 2)
    0.6309297535714575
    """
    return _one("ndcg@K", gold_ids, ranked_ids, k)


def _one(name: str, gold_ids: Collection[Any], ranked_ids: Sequence[Any], k: int) -> float:
    depth = checked_depth(k)
    if isinstance(gold_ids, (str, bytes)) or isinstance(ranked_ids, (str, bytes)):
        raise UserError("ids come as a list or a set of them, not as one text")
    if isinstance(ranked_ids, AbstractSet):
        raise UserError("ranked ids come as a list, best first: a set has no order")
    facts = rankings_of([frozenset(gold_ids)], [[*ranked_ids]])
    return float(RANKING_METRICS[name].function(Top(facts, depth))[0])


def compute_threshold_at_fpr(y_prob: Any, y_true: Any, target_fpr: float = 0.05) -> tuple[float | None, float, float]:
    """The probability to ask for so that false alarms stay within a rate: (threshold, tpr, fpr).

    Of all the points of the ROC curve with a false positive rate of `target_fpr` at most, it is the last. If no finite
    threshold keeps within the rate, or all outcomes are the same, the threshold is None and both rates are 0.

    >>> compute_threshold_at_fpr([0.1, 0, 0.3, 0.1, 0], [0, 1, 1, 1, 0], target_fpr=0.5)
    (0.1, 0.6666666666666666, 0.5)
    >>> compute_threshold_at_fpr([0.9, 0.8, 0.7, 0.6], [0, 1, 1, 1])
    (None, 0.0, 0.0)
    """
    return threshold_at_fpr(_forecasts(y_prob, y_true), checked_rate(target_fpr))


def no_evidence_metrics(y_prob: Any, y_true: Any) -> dict[str, float | bool]:
    """Every detection metric of probabilities that queries have evidence, and whether there is one class only.

    >>> no_evidence_metrics([0.9, 0.7, 0.4, 0.2, 0.8], [1, 1, 0, 0, 1])["auroc"]
    1.0
    """
    forecasts = _forecasts(y_prob, y_true)
    found: dict[str, float | bool] = {str(measure): float(measure(forecasts)[0]) for measure in detection_measures()}
    return found | {"single_class": single_class(forecasts)}


def _forecasts(y_prob: Any, y_true: Any) -> Forecasts:
    forecasts = Forecasts.of(y_prob, y_true)
    if not forecasts.binary:
        raise UserError("y_true says of each query whether it has evidence: expected 0 or 1, or true or false")
    return forecasts
