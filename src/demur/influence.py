"""Influence: how much each cluster moves an area, and the standard error that follows from it.

An area is a smooth function of three sums a cluster takes part in: units N, answers k_j and losses L_j at or above
point j. Differentiating the trapezoids gives a coefficient for each sum; a cluster's influence is its own share of the
sums times the coefficients, and the influences of a sample add up to 0. The anchor at coverage 0 moves with the first
risk for the AURC and stays at 0 for the AUGRC, whose coefficients are those of its form as a mean over pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from demur.replicates import Replicates

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Slopes:
    """Derivatives of a number by the answers and losses at or above each plateau, and by the units."""

    by_count: Floats
    by_loss: Floats
    by_units: Floats


def influences(replicates: Replicates, slopes: Callable[[Replicates], Slopes]) -> Floats:
    """The influence of one copy of each cluster on a number, one row per replicate."""
    slope = slopes(replicates)
    # An answer at plateau j is at or above every later one too, so its slope is the sum of theirs.
    by_count = np.cumsum(slope.by_count[:, ::-1], axis=1)[:, ::-1]
    by_loss = np.cumsum(slope.by_loss[:, ::-1], axis=1)[:, ::-1]
    table = replicates.table
    return table.plateaus.by_cluster(by_count, by_loss, table.clusters) + slope.by_units[:, None] * table.cluster_units


def standard_errors(replicates: Replicates, slopes: Callable[[Replicates], Slopes]) -> Floats:
    """√(P/(P−1) · Σ u²) over the clusters of each replicate, a cluster drawn twice counted twice."""
    clusters = replicates.table.clusters
    squares = np.sum(replicates.weights * influences(replicates, slopes) ** 2, axis=1)
    return np.sqrt(squares * (clusters / (clusters - 1))) if clusters > 1 else np.zeros(len(squares))


def selective_area_slopes(replicates: Replicates) -> Slopes:
    """Of the AURC."""
    count, risk, units = replicates.count, replicates.risk, replicates.units[:, None]
    width = _after(count, last=count) - _before(count)
    first = np.argmax(count > 0, axis=1)
    rows = np.arange(len(count))
    width[rows, first] += count[rows, first]
    by_risk = np.divide(width, 2 * units * count, out=np.zeros_like(count), where=count > 0)
    by_coverage = (_before(risk, first=risk) - _after(risk, last=-risk)) / 2
    return _scaled(
        replicates,
        by_count=by_coverage / units - by_risk * risk,
        by_loss=by_risk,
        by_units=-np.sum(by_coverage * count, axis=1) / replicates.units**2,
    )


def generalized_area_slopes(replicates: Replicates) -> Slopes:
    """Of the AUGRC."""
    count, loss, units = replicates.count, replicates.loss_sum, replicates.units[:, None]
    area = replicates.generalized_area * replicates.table.divisor
    return _scaled(
        replicates,
        by_count=(_before(loss) - _after(loss, last=-loss)) / (2 * units**2),
        by_loss=(_after(count, last=count) - _before(count)) / (2 * units**2),
        by_units=-2 * area / replicates.units,
    )


def coverage_slopes(replicates: Replicates) -> Slopes:
    """Of Cmax."""
    by_count = np.zeros_like(replicates.count)
    by_count[:, -1:] = 1 / replicates.units[:, None]
    return Slopes(by_count, np.zeros_like(by_count), -replicates.answered / replicates.units**2)


SLOPES = {"aurc": selective_area_slopes, "augrc": generalized_area_slopes, "cmax": coverage_slopes}


def _scaled(replicates: Replicates, *, by_count: Floats, by_loss: Floats, by_units: Floats) -> Slopes:
    divisor = replicates.table.divisor
    return Slopes(by_count / divisor, by_loss / divisor, by_units / divisor)


def _before(values: Floats, first: Floats | None = None) -> Floats:
    """The value one step before; at the first step 0, or the first of `first`."""
    moved = np.zeros_like(values)
    moved[:, 1:] = values[:, :-1]
    if first is not None:
        moved[:, :1] = first[:, :1]
    return moved


def _after(values: Floats, last: Floats) -> Floats:
    """The value one step after; at the last step the last of `last`."""
    moved = np.empty_like(values)
    moved[:, :-1] = values[:, 1:]
    moved[:, -1:] = last[:, -1:]
    return moved
