"""Retrieval: the evaluation of systems that rank evidence, show some of it, and may say that there is none.

The functions of one query, and of probabilities that queries have evidence, are names of this package:

>>> from demur.extensions.retrieval import hit_at_k, recall_at_k
>>> recall_at_k({"a", "b"}, ["x", "a", "y"], 2), hit_at_k({"a", "b"}, ["x", "a", "y"], 1)
(0.5, 0.0)
"""

from importlib import import_module
from typing import TYPE_CHECKING

from demur.extension import Extension, Task

if TYPE_CHECKING:
    from demur.extensions.retrieval.functions import (
        compute_threshold_at_fpr,
        get_tpr_at_fpr,
        hit_at_k,
        map_at_k,
        map_trec_at_k,
        mrr_at_k,
        ndcg_at_k,
        no_evidence_metrics,
        precision_at_k,
        recall_at_k,
    )

__all__ = [
    "EXTENSION",
    "compute_threshold_at_fpr",
    "get_tpr_at_fpr",
    "hit_at_k",
    "map_at_k",
    "map_trec_at_k",
    "mrr_at_k",
    "ndcg_at_k",
    "no_evidence_metrics",
    "precision_at_k",
    "recall_at_k",
]

EXTENSION = Extension(
    "retrieval",
    {"retrieval": f"{__name__}.command"},
    tasks={
        "retrieval": Task(f"{__name__}.study:RetrievalStudy", f"{__name__}.study:RetrievalFile", f"{__name__}.page")
    },
    quantities=(f"{__name__}.quantities",),
)


def __getattr__(name: str) -> object:
    """Import a function when it is asked for: whoever only looks for commands needs none."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.functions"), name)
