"""Retrieval results: an evaluation as the artifact holds it, number by number under its path."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import ValidationError

from demur.artifact_numbers import json_ends, json_number, json_pair
from demur.errors import UserError
from demur.intervals import MOST_DROPPED
from demur.no_evidence import GATE_MEASURES
from demur.reference_ranges import RANGES
from demur.retrieval_artifact import RetrievalMetrics
from demur.retrieval_evaluation import ROUNDING
from demur.retrieval_numbers import POPULATIONS, populations
from demur.strict_model import Tool, now, one_line
from demur.tallies import MICRO

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from demur.estimates import Estimate
    from demur.rankings import Rankings
    from demur.retrieval_evaluation import RetrievalEvaluation, SystemEvaluation

    Json = dict[str, Any]

CONVENTION = {
    "relevance": "binary; a list holds distinct ids, best first",
    "empty_gold": "every ranking metric is 0 where there is no gold: see positives_only for the queries that have it",
    "map": "map divides by min(gold, K), map_trec by gold",
    "micro": "all queries pooled",
    "macro": "mean over the criteria that have queries in the population",
    "detection": "positive class: the query has evidence; one class: AUROC 0.5, AUPRC the share with evidence, TPR 0",
    "evidence": "with nothing to find, showing nothing counts 1 and anything else 0",
    "folds": "mean and population standard deviation (ddof 0)",
    "cluster": "posts are resampled, with all their queries",
}
_NO_QUERY = "no such query"
_PERCENTILES = (5, 25, 50, 75, 95)


def retrieval_metrics_artifact(
    evaluation: RetrievalEvaluation, *, created_at: str | None = None, command: str | None = None
) -> RetrievalMetrics:
    """The artifact of a retrieval evaluation, with every invariant checked."""
    first = next(iter(evaluation.systems.values())).rankings
    plan = evaluation.plan
    content = {
        "created_at": now() if created_at is None else created_at,
        "tool": Tool.here(command),
        "inputs": [{"path": path, "sha256": sha256} for path, sha256 in _files(evaluation)],
        "settings": _settings(evaluation),
        "bootstrap": {"seed": plan.seed, "n_resamples": plan.n_resamples} if plan.n_resamples else None,
        "convention": CONVENTION,
        "queries": _counts(first),
        "systems": {name: _system(one) for name, one in evaluation.systems.items()},
        "deltas": {name: _deltas(one) for name, one in evaluation.deltas.items()},
        "reference_ranges": [*_placed(evaluation)],
        "warnings": list(evaluation.warnings),
    }
    try:
        return RetrievalMetrics.model_validate(content)
    except ValidationError as error:
        raise UserError(f"the result does not hold together: {one_line(error)}") from error


def _files(evaluation: RetrievalEvaluation) -> dict[tuple[str, str], None]:
    """Every file once, in the order they were read."""
    sources = (source for one in evaluation.systems.values() for source in one.rankings.sources)
    return dict.fromkeys((source.path, source.sha256) for source in sources)


def _settings(evaluation: RetrievalEvaluation) -> Json:
    asked = evaluation.settings
    bounds = {key: value for key, value in asdict(asked.bounds).items() if key != "k_max_ratio"}
    return {
        "k": asked.depths,
        "effective_k": asked.effective_k,
        **bounds,
        "k_max_ratio": float(asked.bounds.k_max_ratio),
        "policies": asked.policies,
        "gate_threshold": None if asked.threshold is None else float(asked.threshold),
        "baseline": evaluation.baseline,
    }


def _counts(rankings: Rankings) -> Json:
    with_gold = int(rankings.has_gold.sum())
    return {
        "posts": len(rankings.post_ids),
        "criteria": len(rankings.criteria),
        "queries_total": len(rankings),
        "queries_with_positives": with_gold,
        "queries_without_positives": len(rankings) - with_gold,
        "folds": rankings.folds or None,
    }


def _system(one: SystemEvaluation) -> Json:
    rankings, estimates = one.rankings, one.estimates
    return {
        "queries_abstained": int((rankings.candidates == 0).sum()),
        "candidates": _candidates(rankings),
        **{name: _population(one, name) for name in POPULATIONS},
        "empty_decision_by": one.decided_by,
        "empty_decision": _under(estimates, "empty_decision"),
        "detection": None if rankings.prob is None else _detection(one),
        "gate": _gate(one),
        "dynamic_k": _dynamic_k(one),
        "policies": {name: _under(estimates, f"policies/{name}") for name in _policies(estimates)},
        "folds": _folds(one),
    }


def _under(estimates: Mapping[str, Estimate], place: str) -> Json:
    """The numbers under a path, by their names."""
    start = f"{place}/"
    return {path.removeprefix(start): _estimated(one) for path, one in estimates.items() if path.startswith(start)}


def _policies(estimates: Mapping[str, Estimate]) -> dict[str, None]:
    return dict.fromkeys(path.split("/")[1] for path in estimates if path.startswith("policies/"))


def _population(one: SystemEvaluation, name: str) -> Json:
    rankings, among = one.rankings, populations(one.rankings)[name]
    counts = np.bincount(rankings.criterion[among], minlength=len(rankings.criteria)).tolist()
    return {
        "queries": int(among.sum()),
        "micro": _under(one.estimates, f"{name}/micro"),
        "macro": _under(one.estimates, f"{name}/macro"),
        "per_criterion": {
            criterion: {"queries": counts[place], "metrics": _under(one.estimates, f"{name}/{place}")}
            for place, criterion in enumerate(rankings.criteria)
        },
    }


def _candidates(rankings: Rankings) -> Json:
    percentiles = np.percentile(rankings.candidates, _PERCENTILES)
    return {
        "minimum": int(rankings.candidates.min()),
        **{f"p{which}": float(value) for which, value in zip(_PERCENTILES, percentiles, strict=True)},
        "maximum": int(rankings.candidates.max()),
        "mean": float(rankings.candidates.mean()),
    }


def _detection(one: SystemEvaluation) -> Json:
    criteria = one.rankings.criteria
    return {
        "single_class": "micro" in one.one_class,
        "has_evidence_rate": float(one.rankings.has_gold.mean()),
        "micro": _under(one.estimates, "detection/micro"),
        "macro": _under(one.estimates, "detection/macro"),
        "per_criterion": {name: _under(one.estimates, f"detection/{place}") for place, name in enumerate(criteria)},
        "single_class_criteria": [criteria[int(group)] for group in one.one_class if group != "micro"],
        "threshold_at_fpr": {rate: asdict(found) for rate, found in one.thresholds.items()},
    }


def _gate(one: SystemEvaluation) -> Json | None:
    if one.gate is None or one.gate_system is None:
        return None
    curve = one.gate_system.curve
    return {
        "loss": "1 if there is no evidence, 0 if there is",
        "defined": curve.defined,
        "metrics": {name: _estimated(one.gate[name], "nothing is answered") for name in GATE_MEASURES},
        "upper_bound95": {name: found.upper_bound for name, found in one.gate.items() if found.upper_bound is not None},
        "curve": {
            "coverage": curve.coverage.tolist(),
            "selective_risk": curve.selective_risk.tolist(),
            "generalized_risk": curve.generalized_risk.tolist(),
            "threshold": curve.threshold.tolist(),
        },
    }


def _dynamic_k(one: SystemEvaluation) -> Json | None:
    rankings = one.rankings
    if rankings.selected_count is None:
        return None
    return {
        "metrics": _under(one.estimates, "dynamic_k"),
        "abstained": int((rankings.selected_count == 0).sum()),
        "breaches": [
            {
                "post": rankings.post_ids[int(rankings.post[breach.query])],
                "criterion": rankings.criteria[int(rankings.criterion[breach.query])],
                "selected": breach.shown,
                "candidates": breach.candidates,
                "allowed": (breach.low, breach.high),
            }
            for breach in one.breaches
        ],
    }


def _folds(one: SystemEvaluation) -> Json | None:
    if not one.folds:
        return None
    found: Json = {}
    for path, over in one.folds.items():
        place, _, name = path.rpartition("/")
        found.setdefault(place, {})[name] = {"mean": over.mean, "std": over.std, "values": dict(over.values)}
    return found


def _deltas(deltas: Mapping[str, Estimate]) -> Json:
    """Differences by what they are over, and by name."""
    found: Json = {}
    for path, one in deltas.items():
        *place, name = path.split("/")
        found.setdefault("/".join(place), {})[name] = _delta(one)
    return found


def _delta(one: Estimate) -> Json:
    reached = one.evidence.reached
    above, below = reached > ROUNDING, reached < -ROUNDING  # a difference that is 0 but for rounding is a tie
    return {
        "delta": json_number(one.point),
        "reason": _NO_QUERY if math.isnan(one.point) else None,
        "ci95": json_pair(one.percentile),
        "ci95_recommended": json_ends(one.recommended),
        "std_error": json_number(one.std_error),
        "share_above": float((1 + np.mean(above) - np.mean(below)) / 2) if len(reached) else None,
        "no_interval": None if one.recommended else _why_no_interval(one),
    }


def _estimated(one: Estimate, undefined: str = _NO_QUERY) -> Json:
    return {
        "value": json_number(one.point),
        "reason": undefined if math.isnan(one.point) else None,
        "ci95": json_pair(one.percentile),
        "ci95_recommended": json_ends(one.recommended),
        "std_error": json_number(one.std_error),
        "drop_rate": json_number(one.drop_rate),
        "no_interval": None if one.recommended else _why_no_interval(one),
    }


def _why_no_interval(one: Estimate) -> str:
    if not len(one.evidence.values):
        return "no resamples"
    if math.isnan(one.point):
        return "there is no number"
    if not one.drop_rate <= MOST_DROPPED:
        return "too many draws have no such number"
    return "it is the same in every draw, or given by convention"


def _placed(evaluation: RetrievalEvaluation) -> Iterator[Json]:
    """Ranking metrics of the queries with gold, and detection of all queries, beside the reference ranges.

    The ranges are those of the plain K and of two classes: what is judged otherwise is not held against them.
    """
    for system, one in evaluation.systems.items():
        for metric, known in RANGES.items():
            if evaluation.settings.effective_k and "@10" in metric:
                continue
            if MICRO in one.one_class and "@10" not in metric:
                continue
            found = one.estimates.get(
                f"{POPULATIONS[0]}/micro/{metric}", one.estimates.get(f"detection/micro/{metric}")
            )
            if found is not None and not math.isnan(found.point):
                place = known.place(found.point)
                yield {"system": system, "metric": metric, "value": found.point, **asdict(known), "place": place}
