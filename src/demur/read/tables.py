"""Reading of tables row by row: CSV, JSON Lines or Parquet, perhaps gzipped, a data frame, or a dict of lists.

A format is one function registered by `table_format`; it serves long tables and per-query tables alike.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demur.errors import UserError, literal, located, repeated, shown, unknown
from demur.facts.codes import Codes, GrowingCodes
from demur.facts.columns import Column, check_lengths, plain, plain_values
from demur.facts.frames import columns_of, library_of
from demur.facts.items import Source
from demur.files.limits import LINE
from demur.files.strict_json import json_objects
from demur.options import as_column
from demur.read.columns_from_rows import MOST_MEMBERS, AsColumn, Columns, GrowingColumn, Row, columns_from_rows
from demur.read.parquet import ParquetTable
from demur.read.stream import Progress, Stream, stream
from demur.read.units_file import MARK, REQUIRED, check_header, unit_rows

Rows = Iterator[tuple[str, Row]]

NO_ROWS = "there are no rows: nothing can be evaluated"
_ROWS = 5000  # rows of a frame that are converted at a time
_EMPTY = "the file is empty: there is nothing to evaluate"
_SEPARATORS = (",", ";", "\t")  # the most frequent in the header is used, the first of these if several are
_QUOTED = re.compile(r'"[^"]*"')


@dataclass(frozen=True, slots=True)
class FileTable:
    """An open table: its column names, a function that yields its rows, and how its cells are written.

    `rows` takes the names of the columns that are needed and yields each row with its position, such as "line 7". With
    `text_only` every cell is a text; with `joined_ids` a list of ids may be one text with `|` between them; with
    `decimal_comma` a number may be written 0,5, as in spreadsheets that put ; between cells.

    Where that is faster, `column` returns a whole column, as codes if its second argument is true, and `parts` yields
    tables of a number of rows each. `units` is the header of a file of units.
    """

    header: Sequence[str]
    rows: Callable[[Sequence[str]], Rows]
    text_only: bool = False
    joined_ids: bool = True
    decimal_comma: bool = False
    column: Callable[[str, bool], Codes | Column] | None = None
    parts: Callable[[int, Progress | None], Iterator[FileTable]] | None = None
    units: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if twice := repeated(self.header):
            raise UserError(f"the column {shown(twice[0])} appears twice in the header")

    def columns(self, coded: Collection[str] = (), convert: AsColumn = Column.of) -> Columns:
        """Read all rows by column, `coded` ones as codes, others converted; members that a row lacks are MISSING."""
        if self.column:
            columns: Columns = {name: self.column(name, name in coded) for name in self.header}
        else:
            rows = (row for _, row in self.rows(self.header))
            columns = columns_from_rows(
                rows, lambda name: GrowingCodes() if name in coded else GrowingColumn(convert), self.header
            )
        if not any(map(len, columns.values())):
            raise UserError(NO_ROWS)
        return columns

    def batches(self, size: int, progress: Progress | None = None) -> Iterator[FileTable]:
        """Split the table into tables of `size` rows, each to be read before the next is requested."""
        if self.parts is not None:
            yield from self.parts(size, progress)
            return
        rows = self.rows(self.header)
        while (first := next(rows, None)) is not None:
            yield replace(self, rows=partial(_next_rows, first, rows, size - 1))


def _next_rows(first: tuple[str, Row], rows: Rows, size: int, _: Sequence[str]) -> Rows:
    return chain([first], islice(rows, size))


def role_names(mapped: Mapping[str, str], roles: Collection[str]) -> dict[str, str]:
    """The name of the column of each role: the mapped one, or the name of the role itself."""
    for role in mapped:
        if role not in roles:
            raise unknown("column role", role, roles)
    return {role: mapped.get(role, role) for role in roles}


def missing_column(name: str, role: str, header: Iterable[str]) -> UserError:
    """Build the error for a role without a column."""
    listed = ", ".join(map(shown, header)) or "none"
    return UserError(f"no column {shown(name)} for {role}; columns: {listed}; map it, {as_column(role)}")


FORMATS: dict[str, Callable[[Stream, str | Path], FileTable]] = {}


def table_format(*suffixes: str) -> Callable[[Callable[[Stream, str | Path], FileTable]], None]:
    """Register the decorated function as the reader of files with these suffixes."""

    def register(reader: Callable[[Stream, str | Path], FileTable]) -> None:
        FORMATS.update(dict.fromkeys(suffixes, reader))

    return register


def format_of(path: str | Path) -> str | None:
    """The suffix of a table, without a final .gz; None for any other file."""
    suffix = Path(str(path).lower().removesuffix(".gz")).suffix
    return suffix if suffix in FORMATS else None


@contextmanager
def opened_table(
    data: Any, progress: Progress | None = None, *, nan_kept: Collection[str] | None = None
) -> Iterator[tuple[FileTable, Callable[[], Source | None]]]:
    """Open a path, a frame or a dict of lists as a table, with a function that returns its source after reading.

    Some frames count NaN as null. In the columns `nan_kept`, or in all if it is None, such a cell stays NaN.
    """
    if not isinstance(data, (str, Path)):
        library = library_of(data)
        yield _in_memory(data, nan_kept), lambda: Source(library=library) if library else None
        return
    suffix = format_of(data)
    if suffix is None:
        raise UserError(f"{data}: expected a table, whose name ends in {', '.join(FORMATS)}, with or without .gz")
    with stream(data, progress) as file:
        yield FORMATS[suffix](file, data), file.source


def _in_memory(data: Any, nan_kept: Collection[str] | None) -> FileTable:
    columns = {name: _sized(values) for name, values in columns_of(data).items()}
    check_lengths(columns)

    def values(name: str, part: slice | None = None) -> list[Any]:
        series = columns[name] if part is None else _part(columns[name], part)
        cells = [*map(plain, plain_values(series))]
        if nan_kept is None or isinstance(data, Mapping):
            return cells
        nulls = series.is_null().to_list()
        return [
            None if null and not (name in nan_kept and isinstance(cell, float) and math.isnan(cell)) else cell
            for cell, null in zip(cells, nulls, strict=True)
        ]

    def rows(names: Sequence[str]) -> Rows:
        for start in range(0, len(next(iter(columns.values()), ())), _ROWS):
            parts = [values(name, slice(start, start + _ROWS)) for name in names]
            for number, row in enumerate(zip(*parts, strict=True), start):
                yield f"row {number}", dict(zip(names, row, strict=True))

    def column(name: str, coded: bool) -> Codes | Column:  # noqa: FBT001
        if coded:
            return Codes.of(values(name))
        numbers = _numbers(columns[name])
        return Column.of(values(name)) if numbers is None else Column.from_sequence(numbers)

    return FileTable([*columns], rows, column=column)


def _numbers(values: Any) -> NDArray[Any] | None:
    """A column of numbers without nulls as an array; None for any other."""
    if isinstance(values, np.ndarray):
        return values if values.ndim == 1 and values.dtype.kind in "iuf" else None
    if not hasattr(values, "is_null") or not values.dtype.is_numeric() or values.is_null().any():
        return None
    numbers = values.to_numpy()
    return numbers if numbers.dtype.kind in "iuf" else None


def _sized(values: Any) -> Any:
    try:
        cells = iter(values)
    except TypeError:
        raise UserError(f"{literal(values)} is not a column: expected a list") from None
    return values if hasattr(values, "__len__") else [*cells]


def _part(values: Any, part: slice) -> Any:
    if hasattr(values, "iloc"):  # values[…] of pandas selects by label, which may be a number
        return values.iloc[part]
    is_series = isinstance(values, (list, tuple)) or hasattr(values, "dtype") or hasattr(values, "to_pylist")
    return values[part] if is_series else plain_values(values)[part]


@table_format(".csv", ".tsv")
def _csv(file: Stream, path: str | Path) -> FileTable:
    """Cells separated by commas, semicolons or tabs, whichever separates the names of the columns; in .tsv by tabs."""
    file.text.reconfigure(encoding="utf-8-sig", newline="")
    first = next(iter(file.lines), "")
    separator = "\t" if format_of(path) == ".tsv" else max(_SEPARATORS, key=_QUOTED.sub("", first).count)
    records = _records(chain([first] if first else [], file.lines), separator)
    header = next((cells for _, cells in records), None)
    if not header:
        raise UserError(_EMPTY if header is None else "line 1 is empty, expected the names of the columns")

    def rows(_: Sequence[str]) -> Rows:
        for number, cells in records:
            if cells and len(cells) != len(header):
                raise UserError(f"line {number}: {len(cells)} cells, expected {len(header)} as in the header")
            if cells:
                yield f"line {number}", dict(zip(header, cells, strict=True))

    return FileTable(header, rows, text_only=True, decimal_comma=separator == ";")


def _records(lines: Iterable[str], separator: str) -> Iterator[tuple[int, list[str]]]:
    """The number of each row's last line, and its cells; the limit of a line holds for a row of several lines too."""
    longest, length = LINE.size, 0
    csv.field_size_limit(longest)

    def watched() -> Iterator[str]:
        nonlocal length
        for line in lines:
            length += len(line)
            if length > longest:
                with located(f"line {reader.line_num + 1}"):
                    LINE.check(length)
            yield line

    reader = csv.reader(watched(), strict=True, delimiter=separator)
    try:
        for cells in reader:
            length = 0
            yield reader.line_num, cells
    except csv.Error as error:
        raise UserError(f"line {reader.line_num}: not valid CSV: {error}") from None


@table_format(".jsonl", ".ndjson")
def _json_lines(file: Stream, _: str | Path) -> FileTable:
    """JSON Lines: the members of the first row are the columns, unless it is the header of a file of units."""
    rows = json_objects(file.lines)
    first = next(rows, None)
    if first is None:
        raise UserError(_EMPTY)
    if MARK in first[1]:
        with located(first[0]):
            check_header(first[1])
        return FileTable(REQUIRED, lambda _: unit_rows(rows), joined_ids=False, units=first[1])
    if len(first[1]) > MOST_MEMBERS:
        raise UserError(f"{first[0]}: {len(first[1])} members, expected at most {MOST_MEMBERS}")
    return FileTable([*first[1]], lambda _: chain([first], rows), joined_ids=False)


@table_format(".parquet")
def _parquet(_: Stream, path: str | Path) -> FileTable:
    """Parquet: long tables are read by column, or by column in batches, tables of queries by row."""
    file = ParquetTable(path)

    def parts(size: int, progress: Progress | None) -> Iterator[FileTable]:
        for column, rows in file.batches(size, progress):
            yield FileTable(file.header, rows, column=column)

    return FileTable(file.header, file.rows, column=file.column, parts=parts)
