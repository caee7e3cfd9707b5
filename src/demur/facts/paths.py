"""Paths into nested objects, such as `model.sure`, and signals named by a path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from demur.facts.columns import MISSING, Column, State


def at_path(record: Any, path: str) -> Any:
    """The value at a path in a record, MISSING if there is none; member names may contain dots themselves.

    >>> at_path({"doc": {"a.b": [10, 20]}}, "doc.a.b.1")
    20
    """
    if not path:
        return record
    if isinstance(record, list):
        first, _, rest = path.partition(".")
        index = int(first) if first.isascii() and first.isdigit() and len(first) < 10 else len(record)  # noqa: PLR2004
        return at_path(record[index], rest) if index < len(record) else MISSING
    if isinstance(record, Mapping):
        parts = path.split(".")
        for size in range(len(parts), 0, -1):
            name = ".".join(parts[:size])
            if name in record and (value := at_path(record[name], ".".join(parts[size:]))) is not MISSING:
                return value
    return MISSING


class SignalColumns(Mapping[str, Column]):
    """Signals by name; a name that is no signal's may be a path into the objects of another signal.

    >>> signals = SignalColumns({"model": Column.of([{"sure": 0.5}, {"sure": None}, 7])})
    >>> [*signals], "model.sure" in signals, "model.size" in signals
    (['model'], True, False)
    >>> signals["model.sure"].values.tolist(), signals.members
    ([0.5, nan, nan], ['model.sure'])
    """

    __slots__ = ("_columns",)

    def __init__(self, columns: Mapping[str, Column]) -> None:
        self._columns = dict(columns)

    def __getitem__(self, name: str) -> Column:
        column = self._columns.get(name)
        if column is None:
            column = self._at_path(name)
        if column is None:
            raise KeyError(name)
        return column

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    @property
    def members(self) -> list[str]:
        """The paths to the members of the first object of each signal."""
        objects = ((name, column.other.values) for name, column in self._columns.items() if column.other is not None)
        firsts = ((name, next((cell for cell in cells if cell is not None), None)) for name, cells in objects)
        return [path for name, first in firsts for path in _members(first, name)]

    def _at_path(self, name: str) -> Column | None:
        """The column at a path, if any unit has a value there."""
        starts = [start for start in self._columns if name.startswith(f"{start}.")]
        for start in sorted(starts, key=len, reverse=True):
            cells, rest = self._columns[start].other, name[len(start) + 1 :]
            column = None if cells is None else Column.of_codes(cells.mapped(partial(at_path, path=rest)))
            if column is not None and np.any(column.state != State.MISSING):
                return column
        return None


def _members(record: Any, start: str) -> Iterator[str]:
    for name, value in record.items() if isinstance(record, Mapping) else ():
        path = f"{start}.{name}"
        if isinstance(value, Mapping):
            yield from _members(value, path)
        else:
            yield path
