"""Thinning: of very many points, those that can be told apart in a picture."""

from collections.abc import Sequence

import numpy as np

from demur.types import Indices

_COLUMNS = 200
_FEW = 300


def visible(across: Sequence[float], up: Sequence[float]) -> Indices:
    """Of points ordered from left to right: in each narrow column the first, the last, the lowest and the highest.

    What a line through them covers is the same as through all of them, and none is moved.

    >>> len(visible([0, 0.5, 1], [1, 2, 3])), len(visible([n / 1e4 for n in range(10_000)], [0.5] * 10_000)) < 600
    (3, True)
    """
    xs, ys = np.asarray(across, dtype=float), np.asarray(up, dtype=float)
    if len(xs) <= _FEW:
        return np.arange(len(xs))
    column = np.floor(xs * _COLUMNS).astype(np.int64)
    starts = np.flatnonzero(np.diff(column, prepend=column[0] - 1))
    ends = np.append(starts[1:], len(xs)) - 1
    sizes = ends - starts + 1
    by_height = np.lexsort((ys, column))
    return np.unique(np.concatenate([starts, ends, by_height[starts], by_height[starts + sizes - 1]]))


def spread(count: int, most: int) -> Indices:
    """Positions spread evenly over a list, both ends among them; all of a list that is short enough.

    >>> spread(5, 10).tolist(), spread(100, 4).tolist()
    ([0, 1, 2, 3, 4], [0, 33, 66, 99])
    """
    if count <= most:
        return np.arange(count)
    return np.unique(np.round(np.linspace(0, count - 1, most)).astype(np.intp))
