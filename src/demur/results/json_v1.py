"""The nested results file of one or two systems: its encoder, driven by what each quantity declares."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from demur.inference.estimates import Estimate, Estimates
from demur.inference.key import Key, Minus
from demur.quantities import Quantity
from demur.quantities.registry import CUT
from demur.results.feature_files import FileMembers, members_in
from demur.results.features import features_in
from demur.results.file_models import CurveRecord
from demur.results.json_table import columns_of
from demur.results.json_v1_cells import AT_ONCE, INTERVALS, written
from demur.results.json_v1_model import NestedFile, Population, metrics_model
from demur.results.study import PARTICIPANT, SelectiveStudy, SelectiveSystem, reported
from demur.results.table import Results, turned
from demur.sampling.coverage import Coverage
from demur.types import Json

SIDES = ("left", "right")
ITEM_NUMBERS = {"n": "units", "answered": "answered", "coverage": "cmax", "risk": "risk", "bias": "bias"}
DIFFERENCE = {
    "delta": "value",
    "std_error": "std_error",
    "drop_rate": "drop_rate",
    "p_value": "p_value",
    "no_interval": "no_interval",
}
# Members of the file, of its population, and in it of each system, that are copied from the study.
SHARED = [name for name in NestedFile.model_fields if name in SelectiveStudy.model_fields]
PEOPLE = {"participants_total": "clusters_total", "participants_included": "clusters_included", "items_total": "units"}
PEOPLE |= {name: name for name in Population.model_fields if name in SelectiveStudy.model_fields}
LOST = [name for name in Population.model_fields if name in SelectiveSystem.model_fields]
_ITEM_MEMBERS = {quantity: member for member, quantity in ITEM_NUMBERS.items()}
DRAWN = [*CurveRecord.model_fields]  # the members of a curve that a run has
# Members left out where they are empty.
_SPARSE = ("upper_bound", "no_interval", "not_requested", "short_domain_rate")
FAVOURS = {
    "lower": {"favours_left": "above", "favours_right": "below"},
    "higher": {"favours_left": "below", "favours_right": "above"},
}


def schema() -> Json:
    """The JSON Schema of the nested file."""
    from demur.files.strict_reading import schema_of  # noqa: PLC0415  (pydantic is large)

    return schema_of(metrics_model())


def encoded(results: Results) -> Json:
    """Encode results as the content of the nested file."""
    study, members = results.selective, members_in(results)
    lost = {name: [getattr(system, name) for system in study.systems] for name in LOST}
    content = {
        **{name: getattr(study, name) for name in SHARED},
        **{name: getattr(study, name) for added in members for name in added.nested},
        "population": {
            **{name: getattr(study, column) for name, column in PEOPLE.items()},
            **{name: _if_any(values) for name, values in lost.items()},
            "participants_failed": study.clusters_failed,
            "items_predicted": _by_side([system.answered for system in study.systems]),
            "cmax": _by_side([system.answered / study.units for system in study.systems]),
            "noun": None if study.noun == PARTICIPANT else study.noun,
        },
        "confidence_variants": {
            name: _by_side([_run(results, system, name, members) for system in results.systems])
            for name in study.confidences
        },
        "comparison": _comparison(results),
        **_worded(results),
        "estimates": columns_of(rest) if (rest := _beyond_members(results, members)) else None,
    }
    model = metrics_model(feature.name for feature in features_in(study))
    checked: Json = model.made(content).model_dump()
    for source in checked["inputs"]:
        if source["label"] is None:
            del source["label"]
    if "estimates" in checked:
        checked["estimates"] = {name: column for name, column in checked["estimates"].items() if column is not None}
    return checked


def _beyond_members(results: Results, members: Sequence[FileMembers]) -> Estimates:
    """The rows without a member of their own in a run or the comparison; the file holds them as columns."""
    with_member = {name for _, name, _ in cells(results)}
    rest = []
    for row in results:
        key = row.key
        if key.group is None and key.quantity in with_member and key.system in results.systems:
            continue
        if any(added.holds(results, key) for added in members):
            continue
        if key.group is not None and key.group.name == "item" and not key.confidence:
            continue
        first, last = results.systems[0], results.systems[-1]
        swapped = first != last and (key.system, key.minus) == (first, Minus("system", last))
        rest.append(turned(row) if swapped else row)
    return Estimates(rest)


def _worded(results: Results) -> Json:
    """The members that name systems as left and right: skipped confidences, warnings and cases."""
    study, sides = results.selective, sides_of(results)
    return {
        "skipped_variants": [
            {"name": skip.name, "reason": ": ".join(filter(None, (sides.get(skip.system or ""), skip.reason)))}
            for skip in study.skipped
        ],
        "warnings": [
            {"code": warning.code, "message": warning.message(), "where": results.warning_subject(warning, sides)}
            for warning in results.warnings
        ],
        "cases": {
            "failed": study.failed,
            "confident_errors": {
                " ".join(filter(None, (errors.confidence, sides.get(errors.system)))): errors.cases
                for errors in study.confident_errors
            },
            "needless_abstentions": _if_any([system.needless_abstentions for system in study.systems]),
        },
    }


def _if_any(values: Sequence[Any]) -> Any:
    """The values by side; None where no system has one."""
    return None if all(value is None for value in values) else _by_side(values)


def _by_side(values: Sequence[Any]) -> Any:
    return values[0] if len(values) == 1 else dict(zip(SIDES, values, strict=True))


def sides_of(results: Results) -> dict[str, str]:
    """The side, left or right, of each system in a comparison; empty for a single system."""
    return dict(zip(results.systems, SIDES, strict=True)) if len(results.systems) > 1 else {}


def cells(results: Results, *, points: bool = True) -> Iterator[tuple[Quantity, str, str]]:
    """The numbers of a run, or only those with an interval: quantity, name and coverage as a key, if any."""
    study = results.selective
    for entry, name, coverage in reported(study.cut, study.coverages):
        if points or not entry.point_only:
            yield entry, name, coverage and Coverage.of(coverage).key


def member_paths(entry: Quantity, coverage: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each field of an estimate with its path, a tuple of keys, in the object of a run."""
    keys = (entry.key, coverage) if coverage else (entry.key,)
    if entry.parameter is None:
        yield "value", (entry.under, *keys) if entry.under else keys
    else:
        yield "value", (*keys, "value")
        yield "at", (*keys, "achieved" if coverage else "used")
    if entry.point_only:
        return
    yield "std_error", ("bootstrap", "std_error", *keys)
    yield "no_interval", ("bootstrap", "no_interval", *keys)
    yield from ((field, ("bootstrap", member, *keys)) for member, field in INTERVALS.items())
    if coverage:
        yield "drop_rate", ("bootstrap", "drop_rate", *keys)
        return
    yield "upper_bound", ("bootstrap", "upper_bound95", *keys)
    yield "not_requested", ("bootstrap", "ci", "undefined", *keys)
    if entry.parameter is CUT:
        yield "short_domain_rate", ("bootstrap", "short_domain_rate")


