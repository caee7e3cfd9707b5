"""The nested file of one run or two: a codec on top of the table, driven by what each quantity declares."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from pydantic import ValidationError

from demur.errors import UserError
from demur.files.strict_model import one_line, schema_of
from demur.inference.estimates import Estimate
from demur.inference.intervals import Interval
from demur.inference.key import Key, Minus
from demur.inference.warnings import ResultWarning
from demur.quantities import Quantity
from demur.quantities.coverage import Coverage
from demur.quantities.registry import CUT
from demur.results.json_v1_model import metrics_model
from demur.results.study import reported
from demur.results.table import Results
from demur.types import Json

SIDES = ("left", "right")
ITEM_NUMBERS = {"n": "units", "answered": "answered", "coverage": "cmax", "risk": "risk", "bias": "bias"}
INTERVALS = {"ci95": "percentile", "ci95_recommended": "recommended", "ci": "requested"}
DIFFERENCE = {"delta": "value", "std_error": "std_error", "drop_rate": "drop_rate", "p_value": "p_value"}
FAVOURS = {
    "lower": {"favours_left": "above", "favours_right": "below"},
    "higher": {"favours_left": "below", "favours_right": "above"},
}


def schema() -> Json:
    """The JSON Schema of the file."""
    return schema_of(metrics_model())


def encoded(results: Results) -> Json:
    """The content of the file, with every invariant checked."""
    study = results.selective
    content = {
        "created_at": study.created_at,
        "tool": study.tool,
        "inputs": [dict(source) for source in study.inputs],
        "population": {
            "participants_total": study.clusters_total,
            "participants_included": study.clusters_included,
            "participants_failed": study.clusters_failed,
            "items_total": study.units,
            "items_predicted": _by_side([system.answered for system in study.systems]),
            "cmax": _by_side([system.answered / study.units for system in study.systems]),
        },
        "loss": study.loss,
        "convention": dict(study.convention),
        "confidence_variants": {
            name: _by_side([_run(results, system, name) for system in results.systems]) for name in study.confidences
        },
        "comparison": _comparison(results),
        **_worded(results),
    }
    try:
        checked: Json = metrics_model().model_validate(content).model_dump(mode="json")
    except ValidationError as error:
        raise UserError(f"the result does not hold together: {one_line(error)}") from error
    for source in checked["inputs"]:
        if source["label"] is None:
            del source["label"]
    return checked


def _worded(results: Results) -> Json:
    """What names a side in words: confidences that were left out, warnings and cases."""
    study = results.selective
    return {
        "skipped_variants": [
            {"name": each.name, "reason": ": ".join(filter(None, (side_of(results, each.system), each.reason)))}
            for each in study.skipped
        ],
        "warnings": [
            {"code": warning.code, "message": warning.message(), "where": where(results, warning)}
            for warning in results.warnings
        ],
        "cases": {
            "failed": study.failed,
            "confident_errors": {
                " ".join(filter(None, (errors.confidence, side_of(results, errors.system)))): errors.cases
                for errors in study.confident_errors
            },
            "needless_abstentions": _by_side([system.needless_abstentions for system in study.systems]),
        },
    }


def _by_side(values: Sequence[Any]) -> Any:
    return values[0] if len(values) == 1 else dict(zip(SIDES, values, strict=True))


def side_of(results: Results, system: str | None) -> str:
    """Which side of a comparison a system is on; nothing where there is one."""
    return SIDES[results.systems.index(system)] if len(results.systems) > 1 and system is not None else ""


def where(results: Results, warning: ResultWarning) -> str:
    """What a warning is about, in words."""
    about = warning.about
    if about.confidence is None:
        return warning.subject
    side = "difference" if about.minus else side_of(results, about.system)
    return f"{about.confidence}: {f'{side} {about.quantity or warning.subject}'.strip()}"


def cells(results: Results, *, points: bool = True) -> Iterator[tuple[Quantity, str, str]]:
    """Every number of a run, or those with an interval: its quantity, its name, and the key of its coverage, if any."""
    study = results.selective
    for entry, name, coverage in reported(study.cut, study.coverages):
        if points or not entry.point_only:
            yield entry, name, coverage and Coverage.of(coverage).key


def _run(results: Results, system: str, confidence: str) -> Json:
    study, record = results.selective, results.curves[system, confidence]
    content: Json = {}
    for entry, name, coverage in cells(results):
        row = results[Key(system, name, confidence)]
        if entry.parameter is CUT:
            requested = None if study.area_coverage is None else float(Coverage.of(study.area_coverage))
            content[entry.key] = {"requested": requested, "used": row.at, "value": row.value}
        elif coverage:
            target = float(Coverage.of(name.removeprefix(f"{entry.stem}@")))
            point = {"requested": target, "achieved": row.at, "value": row.value}
            content.setdefault(entry.key, {})[coverage] = None if math.isnan(row.value) else point
        else:
            members = content.setdefault(entry.under, {}) if entry.under else content
            members[entry.key] = number(row.value)
    items: Json = {}
    for row in results.where(system=system, minus=None):
        group = row.key.group
        if group is not None and group.name == "item" and group.level is not None:
            items.setdefault(group.level, {})[row.key.quantity] = row.value
    return content | {
        "bootstrap": _bootstrap(results, system, confidence) if study.bootstrap else None,
        **dict(record),
        "by_item": {item: _item(numbers) for item, numbers in items.items()},
    }


def _item(numbers: Json) -> Json:
    counts = {name: int(numbers[ITEM_NUMBERS[name]]) for name in ("n", "answered")}
    return {name: number(numbers[quantity]) for name, quantity in ITEM_NUMBERS.items()} | counts


def number(value: float) -> float | None:
    """A number as a file holds it: null where it is undefined."""
    return None if math.isnan(value) else float(value)


def _ends(member: str, _: Quantity, row: Estimate) -> Any:
    """An interval of a row as a member of the file holds it."""
    ends: Interval | None = getattr(row, INTERVALS[member])
    if ends is None:
        return None
    return (ends.low, ends.high) if member == "ci95" else {"method": ends.method, "low": ends.low, "high": ends.high}


def _by_key(cells: Sequence[tuple[Quantity, str, Estimate]], value_of: Callable[[Quantity, Estimate], Any]) -> Json:
    """Values by the keys of their quantities; of those at coverages, by the keys of the coverages below."""
    content: Json = {}
    for entry, coverage, row in cells:
        members = content.setdefault(entry.key, {}) if coverage else content
        members[coverage or entry.key] = value_of(entry, row)
    return content


def _bootstrap(results: Results, system: str, confidence: str) -> Json:
    study = results.selective
    rows = [(entry, at, results[Key(system, name, confidence)]) for entry, name, at in cells(results, points=False)]
    ends = {member: _by_key(rows, partial(_ends, member)) for member in INTERVALS}
    short = [row.short_domain_rate for entry, _, row in rows if entry.parameter is CUT]
    undefined = {entry.key: row.not_requested for entry, at, row in rows if row.not_requested and not at}
    return {
        **dict(study.bootstrap or ()),
        **ends,
        "std_error": _by_key(rows, lambda _, row: number(row.std_error)),
        "upper_bound95": {entry.key: row.upper_bound for entry, _, row in rows if row.upper_bound is not None},
        "drop_rate": _by_key([each for each in rows if each[1]], lambda _, row: row.drop_rate),
        "short_domain_rate": (short[0] if short else None) or 0.0,
        "ci": study.requested and {**dict(study.requested), "undefined": undefined, **ends["ci"]},
    }


def _comparison(results: Results) -> Json:
    study = results.selective
    if len(study.systems) == 1:
        return {"enabled": False}
    left, right = study.systems
    deltas = {}
    for confidence in study.confidences:
        rows = [
            (entry, at, right_minus_left(results, name, confidence)) for entry, name, at in cells(results, points=False)
        ]
        deltas[confidence] = _by_key(rows, _delta)
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


def _delta(entry: Quantity, row: Estimate) -> Json:
    sides = {} if math.isnan(row.p_value) else FAVOURS.get(entry.better, {})
    return {
        **dict.fromkeys(FAVOURS["lower"]),
        **{member: number(getattr(row, field)) for member, field in (DIFFERENCE | sides).items()},
        **{member: _ends(member, entry, row) for member in INTERVALS},
    }


def right_minus_left(results: Results, quantity: str, confidence: str) -> Estimate:
    """The difference of a number of two systems, turned round where the second is the baseline."""
    left, right = results.systems
    if results.study.baseline == left:
        return results[Key(right, quantity, confidence, minus=Minus("system", left))]
    row = results[Key(left, quantity, confidence, minus=Minus("system", right))]
    turned: Json = {}
    for name in INTERVALS.values():
        ends: Interval | None = getattr(row, name)
        turned[name] = ends and replace(ends, low=0.0 - ends.high, high=0.0 - ends.low)
    # 0.0 - x: minus nothing is nothing
    return replace(row, value=0.0 - row.value, above=row.below, below=row.above, **turned)
