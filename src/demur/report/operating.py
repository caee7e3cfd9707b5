"""Operating points: what each run does at a coverage, a risk or a threshold one chooses, all of it decided beforehand.

The page only shows: at each stop of its slider, which working point each run takes has been found here, among all
points of the artifact.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from demur.artifact_numbers import Ends
from demur.coverage import Coverage
from demur.drawing.thinning import spread
from demur.report.numbers import ends_at, level_of, runs_of, threshold_at, usable_threshold
from demur.report.sides import sides_of
from demur.verdict import three

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from demur.artifact import Metrics
    from demur.artifact_numbers import PairedNumbers, VariantNumbers

    Json = dict[str, Any]

_MOST_STOPS = 60
_PERCENTS = 100


@dataclass(frozen=True, slots=True)
class Stop:
    """A place of the slider: what is asked for, the point each run takes there, and the interval stored for it."""

    asked: str
    value: float
    points: tuple[int | None, ...]
    ends: tuple[Ends | None, ...]


@dataclass(frozen=True, slots=True)
class Operating:
    """What the section shows beside the slider: the entries of every variant, and which intervals the points have."""

    entries: tuple[VariantNumbers | PairedNumbers, ...]
    answered: bool
    interval: str | None
    note: str


def operating(metrics: Metrics) -> Operating:
    """The intervals of the column are of one level and one source: those along the curve, or those at the grid."""
    entries = (*metrics.confidence_variants.values(),)
    runs = [one for entry in entries for one in runs_of(entry)]
    bands = next((one.bands for one in runs if one.bands), None)
    resampled = runs[0].bootstrap is not None
    along = None if bands is None else f"{100 * bands.level:.4g} % interval"
    heading, note = along or (level_of(runs[0]) if resampled else None), ""
    if along is not None and along != level_of(runs[0]):
        note = f"Along the curve only the {along} is stored; the {level_of(runs[0])} is in the table below."
    return Operating(entries, any(one.defined for one in runs), heading, note)


def operating_data(metrics: Metrics) -> Json:
    """Everything the page's script knows."""
    banded = any(one.bands for entry in metrics.confidence_variants.values() for one in runs_of(entry))
    return {
        "items": metrics.population.items_total,
        "multiplier": metrics.loss.raw_multiplier,
        "sides": [side.word for side in sides_of(metrics)],
        "variants": [
            {"name": name, **_of_variant(runs_of(entry), metrics.population.items_total, banded=banded)}
            for name, entry in metrics.confidence_variants.items()
        ],
    }


def _of_variant(runs: Sequence[VariantNumbers], items: int, *, banded: bool) -> Json:
    stops = {name: [*found] for name, found in stops_of(runs, items, banded=banded).items()}
    kept = [
        sorted({i for found in stops.values() for stop in found if (i := stop.points[side]) is not None})
        for side in range(len(runs))
    ]
    place_of: list[dict[int | None, int]] = [{i: place for place, i in enumerate(points)} for points in kept]
    return {
        "runs": [_columns(one, points, items) for one, points in zip(runs, kept, strict=True)],
        "stops": {
            name: [
                [
                    stop.asked,
                    [places.get(i, -1) for places, i in zip(place_of, stop.points, strict=True)],
                    [_shown(ends) for ends in stop.ends],
                    stop.value,
                ]
                for stop in found
            ]
            for name, found in stops.items()
        },
    }


def _shown(ends: Ends | None) -> str:
    return "" if ends is None else f"[{three(ends.low)}, {three(ends.high)}]"


def _columns(one: VariantNumbers, points: Sequence[int], items: int) -> Json:
    curve = one.curve
    return {
        "all": len(curve.coverage),
        "accepted": [round(curve.coverage[i] * items) for i in points],
        "threshold": [curve.threshold[i] for i in points],
        "typed": [threshold_at(one, i) for i in points],
        "selective": [curve.selective_risk[i] for i in points],
        "generalized": [curve.generalized_risk[i] for i in points],
    }


