"""Rows made into columns, some at a time: never are all of a file's cells in memory as Python values."""

from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import islice
from typing import Any, Protocol, TypeVar

import numpy as np

from demur.errors import UserError
from demur.facts.codes import Codes, Numbering
from demur.facts.columns import MISSING, Column
from demur.types import Indices

MOST_MEMBERS = 1000  # members that never repeat would take rows × rows of memory
_BATCH = 10_000

Row = Mapping[str, Any]
Made = Callable[[list[Any]], Column]
Columns = dict[str, Codes | Column]
T_co = TypeVar("T_co", covariant=True)


class Growing(Protocol[T_co]):
    """A column that is being read."""

    def add(self, cells: list[Any]) -> None:
        """The next cells."""

    def column(self) -> T_co:
        """All of them."""


class GrowingCodes:
    """A column of names, each distinct one kept once."""

    def __init__(self) -> None:
        self._numbering, self._numbers = Numbering(), list[Indices]()

    def add(self, cells: list[Any]) -> None:
        """The next names."""
        self._numbers.append(self._numbering.numbers(cells))

    def column(self) -> Codes:
        """All of them."""
        return Codes(np.concatenate(self._numbers), self._numbering.values)


class GrowingColumn:
    """A column of numbers, mostly; `made` says what cells stand for."""

    def __init__(self, made: Made = Column.of) -> None:
        self._made, self._parts = made, list[Column]()

    def add(self, cells: list[Any]) -> None:
        """The next cells."""
        self._parts.append(self._made(cells))

    def column(self) -> Column:
        """All of them."""
        return Column.joined(self._parts)


def gathered(
    rows: Iterable[Row],
    begun: Callable[[str], Growing[T_co]],
    names: Collection[str] = (),
    noun: str = "members",
) -> dict[str, T_co]:
    """Rows by column, each as it is `begun`: those named, and every other member as it turns up.

    What a row lacks is MISSING. Without a row there are no columns.
    """
    parts = {name: begun(name) for name in names}
    count, remaining = 0, iter(rows)
    while batch := [*islice(remaining, _BATCH)]:
        for name in {name: None for row in batch for name in row if name not in parts}:
            parts[name] = begun(name)
            if len(parts) > MOST_MEMBERS:
                raise UserError(f"more than {MOST_MEMBERS} different {noun}: the same ones are expected throughout")
            if count:
                parts[name].add([MISSING] * count)
        for name, part in parts.items():
            part.add([row.get(name, MISSING) for row in batch])
        count += len(batch)
    return {name: parts.pop(name).column() for name in [*parts]} if count else {}
