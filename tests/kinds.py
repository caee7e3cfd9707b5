"""Artifacts of retrieval and of calibration for the tests of their pages, and ones whose every text is another's."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from demur.calibration import Calibration, calibration_of
from demur.fitting import calibrate
from demur.resample import Plan
from demur.simulate import ZERO_SHOT, make_people, run_system
from pipeline import SYSTEMS, made_queries

if TYPE_CHECKING:
    from demur.items import Items

MAPS_BY_NAME = ("systems", "deltas", "per_criterion", "policies", "values", "convention", "nulls_filled")
FIXED = ("schema_version", "created_at", "kind", "cluster", "empty_decision_by", "metric", "method", "target", "link")


@cache
def retrieval() -> Any:
    """Two systems with everything an artifact can hold: a gate, selections, some beyond the bounds, policies, folds."""
    from demur.ranking_columns import rankings_of  # noqa: PLC0415
    from demur.retrieval_evaluation import evaluate_retrieval  # noqa: PLC0415
    from demur.retrieval_numbers import RetrievalSettings  # noqa: PLC0415
    from demur.retrieval_results import retrieval_metrics_artifact  # noqa: PLC0415

    queries = made_queries()
    plain = {
        "posts": [query["post_id"] for query in queries],
        "criteria": [query["criterion_id"] for query in queries],
        "prob": [query["prob"] for query in queries],
        "fold": [query["fold"] for query in queries],
    }
    gold = [query["gold_ids"] for query in queries]
    systems = {}
    for name in SYSTEMS:
        ranked = [query[f"{name}_topk"] for query in queries]
        systems[name] = rankings_of(gold, ranked, selected=[ids[:1] for ids in ranked], **plain)
    settings = RetrievalSettings(depths=(1, 10), policies=("fixed:3",))
    return retrieval_metrics_artifact(evaluate_retrieval(systems, settings=settings, plan=Plan(200, seed=1)))


@cache
def calibration(method: str = "isotonic", features: tuple[str, ...] | None = None) -> Calibration:
    """A calibrator of token_msp, or of features."""
    return calibrate(
        _training(),
        method=method,
        features=None if features is None else [*features],
        variant="token_msp" if features is None else None,
        created_at="2026-01-31T12:00:00Z",
    )


@cache
def _training() -> Items:
    return run_system(make_people(30, seed=1), ZERO_SHOT, seed=1).items()


def renamed_kind(content: dict[str, Any], name_of: Any) -> Any:
    """The same artifact with every text in it, and every name of a system, criterion, policy or fold, replaced."""

    def replaced(value: Any, member: str) -> Any:
        if isinstance(value, dict):
            own = member in MAPS_BY_NAME
            return {name_of(key) if own else key: replaced(one, key) for key, one in value.items()}
        if isinstance(value, list):
            return [replaced(one, member) for one in value]
        if member == "post" or (isinstance(value, str) and member not in FIXED and value != "demur"):
            return name_of(str(value))
        return value

    made = replaced(content, "")
    if "systems" not in made:
        return calibration_of(made)
    from demur.retrieval_artifact import retrieval_metrics_of  # noqa: PLC0415

    return retrieval_metrics_of(made)
