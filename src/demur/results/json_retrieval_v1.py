"""Reading the retrieval files of version 0.1: nested members become rows of the table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, ConfigDict, Field, ValidationError

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

_RENAMED = {"mae": "risk", "precision": "empty_precision", "recall": "empty_recall", "f1": "empty_f1"}
_AMONG = {"positives_only": "with_gold", "all_queries": "all"}
_OVER_CRITERIA = Group("criterion")
_Place = str | tuple[str, str]


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


_Numbers = Mapping[str, _Number]


class _Criterion(_Read):
    queries: Count
    metrics: _Numbers


class _Threshold(_Read):
    threshold: Share | None
    fpr: Share


class _Groups(_Read):
    """Numbers pooled, by criterion and averaged over criteria: of rankings, or of the detection."""

    micro: _Numbers
    macro: _Numbers
    per_criterion: Mapping[str, _Criterion | _Numbers]
    single_class: bool = False
    single_class_criteria: tuple[str, ...] = ()
    threshold_at_fpr: Mapping[str, _Threshold] = {}


class _Gate(_Read):
    defined: bool
    metrics: _Numbers
    upper_bound95: Mapping[str, float]
    curve: Points


class _Selected(_Read):
    metrics: _Numbers
    abstained: Count
    breaches: list[Any]


class _Folds(_Read):
    mean: float | None
    std: float | None
    values: Mapping[str, float | None]


class _System(_Read):
    queries_abstained: Count
    candidates: Any
    positives_only: _Groups
    all_queries: _Groups
    empty_decision_by: str
    empty_decision: _Numbers
    detection: _Groups | None
    gate: _Gate | None
    dynamic_k: _Selected | None
    policies: Mapping[str, _Numbers]
    folds: Mapping[str, Mapping[str, _Folds]] | None

    def numbers(self) -> Iterator[tuple[_Place, _Numbers]]:
        """All numbers but those of folds, place by place."""
        for name in ("positives_only", "all_queries", "detection"):
            groups: _Groups | None = getattr(self, name)
            if groups is not None:
                yield from ((f"{name}/micro", groups.micro), (f"{name}/macro", groups.macro))
                for criterion, numbers in groups.per_criterion.items():
                    yield (name, criterion), numbers.metrics if isinstance(numbers, _Criterion) else numbers
        yield "empty_decision", self.empty_decision
        yield from ((name, part.metrics) for name, part in (("dynamic_k", self.dynamic_k), ("gate", self.gate)) if part)
        yield from ((f"policies/{policy}", numbers) for policy, numbers in self.policies.items())

    def beside(self, system: str) -> Iterator[tuple[Key, dict[str, Any]]]:
        """What stands elsewhere about the numbers of detection and gate."""
        for rate, at in (self.detection.threshold_at_fpr if self.detection else {}).items():
            yield Key(system, f"tpr@fpr={rate}", "prob"), {"at": at.fpr, "threshold": at.threshold}
        for name, bound in (self.gate.upper_bound95 if self.gate else {}).items():
            yield Key(system, _RENAMED.get(name, name), "prob"), {"upper_bound": bound}

    def is_convention(self, key: Key) -> bool:
        """Whether a number of the detection is of one class."""
        told = self.detection
        if told is None or Measure.of(key.quantity).quantity.of != "forecasts":
            return False
        return told.single_class if key.group is None else key.group.level in told.single_class_criteria


class _EarlierFile(_Read):
    schema_version: Literal["1"]
    settings: dict[str, Any]
    bootstrap: dict[str, Any] | None
    queries: dict[str, Any]
    systems: Annotated[Mapping[str, _System], Field(min_length=1)]
    deltas: Mapping[str, Mapping[str, _Numbers]]
    warnings: list[WordedWarning]


def decoded(content: dict[str, Any]) -> Results:
    """Results from the content of a file; anything in it that does not hold together is one line that says what."""
    try:
        file = _EarlierFile.model_validate(content, strict=False)
        study = RetrievalStudy.model_validate(_study(content, file), strict=False)
        gates = {(name, "prob"): system.gate for name, system in file.systems.items() if system.gate}
        curves = {key: CurveRecord(defined=gate.defined, curve=gate.curve) for key, gate in gates.items()}
    except ValidationError as error:
        raise UserError(one_line(error)) from None
    for name in (*file.deltas, *filter(None, [study.baseline])):
        if name not in file.systems:
            raise unknown("system", name, file.systems)
    places, rows = _places(study), []
    for name, system in file.systems.items():
        beside = dict(system.beside(name))
        singles = [*_rows(places, name, system.numbers())]
        rows += [
            replace(row, by_convention=system.is_convention(row.key), **beside.get(row.key, {})) for row in singles
        ]
    for name, deltas in file.deltas.items():
        rows += [*_rows(places, name, deltas.items(), Minus("system", study.baseline))]
    rows += [row for name, system in file.systems.items() for row in _fold_rows(places, name, system.folds or {})]
    known = dict(_warned(file.systems))
    warnings = [(*known.get((one.code, one.where), (one.code, Pattern())), one.message) for one in file.warnings]
    return Results(rows, study, curves, [ResultWarning(code, about, text=text) for code, about, text in warnings])


def _study(content: dict[str, Any], file: _EarlierFile) -> dict[str, Any]:
    first, counts, settings = next(iter(file.systems.values())), file.queries, dict(file.settings)
    total, gold = (counts.get(f"queries_{name}") for name in ("total", "with_positives"))
    criteria = [
        (
            name,
            [
                getattr(one.per_criterion.get(name), "queries", None)
                for one in (first.all_queries, first.positives_only)
            ],
        )
        for name in first.all_queries.per_criterion
    ]
    return {
        **{name: content.get(name) for name in ("created_at", "tool", "inputs", "convention", "reference_ranges")},
        "baseline": settings.pop("baseline", None),
        "settings": settings,
        "bootstrap": file.bootstrap and {name: file.bootstrap.get(name) for name in ("seed", "n_resamples")},
        "systems": [
            {
                "name": name,
                "abstained": system.queries_abstained,
                "candidates": system.candidates,
                "empty_decision_by": system.empty_decision_by,
                "empty_selections": system.dynamic_k.abstained if system.dynamic_k else None,
                "breaches": system.dynamic_k.breaches if system.dynamic_k else (),
            }
            for name, system in file.systems.items()
        ],
        "posts": counts.get("posts"),
        "queries": total,
        "with_gold": gold,
        "criteria": [
            {"name": name, "queries": of_all, "with_gold": with_gold} for name, (of_all, with_gold) in criteria
        ],
        "folds": counts.get("folds") or (),
        "has_evidence_rate": gold / max(total, 1) if isinstance(gold, int) and isinstance(total, int) else None,
    }


def _places(study: RetrievalStudy) -> dict[_Place, Key]:
    """The key at each place of a file; of a policy, its quantity is the end of a name."""
    pooled = {name: Key("", "", among=among) for name, among in _AMONG.items()} | {"detection": Key("", "", "prob")}
    places: dict[_Place, Key] = {"gate": Key("", "", "prob"), "empty_decision": Key("", ""), "dynamic_k": Key("", "")}
    for name, key in pooled.items():
        places |= {name: key, f"{name}/micro": key, f"{name}/macro": replace(key, group=_OVER_CRITERIA)}
        criteria = [criterion.name for criterion in study.criteria]
        places |= {(name, criterion): replace(key, group=Group("criterion", criterion)) for criterion in criteria}
    return places | {f"policies/{policy}": Key("", f"@{policy}") for policy in study.settings.policies}


def _key(places: Mapping[_Place, Key], place: _Place, system: str, name: str) -> Key:
    if place not in places:
        raise unknown("place of numbers", place, places)
    key = places[place]
    return replace(key, system=system, quantity=str(Measure.of(f"{_RENAMED.get(name, name)}{key.quantity}")))


def _rows(
    places: Mapping[_Place, Key],
    system: str,
    members: Iterable[tuple[_Place, _Numbers]],
    minus: Minus | None = None,
) -> Iterator[Estimate]:
    numbers = ((place, name, number) for place, numbers in members for name, number in numbers.items())
    for place, name, number in numbers:
        ends, above = number.ci95_recommended, number.share_above
        yield Estimate(
            replace(_key(places, place, system, name), minus=minus),
            value=_nan(number.value),
            std_error=_nan(number.std_error),
            percentile=None if number.ci95 is None else Interval("percentile", *number.ci95),
            recommended=None if ends is None else Interval(present_method(ends.method), ends.low, ends.high),
            drop_rate=_nan(number.drop_rate),
            above=_nan(above),
            below=math.nan if above is None else 1 - above,  # the file has their difference alone
            undefined=number.reason or "",
            no_interval=number.no_interval or "",
        )


def _nan(value: float | None) -> float:
    return math.nan if value is None else value


def _fold_rows(
    places: Mapping[_Place, Key], system: str, folds: Mapping[str, Mapping[str, _Folds]]
) -> Iterator[Estimate]:
    for place, members in folds.items():
        for name, over in members.items():
            key = _key(places, place, system, name)
            for fold, value in over.values.items():
                undefined = "no such query" if value is None else ""
                yield Estimate(replace(key, group=Group("fold", fold)), _nan(value), undefined=undefined)
            undefined = "a fold has no such query" if over.mean is None else ""
            yield Estimate(replace(key, group=Group("fold")), _nan(over.mean), spread=over.std, undefined=undefined)


def _warned(systems: Mapping[str, _System]) -> Iterator[tuple[tuple[str, str], tuple[str, Pattern]]]:
    """What a code at a place is about: a system's list, its probabilities, or its gate."""
    yield ("criterion_without_gold", "positives_only"), ("criterion_without_gold", Pattern(among="with_gold"))
    for name, system in systems.items():
        chance = Pattern(system=name, confidence="prob")
        whole = bool(system.detection and system.detection.single_class)
        yield ("single_class", f"{name} detection"), ("single_class" if whole else "single_class_criteria", chance)
        yield ("single_class", f"{name} folds"), ("single_class_folds", chance)
        for code, kind in KINDS.items():
            place = f"{name} gate {kind.subject}" if kind.subject else name
            yield (code, place), (code, chance if kind.subject else Pattern(system=name))
