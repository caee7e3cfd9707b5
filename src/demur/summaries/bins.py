"""Bins of confidences: steps of a power of two, so that bins of bins are the bins that all values would have had."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from demur.types import Floats

MOST = 4096
_SMALLEST_EXPONENT, _LARGEST_EXPONENT = -1074, 1023


def binned(values: Floats, exponent: int, *, lower_is_surer: bool = False) -> Floats:
    """Each value at the end of its bin of width 2**exponent that the least sure confidence in it could have.

    Who accepts a confidence at that end or surer accepts the whole bin, and nothing of the next.

    >>> binned(np.array([0.3, 0.5, 0.99]), -2).tolist(), binned(np.array([0.3]), -2, lower_is_surer=True).tolist()
    ([0.25, 0.5, 0.75], [0.5])
    """
    with np.errstate(over="ignore", under="ignore"):
        steps = np.ldexp(values, -exponent)
        whole, side = (np.ceil(steps), 1) if lower_is_surer else (np.floor(steps), -1)
        whole[(steps == 0) & (np.sign(values) == side)] = side  # so small a number that its steps are none
        ends = np.ldexp(whole, exponent)
    return np.where(np.isinf(steps), values, ends) + 0.0  # so large a number is a whole number of steps


def exponent_for(values: Floats, most: int, *, lower_is_surer: bool = False) -> int | None:
    """The smallest bins that leave no more than so many different values; None where the values need none.

    Bins twice as wide are unions of bins, so fewer values never need wider ones, and what is merged in any order
    ends up in the same bins.

    >>> exponent_for(np.array([0.1, 0.2, 0.3]), 3), exponent_for(np.array([0.1, 0.2, 0.3]), 2)
    (None, -2)
    """
    if len(values) <= most:
        return None
    reach = math.frexp(float(np.abs(values).max()))[1]
    low, high = _SMALLEST_EXPONENT - 1, min(reach, _LARGEST_EXPONENT)
    while high - low > 1:
        middle = (low + high) // 2
        kept = len(np.unique(binned(values, middle, lower_is_surer=lower_is_surer)))
        low, high = (low, middle) if kept <= most else (middle, high)
    return high


def widest(exponents: Sequence[int | None]) -> int | None:
    """The widest of some bins."""
    return max((each for each in exponents if each is not None), default=None)
