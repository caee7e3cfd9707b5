"""Parquet files: rows in batches, or whole columns without creating a Python value per cell."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from demur.errors import UserError, without_extra
from demur.facts.codes import Codes
from demur.facts.columns import Column, State
from demur.files.limits import FILE, MEMBER, check_unpacked
from demur.read.stream import Progress

_ROWS = 1000
_CELLS = 1 << 20
_CELL = 16  # bytes of a cell that is read: a number and its state, or a code


class ParquetTable:
    """An open Parquet file; reading it needs pyarrow, an optional dependency."""

    def __init__(self, path: str | Path) -> None:
        try:
            from pyarrow import parquet  # noqa: PLC0415  (an extra)
        except ImportError:
            raise without_extra("reading Parquet needs pyarrow", "parquet") from None
        with _valid():
            metadata = parquet.read_metadata(path)
            # Texts stay dictionary-encoded as in the file, because a few bytes could expand to gigabytes.
            leaves = [metadata.schema.column(index) for index in range(metadata.num_columns)]
            self._file = parquet.ParquetFile(
                path, read_dictionary=[leaf.path for leaf in leaves if _is_text(leaf)], metadata=metadata
            )
            self.header: list[str] = self._file.schema_arrow.names
            groups = [metadata.row_group(index) for index in range(metadata.num_row_groups)]
            sizes = [group.total_byte_size for group in groups]
            widths = [*enumerate(max(_CELL, leaf.length) for leaf in leaves)]
            unpacked = sum(group.column(index).num_values * width for group in groups for index, width in widths)
        MEMBER.check(max(sizes, default=0))
        FILE.check(sum(sizes))
        self._size = Path(path).stat().st_size
        check_unpacked(unpacked, self._size)  # equal cells take no space in the file

    def rows(self, columns: Sequence[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Every row as a mapping, with its position."""
        done = written = 0
        with _valid():
            for batch in _batches(self._file, _ROWS, columns):
                written += sum(map(_written_size, batch.columns))
                check_unpacked(written, self._size)
                yield from _rows_of(batch, done, columns)
                done += len(batch)

    def column(self, name: str, coded: bool) -> Codes | Column:  # noqa: FBT001
        """Read one column, as codes if `coded`, and as cells otherwise."""
        from pyarrow import default_memory_pool  # noqa: PLC0415

        with _valid():
            kind = self._file.schema_arrow.field(name).type
            batches = _batches(
                self._file, _CELLS if _is_plain(kind) else _ROWS, [name]
            )  # cells such as lists may be large
            column = _converted([batch.column(name) for batch in batches], kind, coded=coded)
            default_memory_pool().release_unused()  # otherwise the memory of every column stays allocated
            return column

    def batches(self, size: int, progress: Progress | None) -> Iterator[tuple[Any, Any]]:
        """Batches of rows, each as two functions: one returns a column of the batch, the other its rows."""
        total, done = self._file.metadata.num_rows, 0
        with _valid():
            for batch in _batches(self._file, size, self.header):
                yield partial(_of_batch, batch), partial(_rows_of, batch, done)
                done += len(batch)
                if progress:
                    progress(done, total)


@contextmanager
def _valid() -> Iterator[None]:
    from pyarrow import ArrowException  # noqa: PLC0415

    try:
        yield
    except UserError:
        raise
    except (ArrowException, OSError, ValueError) as error:
        raise UserError(f"not valid Parquet: {error}") from None


def _batches(file: Any, size: int, columns: Sequence[str]) -> Iterator[Any]:
    for batch in file.iter_batches(size, columns=[*columns]):
        MEMBER.check(batch.nbytes)
        batch.validate(full=True)  # reading a damaged file may give codes of texts that it does not have
        yield batch


def _is_plain(kind: Any) -> bool:
    from pyarrow import types  # noqa: PLC0415

    value_type = kind.value_type if types.is_dictionary(kind) else kind
    tests = (types.is_integer, types.is_float32, types.is_float64, types.is_boolean, types.is_string)
    return any(test(value_type) for test in (*tests, types.is_large_string, types.is_binary, types.is_large_binary))


def _is_text(leaf: Any) -> bool:
    return bool(leaf.physical_type == "BYTE_ARRAY" and leaf.logical_type.type != "DECIMAL")


def _written_size(cells: Any) -> int:
    """The bytes of an array as Python values, in which a text takes its bytes wherever it appears."""
    from pyarrow import compute, types  # noqa: PLC0415

    kind, own = cells.type, len(cells) * _CELL
    if types.is_dictionary(kind) and len(cells.dictionary):
        return own + (compute.sum(compute.binary_length(cells.dictionary).take(cells.indices)).as_py() or 0)
    if types.is_struct(kind):
        return own + sum(map(_written_size, cells.flatten()))
    return own + (_written_size(cells.flatten()) if types.is_nested(kind) else cells.nbytes)


def _of_batch(batch: Any, name: str, coded: bool) -> Codes | Column:  # noqa: FBT001
    cells = batch.column(name)
    return _converted([cells], cells.type, coded=coded)


def _rows_of(batch: Any, start: int, columns: Sequence[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every row of a batch as a mapping, with its position."""
    for first in range(0, len(batch), _ROWS):
        part = batch.slice(first, _ROWS).select([*columns])
        MEMBER.check(sum(map(_written_size, part.columns)))
        rows = part.to_pylist()
        yield from ((f"row {number}", row) for number, row in enumerate(rows, start + first))


def _converted(chunks: list[Any], kind: Any, *, coded: bool) -> Codes | Column:
    """A column as codes or as cells, by its Python values unless it holds texts, numbers or flags."""
    import pyarrow as pa  # noqa: PLC0415

    cells = pa.chunked_array(chunks, kind)
    if not _is_plain(kind):
        MEMBER.check(sum(map(_written_size, chunks)))
        return Codes.of(cells.to_pylist()) if coded else Column.of(cells.to_pylist())
    return _codes(cells) if coded else _column(cells)


def _codes(cells: Any) -> Codes:
    """A column as codes; a null is a value like any other."""
    from pyarrow import types  # noqa: PLC0415

    coded = cells.unify_dictionaries() if types.is_dictionary(cells.type) else cells.dictionary_encode()
    values = coded.chunk(0).dictionary.to_pylist() if coded.num_chunks else []
    numbers = np.empty(len(coded), dtype=np.intp)
    start = 0
    for chunk in coded.chunks:
        numbers[start : (start := start + len(chunk))] = chunk.indices.fill_null(len(values)).to_numpy()
    return Codes.numbered(numbers, [*values, None])


def _column(cells: Any) -> Column:
    """A column of numbers from its array and its nulls, any other from its codes."""
    from pyarrow import types  # noqa: PLC0415

    if not (types.is_integer(cells.type) or types.is_floating(cells.type)):
        return Column.of_codes(_codes(cells))
    nulls = cells.is_null().to_numpy() if cells.null_count else None
    column = Column.from_sequence((cells if nulls is None else cells.fill_null(0)).to_numpy())
    if nulls is not None:
        column.values[nulls], column.state[nulls] = np.nan, State.NULL
    return column
