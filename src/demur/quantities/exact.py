"""Sums that are rounded once, and a lower convex hull that is decided exactly.

A quotient of integers rarely fits a double. Of many, each is kept as an unevaluated sum of two doubles (106 bits), the
pairs are added without losing what a rounding drops, and the total leaves as a fraction for the caller to round.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demur.types import Floats, Indices, Integers

Point = tuple[int, int, int]
RANKS = 1 << 16  # in a block, whose dozen temporaries stay in the cache
_UPPER_HALF = np.int64(-1 << 27)  # keeps the upper 26 bits of a significand
_SAFETY = 2.0**-48  # far above the rounding of the four-operation test below, relative to the risks in it
_WORTHWHILE = 0.02
_FEW = 16


def sum_of_quotients(numerator: Floats, denominator: Floats) -> Fraction:
    """Σ numerator/denominator, of few quotients exactly, else to about 100 bits; denominators are integers.

    >>> sum_of_quotients(np.array([1.0, 1.0]), np.array([3.0, 3.0]))
    Fraction(2, 3)
    """
    if len(numerator) <= _FEW:
        return _sum_of_few(numerator.tolist(), denominator.tolist())
    total = Fraction(0)
    for start in range(0, len(numerator), RANKS):
        block = slice(start, start + RANKS)
        total += _pairwise_sum(*_quotient(numerator[block], denominator[block]))
    return total


def _sum_of_few(numerator: list[float], denominator: list[float]) -> Fraction:
    """The sum over a common denominator, which stays short if there are few."""
    parts = [value.as_integer_ratio() for value in numerator]
    binary = max((power for _, power in parts), default=1)  # powers of two
    common = math.lcm(*map(int, denominator))
    terms = zip(parts, denominator, strict=True)
    total = sum(whole * (binary // power) * (common // int(over)) for (whole, power), over in terms)
    return Fraction(total, binary * common)


def cumulative_sum(values: NDArray[Any]) -> NDArray[Any]:
    """Running sums; of integers exactly, of doubles to about the last bit of each sum.

    Floats are cut in two on a grid so coarse that the upper parts add up without rounding; what rounding does to the
    lower parts is far below the last bit of the total.

    >>> float(cumulative_sum(np.full(1_000_000, 0.1))[-1])
    100000.0
    """
    if values.dtype.kind == "i":
        return np.cumsum(values)
    largest = float(np.abs(values).max(initial=0)) * len(values)
    grid = 2.0 ** (math.frexp(largest)[1] - 52)
    upper = np.rint(values / grid) * grid
    return np.asarray(np.cumsum(upper) + np.cumsum(values - upper))


def _quotient(numerator: Floats, denominator: Floats) -> tuple[Floats, Floats]:
    """The rounded quotient and what the rounding dropped: the remainder of a division fits a double exactly."""
    quotient = numerator / denominator
    upper, lower = _halves(quotient)
    wide, narrow = _halves(denominator)
    remainder = numerator - upper * wide
    remainder -= upper * narrow
    remainder -= lower * wide
    remainder -= lower * narrow
    remainder /= denominator
    return quotient, remainder


def _halves(values: Floats) -> tuple[Floats, Floats]:
    """Two doubles of at most 27 bits that add up to each value, so that products of halves are exact."""
    upper = (values.view(np.int64) & _UPPER_HALF).view(np.float64)
    return upper, values - upper


def _pairwise_sum(high: Floats, low: Floats) -> Fraction:
    """Σ (high + low), folding the arrays in two; the error of each rounded addition goes into `low`."""
    while len(high) > 1:
        half = len(high) // 2
        left, right, rest = high[:half], high[half : 2 * half], high[2 * half :]
        total = left + right
        moved = total - left
        error = (left - (total - moved)) + (right - moved)
        error += low[:half]
        error += low[half : 2 * half]
        high = np.concatenate((total, rest)) if rest.size else total
        low = np.concatenate((error, low[2 * half :])) if rest.size else error
    return sum(map(Fraction, [*high.tolist(), *low.tolist()]), Fraction(0))


def lower_hull(count: Integers, loss_sum: NDArray[Any]) -> Indices:
    """Indices of the vertices of the lower hull of (count, loss_sum/count), first and last point included.

    >>> lower_hull(np.array([1, 2, 3]), np.array([0, 2, 2])).tolist()
    [0, 2]
    """
    return _chain(_thinned(count.astype(np.float64), loss_sum / count), count, loss_sum, _turns_up)


def lower_hull_of_sums(count: Integers, loss_sum: NDArray[Any]) -> Indices:
    """Indices of the vertices of the lower hull of (count, loss_sum) and the origin, which has none; the last included.

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
    """Whether b lies strictly below the line from a to c, in summed losses."""
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
