"""Columns of names in which each distinct name is stored once, as in a pandas Categorical."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from demur.types import Flags, Indices


@dataclass(frozen=True, slots=True, eq=False)
class Codes(Sequence[Any]):
    """A column `values[numbers]`, one value per unit; distinct values are in order of first appearance.

    >>> codes = Codes.of(["b", "a", "b", 1, True])
    >>> codes.numbers.tolist(), codes.values
    ([0, 1, 0, 2, 3], ['b', 'a', 1, True])
    """

    numbers: Indices
    values: Sequence[Any]

    @classmethod
    def of(cls, cells: Sequence[Any]) -> Codes:
        """Encode Python values; 1, 1.0 and true are distinct."""
        if isinstance(cells, Codes):
            return cells
        growing = GrowingCodes()
        growing.add(cells)
        return growing.column()

    @classmethod
    def numbered(cls, numbers: Indices, values: Sequence[Any]) -> Codes:
        """Build a column from distinct values in any order, some perhaps unused, and the index of each unit's value."""
        first = np.full(len(values), len(numbers))
        first[numbers[::-1]] = np.arange(len(numbers) - 1, -1, -1)
        order = np.argsort(first, kind="stable")[: np.sum(first < len(numbers))]
        if len(order) == len(values) and np.array_equal(order, np.arange(len(order))):
            return cls(numbers, values)
        number = np.empty(len(values), dtype=np.intp)
        number[order] = np.arange(len(order))
        return cls(number[numbers], [values[old] for old in order.tolist()])

    @classmethod
    def joined(cls, parts: Sequence[Codes]) -> Codes:
        """Concatenate columns."""
        distinct = Codes.of([value for part in parts for value in part.values])
        starts = np.cumsum([0, *(len(part.values) for part in parts)])
        numbers = [distinct.numbers[start + part.numbers] for start, part in zip(starts, parts, strict=False)]
        return cls(np.concatenate(numbers), distinct.values)

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, unit: int) -> Any: ...
    @overload
    def __getitem__(self, unit: slice) -> Codes: ...
    def __getitem__(self, unit: int | slice) -> Any:
        if isinstance(unit, slice):
            return Codes.numbered(self.numbers[unit], self.values)
        return self.values[int(self.numbers[unit])]

    def __iter__(self) -> Iterator[Any]:
        return map(self.values.__getitem__, self.numbers.tolist())

    def take(self, units: Indices) -> Codes:
        """The values of the units at these indices."""
        return Codes.numbered(self.numbers[units], self.values)

    def mapped(self, function: Callable[[Any], Any]) -> Codes:
        """Apply a function to every distinct value; results that are equal become one value."""
        results = Codes.of([*map(function, self.values)])
        merged = len(results.values) < len(self.values)
        return Codes(results.numbers[self.numbers] if merged else self.numbers, results.values)

    def where(self, test: Callable[[Any], bool]) -> Flags:
        """Flags of the units whose value passes a test."""
        return np.fromiter(map(test, self.values), bool, len(self.values))[self.numbers]

    def first(self, test: Callable[[Any], bool]) -> int | None:
        """Index of the first unit whose value passes a test; None if there is none."""
        number = next((number for number, value in enumerate(self.values) if test(value)), None)
        return None if number is None else int(np.argmax(self.numbers == number))

    def paired(self, other: Codes) -> Codes:
        """Combine two columns into one whose values are pairs."""
        width = max(len(other.values), 1)
        keys, numbers = np.unique(self.numbers * width + other.numbers, return_inverse=True)
        return Codes.numbered(
            numbers, [(self.values[key // width], other.values[key % width]) for key in keys.tolist()]
        )

    def is_pair(self, other: Codes, pairs: Iterable[tuple[Any, Any]]) -> Flags:
        """Flags of the units whose values in the two columns are one of these pairs."""
        numbers = [{value: number for number, value in enumerate(codes.values)} for codes in (self, other)]
        width = len(other.values)
        known = [(left, right) for left, right in pairs if left in numbers[0] and right in numbers[1]]
        wanted = [numbers[0][left] * width + numbers[1][right] for left, right in known]
        return np.isin(self.numbers * width + other.numbers, wanted)


class GrowingCodes:
    """A column of names that is read in batches."""

    def __init__(self) -> None:
        self._number_of, self._numbers = _NumberOf(), [np.zeros(0, dtype=np.intp)]

    def add(self, cells: Sequence[Any]) -> None:
        """Append a batch of cells."""
        keys = cells if {*map(type, cells)} <= {str, int} else map(_key, cells)
        self._numbers.append(np.fromiter(map(self._number_of.__getitem__, keys), np.intp, len(cells)))

    def column(self) -> Codes:
        """The column of all cells so far."""
        keys = self._number_of
        values = [key[1] if type(key) is tuple else key.cell if type(key) is _Unlike else key for key in keys]
        return Codes(np.concatenate(self._numbers), values)


class _NumberOf(dict[Any, int]):
    def __missing__(self, key: Hashable) -> int:
        self[key] = number = len(self)
        return number


@dataclass(frozen=True, slots=True, eq=False)
class _Unlike:
    """A cell that cannot be hashed, such as a list; it counts as different from every other."""

    cell: Any


def _key(cell: Any) -> Any:
    if type(cell) in {str, int}:
        return cell
    if isinstance(cell, float) and math.isnan(cell):
        return float, math.nan  # always the same object, because NaN does not equal itself
    try:
        hash(cell)
    except TypeError:
        return _Unlike(cell)
    return type(cell), cell
