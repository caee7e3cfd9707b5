"""Lower convex hulls of operating points, decided in integers."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demur.types import Floats, Indices, Integers

Point = tuple[int, int, int]
_SAFETY = 2.0**-48  # far above the rounding of the four-operation test below, relative to the risks in it
_WORTHWHILE = 0.02


def lower_hull(count: Integers, loss_sum: NDArray[Any]) -> Indices:
    """Indices of the vertices of the lower hull of (count, loss_sum/count), first and last point included.

    >>> lower_hull(np.array([1, 2, 3]), np.array([0, 2, 2])).tolist()
    [0, 2]
    """
    return _chain(_thinned(count.astype(np.float64), loss_sum / count), count, loss_sum, _turns_up)


def lower_hull_of_sums(count: Integers, loss_sum: NDArray[Any]) -> Indices:
    """Indices of the vertices of the lower hull of (count, loss_sum) and the origin; the origin has no index.

    >>> lower_hull_of_sums(np.array([2, 3, 5, 6]), np.array([1, 1, 2, 2])).tolist()
    [3]
    """
    count, loss_sum = np.append(0, count), np.append(0, loss_sum)
    kept = _thinned(count.astype(np.float64), loss_sum.astype(np.float64))
    return np.asarray(_chain(kept, count, loss_sum, _bends_up)[1:] - 1)


def _chain(
    kept: Indices, count: Integers, loss_sum: NDArray[Any], is_vertex: Callable[[Point, Point, Point], bool]
) -> Indices:
    """The points that are vertices between the last one before them and the next, decided in integers."""
    stack: list[Point] = []
    exact = [Fraction(value) for value in loss_sum[kept].tolist()]
    scale = max((value.denominator for value in exact), default=1)  # a power of two, if there are binary fractions
    whole = [int(value * scale) for value in exact]
    for point in zip(kept.tolist(), count[kept].tolist(), whole, strict=True):
        while len(stack) > 1 and not is_vertex(stack[-2], stack[-1], point):
            stack.pop()
        stack.append(point)
    return np.array([index for index, _, _ in stack], dtype=np.intp)


def _thinned(x: Floats, y: Floats) -> Indices:
    """All but the points that clearly lie above the line through their neighbours: those are no vertices."""
    # Whatever happens to the others, so all of a pass can go at once; what is too close to call is left to integers.
    kept = np.arange(len(x))
    while len(kept) > 2:  # noqa: PLR2004  (the two ends are always vertices)
        across, up, size = np.diff(x[kept]), np.diff(y[kept]), np.abs(y[kept])
        before, after = up[:-1] * across[1:], up[1:] * across[:-1]
        largest = np.maximum(np.maximum(size[:-2], size[2:]), size[1:-1])
        margin = _SAFETY * largest * (across[:-1] + across[1:])
        above = before - after > margin
        if above.mean() < _WORTHWHILE:
            break
        kept = kept[np.concatenate(([True], ~above, [True]))]
    return kept


def _bends_up(a: Point, b: Point, c: Point) -> bool:
    _, ka, la = a
    _, kb, lb = b
    _, kc, lc = c
    return (lb - la) * (kc - ka) < (lc - la) * (kb - ka)


def _turns_up(a: Point, b: Point, c: Point) -> bool:
    """Whether b lies strictly below the line from a to c: a cross product of integers, risks cleared of fractions."""
    _, ka, la = a
    _, kb, lb = b
    _, kc, lc = c
    return (lb * ka - la * kb) * kc * (kc - ka) < (lc * ka - la * kc) * kb * (kb - ka)
