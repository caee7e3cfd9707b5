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
from demur.report.numbers import ends_at, runs_of
from demur.report.sides import sides_of
from demur.report.thinning import spread
from demur.verdict import three

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from demur.artifact import Metrics
    from demur.artifact_numbers import VariantNumbers

    Json = dict[str, Any]

_MOST_STOPS = 60
_PERCENTS = 100


@dataclass(frozen=True, slots=True)
class Stop:
    """A place of the slider: what is asked for, the point each run takes there, and the interval stored for it."""

    asked: str
    points: tuple[int | None, ...]
    ends: tuple[Ends | None, ...]


def operating_data(metrics: Metrics) -> Json:
    """Everything the page's script knows."""
    return {
        "items": metrics.population.items_total,
        "multiplier": metrics.loss.raw_multiplier,
        "sides": [side.word for side in sides_of(metrics)],
        "variants": [
            {"name": name, **_of_variant(runs_of(entry), metrics.population.items_total)}
            for name, entry in metrics.confidence_variants.items()
        ],
    }


def _of_variant(runs: Sequence[VariantNumbers], items: int) -> Json:
    stops = {name: [*found] for name, found in stops_of(runs, items).items()}
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
        "selective": [curve.selective_risk[i] for i in points],
        "generalized": [curve.generalized_risk[i] for i in points],
    }


def stops_of(runs: Sequence[VariantNumbers], items: int) -> Mapping[str, Iterator[Stop]]:
    """The stops of the slider, by what it is moved by."""
    return {"coverage": _by_coverage(runs, items), "risk": _by_risk(runs), "threshold": _by_threshold(runs)}


def _by_coverage(runs: Sequence[VariantNumbers], items: int) -> Iterator[Stop]:
    """Every working point's coverage, or whole percents where there are many, and those the artifact was asked for."""
    counts = [np.rint(np.asarray(one.curve.coverage) * items).astype(np.int64) for one in runs]
    reached = np.unique(np.concatenate(counts)).tolist()
    if len(reached) > _PERCENTS:
        reached = [*range(-(-items // _PERCENTS), reached[-1], -(-items // _PERCENTS)), reached[-1]]
    asked: dict[int, tuple[str, str | None]] = {units: (f"{units / items:.1%}", None) for units in reached}
    for units, (label, key) in sorted((asked | _asked_for(runs, items)).items()):
        points = tuple(_first(count >= units) for count in counts)
        yield Stop(label, points, tuple(_ends(one, i, key) for one, i in zip(runs, points, strict=True)))


def _asked_for(runs: Sequence[VariantNumbers], items: int) -> dict[int, tuple[str, str | None]]:
    """The coverages whose risk the artifact gives, by the units they take: those have an interval of their own."""
    return {
        Coverage.of(at.requested).units_needed(items): (f"{at.requested:.1%}", key)
        for one in runs
        for key, at in one.mae_at_coverage.items()
        if at is not None
    }


def _by_risk(runs: Sequence[VariantNumbers]) -> Iterator[Stop]:
    """At most this risk: the largest coverage that keeps to it."""
    lowest_after = [np.minimum.accumulate(np.asarray(one.curve.selective_risk)[::-1])[::-1] for one in runs]
    budgets = np.unique(np.concatenate(lowest_after))
    for budget in budgets[spread(len(budgets), _MOST_STOPS)].tolist():
        points = tuple(_last(lowest <= budget) for lowest in lowest_after)
        yield Stop(f"{budget:.4g}", points, tuple(_ends(one, i) for one, i in zip(runs, points, strict=True)))


def _by_threshold(runs: Sequence[VariantNumbers]) -> Iterator[Stop]:
    """Accept what is at least this sure."""
    thresholds = [np.asarray(one.curve.threshold) for one in runs]
    asked = np.unique(np.concatenate(thresholds))
    for threshold in asked[spread(len(asked), _MOST_STOPS)].tolist():
        points = tuple(_last(values >= threshold) for values in thresholds)
        yield Stop(f"{threshold:.6g}", points, tuple(_ends(one, i) for one, i in zip(runs, points, strict=True)))


def _first(fits: NDArray[np.bool_]) -> int | None:
    return int(fits.argmax()) if fits.any() else None


def _last(fits: NDArray[np.bool_]) -> int | None:
    return len(fits) - 1 - int(fits[::-1].argmax()) if fits.any() else None


def _ends(one: VariantNumbers, point: int | None, key: str | None = None) -> Ends | None:
    """The interval of a coverage that was asked for, or the band where it is stored at this very point."""
    if point is None:
        return None
    own = None if key is None else ends_at(one, "mae_at_coverage", key)
    bands: Any = getattr(one, "bands", None)
    if own is not None or bands is None:
        return own
    here = one.curve.coverage[point]
    place, ends = bisect_left(bands.coverage, here), bands.selective_risk
    if place == len(bands.coverage) or bands.coverage[place] != here or ends.low[place] is None:
        return None
    return Ends(method="band", low=ends.low[place], high=ends.high[place])
