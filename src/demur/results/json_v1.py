"""The nested file of one run or two: a codec on top of the table, driven by what each quantity declares."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from demur.coverage import Coverage
from demur.errors import UserError
from demur.inference.estimates import Estimate
from demur.inference.key import Key, Minus
from demur.inference.warnings import ResultWarning
from demur.intervals import Interval
from demur.quantities import Quantity, quantities
from demur.quantities.registry import COMMON, CUT
from demur.results.json_v1_model import metrics_model
from demur.results.parts import CurveRecord, Skipped
from demur.results.table import Results
from demur.strict_model import one_line, schema_of
from demur.types import Json

SIDES = ("left", "right")
ITEM_NUMBERS = {"n": "units", "answered": "answered", "coverage": "cmax", "risk": "risk", "bias": "bias"}


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
        "population": _population(results),
        "loss": study.loss,
        "convention": dict(study.convention),
        "confidence_variants": {name: _variant(results, name) for name in study.confidences},
        "skipped_variants": [{"name": each.name, "reason": _reason(results, each)} for each in study.skipped],
        "comparison": _comparison(results),
        "warnings": [
            {"code": warning.code, "message": warning.message(), "where": where(results, warning)}
            for warning in results.warnings
        ],
        "cases": _cases(results),
    }
    try:
        checked: Json = metrics_model().model_validate(content).model_dump(mode="json")
    except ValidationError as error:
        raise UserError(f"the result does not hold together: {one_line(error)}") from error
    for source in checked["inputs"]:
        if source["label"] is None:
            del source["label"]
    return checked


def side_of(results: Results, system: str) -> str:
    """Which side of a comparison a system is on; nothing where there is one."""
    return SIDES[results.systems.index(system)] if len(results.systems) > 1 else ""


def _reason(results: Results, skipped: Skipped) -> str:
    """Why a confidence was left out, and of which side."""
    return skipped.reason if skipped.system is None else f"{side_of(results, skipped.system)}: {skipped.reason}"


def where(results: Results, warning: ResultWarning) -> str:
    """What a warning is about, in words."""
    about = warning.about
    if about.confidence is None:
        return warning.subject
    side = "difference" if about.minus else side_of(results, about.system) if about.system is not None else ""
    return f"{about.confidence}: {f'{side} {about.quantity or warning.subject}'.strip()}"


def _population(results: Results) -> Json:
    study = results.selective
    answered = [system.answered for system in study.systems]
    return {
        "participants_total": study.clusters_total,
        "participants_included": study.clusters_included,
        "participants_failed": study.clusters_failed,
        "items_total": study.units,
        "items_predicted": answered[0] if len(answered) == 1 else dict(zip(SIDES, answered, strict=True)),
    }


def _variant(results: Results, confidence: str) -> Json:
    runs = [_run(results, system, confidence) for system in results.systems]
    return runs[0] if len(runs) == 1 else dict(zip(SIDES, runs, strict=True))


def cut_text(results: Results) -> str:
    """Where areas are cut, as the names of quantities have it."""
    return COMMON if results.selective.area_coverage is None else results.selective.area_coverage


def cells(results: Results, *, points: bool = True) -> Iterator[tuple[Quantity, str, str]]:
    """Every number of a run, or those with an interval: its quantity, its name, and the key of its coverage, if any."""
    for entry in quantities("curve"):
        if not entry.reported or (entry.point_only and not points):
            continue
        if entry.parameter is None:
            yield entry, entry.name, ""
        elif entry.parameter is CUT:
            yield entry, f"{entry.stem}@{cut_text(results)}", ""
        else:
            for text in results.selective.coverages:
                yield entry, f"{entry.stem}@{text}", Coverage.of(text).key


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
    return content | {
        "bootstrap": _bootstrap(results, system, confidence) if study.bootstrap else None,
        **{name: getattr(record, name) for name in CurveRecord.model_fields},
        "by_item": _by_item(results, system),
    }


def number(value: float) -> float | None:
    """A number as a file holds it: null where it is undefined."""
    return None if math.isnan(value) else float(value)


def _pair(ends: Interval | None) -> tuple[float, float] | None:
    return None if ends is None else (ends.low, ends.high)


def _ends(ends: Interval | None) -> Json | None:
    return None if ends is None else {"method": ends.method, "low": ends.low, "high": ends.high}


def _bootstrap(results: Results, system: str, confidence: str) -> Json:
    study = results.selective
    rows = [(*cell, results[Key(system, cell[1], confidence)]) for cell in cells(results, points=False)]

    def by_key(value_of: Callable[[Estimate], Any]) -> Json:
        content: Json = {}
        for entry, _, coverage, row in rows:
            members = content.setdefault(entry.key, {}) if coverage else content
            members[coverage or entry.key] = value_of(row)
        return content

    short = [row.short_domain_rate for entry, _, _, row in rows if entry.parameter is CUT]
    drops = by_key(lambda row: row.drop_rate)
    return {
        **dict(study.bootstrap or ()),
        "ci95": by_key(lambda row: _pair(row.percentile)),
        "ci95_recommended": by_key(lambda row: _ends(row.recommended)),
        "std_error": by_key(lambda row: number(row.std_error)),
        "upper_bound95": {entry.key: row.upper_bound for entry, _, _, row in rows if row.upper_bound is not None},
        "drop_rate": {entry.key: drops[entry.key] for entry, _, coverage, _ in rows if coverage},
        "short_domain_rate": (short[0] if short else None) or 0.0,
        "ci": study.requested
        and {
            **dict(study.requested),
            "undefined": {entry.key: row.not_requested for entry, _, at, row in rows if row.not_requested and not at},
            **by_key(lambda row: _ends(row.requested)),
        },
    }


def _by_item(results: Results, system: str) -> Json:
    items: Json = {}
    for row in results.where(system=system, quantity="units"):
        group = row.key.group
        if group is not None and group.name == "item" and group.level is not None:
            values = {
                name: results[Key(system, quantity, group=group)].value for name, quantity in ITEM_NUMBERS.items()
            }
            counts = {name: int(values[name]) for name in ("n", "answered")}
            items[group.level] = {name: number(value) for name, value in values.items()} | counts
    return items


def _comparison(results: Results) -> Json:
    study = results.selective
    if len(study.systems) == 1:
        return {"enabled": False}
    left, right = study.systems
    return {
        "enabled": True,
        "intersection_only": study.intersection_only,
        "participants_left_only": left.not_in_all,
        "participants_right_only": right.not_in_all,
        "participants_overlap_total": study.clusters_total,
        "participants_overlap_included": study.clusters_included,
        "participants_failed_left": left.failed,
        "participants_failed_right": right.failed,
        "deltas": {name: _deltas(results, name) for name in study.confidences},
    }


def _deltas(results: Results, confidence: str) -> Json:
    deltas: Json = {}
    for entry, name, coverage in cells(results, points=False):
        members = deltas.setdefault(entry.key, {}) if coverage else deltas
        members[coverage or entry.key] = _delta(results, entry, Key(results.systems[1], name, confidence))
    return deltas


def _delta(results: Results, entry: Quantity, key: Key) -> Json:
    """Right minus left, whichever of the two is the baseline."""
    row, sign = right_minus_left(results, key)
    ends = {name: _turned(getattr(row, name), sign) for name in ("percentile", "recommended", "requested")}
    above, below = (row.above, row.below) if sign > 0 else (row.below, row.above)
    favours = {"lower": (above, below), "higher": (below, above)}.get(entry.better, (math.nan, math.nan))
    tested = not math.isnan(row.p_value)
    return {
        "delta": number(sign * row.value + 0.0),  # + 0.0: minus nothing is nothing
        "ci95": _pair(ends["percentile"]),
        "ci95_recommended": _ends(ends["recommended"]),
        "std_error": number(row.std_error),
        "ci": _ends(ends["requested"]),
        "drop_rate": number(row.drop_rate),
        "p_value": number(row.p_value),
        "favours_left": number(favours[0]) if tested else None,
        "favours_right": number(favours[1]) if tested else None,
    }


def right_minus_left(results: Results, key: Key) -> tuple[Estimate, int]:
    """The difference of a number of the second system, and 1, or −1 where it is stored the other way round."""
    left, right = results.systems
    if results.study.baseline == left:
        return results[Key(right, key.quantity, key.confidence, minus=Minus("system", left))], 1
    return results[Key(left, key.quantity, key.confidence, minus=Minus("system", right))], -1


def _turned(ends: Interval | None, sign: int) -> Interval | None:
    return ends if ends is None or sign > 0 else replace(ends, low=0.0 - ends.high, high=0.0 - ends.low)


def _cases(results: Results) -> Json:
    study = results.selective
    needless = [system.needless_abstentions for system in study.systems]
    return {
        "failed": study.failed,
        "confident_errors": {
            errors_key(results, errors.confidence, errors.system): errors.cases for errors in study.confident_errors
        },
        "needless_abstentions": dict(zip(SIDES, needless, strict=True)) if len(needless) > 1 else None,
    }


def errors_key(results: Results, confidence: str, system: str) -> str:
    """Under which key the file lists the confident errors of a system."""
    return f"{confidence} {side_of(results, system)}" if len(results.systems) > 1 else confidence