def _put(content: Json | None, keys: Sequence[str], value: Any) -> None:
    """Set a nested member, unless one of its parents is null."""
    *parents, last = keys
    for name in parents:
        content = None if content is None else content.setdefault(name, {})
    if content is not None:
        content[last] = value


def _run(results: Results, system: str, confidence: str, members: Sequence[FileMembers]) -> Json:
    study, content = results.selective, _heading(results)
    for entry, name, coverage in cells(results):
        row = results[Key(system, name, confidence)]
        if entry.parameter is CUT:
            requested = None if study.area_coverage is None else float(Coverage.of(study.area_coverage))
            content[entry.key] = {"requested": requested}
        elif coverage:
            target = float(Coverage.of(name.removeprefix(f"{entry.stem}@")))
            _put(content, (entry.key, coverage), None if math.isnan(row.value) else {"requested": target})
        for field, keys in member_paths(entry, coverage):
            value = written(row, field)
            if not (field in _SPARSE and value in (None, "")):
                _put(content, keys, value)
    items: Json = {}
    for row in results.where(system=system, minus=None):
        group = row.key.group
        if group is not None and group.name == "item" and group.level is not None and not row.key.confidence:
            member = _ITEM_MEMBERS[row.key.quantity]
            whole = member in ("n", "answered")
            items.setdefault(group.level, {})[member] = int(row.value) if whole else written(row, "value")
    drawn = {name: getattr(results.curves[system, confidence], name) for name in DRAWN}
    content |= {**drawn, "by_item": items}
    for added in members:
        content |= added.encoded(results, system, confidence)
    return content


def _heading(results: Results) -> Json:
    """The member `bootstrap` of a run, before the numbers are put in."""
    boot, requested = results.study.bootstrap, results.study.requested
    if boot is None:
        return {"bootstrap": None}
    members = ("ci95", "ci95_recommended", "std_error", "upper_bound95", "drop_rate", "no_interval")
    ci = requested and {**dict(requested), "undefined": {}}
    return {"bootstrap": {**dict(boot), **{name: {} for name in members}, "short_domain_rate": 0.0, "ci": ci}}


def _comparison(results: Results) -> Json:
    study = results.selective
    if len(study.systems) == 1:
        return {"enabled": False}
    left, right = study.systems
    deltas: Json = {}
    for confidence in study.confidences:
        for entry, name, coverage in cells(results, points=False):
            row = right_minus_left(results, name, confidence)
            sides = {} if math.isnan(row.p_value) else FAVOURS.get(entry.better, {})
            members = DIFFERENCE | sides | INTERVALS | AT_ONCE
            delta = dict.fromkeys(FAVOURS["lower"]) | {name: written(row, field) for name, field in members.items()}
            _put(deltas, (confidence, entry.key, coverage) if coverage else (confidence, entry.key), delta)
    return {
        "enabled": True,
        "intersection_only": study.intersection_only,
        "participants_left_only": left.not_in_all,
        "participants_right_only": right.not_in_all,
        "participants_overlap_total": study.clusters_total,
        "participants_overlap_included": study.clusters_included,
        "participants_failed_left": left.failed,
        "participants_failed_right": right.failed,
        "deltas": deltas,
    }


def right_minus_left(results: Results, quantity: str, confidence: str) -> Estimate:
    """The difference between two systems as right − left, negated if the right one is the baseline."""
    left, right = results.systems
    if results.study.baseline == left:
        return results[Key(right, quantity, confidence, minus=Minus("system", left))]
    return turned(results[Key(left, quantity, confidence, minus=Minus("system", right))])
