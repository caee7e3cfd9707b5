"""Decoding of the nested file: estimates, curves and warnings from its members."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from demur.inference.estimates import Estimate
from demur.inference.key import Group, Key, Minus, Pattern
from demur.inference.uncertainty import POINT_ONLY
from demur.inference.warnings import KINDS, ResultWarning
from demur.quantities import quantities
from demur.quantities.registry import CUT
from demur.results.feature_files import FileMembers, curve_model, file_members, names_in, study_model
from demur.results.file_models import CurveRecord
from demur.results.json_table import rows_of
from demur.results.json_v1 import (
    DIFFERENCE,
    FAVOURS,
    ITEM_NUMBERS,
    LOST,
    PEOPLE,
    SHARED,
    SIDES,
    cells,
    member_paths,
    sides_of,
)
from demur.results.json_v1_cells import AT_ONCE, INTERVALS, estimate_of
from demur.results.json_v1_model import metrics_model
from demur.results.study import PARTICIPANT
from demur.results.table import Results, system_names
from demur.sampling.coverage import Coverage
from demur.types import Json


def decoded(content: Json) -> Results:
    """Decode results from the content of the nested file."""
    names_of_features = names_in(content)
    members = file_members(names_of_features)
    file: Any = metrics_model(names_of_features).model_validate(content, extra="ignore")
    names, variants = system_names(file.inputs), file.confidence_variants
    runs = {
        (system, confidence): run
        for confidence, entry in variants.items()
        for system, run in zip(names, (entry.left, entry.right) if len(names) > 1 else (entry,), strict=True)
    }
    curves = {key: _curve(run, names_of_features, members) for key, run in runs.items()}
    shared = {name: getattr(file, name) for added in members for name in added.nested}
    empty = Results((), study_model(names_of_features).made(_study(file, names, runs) | shared), curves)
    rows = [row for key, run in runs.items() for row in _run_rows(empty, *key, run)]
    for confidence, deltas in (file.comparison.deltas or {}).items():
        rows += _delta_rows(empty, confidence, deltas)
    first = next(iter(variants))
    rows += [row for system in names for row in _item_rows(system, runs[system, first])]
    for added in members:
        rows += [row for key, run in runs.items() for row in added.decoded(*key, run)]
    beyond = [*rows_of(file.estimates)] if file.estimates is not None else []
    rows += beyond
    return Results(rows, empty.study, curves, [*_warnings(empty, file.warnings, beyond, members)])


def _curve(run: Any, features: tuple[str, ...], members: Sequence[FileMembers]) -> CurveRecord:
    """The curve of a run, with what features add to it."""
    drawn = {name: getattr(run, name) for name in CurveRecord.model_fields}
    for added in members:
        drawn |= added.curve_of(run)
    return curve_model(features)(**drawn)


def _study(file: Any, names: tuple[str, ...], runs: Mapping[tuple[str, str], Any]) -> Json:
    first, people, errors = next(iter(runs.values())), file.population, file.cases.confident_errors
    entries, boot = [entry for entry in quantities("curve") if entry.parameter is not None], first.bootstrap
    cut = next(getattr(first, entry.key).requested for entry in entries if entry.parameter is CUT)
    grid = next((getattr(first, entry.key) for entry in entries if entry.parameter is not CUT), ())
    requested = boot and boot.ci and {"level": boot.ci["level"], "interval": boot.ci["interval"]}
    sides = [f" {side}" for side in SIDES] if len(names) > 1 else [""]
    return {
        **{name: getattr(file, name) for name in SHARED},
        **{column: getattr(people, name) for name, column in PEOPLE.items()},
        "baseline": names[0] if len(names) > 1 else None,
        "bootstrap": boot and {"seed": boot.seed, "n_resamples": boot.n_resamples},
        "requested": requested or None,
        "convention": {name: text for name, text in file.convention if text is not None},
        "noun": people.noun or PARTICIPANT,
        "systems": _systems(file, names),
        "intersection_only": bool(file.comparison.intersection_only),
        "confidences": [*file.confidence_variants],
        "skipped": [dict(skipped) for skipped in file.skipped_variants],
        "coverages": [Coverage.of_key(key).text for key in grid],
        "area_coverage": None if cut is None else Coverage.of(cut).text,
        "failed": file.cases.failed,
        "confident_errors": [
            {"system": name, "confidence": variant, "cases": errors.get(f"{variant}{side}", ())}
            for variant in file.confidence_variants
            for side, name in zip(sides, names, strict=True)
        ],
    }


def _systems(file: Any, names: tuple[str, ...]) -> list[Json]:
    people, compared, needless = file.population, file.comparison, file.cases.needless_abstentions
    if len(names) == 1:
        counts = {"answered": people.items_predicted, "failed": people.participants_failed}
        return [{"name": names[0], **{member: getattr(people, member) for member in LOST}, **counts}]
    return [
        {
            "name": name,
            "answered": getattr(people.items_predicted, side),
            "failed": getattr(compared, f"participants_failed_{side}"),
            "not_in_all": getattr(compared, f"participants_{side}_only"),
            **{member: getattr(people, member) and getattr(getattr(people, member), side) for member in LOST},
            "needless_abstentions": needless and getattr(needless, side),
        }
        for side, name in zip(SIDES, names, strict=True)
    ]


def _run_rows(results: Results, system: str, confidence: str, run: Any) -> Iterator[Estimate]:
    coverages, thresholds = run.curve.coverage, run.curve.threshold
    common = results.selective.area_coverage is None
    for entry, name, coverage in cells(results):
        members = {field: _member_at(run, keys) for field, keys in member_paths(entry, coverage)}
        at = members.get("at")
        if coverage and at in coverages:
            members["threshold"] = thresholds[coverages.index(at)]
        if common:
            members.pop("short_domain_rate", None)
        if run.bootstrap is None or entry.point_only:
            members["no_interval"] = "no resamples" if run.bootstrap is None else POINT_ONLY
        yield estimate_of(Key(system, name, confidence), members)


def _member_at(tree: Any, keys: Sequence[str]) -> Any:
    """A nested member; None where a parent is null or lacks it."""
    for name in keys:
        tree = tree.get(name) if isinstance(tree, Mapping) else getattr(tree, name, None)
    return tree


def _delta_rows(results: Results, confidence: str, deltas: Mapping[str, Any]) -> Iterator[Estimate]:
    left, right = results.systems
    for entry, name, coverage in cells(results, points=False):
        delta = _member_at(deltas, (entry.key, coverage) if coverage else (entry.key,))
        fields = DIFFERENCE | FAVOURS.get(entry.better, {}) | INTERVALS | AT_ONCE
        members = {field: getattr(delta, member) for member, field in fields.items()}
        yield estimate_of(Key(right, name, confidence, minus=Minus("system", left)), members)


def _item_rows(system: str, run: Any) -> Iterator[Estimate]:
    for item, numbers in run.by_item.items():
        for member, quantity in ITEM_NUMBERS.items():
            key = Key(system, quantity, group=Group("item", item))
            yield estimate_of(key, {"value": getattr(numbers, member)}, "no unit is answered")


def _warnings(
    results: Results, worded: Sequence[Any], beyond: Sequence[Estimate], members: Sequence[FileMembers]
) -> Iterator[ResultWarning]:
    """Warnings with the numbers they are about: those that the file would word as the same `where`."""
    about, sides = [*_patterns(results, beyond, members)], sides_of(results)
    by_code: dict[str, dict[str, Pattern]] = {}  # by code: the first pattern of each `where`
    for entry in worded:
        warning = ResultWarning(entry.code, text=entry.message or entry.code)  # the text is never empty
        if entry.code in KINDS and entry.where != warning.subject:
            if entry.code not in by_code:
                subjects = ((results.warning_subject(replace(warning, about=row), sides), row) for row in about[::-1])
                by_code[entry.code] = dict(subjects)
            patterns = by_code[entry.code]
            match = patterns.get(entry.where)
            warning = replace(warning, about=match) if match else warning
        yield warning


def _patterns(results: Results, beyond: Sequence[Estimate], members: Sequence[FileMembers]) -> Iterator[Pattern]:
    """Everything a warning can be about; rows that the file holds as columns come last."""
    first, *others = results.systems
    subjects: list[Json] = [{"system": system} for system in results.systems]
    subjects += [{"system": system, "minus": Minus("system", first)} for system in others]
    names = [None, *(name for _, name, _ in cells(results))]
    for more, quantities_of_more in (added.warned(results) for added in members):
        subjects += more
        names += quantities_of_more
    for confidence, quantity, subject in product(results.selective.confidences, names, subjects):
        yield Pattern(quantity=quantity, confidence=confidence, **subject)
    for key, quantity in ((row.key, name) for row in beyond for name in (row.key.quantity, None)):
        yield Pattern(key.system, quantity, key.confidence, minus=key.minus)
