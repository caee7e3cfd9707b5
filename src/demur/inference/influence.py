"""Influence: how much each cluster moves a number, and the standard error that follows from it.

A cluster's influence is its own share of the sums times the slopes; the influences of a sample add up to 0.
"""

from collections.abc import Callable

import numpy as np

from demur.quantities.replicates import Replicates
from demur.quantities.slopes import Slopes
from demur.quantities.table import running_sum
from demur.types import Floats


def influences(replicates: Replicates, slopes: Callable[[Replicates], Slopes]) -> Floats:
    """The influence of one copy of each cluster (a row) on a number, in each replicate (a column)."""
    slope, table = slopes(replicates), replicates.table
    by_cluster = table.plateaus.by_cluster(_from_here_on(slope.by_count), _from_here_on(slope.by_loss), table.clusters)
    by_cluster += slope.by_units * table.cluster_units[:, None]
    by_cluster /= slope.divisor
    return by_cluster


def standard_errors(influence: Floats, weights: Floats) -> Floats:
    """√(P/(P−1) · Σ u²) over the clusters of each replicate, a cluster drawn twice counted twice."""
    clusters = len(weights)
    squares = running_sum(weights * influence**2)[-1]
    return np.sqrt(squares * (clusters / (clusters - 1))) if clusters > 1 else np.zeros(len(squares))


def _from_here_on(slope: Floats) -> Floats:
    """An answer at plateau j is at or above every later one too, so its slope is the sum of theirs. In place."""
    return running_sum(slope[::-1])[::-1]
