"""Operating points: what each system does at a coverage, a risk or a threshold, all of it decided beforehand.

The page only shows: at each stop of its slider, which operating point each system takes has been found here, among all
points of the results.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from demur.coverage import Coverage
from demur.drawing.thinning import spread
from demur.inference.estimates import Estimate
from demur.inference.key import Key
from demur.intervals import Interval
from demur.report.names import systems_of
from demur.report.sections import Content, section
from demur.report.text import interval_text, level_of, shown_interval, threshold_at, usable_threshold
from demur.results.parts import CurveRecord
from demur.results.table import Results
from demur.types import Flags

_MOST_STOPS = 60
_PERCENTS = 100


@dataclass(frozen=True, slots=True)
class Stop:
    """A stop of the slider: what is asked for, the point each system takes there, and the interval stored for it."""

    label: str
    value: float
    points: tuple[int | None, ...]
    intervals: tuple[Interval | None, ...]


@section("operating", "Operating point", task="selective", order=40)
def operating(results: Results) -> Content:
    """The intervals of the column are of one level and one source: those along the curve, or those at the grid."""
    level, resampled = level_of(results), results.study.bootstrap is not None
    bands = next((record.bands for record in results.curves.values() if record.bands), None)
    along = None if bands is None else f"{100 * bands.level:.4g} % interval"
    stored = f"Along the curve only the {along} is stored; the {level} is in the table below."
    return {
        "grids": [_grid(results, confidence) for confidence in results.selective.confidences],
        "grid_interval": level if resampled else "nothing resampled",
        "answered": any(record.defined for record in results.curves.values()),
        "interval": along or (level if resampled else None),
        "note": stored if along not in (None, level) else "",
    }


def _grid(results: Results, confidence: str) -> dict[str, list[tuple[str, str, str] | None]]:
    """At each coverage asked for, what each system reaches, its risk there and the interval; None beyond its Cmax."""
    return {
        Coverage.of(text).key: [
            None
            if row.at is None
            else (f"{100 * row.at:.1f}%", f"{row.value:.4g}", interval_text(shown_interval(results, row)))
            for row in _risks_at(results, confidence, text)
        ]
        for text in results.selective.coverages
    }


def _risks_at(results: Results, confidence: str, text: str) -> list[Estimate]:
    return [results[Key(system, f"risk@{text}", confidence)] for system in results.systems]


def operating_data(results: Results) -> Content:
    """Everything the page's script knows."""
    study, systems = results.selective, systems_of(results)
    return {
        "items": study.units,
        "multiplier": study.loss.raw_multiplier,
        "sides": [system.word for system in systems],
        "styles": [system.style for system in systems],
        "variants": [{"name": name, **_of_confidence(results, name)} for name in study.confidences],
    }


def _of_confidence(results: Results, confidence: str) -> Content:
    records = [results.curves[system, confidence] for system in results.systems]
    stops = {way: [*each] for way, each in stops_of(results, confidence).items()}
    kept = [
        sorted({point for each in stops.values() for stop in each if (point := stop.points[index]) is not None})
        for index in range(len(records))
    ]
    ranks: list[dict[int | None, int]] = [{point: rank for rank, point in enumerate(points)} for points in kept]
    return {
        "runs": [
            _columns(record, points, results.selective.units) for record, points in zip(records, kept, strict=True)
        ],
        "stops": {
            way: [
                [
                    stop.label,
                    [rank.get(point, -1) for rank, point in zip(ranks, stop.points, strict=True)],
                    ["" if interval is None else interval_text(interval) for interval in stop.intervals],
                    stop.value,
                ]
                for stop in each
            ]
            for way, each in stops.items()
        },
    }


def _columns(record: CurveRecord, points: Sequence[int], units: int) -> Content:
    curve = record.curve
    return {
        "all": len(curve.coverage),
        "accepted": [round(curve.coverage[i] * units) for i in points],
        "threshold": [curve.threshold[i] for i in points],
        "typed": [threshold_at(curve, i) for i in points],
        "selective": [curve.selective_risk[i] for i in points],
        "generalized": [curve.generalized_risk[i] for i in points],
    }