def stops_of(runs: Sequence[VariantNumbers], items: int, *, banded: bool) -> Mapping[str, Iterator[Stop]]:
    """The stops of the slider, by what it is moved by; intervals are of the band, or of the coverages asked for."""
    return {
        "coverage": _by_coverage(runs, items, banded=banded),
        "risk": _by_risk(runs, banded=banded),
        "threshold": _by_threshold(runs, banded=banded),
    }


def _by_coverage(runs: Sequence[VariantNumbers], items: int, *, banded: bool) -> Iterator[Stop]:
    """Every working point's coverage, or steps of a percent where there are many, and those that were asked for."""
    counts = [np.rint(np.asarray(one.curve.coverage) * items).astype(np.int64) for one in runs]
    reached = np.unique(np.concatenate(counts)).tolist()
    if len(reached) > _PERCENTS:
        reached = [*range(-(-items // _PERCENTS), reached[-1], -(-items // _PERCENTS)), reached[-1]]
    asked: dict[int, tuple[str, str | None]] = {units: (f"{units / items:.1%}", None) for units in reached}
    for units, (label, key) in sorted((asked | _asked_for(runs, items)).items()):
        points = tuple(_first(count >= units) for count in counts)
        ends = _bands_at(runs, points) if banded else tuple(_at_grid(one, key) for one in runs)
        yield Stop(label, units, points, ends)


def _asked_for(runs: Sequence[VariantNumbers], items: int) -> dict[int, tuple[str, str | None]]:
    """The coverages whose risk the artifact gives, by the units they take: those have an interval of their own."""
    return {
        Coverage.of(at.requested).units_needed(items): (f"{at.requested:.1%}", key)
        for one in runs
        for key, at in one.mae_at_coverage.items()
        if at is not None
    }


def _by_risk(runs: Sequence[VariantNumbers], *, banded: bool) -> Iterator[Stop]:
    """At most this risk: the largest coverage that keeps to it."""
    lowest_after = [np.minimum.accumulate(np.asarray(one.curve.selective_risk)[::-1])[::-1] for one in runs]
    budgets = np.unique(np.concatenate(lowest_after))
    for budget in budgets[spread(len(budgets), _MOST_STOPS)].tolist():
        points = tuple(_last(lowest <= budget) for lowest in lowest_after)
        yield Stop(f"{budget:.4g}", budget, points, _bands_at(runs, points) if banded else (None,) * len(runs))


def _by_threshold(runs: Sequence[VariantNumbers], *, banded: bool) -> Iterator[Stop]:
    """Accept what is at least this sure."""
    thresholds = [np.asarray(one.curve.threshold) for one in runs]
    asked = np.unique(np.concatenate(thresholds))
    lower = np.concatenate([[-np.inf], asked])
    for place in spread(len(asked), _MOST_STOPS).tolist():
        threshold, typed = float(asked[place]), usable_threshold(float(asked[place]), float(lower[place]))
        points = tuple(_last(values >= threshold) for values in thresholds)
        yield Stop(typed, threshold, points, _bands_at(runs, points) if banded else (None,) * len(runs))


def _first(fits: NDArray[np.bool_]) -> int | None:
    return int(fits.argmax()) if fits.any() else None


def _last(fits: NDArray[np.bool_]) -> int | None:
    return len(fits) - 1 - int(fits[::-1].argmax()) if fits.any() else None


def _at_grid(one: VariantNumbers, key: str | None) -> Ends | None:
    """The interval of a coverage that was asked for."""
    return None if key is None else ends_at(one, "mae_at_coverage", key)


def _bands_at(runs: Sequence[VariantNumbers], points: Sequence[int | None]) -> tuple[Ends | None, ...]:
    return tuple(_band_at(one, point) for one, point in zip(runs, points, strict=True))


def _band_at(one: VariantNumbers, point: int | None) -> Ends | None:
    """The band where it is stored at this very point."""
    if point is None or one.bands is None:
        return None
    here, coverage, ends = one.curve.coverage[point], one.bands.coverage, one.bands.selective_risk
    place = bisect_left(coverage, here)
    if place == len(coverage) or coverage[place] != here:
        return None
    return Ends(method="band", low=ends.low[place], high=ends.high[place])
