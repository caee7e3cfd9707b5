"""The record of a selective study: who was counted, what was asked for, and the cases to look at, by names alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from demur.graded import Graded
from demur.inference.views import CurveView
from demur.items import Items, sorted_ids
from demur.losses import loss as loss_named
from demur.quantities.registry import COMMON
from demur.results.parts import Input
from demur.results.study import SelectiveStudy
from demur.results.table import named_inputs
from demur.strict_model import Tool, now
from demur.types import Indices, Json

if TYPE_CHECKING:
    from demur.results.selective import Evaluation

CONVENTION = {
    "ties": "equal confidences are one operating point (plateau)",
    "denominator": "all units of included participants, abstentions counted",
    "anchor_at_zero": "selective risk: the first risk; generalized risk: 0",
    "integration": "trapezoidal over [0, Cmax]",
}
MOST_CASES = 20


def selective_study(
    evaluation: Evaluation, views: Mapping[str, Mapping[str, CurveView]], skipped: Sequence[tuple[str, str, str]]
) -> SelectiveStudy:
    """Everything a file records besides numbers, curves and warnings."""
    settings, plan, alignment = evaluation.settings, evaluation.plan, evaluation.alignment
    first = next(iter(alignment.systems.values()))
    several, request = len(alignment.systems) > 1, settings.request
    cut = settings.cut(len(alignment.systems))
    return SelectiveStudy.model_validate(
        {
            "created_at": now() if evaluation.created_at is None else evaluation.created_at,
            "tool": Tool.here(evaluation.command),
            "inputs": named_inputs({name: input_of(items) for name, items in evaluation.given.items()}),
            "baseline": evaluation.baseline if several else None,
            "bootstrap": {"seed": plan.seed, "n_resamples": plan.n_resamples} if plan.n_resamples else None,
            "requested": {"level": request.level, "interval": request.method} if request else None,
            "convention": CONVENTION,
            "systems": [_system(name, evaluation) for name in alignment.systems],
            "clusters_total": alignment.overlap,
            "clusters_included": alignment.included,
            "units": len(first),
            "intersection_only": alignment.intersection_only,
            "loss": _loss(settings.loss, first),
            "confidences": [*views],
            "skipped": [
                {"name": name, "reason": reason, "system": system if several else None}
                for system, name, reason in skipped
            ],
            "coverages": [target.text for target in settings.targets],
            "area_coverage": None if cut == COMMON else cut,
            "failed": _failed(evaluation.given),
            "confident_errors": [
                {"system": system, "confidence": name, "cases": _confident_errors(view.graded)}
                for name, by_system in views.items()
                for system, view in by_system.items()
            ],
        }
    )


def _loss(name: str, items: Items) -> Json:
    loss, instrument = loss_named(name), items.instrument
    return {"name": name, "definition": loss.definition(instrument), "raw_multiplier": loss.divisor(instrument)}


def input_of(items: Items) -> Input:
    """Where the facts of a system came from."""
    source = items.source
    return Input(**{name: getattr(source, name, None) if source else None for name in Input.model_fields})


def _system(name: str, evaluation: Evaluation) -> Json:
    alignment = evaluation.alignment
    items = alignment.systems[name]
    others = [other for other_name, other in alignment.systems.items() if other_name != name]
    return {
        "name": name,
        "answered": int(items.answered.sum()),
        "failed": alignment.failed[name],
        "not_in_all": alignment.only[name],
        "needless_abstentions": _declined(items, others) if others else None,
    }


def _failed(given: Mapping[str, Items]) -> tuple[int | str, ...]:
    """Who failed in at least one system, of those that are in all."""
    everyone = set.intersection(*({*items.cluster_ids, *items.failed} for items in given.values()))
    return sorted_ids({who for items in given.values() for who in items.failed} & everyone)


def _confident_errors(graded: Graded) -> list[Json]:
    """The most confident answers that are wrong: confidence descending, then participant, then item."""
    items = graded.items
    if items is None:
        return []
    units, wrong = np.flatnonzero(items.answered), np.flatnonzero(graded.loss != 0)
    order = wrong[np.argsort(-graded.confidence[wrong], kind="stable")][:MOST_CASES]
    return _cases(items, units[order])


def _declined(items: Items, others: Sequence[Items]) -> Json:
    """Units one system declined and another answered right: of one alone nobody knows what it would have answered."""
    right = np.logical_or.reduce([other.answered & (other.answer == other.truth) for other in others])
    units = np.flatnonzero(~items.answered & right)
    return {"count": len(units), "first": _cases(items, units[:MOST_CASES])}


def _cases(items: Items, units: Indices) -> list[Json]:
    return [
        {"participant": items.cluster_ids[items.cluster[unit]], "item": items.item_names[items.item[unit]]}
        for unit in units.tolist()
    ]
