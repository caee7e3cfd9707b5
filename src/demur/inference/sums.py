"""Sums over clusters that are exact in any order, and the standard error of a difference of means."""

from __future__ import annotations

import numpy as np

from demur.sampling.weights import Weights
from demur.types import Floats

_EXACT_BITS = 52


def errors_of_difference(apart: Floats, count: Floats, difference: Floats, weights: Weights) -> Floats:
    """The standard error, in each draw, of a difference of two means over the same units.

    `apart` are the differences of the sums of clusters, `count` their units. A cluster moves the difference Δ by
    (apart − Δ·count)/N; its square is expanded, so that a draw needs three sums over clusters and no array of them.
    """
    clusters, rows = len(apart), weights.rows
    sums = rows @ exactly_addable(np.stack([apart**2, apart * count, count**2], axis=1))
    squares = np.maximum(sums[:, 0] - 2 * difference * sums[:, 1] + difference**2 * sums[:, 2], 0)
    return np.sqrt(squares * clusters / max(clusters - 1, 1)) / np.maximum(rows @ count, 1)


def exactly_addable(sums: Floats) -> Floats:
    """Sums rounded to multiples of a power of two so large that no weighted total of a column needs rounding."""
    largest = np.abs(sums).max(axis=0, initial=0) * len(sums)
    unit = np.ldexp(1.0, np.frexp(largest)[1] - _EXACT_BITS)
    return np.asarray(np.rint(sums / unit) * unit)
