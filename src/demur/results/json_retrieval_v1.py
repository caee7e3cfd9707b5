"""Reading the retrieval files of version 0.1: nested members become rows of the table."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AliasChoices, ConfigDict, Field, ValidationError, create_model

from demur.errors import UserError, unknown
from demur.inference.estimates import Estimate
from demur.inference.key import Group, Key, Minus, Pattern
from demur.inference.warnings import KINDS, ResultWarning
from demur.intervals import Interval
from demur.quantities import Measure
from demur.results.json_v1_model import Ends, Pair
from demur.results.json_v1_read import present_method
from demur.results.parts import CurveRecord, Points
from demur.results.study import RetrievalStudy
from demur.results.table import Results
from demur.strict_model import Count, Part, Share, WordedWarning, one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Json = dict[str, Any]
    _Place = str | tuple[str, str | None]

_RENAMED = {"mae": "risk", "precision": "empty_precision", "recall": "empty_recall", "f1": "empty_f1"}
_AMONG = {"positives_only": "with_gold", "all_queries": "all"}


class _Read(Part):
    model_config = ConfigDict(extra="ignore")


class _Number(_Read):
    value: float | None = Field(validation_alias=AliasChoices("value", "delta"))
    reason: str | None
    ci95: Pair | None
    ci95_recommended: Ends | None
    std_error: float | None
    drop_rate: Share | None = None
    share_above: Share | None = None
    no_interval: str | None


def _part(**members: Any) -> Any:
    """A part of an earlier file: what is not needed is not checked."""
    return create_model("_Part", __base__=_Read, **{name: (kind, ...) for name, kind in members.items()})


_NUMBERS: Any = Mapping[str, _Number]
_CRITERION = _part(queries=Count, metrics=_NUMBERS)
_POPULATION = _part(micro=_NUMBERS, macro=_NUMBERS, per_criterion=Mapping[str, _CRITERION])
_DETECTION = _part(
    single_class=bool,
    micro=_NUMBERS,
    macro=_NUMBERS,
    per_criterion=Mapping[str, _NUMBERS],
    single_class_criteria=list[str],
    threshold_at_fpr=Mapping[str, _part(threshold=Share | None, fpr=Share)],
)
_FOLDS = _part(mean=float | None, std=float | None, values=Mapping[str, float | None])
_SYSTEM = _part(
    queries_abstained=Count,
    candidates=Any,
    positives_only=_POPULATION,
    all_queries=_POPULATION,
    empty_decision_by=str,
    empty_decision=_NUMBERS,
    detection=_DETECTION | None,
    gate=_part(defined=bool, metrics=_NUMBERS, upper_bound95=Mapping[str, float], curve=Points) | None,
    dynamic_k=_part(metrics=_NUMBERS, abstained=Count, breaches=list[Any]) | None,
    policies=Mapping[str, _NUMBERS],
    folds=Mapping[str, Mapping[str, _FOLDS]] | None,
)
_FILE = _part(
    schema_version=Literal["1"],
    settings=_part(baseline=str | None, policies=list[str]),
    bootstrap=_part(seed=Any, n_resamples=Any) | None,
    queries=_part(posts=Count, queries_total=Count, queries_with_positives=Count, folds=list[str] | None),
    systems=Annotated[Mapping[str, _SYSTEM], Field(min_length=1)],
    deltas=Mapping[str, Mapping[str, _NUMBERS]],
    warnings=list[WordedWarning],
)


def decoded(content: Json) -> Results:
    """Results from the content of a file; anything in it that does not hold together is one line that says what."""
    try:
        file = _FILE.model_validate(content, strict=False)
        study = RetrievalStudy.model_validate(_study(content, file), strict=False)
        gates = {(name, "prob"): system.gate for name, system in file.systems.items() if system.gate}
        curves = {key: CurveRecord(defined=gate.defined, curve=gate.curve) for key, gate in gates.items()}
    except ValidationError as error:
        raise UserError(one_line(error)) from None
    for name in (*file.deltas, *filter(None, [study.baseline])):
        if name not in file.systems:
            raise unknown("system", name, file.systems)
    places = _places(study)
    rows = [row for name, system in file.systems.items() for row in _rows(places, name, _members(system))]
    minus = Minus("system", study.baseline)
    rows += [row for name, members in file.deltas.items() for row in _rows(places, name, members.items(), minus)]
    rows += [row for name, system in file.systems.items() for row in _fold_rows(places, name, system.folds or {})]
    extras = {key: more for name, system in file.systems.items() for key, more in _extras(name, system)}
    rows = [replace(row, **extras.get(row.key, {})) for row in rows]
    known = dict(_warned(file.systems))
    warnings = [(*known.get((one.code, one.where), (one.code, Pattern())), one.message) for one in file.warnings]
    return Results(rows, study, curves, [ResultWarning(code, about, text=text) for code, about, text in warnings])


def _study(content: Json, file: Any) -> Json:
    """What was evaluated and how, as the table records it."""
    first, counts, boot = next(iter(file.systems.values())), file.queries, file.bootstrap
    gold = {name: part.queries for name, part in first.positives_only.per_criterion.items()}
    return {
        **{name: content.get(name) for name in ("created_at", "tool", "inputs", "convention", "reference_ranges")},
        "settings": {name: value for name, value in content["settings"].items() if name != "baseline"},
        "baseline": file.settings.baseline,
        "bootstrap": boot and {"seed": boot.seed, "n_resamples": boot.n_resamples},
        "systems": [
            {
                "name": name,
                "abstained": system.queries_abstained,
                "candidates": system.candidates,
                "empty_decision_by": system.empty_decision_by,
                "empty_selections": system.dynamic_k and system.dynamic_k.abstained,
                "breaches": system.dynamic_k.breaches if system.dynamic_k else (),
            }
            for name, system in file.systems.items()
        ],
        "posts": counts.posts,
        "queries": counts.queries_total,
        "with_gold": counts.queries_with_positives,
        "criteria": [
            {"name": name, "queries": part.queries, "with_gold": gold.get(name)}
            for name, part in first.all_queries.per_criterion.items()
        ],
        "folds": counts.folds or (),
        "has_evidence_rate": counts.queries_with_positives / max(counts.queries_total, 1),
    }


def _places(study: RetrievalStudy) -> dict[_Place, Key]:
    """The key at each place of a file; of a policy, its quantity is the end of a name."""
    pooled = {name: Key("", "", among=among) for name, among in _AMONG.items()} | {"detection": Key("", "", "prob")}
    places: dict[_Place, Key] = {
        **pooled,
        "gate": Key("", "", "prob"),
        "empty_decision": Key("", ""),
        "dynamic_k": Key("", ""),
    }
    for name, key in pooled.items():
        places |= {f"{name}/micro": key, f"{name}/macro": replace(key, group=Group("criterion"))}
        groups = [Group("criterion", criterion.name) for criterion in study.criteria]
        places |= {(name, group.level): replace(key, group=group) for group in groups}
    return places | {f"policies/{policy}": Key("", f"@{policy}") for policy in study.settings.policies}


def _members(system: Any) -> Iterator[tuple[_Place, Mapping[str, _Number]]]:
    """All numbers of a system, place by place."""
    for name in filter(lambda name: getattr(system, name), (*_AMONG, "detection")):
        part = getattr(system, name)
        yield from ((f"{name}/micro", part.micro), (f"{name}/macro", part.macro))
        for criterion, numbers in part.per_criterion.items():
            yield (name, criterion), getattr(numbers, "metrics", numbers)
    yield "empty_decision", system.empty_decision
    yield from ((name, getattr(system, name).metrics) for name in ("dynamic_k", "gate") if getattr(system, name))
    yield from ((f"policies/{policy}", numbers) for policy, numbers in system.policies.items())


def _rows(
    places: Mapping[_Place, Key],
    system: str,
    members: Iterable[tuple[_Place, Mapping[str, _Number]]],
    minus: Minus | None = None,
) -> Iterator[Estimate]:
    for place, numbers in members:
        for name, number in numbers.items():
            ends, above = number.ci95_recommended, number.share_above
            yield Estimate(
                replace(_key(places, place, name), system=system, minus=minus),
                value=_number(number.value),
                std_error=_number(number.std_error),
                percentile=number.ci95 and Interval("percentile", *number.ci95),
                recommended=ends and Interval(present_method(ends.method), ends.low, ends.high),
                drop_rate=_number(number.drop_rate),
                above=_number(above),
                below=math.nan if above is None else 1 - above,  # the file holds their difference alone
                undefined=number.reason or "",
                no_interval=number.no_interval or "",
            )


def _key(places: Mapping[_Place, Key], place: _Place, name: str) -> Key:
    if place not in places:
        raise unknown("place of numbers", place, places)
    key = places[place]
    return replace(key, quantity=str(Measure.of(f"{_RENAMED.get(name, name)}{key.quantity}")))


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _extras(name: str, system: Any) -> Iterator[tuple[Key, Json]]:
    """What detection and gate tell of their numbers elsewhere."""
    if system.detection:
        rates = {
            f"tpr@fpr={rate}": {"at": one.fpr, "threshold": one.threshold}
            for rate, one in system.detection.threshold_at_fpr.items()
        }
        for quantity in system.detection.micro:
            key = Key(name, quantity, "prob")
            yield key, {"by_convention": system.detection.single_class, **rates.get(quantity, {})}
            for criterion in system.detection.single_class_criteria:
                yield replace(key, group=Group("criterion", criterion)), {"by_convention": True}
    for quantity, bound in system.gate.upper_bound95.items() if system.gate else ():
        yield Key(name, _RENAMED.get(quantity, quantity), "prob"), {"upper_bound": bound}


def _fold_rows(places: Mapping[_Place, Key], system: str, folds: Mapping[str, Any]) -> Iterator[Estimate]:
    for place, members in folds.items():
        for name, over in members.items():
            key = replace(_key(places, place, name), system=system)
            for fold, value in over.values.items():
                undefined = "no such query" if value is None else ""
                yield Estimate(replace(key, group=Group("fold", fold)), _number(value), undefined=undefined)
            undefined = "a fold has no such query" if over.mean is None else ""
            yield Estimate(replace(key, group=Group("fold")), _number(over.mean), spread=over.std, undefined=undefined)


def _warned(systems: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str], tuple[str, Pattern]]]:
    """What a code at a place is about: a system's list, its probabilities, or its gate."""
    for name, system in systems.items():
        chance = Pattern(system=name, confidence="prob")
        whole = bool(system.detection and system.detection.single_class)
        yield ("single_class", f"{name} detection"), ("single_class" if whole else "single_class_criteria", chance)
        yield ("single_class", f"{name} folds"), ("single_class_folds", chance)
        for code, kind in KINDS.items():
            place = f"{name} gate {kind.subject}" if kind.subject else name
            yield (code, place), (code, chance if kind.subject else Pattern(system=name))
