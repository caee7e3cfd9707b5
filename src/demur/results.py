"""Results: an evaluation as the artifact holds it, number by number under its key."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import ValidationError

from demur.artifact import Metrics
from demur.artifact_numbers import json_ends, json_number, json_pair
from demur.cases import cases
from demur.errors import UserError
from demur.evaluation import Evaluated, EvaluatedPair
from demur.losses import loss as loss_named
from demur.metrics import METRICS
from demur.reliabilities import Reliability
from demur.strict_model import Tool, now, one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from demur.comparison import Delta
    from demur.coverage import Coverage
    from demur.curve import Curve
    from demur.estimates import Estimate
    from demur.evaluation import Evaluation, Settings
    from demur.intervals import Interval
    from demur.items import Items
    from demur.resample import Plan

    Json = dict[str, Any]

CONVENTION = {
    "ties": "equal confidences are one working point (plateau)",
    "denominator": "all units of included participants, abstentions counted",
    "anchor_at_zero": "selective risk: the first risk; generalized risk: 0",
    "integration": "trapezoidal over [0, Cmax]",
}
AREAS = ("aurc", "augrc")
WITH_INTERVALS = ("cmax", *AREAS, "naurc", "naugrc", "eaurc", "eaugrc")
_BARS = 20


def metrics_artifact(evaluation: Evaluation, *, created_at: str | None = None, command: str | None = None) -> Metrics:
    """The artifact of an evaluation, with every invariant checked."""
    instrument = evaluation.runs[0].instrument
    loss = loss_named(evaluation.settings.loss)
    content = {
        "created_at": now() if created_at is None else created_at,
        "tool": Tool.here(command),
        "inputs": [_input(items) for items in evaluation.given],
        "population": _population(evaluation),
        "loss": {
            "name": loss.name,
            "definition": loss.definition(instrument),
            "raw_multiplier": loss.divisor(instrument),
        },
        "convention": CONVENTION,
        "confidence_variants": {name: _variant(one, evaluation) for name, one in evaluation.variants.items()},
        "skipped_variants": [{"name": name, "reason": reason} for name, reason in evaluation.skipped.items()],
        "comparison": _comparison(evaluation),
        "warnings": list(evaluation.warnings),
        "cases": cases(evaluation),
    }
    try:
        return Metrics.model_validate(content)
    except ValidationError as error:
        raise UserError(f"the result does not hold together: {one_line(error)}") from error


def coverage_key(target: Coverage) -> str:
    """A coverage as a key: the decimal as typed, with at least two digits.

    >>> from demur import Coverage
    >>> [coverage_key(Coverage.of(text)) for text in ("0.1", "0.101", ".5", "1")]
    ['0.10', '0.101', '0.50', '1.00']
    """
    whole, _, digits = target.text.removeprefix("~").partition(".")
    return f"{whole or '0'}.{digits:0<2}"


def _input(items: Items) -> Json:
    source = items.source
    names = ("path", "run_id", "git_commit", "mode", "sha256")
    return {name: getattr(source, name) if source else None for name in names}


def _population(evaluation: Evaluation) -> Json:
    runs, pairing = evaluation.runs, evaluation.pairing
    included = len(runs[0].cluster_ids)
    total = pairing.overlap if pairing else included + len(runs[0].failed)
    answered = [int(items.answered.sum()) for items in runs]
    return {
        "participants_total": total,
        "participants_included": included,
        "participants_failed": total - included,
        "items_total": len(runs[0]),
        "items_predicted": dict(zip(("left", "right"), answered, strict=True)) if pairing else answered[0],
    }


def _variant(one: Evaluated | EvaluatedPair, evaluation: Evaluation) -> Json:
    if isinstance(one, EvaluatedPair):
        return {"left": _numbers(one.left, evaluation), "right": _numbers(one.right, evaluation)}
    return _numbers(one, evaluation)


def _numbers(one: Evaluated, evaluation: Evaluation) -> Json:
    settings, curve = evaluation.settings, one.curve
    scores = {METRICS[name].key: json_number(value) for name, value in one.scores.items()}
    gaps = ("aurc_gap_pct", "augrc_gap_pct", "achievable_gain_pct")
    requested = _requested(evaluation)
    points = {target: curve.at(target) for target in settings.targets}
    return {
        "defined": one.defined,
        **{key: value for key, value in scores.items() if key not in gaps},
        "interpretation": {key: scores[key] for key in gaps},
        **{
            METRICS[f"{area}@C"].key: {"requested": requested, "used": one.used, "value": one.areas[area].point}
            for area in AREAS
        },
        "mae_at_coverage": {
            coverage_key(target): None
            if math.isnan(point.value)
            else {"requested": point.requested, "achieved": point.achieved, "value": point.value}
            for target, point in points.items()
        },
        "bootstrap": _bootstrap(one, settings, evaluation.plan) if evaluation.plan.n_resamples else None,
        "nulls_filled": dict(one.confidence.nulls_filled),
        "curve": {
            name: getattr(curve, name).tolist()
            for name in ("coverage", "selective_risk", "generalized_risk", "threshold")
        },
        "reference": {"oracle": _oracle(curve)} if one.defined else None,
        "bands": one.estimates.bands.to_json() if one.estimates.bands else None,
        "by_item": _by_item(one),
        "histogram": _histogram(one),
        "reliability": _reliability(one),
    }


def _requested(evaluation: Evaluation) -> float | None:
    asked = evaluation.settings.area
    if asked is not None:
        return float(asked)
    return None if evaluation.pairing else 0.5


def _estimates(one: Evaluated) -> Iterator[tuple[str, Estimate]]:
    """Every number with an interval, by its key."""
    for name in WITH_INTERVALS:
        yield METRICS[name].key, one.estimates[name]
    for area in AREAS:
        yield METRICS[f"{area}@C"].key, one.areas[area]


def _by_key(one: Evaluated, settings: Settings, value_of: Callable[[Estimate], Any]) -> Json:
    found = {key: value_of(estimate) for key, estimate in _estimates(one)}
    risks = {coverage_key(target): value_of(one.estimates[f"mae@{target.text}"]) for target in settings.targets}
    return found | {"mae_at_coverage": risks}


def _bootstrap(one: Evaluated, settings: Settings, plan: Plan) -> Json:
    drops = {coverage_key(target): one.estimates[f"mae@{target.text}"].drop_rate for target in settings.targets}
    bounds = {key: found.upper_bound for key, found in _estimates(one) if found.upper_bound is not None}
    return {
        "seed": plan.seed,
        "n_resamples": plan.n_resamples,
        "ci95": _by_key(one, settings, lambda found: json_pair(found.percentile)),
        "ci95_recommended": _by_key(one, settings, lambda found: json_ends(found.recommended)),
        "std_error": _by_key(one, settings, lambda found: json_number(found.std_error)),
        "upper_bound95": bounds,
        "drop_rate": {"mae_at_coverage": drops},
        "short_domain_rate": one.areas["aurc"].short_domain_rate or 0.0,
        "ci": _asked(one, settings),
    }


def _asked(one: Evaluated, settings: Settings) -> Json | None:
    """The interval asked for besides those at 95 %, if one was; and why a number has none."""
    if not settings.asks:
        return None
    reasons = {key: reason for key, found in _estimates(one) if (reason := _asked_of(found, settings)[1])}
    asked = _by_key(one, settings, lambda found: json_ends(_asked_of(found, settings)[0]))
    return {
        "level": settings.level or 0.95,
        "interval": settings.interval or "recommended",
        "undefined": reasons,
        **asked,
    }


def _asked_of(found: Estimate, settings: Settings) -> tuple[Interval | None, str]:
    method = settings.interval
    if method in (None, "recommended"):
        method = found.recommended.method if found.recommended else "percentile"
    try:
        return found.interval(method or "percentile", settings.level or 0.95), ""
    except UserError as error:
        return None, str(error)


def _comparison(evaluation: Evaluation) -> Json:
    pairing = evaluation.pairing
    if pairing is None:
        return {"enabled": False}
    return {
        "enabled": True,
        "intersection_only": pairing.intersection_only,
        "participants_left_only": pairing.left_only,
        "participants_right_only": pairing.right_only,
        "participants_overlap_total": pairing.overlap,
        "participants_overlap_included": pairing.included,
        "participants_failed_left": pairing.failed_left,
        "participants_failed_right": pairing.failed_right,
        "deltas": {
            name: _deltas(one, evaluation.settings)
            for name, one in evaluation.variants.items()
            if isinstance(one, EvaluatedPair)
        },
    }


def _deltas(one: EvaluatedPair, settings: Settings) -> Json:
    found = one.comparison.deltas
    area = settings.area
    cut = "C_common" if area is None else area.text
    named = {METRICS[name].key: found[name] for name in WITH_INTERVALS}
    named |= {METRICS[f"{each}@C"].key: found[f"{each}@{cut}"] for each in AREAS}
    risks = {coverage_key(target): _delta(found[f"mae@{target.text}"], settings) for target in settings.targets}
    return {key: _delta(delta, settings) for key, delta in named.items()} | {"mae_at_coverage": risks}


def _delta(delta: Delta, settings: Settings) -> Json:
    return {
        "delta": json_number(delta.point),
        "ci95": json_pair(delta.percentile),
        "ci95_recommended": json_ends(delta.recommended),
        "std_error": json_number(delta.std_error),
        "ci": json_ends(_asked_of(delta, settings)[0]) if settings.asks else None,
        "drop_rate": json_number(delta.drop_rate),
        "p_value": json_number(delta.p_value),
        "favours_left": json_number(delta.favours_left),
        "favours_right": json_number(delta.favours_right),
    }


def _oracle(curve: Curve) -> Json:
    """Where the curve of the best order bends. Between two bends the generalized risk is a straight line."""
    bends = curve.best_order
    return {
        "coverage": (bends.count / curve.units).tolist(),
        "selective_risk": (bends.loss_sum / (bends.count * curve.divisor)).tolist(),
        "generalized_risk": (bends.loss_sum / (curve.units * curve.divisor)).tolist(),
    }


def _by_item(one: Evaluated) -> Json:
    items, graded = one.graded.items, one.graded
    assert items is not None  # noqa: S101  (evaluations are made of the items of a reader)
    loss = np.zeros(len(items), graded.loss.dtype)
    loss[items.answered] = graded.loss  # summed as integers, where they are, and divided once
    found = {}
    for place, name in enumerate(items.item_names):
        here = items.item == place
        there = here & items.answered
        n, answered = int(here.sum()), int(there.sum())
        found[name] = {
            "n": n,
            "answered": answered,
            "coverage": answered / n if n else 0.0,
            "risk": float(loss[there].sum() / (answered * graded.divisor)) if answered else None,
            "bias": float((items.answer - items.truth)[there].sum() / answered) if answered else None,
        }
    return found


def _histogram(one: Evaluated) -> Json | None:
    if not one.defined:
        return None
    confidence, wrong = one.graded.confidence, one.graded.loss != 0
    edges = np.linspace(confidence.min(), confidence.max(), min(_BARS, max(1, len(one.curve))) + 1)
    if not (np.diff(edges) > 0).all():  # so close that there is no room for bars between them
        edges = np.array([confidence.min() - 0.5, confidence.max() + 0.5])
    return {
        "edges": edges.tolist(),
        "right": np.histogram(confidence[~wrong], edges)[0].tolist(),
        "wrong": np.histogram(confidence[wrong], edges)[0].tolist(),
        "abstained": one.graded.units - one.graded.answered,
    }


def _reliability(one: Evaluated) -> Json | None:
    if not one.defined or not one.probability:
        return None
    found = Reliability.of(replace(one.graded, loss=(one.graded.loss == 0).astype(np.int64), divisor=1))
    bins = [
        {"low": b.low, "high": b.high, "count": b.count, "said": min(b.said, 1.0), "came_true": b.came_true}
        for b in found.bins
    ]
    return {"ece": found.scores["ece"], "brier": found.scores["brier"], "nll": found.scores["nll"], "bins": bins}
