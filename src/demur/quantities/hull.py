"""The lower convex hull of a risk–coverage curve, decided exactly."""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demur.types import Floats, Indices, Integers

_SAFETY = 2.0**-48  # far above the rounding of the four-operation test below, relative to the risks in it
_WORTHWHILE = 0.02


def lower_hull(count: Integers, loss_sum: NDArray[Any]) -> Indices:
    """Indices of the vertices of the lower hull of (count, loss_sum/count), first and last point included.

    >>> lower_hull(np.array([1, 2, 3]), np.array([0, 2, 2])).tolist()
    [0, 2]
    """
    kept = _thinned(count.astype(np.float64), loss_sum / count)
    stack: list[tuple[int, int, int]] = []
    for point in zip(kept.tolist(), count[kept].tolist(), _whole(loss_sum[kept]), strict=True):
        while len(stack) > 1 and not _turns_up(stack[-2], stack[-1], point):
            stack.pop()
        stack.append(point)
    return np.array([index for index, _, _ in stack], dtype=np.intp)


def _thinned(x: Floats, y: Floats) -> Indices:
    """Drop, in whole passes, the points that clearly lie above the line through their neighbours.

    Such a point is no vertex, whatever happens to the others, so all of a pass can go at once. What is too close to
    call in floating point stays and is decided exactly.
    """
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


def _whole(loss_sum: NDArray[Any]) -> list[int]:
    """The sums as integers, all multiplied by one power of two if they have binary fractions."""
    exact = [Fraction(value) for value in loss_sum.tolist()]
    scale = max((value.denominator for value in exact), default=1)
    return [int(value * scale) for value in exact]


def _turns_up(a: tuple[int, int, int], b: tuple[int, int, int], c: tuple[int, int, int]) -> bool:
    """Whether b lies strictly below the line from a to c: a cross product of integers, risks cleared of fractions."""
    _, ka, la = a
    _, kb, lb = b
    _, kc, lc = c
    return (lb * ka - la * kb) * kc * (kc - ka) < (lc * ka - la * kc) * kb * (kb - ka)
