"""Reading the nested file: the table of estimates, and what stands beside it, from members by their keys."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from demur.coverage import Coverage
from demur.errors import UserError
from demur.inference.estimates import POINT_ONLY, Estimate
from demur.inference.key import Group, Key, Minus, Pattern
from demur.inference.warnings import KINDS, ResultWarning
from demur.intervals import Interval
from demur.quantities import Quantity, quantities
from demur.quantities.registry import CUT
from demur.results.json_v1 import ITEM_NUMBERS, SIDES, cells, where
from demur.results.json_v1_model import metrics_model
from demur.results.parts import CurveRecord, Points
from demur.results.study import SelectiveStudy
from demur.results.table import Results, system_names
from demur.strict_model import one_line
from demur.types import Json

_EARLIER_METHODS = {"bootstrap_t": "t_interval"}


def decoded(content: Json) -> Results:
    """Results from the content of a file; anything in it that does not hold together is one line that says what."""
    try:
        file: Any = metrics_model().model_validate(content)
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
    warnings = [_warning(empty, warning) for warning in file.warnings]
    return Results(rows, empty.study, curves, warnings)


def _runs(names: tuple[str, ...], entry: Any) -> Iterator[tuple[str, Any]]:
    yield from zip(names, (entry.left, entry.right) if len(names) > 1 else (entry,), strict=True)


def _study(file: Any, names: tuple[str, ...], runs: Mapping[tuple[str, str], Any]) -> SelectiveStudy:
    first, people = next(iter(runs.values())), file.population
    cut = next(entry for entry in quantities("curve") if entry.parameter is CUT)
    requested = getattr(first, cut.key).requested
    study = {
        "created_at": file.created_at,
        "tool": file.tool,
        "inputs": file.inputs,
        "baseline": names[0] if len(names) > 1 else None,
        **_resampling(first.bootstrap),
        "convention": dict(file.convention),
        "systems": _systems(file, names),
        "clusters_total": people.participants_total,
        "clusters_included": people.participants_included,
        "units": people.items_total,
        "intersection_only": bool(file.comparison.intersection_only),
        "loss": file.loss,
        "confidences": [*file.confidence_variants],
        "skipped": [dict(skipped) for skipped in file.skipped_variants],
        "coverages": _coverages(first),
        "area_coverage": None if requested is None else Coverage.of(requested).text,
        "failed": file.cases.failed,
        "confident_errors": _errors(file, names),
    }
    return SelectiveStudy.model_validate(study)


def _resampling(boot: Any) -> Json:
    if boot is None:
        return {"bootstrap": None}
    asked = boot.ci and {"level": boot.ci["level"], "interval": present_method(boot.ci["interval"])}
    return {"bootstrap": {"seed": boot.seed, "n_resamples": boot.n_resamples}, "requested": asked or None}


def _systems(file: Any, names: tuple[str, ...]) -> list[Json]:
    people, compared, needless = file.population, file.comparison, file.cases.needless_abstentions
    if len(names) == 1:
        return [{"name": names[0], "answered": people.items_predicted, "failed": people.participants_failed}]
    return [
        {
            "name": name,
            "answered": getattr(people.items_predicted, side),
            "failed": getattr(compared, f"participants_failed_{side}"),
            "not_in_all": getattr(compared, f"participants_{side}_only"),
            "needless_abstentions": needless and getattr(needless, side),
        }
        for side, name in zip(SIDES, names, strict=True)
    ]


def _coverages(run: Any) -> tuple[str, ...]:
    """The grid, as it stands in the keys."""
    grids = (getattr(run, entry.key) for entry in quantities("curve") if entry.parameter not in (None, CUT))
    return tuple(Coverage.of_key(key).text for key in next(grids, ()))


def _errors(file: Any, names: tuple[str, ...]) -> list[Json]:
    sides = [f" {side}" for side in SIDES] if len(names) > 1 else [""]
    return [
        {"system": name, "confidence": confidence, "cases": file.cases.confident_errors.get(f"{confidence}{side}", ())}
        for confidence in file.confidence_variants
        for side, name in zip(sides, names, strict=True)
    ]


def _run_rows(results: Results, system: str, confidence: str, run: Any) -> Iterator[Estimate]:
    for entry, name, coverage in cells(results):
        members = getattr(run, entry.under) if entry.under else run
        value, at = _value(getattr(members, entry.key), entry, coverage)
        yield Estimate(
            key=Key(system, name, confidence),
            value=math.nan if value is None else value,
            at=at,
            threshold=_threshold(run.curve, at) if coverage else None,
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


def _threshold(curve: Points, coverage: float | None) -> float | None:
    """The confidence that is needed at an operating point of the curve."""
    return curve.threshold[curve.coverage.index(coverage)] if coverage in curve.coverage else None


def _uncertainty(boot: Any, entry: Quantity, coverage: str, *, common: bool) -> Json:
    if boot is None:
        return {"no_interval": "no resamples"}
    if entry.point_only:
        return {"no_interval": POINT_ONLY}

    def member(name: str) -> Any:
        value = (getattr(boot, name) or {}).get(entry.key)
        return value.get(coverage) if coverage and value is not None else value

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
    for entry, name, coverage in cells(results, points=False):
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
    return math.nan if value is None else float(value)


def _item_rows(system: str, run: Any) -> Iterator[Estimate]:
    for item, numbers in run.by_item.items():
        for member, quantity in ITEM_NUMBERS.items():
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
