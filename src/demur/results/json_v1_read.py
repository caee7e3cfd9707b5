"""Reading the nested file: the table of estimates, and what stands beside it, from members by their keys."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from demur.coverage import Coverage
from demur.errors import UserError
from demur.inference.estimates import Estimate
from demur.inference.key import Group, Key, Minus, Pattern
from demur.inference.warnings import KINDS, ResultWarning
from demur.intervals import Interval
from demur.quantities import quantities
from demur.quantities.registry import CUT
from demur.results.json_v1 import SIDES, cells, where
from demur.results.json_v1_model import metrics_model
from demur.results.parts import CurveRecord
from demur.results.study import SelectiveStudy
from demur.results.table import Results, system_names
from demur.strict_model import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from demur.quantities import Quantity

    Json = dict[str, Any]

_EARLIER_METHODS = {"bootstrap_t": "t_interval"}
_ITEM_NUMBERS = {"n": "units", "answered": "answered", "coverage": "cmax", "risk": "risk", "bias": "bias"}


def decoded(content: Json) -> Results:
    """Results from the content of a file; anything in it that does not hold together is one line that says what."""
    try:
        file: Any = metrics_model().model_validate(content, strict=False)
    except ValidationError as error:
        raise UserError(one_line(error)) from None
    names = system_names(file.inputs)
    runs = {
        (system, name): run for name, entry in file.confidence_variants.items() for system, run in _runs(names, entry)
    }
    curves = {
        key: CurveRecord(**{name: getattr(run, name) for name in CurveRecord.model_fields}) for key, run in runs.items()
    }
    empty = Results((), _study(file, names, runs), curves)
    rows = [row for (system, name), run in runs.items() for row in _run_rows(empty, system, name, run)]
    rows += [row for name in file.confidence_variants for row in _delta_rows(empty, file, name)]
    first = next(iter(file.confidence_variants))
    rows += [row for system in names for row in _item_rows(system, runs[system, first])]
    warnings = [_warning(empty, one) for one in file.warnings]
    return Results(rows, empty.study, curves, warnings)


def _runs(names: tuple[str, ...], entry: Any) -> Iterator[tuple[str, Any]]:
    yield from zip(names, (entry.left, entry.right) if len(names) > 1 else (entry,), strict=True)


def _study(file: Any, names: tuple[str, ...], runs: Json) -> SelectiveStudy:
    first, compared, people = next(iter(runs.values())), file.comparison, file.population
    several, boot = len(names) > 1, first.bootstrap
    answered = [people.items_predicted.left, people.items_predicted.right] if several else [people.items_predicted]
    failed = [compared.participants_failed_left, compared.participants_failed_right]
    only = [compared.participants_left_only, compared.participants_right_only]
    needless = file.cases.needless_abstentions
    declined = [needless.left, needless.right] if needless else [None] * len(names)
    cut = next(entry for entry in quantities("curve") if entry.parameter is CUT)
    requested = getattr(first, cut.key).requested
    study = {
        "created_at": file.created_at,
        "tool": file.tool,
        "inputs": file.inputs,
        "baseline": names[0] if several else None,
        "bootstrap": {"seed": boot.seed, "n_resamples": boot.n_resamples} if boot else None,
        "requested": {"level": boot.ci["level"], "interval": present_method(boot.ci["interval"])}
        if boot and boot.ci
        else None,
        "convention": dict(file.convention),
        "systems": [
            {
                "name": name,
                "answered": answered[number],
                "failed": failed[number] if several else people.participants_failed,
                "not_in_all": only[number] if several else 0,
                "needless_abstentions": declined[number],
            }
            for number, name in enumerate(names)
        ],
        "clusters_total": people.participants_total,
        "clusters_included": people.participants_included,
        "units": people.items_total,
        "intersection_only": bool(compared.intersection_only),
        "loss": file.loss,
        "confidences": [*file.confidence_variants],
        "skipped": [{"name": one.name, "reason": one.reason} for one in file.skipped_variants],
        "coverages": _coverages(first),
        "area_coverage": None if requested is None else Coverage.of(requested).text,
        "failed": file.cases.failed,
        "confident_errors": _errors(file, names),
    }
    return SelectiveStudy.model_validate(study)


def _coverages(run: Any) -> tuple[str, ...]:
    """The grid, as it stands in the keys."""
    grids = (getattr(run, entry.key) for entry in quantities("curve") if entry.parameter not in (None, CUT))
    return tuple(Coverage.of(key).plain.text for key in next(grids, ()))


def _errors(file: Any, names: tuple[str, ...]) -> list[Json]:
    listed = file.cases.confident_errors
    found = []
    for confidence in file.confidence_variants:
        for side, name in zip(SIDES, names, strict=False):
            key = f"{confidence} {side}" if len(names) > 1 else confidence
            found.append({"system": name, "confidence": confidence, "cases": listed.get(key, ())})
    return found


def _run_rows(results: Results, system: str, confidence: str, run: Any) -> Iterator[Estimate]:
    for entry, name, coverage in cells(results):
        members = getattr(run, entry.under) if entry.under else run
        value, at = _value(getattr(members, entry.key), entry, coverage)
        yield Estimate(
            key=Key(system, name, confidence),
            value=math.nan if value is None else value,
            at=at,
            undefined=entry.undefined if value is None else "",
            **_uncertainty(run.bootstrap, entry, coverage, common=results.selective.area_coverage is None),
        )


def _value(member: Any, entry: Quantity, coverage: str) -> tuple[float | None, float | None]:
    """A number, and the coverage it is measured at."""
    if entry.parameter is CUT:
        return member.value, member.used
    if not coverage:
        return member, None
    point = member[coverage]
    return (None, None) if point is None else (point.value, point.achieved)


def _uncertainty(boot: Any, entry: Quantity, coverage: str, *, common: bool) -> Json:
    if boot is None:
        return {"no_interval": "no resamples"}
    if entry.point_only:
        return {}

    def member(name: str) -> Any:
        found = (getattr(boot, name) or {}).get(entry.key)
        return found.get(coverage) if coverage and found is not None else found

    percentile, error = member("ci95"), member("std_error")
    short = boot.short_domain_rate if entry.parameter is CUT and not common else None
    return {
        "std_error": math.nan if error is None else error,
        "percentile": None if percentile is None else Interval("percentile", *percentile),
        "recommended": _interval(member("ci95_recommended")),
        "requested": _interval(member("ci")),
        "not_requested": "" if boot.ci is None or coverage else boot.ci.get("undefined", {}).get(entry.key, ""),
        "upper_bound": boot.upper_bound95.get(entry.key),
        "drop_rate": boot.drop_rate.get(entry.key, {}).get(coverage, 0.0) if coverage else math.nan,
        "short_domain_rate": short,
    }


def _interval(ends: Any) -> Interval | None:
    if ends is None:
        return None
    parts = ends if isinstance(ends, dict) else dict(ends)
    return Interval(present_method(parts["method"]), parts["low"], parts["high"])


def present_method(method: str) -> str:
    """The present name of a method; files of version 0.1 may have another."""
    return _EARLIER_METHODS.get(method, method)


def _delta_rows(results: Results, file: Any, confidence: str) -> Iterator[Estimate]:
    deltas = (file.comparison.deltas or {}).get(confidence)
    if deltas is None:
        return
    left, right = results.systems
    for entry, name, coverage in cells(results, lambda one: not one.point_only):
        delta = deltas[entry.key][coverage] if coverage else deltas[entry.key]
        favours = {"lower": ("favours_left", "favours_right"), "higher": ("favours_right", "favours_left")}.get(
            entry.better
        )
        above, below = (getattr(delta, side) for side in favours) if favours else (None, None)
        yield Estimate(
            key=Key(right, name, confidence, minus=Minus("system", left)),
            value=_number(delta.delta),
            std_error=_number(delta.std_error),
            percentile=None if delta.ci95 is None else Interval("percentile", *delta.ci95),
            recommended=_interval(delta.ci95_recommended),
            requested=_interval(delta.ci),
            drop_rate=_number(delta.drop_rate),
            p_value=_number(delta.p_value),
            above=_number(above),
            below=_number(below),
            undefined=entry.undefined if delta.delta is None else "",
        )


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _item_rows(system: str, run: Any) -> Iterator[Estimate]:
    for item, numbers in run.by_item.items():
        for member, quantity in _ITEM_NUMBERS.items():
            value = getattr(numbers, member)
            undefined = "no unit is answered" if value is None else ""
            yield Estimate(Key(system, quantity, group=Group("item", item)), _number(value), undefined=undefined)


def _warning(results: Results, worded: Any) -> ResultWarning:
    """A warning with the numbers it is about: those for which the file would say the same place."""
    warning = ResultWarning(worded.code, text=worded.message)
    if worded.code not in KINDS or worded.where == warning.subject:
        return warning
    for about in _patterns(results):
        if where(results, ResultWarning(worded.code, about)) in (worded.where, worded.where.replace("mae@", "risk@")):
            return ResultWarning(worded.code, about, text=worded.message)
    return warning


def _patterns(results: Results) -> Iterator[Pattern]:
    names = [None, *(name for _, name, _ in cells(results))]
    minus = Minus("system", results.systems[0]) if len(results.systems) > 1 else None
    for confidence in results.selective.confidences:
        for quantity in names:
            for system in results.systems:
                yield Pattern(system=system, quantity=quantity, confidence=confidence)
            if minus is not None:
                yield Pattern(system=results.systems[-1], quantity=quantity, confidence=confidence, minus=minus)
