"""Bins of confidences. Widths are powers of two, so that binning bins equals binning the values."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from demur.types import Floats

MOST = 4096
_SMALLEST_EXPONENT, _LARGEST_EXPONENT = -1074, 1023


def binned(values: Floats, exponent: int, *, lower_is_surer: bool = False) -> Floats:
    """Each value replaced by the least confident end of its bin of width 2**exponent.

    A threshold at that end accepts the whole bin, and nothing of the next.

    >>> binned(np.array([0.3, 0.5, 0.99]), -2).tolist(), binned(np.array([0.3]), -2, lower_is_surer=True).tolist()
    ([0.25, 0.5, 0.75], [0.5])
    """
    with np.errstate(over="ignore", under="ignore"):
        steps = np.ldexp(values, -exponent)
        whole, side = (np.ceil(steps), 1) if lower_is_surer else (np.floor(steps), -1)
        whole[(steps == 0) & (np.sign(values) == side)] = side  # underflow to 0 steps
        ends = np.ldexp(whole, exponent)
    return np.where(np.isinf(steps), values, ends) + 0.0  # overflow: so large a value is a multiple of the width


def exponent_for(values: Floats, most: int, *, lower_is_surer: bool = False) -> int | None:
    """The exponent of the narrowest bins that leave at most `most` distinct values; None if no bins are needed.

    Bins twice as wide are unions of bins, so a subset of the values never needs wider ones, and merging in any order
    ends with the same bins.

    >>> exponent_for(np.array([0.1, 0.2, 0.3]), 3), exponent_for(np.array([0.1, 0.2, 0.3]), 2)
    (None, -2)
    """
    if len(values) <= most:
        return None
    reach = math.frexp(float(np.abs(values).max()))[1]
    low, high = _SMALLEST_EXPONENT - 1, min(reach, _LARGEST_EXPONENT)
    while high - low > 1:
        middle = (low + high) // 2
        distinct = len(np.unique(binned(values, middle, lower_is_surer=lower_is_surer)))
        low, high = (low, middle) if distinct <= most else (middle, high)
    return high


def widest(exponents: Sequence[int | None]) -> int | None:
    """The exponent of the widest bins; None if there are no bins."""
    return max((exponent for exponent in exponents if exponent is not None), default=None)
