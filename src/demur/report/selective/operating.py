"""Operating points: which of them each system takes at a coverage, a risk or a threshold; the page only shows it."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from demur.drawing.picture import spread
from demur.inference.intervals import Interval
from demur.inference.key import Key
from demur.quantities.coverage import Coverage
from demur.report.names import systems_of
from demur.report.sections import Content, section
from demur.report.text import interval_text, level_of, shown_interval, threshold_at, threshold_text
from demur.results.parts import CurveRecord
from demur.results.table import Results
from demur.types import Flags

_MOST_STOPS = 60
_PERCENTS = 100


class Stop(NamedTuple):
    """A stop of the slider: what is asked for, the point each system takes there, and the interval stored for it."""

    label: str
    value: float
    points: list[int | None]
    intervals: list[Interval | None]


@section("operating", "Operating point", task="selective", order=40)
def operating(results: Results) -> Content:
    """The intervals of the column are of one level and one source: those along the curve, or those at the grid."""
    level, study = level_of(results), results.selective
    bands = next((record.bands for record in results.curves.values() if record.bands), None)
    along = None if bands is None else f"{100 * bands.level:.4g} % interval"
    stored = f"Along the curve only the {along} is stored; the {level} is in the table below."
    return {
        "grids": [
            {Coverage.of(text).key: _risks_at(results, name, text) for text in study.coverages}
            for name in study.confidences
        ],
        "grid_interval": level if study.bootstrap else "nothing resampled",
        "answered": any(record.defined for record in results.curves.values()),
        "interval": along or (level if study.bootstrap else None),
        "lower_is_surer": results.lower_is_surer,
        "note": stored if along not in (None, level) else "",
    }


def _risks_at(results: Results, confidence: str, text: str) -> list[tuple[float | None, float, Interval | None]]:
    """At a coverage asked for, what each system reaches, if it does, its risk there and the interval."""
    rows = [results[Key(system, f"risk@{text}", confidence)] for system in results.systems]
    return [(row.at, row.value, shown_interval(results, row)) for row in rows]


def operating_data(results: Results) -> Content:
    """Everything the page's script knows."""
    study, systems = results.selective, systems_of(results)
    return {
        "items": study.units,
        "multiplier": study.loss.raw_multiplier,
        "systems": results.systems,
        "labels": [system.label for system in systems],
        "styles": [system.style for system in systems],
        "variants": [{"name": name, **_of_confidence(results, name)} for name in study.confidences],
    }


def _of_confidence(results: Results, confidence: str) -> Content:
    """The operating points that some stop takes, and the stops, which know them by their ranks among those."""
    stops = {way: [*each] for way, each in stops_of(results, confidence).items()}
    runs, ranks = list[Content](), list[dict[int | None, int]]()
    for index, system in enumerate(results.systems):
        record = results.curves[system, confidence]
        curve = record.curve
        taken = {stop.points[index] for each in stops.values() for stop in each}
        points = sorted(point for point in taken if point is not None)
        ranks.append({point: rank for rank, point in enumerate(points)})
        columns = {
            "all": len(curve.coverage),
            "accepted": [round(curve.coverage[i] * results.selective.units) for i in points],
            "threshold": [curve.threshold[i] for i in points],
            "typed": [threshold_at(record, i) for i in points],
            "selective": [curve.selective_risk[i] for i in points],
            "generalized": [curve.generalized_risk[i] for i in points],
        }
        runs.append(columns)

    def listed(stop: Stop) -> tuple[str, list[int], list[str], float]:
        taken = [rank.get(point, -1) for rank, point in zip(ranks, stop.points, strict=True)]
        return stop.label, taken, [interval_text(each) if each else "" for each in stop.intervals], stop.value

    return {"runs": runs, "stops": {way: [*map(listed, each)] for way, each in stops.items()}}


def stops_of(results: Results, confidence: str) -> dict[str, Iterator[Stop]]:
    """The stops of the slider, by what it is moved by; intervals are of the bands, or of the coverages asked for."""
    records = [results.curves[system, confidence] for system in results.systems]
    return {
        "coverage": _by_coverage(results, confidence, records),
        "risk": _by_risk(records),
        "threshold": _by_threshold(records),
    }


def _by_coverage(results: Results, confidence: str, records: Sequence[CurveRecord]) -> Iterator[Stop]:
    """Every operating point's coverage, or steps of a percent where there are many, and those that were asked for.

    The risk at a coverage that was asked for has an interval of its own.
    """
    units, nothing = results.selective.units, [None] * len(records)
    counts = [np.rint(np.asarray(record.curve.coverage) * units).astype(np.int64) for record in records]
    reached = np.unique(np.concatenate(counts)).tolist()
    if len(reached) > _PERCENTS:
        reached = [*range(-(-units // _PERCENTS), reached[-1], -(-units // _PERCENTS)), reached[-1]]
    stops: dict[int, tuple[str, Sequence[Interval | None]]]
    stops = {count: (f"{count / units:.1%}", nothing) for count in reached}
    for text in results.selective.coverages:
        coverage, risks = Coverage.of(text), _risks_at(results, confidence, text)
        if any(at is not None for at, _, _ in risks):
            stops[coverage.units_needed(units)] = f"{float(coverage):.1%}", [interval for _, _, interval in risks]
    banded = any(record.bands for record in results.curves.values())
    for count, (label, intervals) in sorted(stops.items()):
        points = [_point(accepted >= count, 0) for accepted in counts]
        yield Stop(label, count, points, _bands_at(records, points) if banded else [*intervals])


def _by_risk(records: Sequence[CurveRecord]) -> Iterator[Stop]:
    """At most this risk: the largest coverage that meets this limit."""
    lowest_after = [np.minimum.accumulate(np.asarray(each.curve.selective_risk)[::-1])[::-1] for each in records]
    budgets = np.unique(np.concatenate(lowest_after))
    for budget in budgets[spread(len(budgets), _MOST_STOPS)].tolist():
        points = [_point(lowest <= budget, -1) for lowest in lowest_after]
        yield Stop(f"{budget:.4g}", budget, points, _bands_at(records, points))


def _by_threshold(records: Sequence[CurveRecord]) -> Iterator[Stop]:
    """Accept what is at least this confident."""
    scale = -1 if records[0].lower_is_surer else 1
    thresholds = [scale * np.asarray(record.curve.threshold) for record in records]
    possible = np.unique(np.concatenate(thresholds))
    lower = np.concatenate([[-np.inf], possible])
    for index in spread(len(possible), _MOST_STOPS).tolist():
        threshold = float(possible[index])
        points = [_point(values >= threshold, -1) for values in thresholds]
        label = threshold_text(threshold, float(lower[index]), scale)
        yield Stop(label, scale * threshold, points, _bands_at(records, points))


def _point(fits: Flags, which: int) -> int | None:
    """The first (0) or the last (-1) operating point that fits, if one does."""
    fitting = np.flatnonzero(fits)
    return int(fitting[which]) if len(fitting) else None


def _bands_at(records: Sequence[CurveRecord], points: Sequence[int | None]) -> list[Interval | None]:
    """The band of each system where it is stored at this very point."""
    intervals: list[Interval | None] = [None] * len(records)
    for system, (record, point) in enumerate(zip(records, points, strict=True)):
        if point is not None and record.bands is not None:
            coverage, band = record.bands.coverage, record.bands.selective_risk
            index = bisect_left(coverage, record.curve.coverage[point])
            if index < len(coverage) and coverage[index] == record.curve.coverage[point]:
                intervals[system] = Interval("band", band.low[index], band.high[index])
    return intervals
