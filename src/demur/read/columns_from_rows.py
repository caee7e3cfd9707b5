"""Conversion of rows to columns in batches, so that only a batch of cells is in memory as Python values."""

from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import islice
from typing import Any, Protocol, TypeVar

from demur.errors import UserError
from demur.facts.codes import Codes
from demur.facts.columns import MISSING, Column

MOST_MEMBERS = 1000  # members that never repeat would take rows × rows of memory
_BATCH = 10_000

Row = Mapping[str, Any]
AsColumn = Callable[[list[Any]], Column]
Columns = dict[str, Codes | Column]
T_co = TypeVar("T_co", covariant=True)


class Growing(Protocol[T_co]):
    """A column that is read in batches."""

    def add(self, cells: list[Any]) -> None:
        """Append a batch of cells."""

    def column(self) -> T_co:
        """The column of all cells so far."""


class GrowingColumn:
    """A column of cells, most of them numbers; `as_column` converts a batch of cells."""

    def __init__(self, as_column: AsColumn = Column.of) -> None:
        self._as_column, self._parts = as_column, list[Column]()

    def add(self, cells: list[Any]) -> None:
        """Append a batch of cells."""
        self._parts.append(self._as_column(cells))

    def column(self) -> Column:
        """The column of all cells so far."""
        return Column.joined(self._parts)


def columns_from_rows(
    rows: Iterable[Row],
    start: Callable[[str], Growing[T_co]],
    names: Collection[str] = (),
    noun: str = "members",
) -> dict[str, T_co]:
    """Convert rows to columns by name; `start` creates an empty column, and those in `names` come first.

    A member that a row lacks is MISSING. If there are no rows, there are no columns.
    """
    parts = {name: start(name) for name in names}
    count, remaining = 0, iter(rows)
    while batch := [*islice(remaining, _BATCH)]:
        for name in {name: None for row in batch for name in row if name not in parts}:
            parts[name] = start(name)
            if len(parts) > MOST_MEMBERS:
                raise UserError(f"more than {MOST_MEMBERS} different {noun}: the same ones are expected throughout")
            if count:
                parts[name].add([MISSING] * count)
        for name, part in parts.items():
            part.add([row.get(name, MISSING) for row in batch])
        count += len(batch)
    return {name: parts.pop(name).column() for name in [*parts]} if count else {}
