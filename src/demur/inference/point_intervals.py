"""Intervals of the risk at every operating point, as at fixed thresholds: `Ratio.interval` for many points at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from demur.inference.intervals import LARGEST_EXPONENT, NOTHING, rare
from demur.inference.student import t_quantiles
from demur.inference.views import CurveView
from demur.types import Floats

LEVEL = 0.95
MOST_POINTS = 4096
_BLOCK = 256
_MOST_CELLS = 1 << 22


@dataclass(frozen=True, slots=True, eq=False)
class PointIntervals:
    """The ends at each operating point; nan where there is none."""

    low: Floats
    high: Floats


@dataclass(frozen=True, slots=True, eq=False)
class _Moments:
    """What the interval of a ratio ΣL/ΣA depends on, one number per operating point."""

    risk: Floats
    clusters: Floats
    largest: Floats
    std_error: Floats
    degrees: Floats


def intervals_at_points(view: CurveView) -> PointIntervals | None:
    """The intervals at the operating points; None where there are none, or more than `MOST_POINTS`."""
    if not 0 < len(view.curve) <= MOST_POINTS:
        return None
    parts = [*_blocks(view)]
    moments = _Moments(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    table = view.table
    worst = None if table.largest_loss is None else table.largest_loss / table.divisor
    low, high = _ends(moments, worst, negative=bool(table.level_loss[0] < 0))
    alone = moments.clusters <= 1
    return PointIntervals(np.where(alone, np.nan, low), np.where(alone, np.nan, high))


def _blocks(view: CurveView) -> Iterator[tuple[Floats, ...]]:
    """The moments of one block of operating points at a time, from cumulative sums within clusters."""
    entries, clusters, points = view.table.plateaus, view.table.clusters, len(view.curve)
    carried, block = np.zeros((2, clusters)), min(_BLOCK, max(_MOST_CELLS // clusters, 1))
    for start in range(0, points, block):
        size = min(block, points - start)
        sums = np.zeros((2, size, clusters))
        step, cluster, count, loss = entries.between(start, start + size)
        cell = step - start, cluster
        sums[0][cell], sums[1][cell] = count, loss / view.table.divisor
        sums[:, 0] += carried
        accepted, loss = sums = np.cumsum(sums, axis=1)
        carried = sums[:, -1].copy()
        yield _of_block(accepted, loss, view.curve.selective_risk[start : start + size])


def _of_block(accepted: Floats, loss: Floats, risk: Floats) -> tuple[Floats, ...]:
    total, clusters = accepted.sum(axis=1), (accepted > 0).sum(axis=1).astype(float)
    squared = ((loss - risk[:, None] * accepted) / total[:, None]) ** 2
    squares, fourths = squared.sum(axis=1), (squared * squared).sum(axis=1)
    spread = fourths - squares**2 / clusters
    with np.errstate(divide="ignore", invalid="ignore"):
        degrees = np.where(spread > 0, np.minimum(clusters - 1, 2 * squares**2 / spread), clusters - 1)
    std_error = np.sqrt(squares * clusters / np.maximum(clusters - 1, 1))  # one cluster has no standard error
    return risk, clusters, accepted.max(axis=1) * clusters / total, std_error, np.maximum(degrees, 1)


def _ends(at: _Moments, worst: float | None, *, negative: bool) -> tuple[Floats, Floats]:
    """Ends on the logit scale of the largest loss, on the log scale if that is unknown, plain for negative losses."""
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
