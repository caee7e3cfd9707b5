"""The record of an evaluation of answers: population, settings, and cases to review, by name only."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from demur.facts.alignment import Alignment
from demur.facts.ids import sorted_ids
from demur.facts.items import Items
from demur.facts.losses import GIVEN
from demur.facts.raw_units import FailedUnits
from demur.inference.estimates import Estimate
from demur.inference.key import Group, Key
from demur.inference.views import CurveView
from demur.quantities import quantities
from demur.quantities.losses import are_amounts, loss_of
from demur.quantities.losses import loss as loss_named
from demur.quantities.operating import UnitSums
from demur.quantities.registry import COMMON, QUANTITIES
from demur.results.feature_files import study_model
from demur.results.file_models import Input
from demur.results.study import SelectiveStudy
from demur.results.table import named_inputs
from demur.sampling.graded import Graded
from demur.types import Indices, Json

if TYPE_CHECKING:
    from demur.results.settings import Settings

CONVENTION = {
    "ties": "equal confidences are one operating point (plateau)",
    "denominator": "all units of included participants, abstentions counted",
    "anchor_at_zero": "selective risk: the first risk; generalized risk: 0",
    "integration": "trapezoidal over [0, Cmax]",
}
MOST_CASES = 20
_NO_AMOUNTS = "the answers are no amounts"
_MOST_ITEMS = 30
_FEWEST_UNITS = 10  # of an item, unless it is that of an instrument


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """An evaluation in progress: settings, systems as read (`given`) and as compared (`alignment`), and views."""

    settings: Settings
    given: Mapping[str, Items]
    alignment: Alignment
    baseline: str
    views: Mapping[str, Mapping[str, CurveView]]
    skipped: Sequence[Json]


def selective_study(evaluation: Evaluation, provenance: Json, features: Sequence[str]) -> SelectiveStudy:
    """Everything a file records besides numbers, curves and warnings.

    `provenance` holds time, tool and plan, and what the features, of these names, record.
    """
    alignment, first = evaluation.alignment, next(iter(evaluation.alignment.systems.values()))
    given = [*evaluation.given.values()]
    study = study_model(tuple(features)).made(
        {
            **provenance,
            **_requested(evaluation.settings, len(alignment.systems)),
            "inputs": named_inputs({name: input_of(items) for name, items in evaluation.given.items()}),
            "baseline": evaluation.baseline if len(alignment.systems) > 1 else None,
            "convention": CONVENTION,
            "systems": [_system(name, evaluation) for name in alignment.systems],
            "clusters_total": alignment.overlap,
            "clusters_included": alignment.included,
            "units": first.units,
            "intersection_only": alignment.intersection_only,
            "noun": first.noun,
            "loss": loss_record(first, evaluation.settings.loss),
            "confidences": [*evaluation.views],
            "skipped": evaluation.skipped,
            "failed": _failed(evaluation),
            "failed_units": next((items.failed_units.rule for items in given if items.failed_units), None),
            "probabilities": [*dict.fromkeys(name for items in given for name in items.probabilities)] or None,
            "repeats": next((items.repeats.rule for items in given if items.repeats), None),
            "confident_errors": [
                {"system": system, "confidence": name, "cases": _confident_errors(view.graded)}
                for name, by_system in evaluation.views.items()
                for system, view in by_system.items()
                if first.count is None
            ],
        }
    )
    return study.signed(independent=first.independent)


def _requested(settings: Settings, systems: int) -> Json:
    """The requested settings, as a file records them."""
    request, cut = settings.request, settings.cut(systems)
    return {
        "requested": {"level": request.level, "interval": request.method} if request else None,
        "coverages": [target.text for target in settings.targets],
        "area_coverage": None if cut == COMMON else cut,
        "excluded": tuple(settings.exclude) or None,
    }


def loss_record(items: Items, name: str | None) -> Json:
    """The loss as members of the file."""
    losses = items.losses
    if losses is not None and losses.name != GIVEN:
        return {"name": losses.name, "definition": losses.definition, "raw_multiplier": losses.divisor}
    if losses is not None:
        maximum = None if losses.largest is None else losses.largest / losses.divisor
        record = {"name": GIVEN, "definition": losses.definition, "raw_multiplier": 1}
        return record | {"maximum": maximum, "exact": losses.exact}
    chosen = loss_named(loss_of(items, name))
    record = {"definition": chosen.definition(items.instrument), "raw_multiplier": chosen.divisor(items.instrument)}
    return {"name": chosen.name, **record}


def input_of(items: Items) -> Input:
    """The record of the file that a system was read from."""
    source = items.source
    return Input(**{name: getattr(source, name, None) if source else None for name in Input.model_fields})


def _system(name: str, evaluation: Evaluation) -> Json:
    alignment, failed_units = evaluation.alignment, evaluation.given[name].failed_units
    items, declined = alignment.systems[name], None
    repeats = evaluation.given[name].repeats
    merged = repeats if repeats and repeats.rule != "units" else None
    others = [other for other_name, other in alignment.systems.items() if other_name != name]
    if others and items.count is None:  # a single system has none to compare with
        right = np.logical_or.reduce([other.right for other in others])
        units = np.flatnonzero(~items.answered & right)
        declined = {"count": len(units), "first": _cases(items, units[:MOST_CASES])}
    return {
        "name": name,
        "answered": items.number_of(items.answered),
        "failed": alignment.failed[name],
        "not_in_all": alignment.only[name],
        "units_failed": failed_units.number if failed_units else None,
        "failed_by_cause": _causes(failed_units),
        "rows": merged and merged.rows,
        "rows_failed": merged and merged.failed,
        "needless_abstentions": declined,
    }


def _causes(failed: FailedUnits | None) -> list[Json] | None:
    """How many units failed for each cause; None where no cause is known."""
    return [{"cause": cause, "units": units} for cause, units in failed.by_cause.items()] or None if failed else None


def _failed(evaluation: Evaluation) -> tuple[int | str, ...]:
    """The clusters of all systems that are left out because at least one system failed on them."""
    everyone = set.intersection(*({*items.cluster_ids, *items.failed} for items in evaluation.given.values()))
    return sorted_ids(everyone.difference(next(iter(evaluation.alignment.systems.values())).cluster_ids))


def _confident_errors(graded: Graded) -> list[Json]:
    """The most confident answers that are wrong: confidence descending, then participant, then item."""
    items = graded.items
    if items is None:
        return []
    units, wrong = np.flatnonzero(items.answered), np.flatnonzero(graded.loss != 0)
    order = wrong[np.argsort(-graded.confidence[wrong], kind="stable")][:MOST_CASES]
    return _cases(items, units[order])


def _cases(items: Items, units: Indices) -> list[Json]:
    return [
        {"participant": items.cluster_ids[items.cluster[unit]], "item": items.item_names[items.item[unit]]}
        for unit in units.tolist()
    ]


def by_item(system: str, graded: Graded) -> Iterator[Estimate]:
    """The estimates for every item, which do not depend on the confidence.

    There are none unless an instrument fixes the items, or they have names, are few, and have enough units each.
    """
    items = graded.items
    if items is None or not _are_compared(items):
        return
    names, errors = items.item_names, items.answer - items.truth
    is_ordered = are_amounts(items, graded.loss_name)
    answered_item = items.item[items.answered]
    # Sums of integers in doubles are exact; they are divided once.
    answered, losses, error_sum = (
        np.bincount(answered_item, weights, len(names)) for weights in (None, graded.loss, errors[items.answered])
    )
    for name, units, count, loss, error in zip(
        names, np.bincount(items.item, minlength=len(names)), answered, losses, error_sum, strict=True
    ):
        sums = UnitSums(int(units), int(count), int(error) if is_ordered else math.nan)
        numbers = {entry.name: entry.function(sums) for entry in quantities("units", "items")}
        numbers["cmax"] = float(count / units) if units else 0.0
        numbers["risk"] = float(loss / (count * graded.divisor)) if count else math.nan
        for quantity, value in numbers.items():
            reason = QUANTITIES[quantity].undefined if is_ordered or quantity != "bias" else _NO_AMOUNTS
            undefined = reason if math.isnan(value) else ""
            yield Estimate(Key(system, quantity, group=Group("item", name)), value, undefined=undefined)


def _are_compared(items: Items) -> bool:
    """Whether numbers by item tell anything: a row number is no item, and few units have no rate."""
    if items.instrument is not None:
        return items.count is None
    is_named = items.count is None and not items.numbered and len(items.item_names) <= _MOST_ITEMS
    return is_named and bool((np.bincount(items.item, minlength=len(items.item_names)) >= _FEWEST_UNITS).all())