def stops_of(results: Results, confidence: str) -> Mapping[str, Iterator[Stop]]:
    """The stops of the slider, by what it is moved by; intervals are of the bands, or of the coverages asked for."""
    records = [results.curves[system, confidence] for system in results.systems]
    return {
        "coverage": _by_coverage(results, confidence, records),
        "risk": _by_risk(records),
        "threshold": _by_threshold(records),
    }


def _by_coverage(results: Results, confidence: str, records: Sequence[CurveRecord]) -> Iterator[Stop]:
    """Every operating point's coverage, or steps of a percent where there are many, and those that were asked for."""
    units = results.selective.units
    counts = [np.rint(np.asarray(record.curve.coverage) * units).astype(np.int64) for record in records]
    reached = np.unique(np.concatenate(counts)).tolist()
    if len(reached) > _PERCENTS:
        reached = [*range(-(-units // _PERCENTS), reached[-1], -(-units // _PERCENTS)), reached[-1]]
    labels: dict[int, tuple[str, str | None]] = {count: (f"{count / units:.1%}", None) for count in reached}
    banded = any(record.bands for record in results.curves.values())
    for count, (label, text) in sorted((labels | _grid_stops(results, confidence)).items()):
        points = tuple(_first(accepted >= count) for accepted in counts)
        stored = _bands_at(records, points) if banded else _at_grid(results, confidence, text)
        yield Stop(label, count, points, stored)


def _grid_stops(results: Results, confidence: str) -> dict[int, tuple[str, str | None]]:
    """The coverages whose risk the results give, by the units they take: those have an interval of their own."""
    units = results.selective.units
    return {
        Coverage.of(text).units_needed(units): (f"{float(Coverage.of(text)):.1%}", text)
        for text in results.selective.coverages
        if any(row.at is not None for row in _risks_at(results, confidence, text))
    }


def _by_risk(records: Sequence[CurveRecord]) -> Iterator[Stop]:
    """At most this risk: the largest coverage that keeps to it."""
    lowest_after = [np.minimum.accumulate(np.asarray(each.curve.selective_risk)[::-1])[::-1] for each in records]
    budgets = np.unique(np.concatenate(lowest_after))
    for budget in budgets[spread(len(budgets), _MOST_STOPS)].tolist():
        points = tuple(_last(lowest <= budget) for lowest in lowest_after)
        yield Stop(f"{budget:.4g}", budget, points, _bands_at(records, points))


def _by_threshold(records: Sequence[CurveRecord]) -> Iterator[Stop]:
    """Accept what is at least this confident."""
    thresholds = [np.asarray(record.curve.threshold) for record in records]
    possible = np.unique(np.concatenate(thresholds))
    lower = np.concatenate([[-np.inf], possible])
    for index in spread(len(possible), _MOST_STOPS).tolist():
        threshold = float(possible[index])
        points = tuple(_last(values >= threshold) for values in thresholds)
        yield Stop(usable_threshold(threshold, float(lower[index])), threshold, points, _bands_at(records, points))


def _first(fits: Flags) -> int | None:
    return int(fits.argmax()) if fits.any() else None


def _last(fits: Flags) -> int | None:
    return len(fits) - 1 - int(fits[::-1].argmax()) if fits.any() else None


def _at_grid(results: Results, confidence: str, text: str | None) -> tuple[Interval | None, ...]:
    """The intervals of a coverage that was asked for."""
    if text is None:
        return (None,) * len(results.systems)
    return tuple(shown_interval(results, row) for row in _risks_at(results, confidence, text))


def _bands_at(records: Sequence[CurveRecord], points: Sequence[int | None]) -> tuple[Interval | None, ...]:
    return tuple(_band_at(record, point) for record, point in zip(records, points, strict=True))


def _band_at(record: CurveRecord, point: int | None) -> Interval | None:
    """The band where it is stored at this very point."""
    if point is None or record.bands is None:
        return None
    coverage, band = record.bands.coverage, record.bands.selective_risk
    index = bisect_left(coverage, record.curve.coverage[point])
    if index == len(coverage) or coverage[index] != record.curve.coverage[point]:
        return None
    return Interval("band", band.low[index], band.high[index])
