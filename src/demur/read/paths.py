"""Columns named by a path into the objects of a row, as `doc.document`, or by several joined, as `doc_id,filter`."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from demur.errors import UserError, literal, located, shown
from demur.facts.codes import Codes
from demur.facts.columns import Column
from demur.facts.paths import at_path
from demur.read.columns_from_rows import Row
from demur.read.tables import FileTable, Rows


def with_paths(table: FileTable, names: Iterable[str]) -> FileTable:
    """Add a column to a table for each name that is a path and not already the name of a column."""
    paths = {name: parts for name in names if name not in table.header and (parts := _parts(table.header, name))}
    if not paths:
        return table

    def rows(wanted: Sequence[str]) -> Rows:
        joined = {name: parts for name, parts in paths.items() if name in wanted}
        columns = [column for parts in joined.values() for _, column in parts]
        for position, row in table.rows([*dict.fromkeys((*(n for n in wanted if n not in paths), *columns))]):
            with located(position):
                yield position, {**row, **{name: _cell(row, parts) for name, parts in joined.items()}}

    def column(name: str, coded: bool) -> Codes | Column:  # noqa: FBT001
        if name not in paths and table.column:
            return table.column(name, coded)
        cells = [row[name] for _, row in rows([name])]
        return Codes.of(cells) if coded else Column.of(cells)

    return replace(table, header=[*table.header, *paths], rows=rows, column=column if table.column else None)


def _parts(header: Sequence[str], name: str) -> list[tuple[str, str]]:
    paths = name.split(",")
    starts = [[column for column in header if f"{path}.".startswith(f"{column}.")] for path in paths]
    return [(path, max(columns, key=len)) for path, columns in zip(paths, starts, strict=True)] if all(starts) else []


def _cell(row: Row, parts: Sequence[tuple[str, str]]) -> Any:
    """The value at the only path, or the values at several as one text; commas within a value are escaped."""
    values = [(path, at_path(row, path)) for path, _ in parts]
    if len(values) == 1:
        return values[0][1]
    for path, value in values:
        if not isinstance(value, (int, str)) or isinstance(value, bool):
            raise UserError(f"{shown(path)} {literal(value)}, expected a name or a number, to be joined")
    return ",".join(str(value).replace("\\", "\\\\").replace(",", "\\,") for _, value in values)
