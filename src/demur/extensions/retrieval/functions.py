"""Retrieval one query at a time, and the detection of queries without evidence: thin calls of the quantities.

>>> recall_at_k({"a", "b"}, ["x", "a", "y"], 2), hit_at_k({"a", "b"}, ["x", "a", "y"], 1)
(0.5, 0.0)
>>> map_at_k({"a", "b", "c"}, ["a", "b"], 2), map_trec_at_k({"a", "b", "c"}, ["a", "b"], 2)
(1.0, 0.6666666666666666)
>>> ndcg_at_k({"a"}, ["x", "a"], 2), ndcg_at_k({"a": 3, "b": 1}, ["b", "a"], 1)
(0.6309297535714575, 0.3333333333333333)
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from demur.errors import UserError
from demur.extensions.retrieval.quantities.detection import (
    by_convention,
    checked_rate,
    detection_measures,
    single_class,
    threshold_at_fpr,
)
from demur.extensions.retrieval.quantities.ranking import Top, checked_depth
from demur.extensions.retrieval.ranking_columns import rankings_of
from demur.quantities import Measure
from demur.quantities.forecasts import Forecasts


def _at_k(stem: str) -> Callable[[Collection[Any] | Mapping[Any, int], Sequence[Any], int], float]:
    """A ranking quantity of one query: its gold ids, its ranked ids, and how many of these are looked at.

    Gold ids with grades come as a dict.
    """
    quantity = Measure.of(f"{stem}@1").quantity

    def of_query(gold_ids: Collection[Any] | Mapping[Any, int], ranked_ids: Sequence[Any], k: int) -> float:
        depth = checked_depth(k)
        if isinstance(gold_ids, (str, bytes)) or isinstance(ranked_ids, (str, bytes)):
            raise UserError("ids come as a list or a set of them, not as one text")
        if isinstance(ranked_ids, AbstractSet):
            raise UserError("ranked ids come as a list, best first: a set has no order")
        gold = gold_ids if isinstance(gold_ids, Mapping) else frozenset(gold_ids)
        rankings = rankings_of([gold], [[*ranked_ids]])
        return float(quantity.function(Top(rankings, depth))[0])

    of_query.__name__ = of_query.__qualname__ = f"{stem}_at_k"
    of_query.__doc__ = (quantity.function.__doc__ or "").partition(">>>")[0]
    return of_query


recall_at_k = _at_k("recall")
precision_at_k = _at_k("precision")
hit_at_k = _at_k("hit")
mrr_at_k = _at_k("mrr")
map_at_k = _at_k("map")
map_trec_at_k = _at_k("map_trec")
ndcg_at_k = _at_k("ndcg")


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


def get_tpr_at_fpr(y_prob: Any, y_true: Any, target_fpr: float = 0.05) -> tuple[float, float | None]:
    """The share of positives caught while false alarms stay within a rate, and the threshold there: (tpr, threshold).

    >>> get_tpr_at_fpr([0.1, 0, 0.3, 0.1, 0], [0, 1, 1, 1, 0], target_fpr=0.5)
    (0.6666666666666666, 0.1)
    """
    threshold, tpr, _ = compute_threshold_at_fpr(y_prob, y_true, target_fpr)
    return tpr, threshold


def no_evidence_metrics(y_prob: Any, y_true: Any) -> dict[str, float | bool]:
    """Every detection metric of probabilities that queries have evidence, and whether there is one class only.

    >>> no_evidence_metrics([0.9, 0.7, 0.4, 0.2, 0.8], [1, 1, 0, 0, 1])["auroc"]
    1.0
    """
    forecasts = _forecasts(y_prob, y_true)
    numbers = {str(measure): float(by_convention(measure, forecasts)[0]) for measure in detection_measures()}
    return {**numbers, "single_class": single_class(forecasts)}


def _forecasts(y_prob: Any, y_true: Any) -> Forecasts:
    forecasts = Forecasts.of(y_prob, y_true)
    if not forecasts.binary:
        raise UserError("y_true says of each query whether it has evidence: expected 0 or 1, or true or false")
    return forecasts
