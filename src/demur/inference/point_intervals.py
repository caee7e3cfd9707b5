"""Intervals of the risk at every operating point, its threshold taken as fixed: `Ratio.interval` for many points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demur.inference.intervals import LARGEST_EXPONENT, NOTHING, rare
from demur.inference.student import t_quantiles
from demur.inference.views import CurveView
from demur.quantities.curve import Curve
from demur.sampling.steps import Steps
from demur.types import Floats

LEVEL = 0.95
MOST_POINTS = 4096
_BLOCK = 256


@dataclass(frozen=True, slots=True, eq=False)
class _Spread:
    """Sums over clusters at each operating point.

    `clusters` is the number of clusters with accepted answers, `largest` the most answers of one cluster, `squares` and
    `fourths` the sums of the second and fourth powers of the influences on the risk.
    """

    clusters: Floats
    largest: Floats
    squares: Floats
    fourths: Floats


@dataclass(frozen=True, slots=True, eq=False)
class _Moments:
    """The statistics that determine the interval of a ratio ΣL/ΣA, one number per operating point."""

    risk: Floats
    clusters: Floats
    largest: Floats
    std_error: Floats
    degrees: Floats


def intervals_at_points(view: CurveView) -> tuple[Floats, Floats] | None:
    """The low and the high ends of the intervals at the operating points, nan where there is no interval.

    None where there are no operating points, or more than `MOST_POINTS`.
    """
    if not 0 < len(view.curve) <= MOST_POINTS:
        return None
    table, moments = view.table, _moments(_spread(view), view.curve)
    worst = None if table.largest_loss is None else table.largest_loss / table.divisor
    low, high = _ends(moments, worst, negative=bool(table.level_loss[0] < 0))
    alone = moments.clusters <= 1
    return np.where(alone, np.nan, low), np.where(alone, np.nan, high)


def _spread(view: CurveView) -> _Spread:
    """Sums over clusters at each operating point, for a block of clusters and of points at a time."""
    curve, divisor, size = view.curve, view.table.divisor, len(view.curve)
    clusters, largest, squares, fourths = np.zeros((4, size))
    for entries in view.table.plateaus.in_blocks():
        held = np.zeros((2, entries.clusters, 1))
        for start in range(0, size, _BLOCK):
            points = slice(start, min(start + _BLOCK, size))
            held = _held_at(entries, points, divisor, held[:, :, -1])
            squared = _influences_at(held, curve.selective_risk[points], curve.points.count[points]) ** 2
            accepted = held[0]
            clusters[points] += (accepted > 0).sum(axis=0)
            largest[points] = np.maximum(largest[points], accepted.max(axis=0))
            fourths[points] += (squared * squared).sum(axis=0)
            squares[points] += squared.sum(axis=0)
    return _Spread(clusters, largest, squares, fourths)


def _held_at(entries: Steps, points: slice, divisor: int, before: Floats) -> Floats:
    """Answers and losses of each cluster (rows) up to each point (columns), given those `before` the first point."""
    held = np.zeros((2, entries.clusters, points.stop - points.start))
    step, cluster, count, loss = entries.between(points.start, points.stop)
    cells = cluster, step - 1 - points.start
    held[0][cells], held[1][cells] = count, loss / divisor
    held[:, :, 0] += before
    return np.cumsum(held, axis=2, out=held)


def _influences_at(held: Floats, risk: Floats, count: NDArray[Any]) -> Floats:
    """Influences of the clusters (rows) on the risk at each point (columns)."""
    accepted, loss = held
    return np.asarray((loss - risk * accepted) / count)


def _moments(at: _Spread, curve: Curve) -> _Moments:
    clusters, squares = at.clusters.astype(np.float64), at.squares
    spread = at.fourths - squares**2 / clusters
    with np.errstate(divide="ignore", invalid="ignore"):
        degrees = np.where(spread > 0, np.minimum(clusters - 1, 2 * squares**2 / spread), clusters - 1)
    std_error = np.sqrt(squares * clusters / np.maximum(clusters - 1, 1))  # one cluster has no standard error
    largest = at.largest * clusters / curve.points.count
    return _Moments(curve.selective_risk, clusters, largest, std_error, np.maximum(degrees, 1))


def _ends(at: _Moments, worst: float | None, *, negative: bool) -> tuple[Floats, Floats]:
    """Low and high ends, on the logit scale of the largest loss or on a log scale; plain if losses are negative."""
    reach = t_quantiles((1 + LEVEL) / 2, at.degrees) * at.std_error
    constant = at.std_error <= NOTHING * np.abs(at.risk)
    with np.errstate(divide="ignore", invalid="ignore"):
        if negative:
            ends = at.risk - reach, np.minimum(at.risk + reach, np.inf if worst is None else worst)
        elif worst is None:
            factor = np.exp(np.minimum(reach / at.risk, LARGEST_EXPONENT))
            ends = at.risk / factor, at.risk * factor
        else:
            share = at.risk / worst
            middle, away = np.log(share / (1 - share)), reach / worst / (share * (1 - share))
            below, above = (np.clip(middle + sign * away, -LARGEST_EXPONENT, LARGEST_EXPONENT) for sign in (-1, 1))
            ends = worst / (1 + np.exp(-below)), worst / (1 + np.exp(-above))
    low, high = (np.where(constant, at.risk, end) for end in ends)
    if negative:
        return low, high
    if worst is None:
        return np.where(at.risk > 0, low, np.nan), np.where(at.risk > 0, high, np.nan)
    bound = np.array([rare(int(n), largest) for n, largest in zip(at.clusters, at.largest, strict=True)]) * worst
    at_zero, at_maximum = at.risk == 0, np.abs(at.risk / worst - 1) <= NOTHING
    low, high = np.where(at_zero, 0.0, low), np.where(at_zero, bound, high)
    return np.where(at_maximum, worst - bound, low), np.where(at_maximum, worst, high)
