"""Results of retrieval and calibrations for the tests of their pages, and ones whose every text is another's."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from demur import Calibration, Plan, calibrate
from demur.confidences.calibration import calibration_of
from demur.extensions.lab.runs import ZERO_SHOT, make_people, run_system
from demur.results.load import results_of
from pipeline import SYSTEMS, made_queries
from retrievals import compared

if TYPE_CHECKING:
    from demur.facts.items import Items
    from demur.results.table import Results

MAPS_BY_NAME = ("convention", "nulls_filled")
FIXED = ("schema_version", "created_at", "task", "noun", "kind", "empty_decision_by", "metric", "method")
FIXED_COLUMNS = ("quantity", "confidence", "among", "policies", "target")


@cache
def retrieval() -> Results:
    """Two systems with everything there can be: a gate, selections, some beyond the bounds, policies, folds."""
    # Imported here: the rest of the house is tested without retrieval too.
    from demur.extensions.retrieval.reference_ranges import REFERENCES  # noqa: PLC0415

    queries = made_queries()
    plain = {
        "posts": [query["post_id"] for query in queries],
        "criteria": [query["criterion_id"] for query in queries],
        "prob": [query["prob"] for query in queries],
        "fold": [query["fold"] for query in queries],
        "gold": [query["gold_ids"] for query in queries],
    }
    systems = {}
    for name in SYSTEMS:
        ranked = [query[f"{name}_topk"] for query in queries]
        systems[name] = {**plain, "ranked": ranked, "selected": [ids[:1] for ids in ranked]}
    return compared(
        systems, Plan(200, seed=1), depths=(1, 10), policies=("fixed:3",), reference=REFERENCES["phq8-evidence"]
    )


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


def renamed_kind(content: dict[str, Any], name_of: Any) -> Results | Calibration:
    """The same file with every text in it, and every name of a system, criterion or fold, replaced."""

    def replaced(value: Any, member: str) -> Any:
        if member == "group" and isinstance(value, list) and isinstance(value[0], str):
            return [value[0], value[1] and name_of(value[1])]
        if isinstance(value, dict):
            own = member in MAPS_BY_NAME
            return {name_of(key) if own else key: replaced(one, key) for key, one in value.items()}
        if isinstance(value, list):
            return [replaced(one, member) for one in value]
        fixed = member in (*FIXED, *FIXED_COLUMNS) or value in ("", "demur")
        return name_of(value) if isinstance(value, str) and not fixed else value

    made = replaced(content, "")
    return results_of(made) if "systems" in made else calibration_of(made)
