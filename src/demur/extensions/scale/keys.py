"""Distinct rows of small whole numbers, with their counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demur.types import Indices, Integers

Code = NDArray[Any]
_MOST, _SHORT = 2**62, 2**32


def grouped(
    columns: Sequence[Code], sizes: Sequence[int], counts: Integers | None = None
) -> tuple[list[Code], Integers]:
    """The distinct rows in ascending order, and their counts; the numbers of a column are below its size.

    >>> [column.tolist() for column in grouped([np.array([1, 0, 1]), np.array([2, 0, 2])], [2, 3])[0]]
    [[0, 1], [0, 2]]
    """
    if not len(columns[0]):
        return [compact(column, size) for column, size in zip(columns, sizes, strict=True)], np.zeros(0, np.int64)
    different = math.prod(max(size, 1) for size in sizes)
    if different > _MOST:
        return _by_columns(columns, sizes, counts)
    kind = np.uint32 if different <= _SHORT else np.int64  # uint32 sorts in half the time
    key: Code = np.zeros(len(columns[0]), kind)
    for column, size in zip(columns, sizes, strict=True):
        key *= kind(size)
        key += column.astype(kind, copy=False)
    if counts is None:
        key.sort()
        first = _first(key[1:] != key[:-1])
        total = np.diff(np.append(first, len(key)))
    else:
        order = np.argsort(key, kind="stable")
        key = key[order]
        first = _first(key[1:] != key[:-1])
        total = np.add.reduceat(counts[order], first, dtype=np.int64)
    key, parts = key[first], []
    for size in reversed(sizes):
        key, part = np.divmod(key, max(size, 1))
        parts.append(compact(part, size))
    return parts[::-1], total


def compact(column: Code, size: int) -> Code:
    """Numbers below `size`, in the narrowest type that holds them."""
    return column.astype(np.min_scalar_type(max(size - 1, 0)).newbyteorder("<"), copy=False)


def _first(differs: NDArray[np.bool_]) -> Indices:
    """The first index of each group, given where a row differs from the one before it."""
    return np.flatnonzero(np.append(True, differs))


def _by_columns(columns: Sequence[Code], sizes: Sequence[int], counts: Integers | None) -> tuple[list[Code], Integers]:
    """`grouped` for rows that do not fit into one integer."""
    order = np.lexsort([*reversed(columns)])
    ordered = [column[order] for column in columns]
    first = _first(np.logical_or.reduce([column[1:] != column[:-1] for column in ordered]))
    counted = np.ones(len(order), np.int64) if counts is None else counts[order]
    distinct = [compact(column[first], size) for column, size in zip(ordered, sizes, strict=True)]
    return distinct, np.add.reduceat(counted, first, dtype=np.int64)
