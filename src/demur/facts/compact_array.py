"""Arrays with few distinct numbers, stored as a narrow code per element in place of eight bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

_CHUNK = 1 << 20
_MOST = 1 << 16  # distinct values: codes of two bytes at most


class CompactArray(NDArrayOperatorsMixin):
    """The array `levels[codes]`, decoded by every operation except selection and change of sign.

    Of tens of millions of numbers, only those in use take eight bytes each. Decoded numbers have the type of the
    levels, so that their sums do not overflow as sums of narrow integers would.
    """

    __slots__ = ("codes", "levels")

    def __init__(self, levels: NDArray[Any], codes: NDArray[Any]) -> None:
        self.levels, self.codes = levels, codes

    @classmethod
    def of(cls, values: NDArray[Any]) -> NDArray[Any]:
        """Compress an array, unless too many of its values are distinct; integers are then returned as 64-bit integers.

        >>> coded = CompactArray.of(np.array([3, 0, 3], np.int8))
        >>> coded.levels, coded.codes, coded + 1
        (array([0, 3]), array([1, 0, 1], dtype=uint8), array([4, 1, 4]))
        """
        wide = np.int64 if values.dtype.kind in "iu" else values.dtype
        # Sorted in chunks: the temporary arrays of np.unique are many times as large as the codes.
        chunks = [values[start : start + _CHUNK] for start in range(0, len(values), _CHUNK)]
        levels = np.unique(np.concatenate([np.zeros(0, values.dtype), *map(np.unique, chunks)]))
        if len(levels) > _MOST:
            return values.astype(wide, copy=False)
        codes = np.empty(len(values), np.min_scalar_type(len(levels)))
        for number, chunk in enumerate(chunks):
            codes[number * _CHUNK : (number + 1) * _CHUNK] = np.searchsorted(levels, chunk)
        return cast("NDArray[Any]", cls(levels.astype(wide), codes))

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        return np.asarray(self.levels[self.codes], dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method == "__call__" and not options and all(each is self or np.isscalar(each) for each in inputs):
            return ufunc(*(self.levels if each is self else each for each in inputs))[self.codes]
        plain = (np.asarray(each) if isinstance(each, CompactArray) else each for each in inputs)
        return getattr(ufunc, method)(*plain, **options)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # numpy asks for its own protocols, of which this has one
            raise AttributeError(name)
        return getattr(np.asarray(self), name)

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, key: Any) -> Any:
        codes = self.codes[key]
        return CompactArray(self.levels, codes) if isinstance(codes, np.ndarray) else self.levels[codes]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the decoded numbers."""
        return self.levels.dtype

    def __neg__(self) -> Any:
        return CompactArray(-self.levels, self.codes)

    def astype(self, dtype: Any, *, copy: bool = True) -> CompactArray:  # noqa: ARG002  (as of an array)
        """The array with its levels converted to another type."""
        return CompactArray(self.levels.astype(dtype), self.codes)


def distinct(values: Any) -> NDArray[Any]:
    """The levels of a compressed array, or another array unchanged: an array that has every value at least once."""
    return values.levels if isinstance(values, CompactArray) else values


def occurring(values: Any) -> NDArray[Any]:
    """The distinct values of an array in ascending order."""
    return values.levels[np.unique(values.codes)] if isinstance(values, CompactArray) else np.unique(values)


def positions(levels: NDArray[Any], values: Any) -> NDArray[Any]:
    """The index of each value among sorted levels, in the narrowest integer type possible."""
    if not isinstance(values, CompactArray):
        return np.asarray(np.searchsorted(levels, values))
    index = np.searchsorted(levels, values.levels).astype(np.min_scalar_type(len(levels)))
    return np.asarray(index[values.codes])


def summed_by(index: NDArray[Any], factors: Sequence[NDArray[Any]], length: int) -> NDArray[Any]:
    """Sum the products of `factors`, whole numbers, at each index, in chunks; exact up to 2**53.

    >>> summed_by(np.array([0, 1, 0]), [np.array([2, 3, 4]), np.array([1, 1, 10])], 2).tolist()
    [42, 3]
    """
    total = np.zeros(length)
    for start in range(0, len(index), _CHUNK):
        chunk = slice(start, start + _CHUNK)
        product = np.ones(len(index[chunk]))
        for factor in factors:
            product *= factor[chunk]
        total += np.bincount(index[chunk], product, length)
    return total.astype(np.int64)
