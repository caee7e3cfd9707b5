"""Rows of per-query files: one function a format, each of them a file in and named cells out, a row at a time."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from demur.errors import UserError, shown
from demur.frames import columns_of
from demur.read.query_cells import Cells
from demur.strict_json import json_objects

if TYPE_CHECKING:
    from pathlib import Path

    from demur.read.stream import Stream

_TOGETHER = 1000
_LONGEST_CELL = 1 << 30
_EMPTY = "the file is empty: there is nothing to evaluate"

Row = Mapping[str, Any]
Placed = Iterator[tuple[str, Row]]


@dataclass(frozen=True, slots=True)
class Rows:
    """The columns there are, how cells are written, and the rows: each with its place, of the columns asked for."""

    header: Sequence[str]
    cells: Cells
    of: Callable[[Sequence[str]], Placed]

    def __post_init__(self) -> None:
        if len(set(self.header)) < len(self.header):
            twice = next(name for name in self.header if self.header.count(name) > 1)
            raise UserError(f"the column {shown(twice)} stands twice in the header")


def rows_in_memory(data: Any) -> Rows:
    """A frame of any library, or a dict of lists."""
    given = data if isinstance(data, Mapping) else {name: one.to_list() for name, one in columns_of(data).items()}
    try:
        table = {str(name): [*values] for name, values in given.items()}
    except TypeError:
        raise UserError("a table is a path, a data frame or a dict of lists: one of the columns is no list") from None
    lengths = {name: len(values) for name, values in table.items()}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{shown(name)} {length}" for name, length in lengths.items())
        raise UserError(f"the columns are of different lengths: {listed}")

    def of(columns: Sequence[str]) -> Placed:
        for number, row in enumerate(zip(*(table[name] for name in columns), strict=True)):
            yield f"row {number}", dict(zip(columns, row, strict=True))

    return Rows([*table], Cells(joined_ids=True, written_numbers=False), of)


def _csv(opened: Stream, _: str | Path) -> Rows:
    csv.field_size_limit(_LONGEST_CELL)  # a cell of ten thousand ids is long, and nothing is wrong with it
    rows = csv.reader(opened.lines, strict=True)
    header = next(_legible(rows), [])
    if not header:
        raise UserError(_EMPTY)
    header[0] = header[0].removeprefix("\ufeff")

    def of(_: Sequence[str]) -> Placed:
        for row in _legible(rows):
            if row and len(row) != len(header):
                raise UserError(f"line {rows.line_num}: {len(row)} cells, expected {len(header)} as in the header")
            if row:
                yield f"line {rows.line_num}", dict(zip(header, row, strict=True))

    return Rows(header, Cells(joined_ids=True, written_numbers=True), of)


def _legible(rows: Any) -> Iterator[list[str]]:
    try:
        yield from rows
    except csv.Error as error:
        raise UserError(f"line {rows.line_num}: not valid CSV: {error}") from None


def _json_lines(opened: Stream, _: str | Path) -> Rows:
    """The members of the first row are the columns."""
    rows = json_objects(opened.lines)
    first = next(rows, None)
    if first is None:
        raise UserError(_EMPTY)
    return Rows([*first[1]], Cells(joined_ids=False, written_numbers=False), lambda _: chain([first], rows))


def _parquet(_: Stream, path: str | Path) -> Rows:
    try:
        from pyarrow import ArrowException, parquet  # noqa: PLC0415  (an extra)
    except ImportError:
        raise UserError("reading Parquet needs pyarrow: pip install 'demur[parquet]'") from None
    try:
        file = parquet.ParquetFile(path)
    except (ArrowException, OSError) as error:
        raise UserError(f"not valid Parquet: {error}") from None

    def of(columns: Sequence[str]) -> Placed:
        number = 0
        try:
            for batch in file.iter_batches(_TOGETHER, columns=[*columns]):
                for row in batch.to_pylist():
                    yield f"row {number}", row
                    number += 1
        except (ArrowException, OSError) as error:
            raise UserError(f"not valid Parquet: {error}") from None

    return Rows(file.schema_arrow.names, Cells(joined_ids=True, written_numbers=False), of)


FORMATS: dict[str, Callable[[Stream, str | Path], Rows]] = {
    ".csv": _csv,
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".parquet": _parquet,
}
