"""Parquet files: rows in batches, or whole columns without creating a Python value per cell."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from demur.errors import UserError
from demur.facts.codes import Codes
from demur.facts.columns import Column, State
from demur.files.limits import FILE, MEMBER
from demur.read.stream import Progress

_ROWS = 1000
_CELLS = 1 << 20


class ParquetTable:
    """An open Parquet file; reading it needs pyarrow, an optional dependency."""

    def __init__(self, path: str | Path) -> None:
        try:
            from pyarrow import parquet  # noqa: PLC0415  (an extra)
        except ImportError:
            raise UserError("reading Parquet needs pyarrow: pip install 'demur[parquet]'") from None
        with _valid():
            schema = parquet.read_schema(path)
            # Texts stay dictionary-encoded as in the file, because a few bytes could expand to gigabytes.
            texts = [field.name for field in schema if str(field.type) in {"string", "large_string"}]
            self._file, self._path = parquet.ParquetFile(path, read_dictionary=texts), path
            metadata = self._file.metadata
            sizes = [metadata.row_group(index).total_byte_size for index in range(self._file.num_row_groups)]
        self.header: list[str] = schema.names
        MEMBER.check(max(sizes, default=0))
        FILE.check(sum(sizes))

    def rows(self, columns: Sequence[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Every row as a mapping, with its position; the size of a batch is that of its texts written out."""
        from pyarrow import parquet  # noqa: PLC0415

        done = 0
        with _valid():
            for batch in _batches(parquet.ParquetFile(self._path), _ROWS, columns):
                yield from _rows_of(batch, done, columns)
                done += len(batch)

    def column(self, name: str, coded: bool) -> Codes | Column:  # noqa: FBT001
        """One column, as codes or as cells."""
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
        """Batches of rows: what gives a column of each, as codes or as cells, and what gives its rows."""
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
    """Some columns in batches of rows, each within the limit of what is read in one piece."""
    for batch in file.iter_batches(size, columns=[*columns]):
        MEMBER.check(batch.nbytes)
        yield batch


def _is_plain(kind: Any) -> bool:
    from pyarrow import types  # noqa: PLC0415

    value_type = kind.value_type if types.is_dictionary(kind) else kind
    tests = (types.is_integer, types.is_float32, types.is_float64, types.is_boolean, types.is_string)
    return any(test(value_type) for test in (*tests, types.is_large_string))


def _of_batch(batch: Any, name: str, coded: bool) -> Codes | Column:  # noqa: FBT001
    """One column of a batch of rows, as codes or as cells."""
    cells = batch.column(name)
    return _converted([cells], cells.type, coded=coded)


def _rows_of(batch: Any, start: int, columns: Sequence[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every row of a batch as a mapping, with its position."""
    for first in range(0, len(batch), _ROWS):
        rows = batch.slice(first, _ROWS).select([*columns]).to_pylist()
        yield from ((f"row {number}", row) for number, row in enumerate(rows, start + first))


def _converted(chunks: list[Any], kind: Any, *, coded: bool) -> Codes | Column:
    """A column as codes or as cells, by its Python values unless it holds texts, numbers or flags."""
    import pyarrow as pa  # noqa: PLC0415

    cells = pa.chunked_array(chunks, kind)
    if not _is_plain(kind):
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
