"""Data frames of any library as named columns, and results as columns, data frames and notebook tables."""

import math
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields
from importlib import import_module
from typing import Any, TypeVar

from demur.errors import UserError, literal, repeated

_LIBRARIES = ("polars", "pandas", "pyarrow")


def library_of(*data: object) -> str:
    """The library (polars, pandas or pyarrow) of the first frame or series among some data; empty if none.

    >>> library_of([1, 2], None)
    ''
    """
    names = (type(value).__module__.partition(".")[0] for value in data)
    return next((name for name in names if name in _LIBRARIES), "")


def columns_of(data: Any) -> dict[str, Any]:
    """The columns by name: those of a mapping unchanged, those of a data frame as narwhals series."""
    columns = [*data.items()] if isinstance(data, Mapping) else [(series.name, series) for series in _series(data)]
    if twice := repeated(str(name) for name, _ in columns):
        same = " and ".join(literal(name) for name, _ in columns if str(name) == twice[0])
        raise UserError(f"the columns {same} have the same name as text: give each a name of its own")
    return {str(name): values for name, values in columns}


def is_frame(data: Any) -> bool:
    """Whether data are a data frame of a library that narwhals supports."""
    if isinstance(data, (list, tuple)):
        return False
    import narwhals as nw  # noqa: PLC0415

    return nw.from_native(data, pass_through=True) is not data


def _series(frame: Any) -> list[Any]:
    import narwhals as nw  # noqa: PLC0415  (slow to import, and only frames need it)

    try:
        native = nw.from_native(frame)
    except TypeError:
        kind = type(frame).__name__
        raise UserError(f"a table is a path, a data frame or a dict of lists, not {kind}") from None
    except nw.exceptions.NarwhalsError as error:
        raise UserError(f"the frame cannot be read: {error}") from None
    if isinstance(native, nw.LazyFrame):
        try:
            native = native.collect()
        except Exception as error:  # each library raises its own exceptions for a wrong lazy plan
            raise UserError(f"the lazy frame cannot be collected: {error}") from error
    return [*native.iter_columns()]


def frame_of(columns: dict[str, list[Any]], library: str = "") -> Any:
    """Build a data frame with `library`; if empty, with one of polars, pandas and pyarrow, preferring a loaded one."""
    import narwhals as nw  # noqa: PLC0415

    for name in sorted(_LIBRARIES, key=lambda name: (name != library, name not in sys.modules)):
        with suppress(ImportError):
            return nw.from_dict(columns, backend=import_module(name)).to_native()
    raise UserError("a data frame needs polars, pandas or pyarrow: install one of them, or use to_columns()")


class Tabular:
    """A result that is a table: `to_columns` returns lists, `to_frame` a data frame, and notebooks display it.

    `library` is the data frame library of the input, empty if the input was not a frame.
    """

    __slots__ = ()
    library: str = ""

    def to_columns(self) -> dict[str, list[Any]]:
        """The table as lists by column name; undefined numbers are None."""
        raise NotImplementedError

    def to_frame(self) -> Any:
        """The table as a data frame of the library of the input, or else of one that is loaded or installed."""
        return frame_of(self.to_columns(), self.library)

    def _repr_html_(self) -> str:
        columns = self.to_columns()
        rows = [*zip(*columns.values(), strict=True)]
        from demur.drawing.html import both_ends, html_table  # noqa: PLC0415  (only notebooks need it)

        return html_table([*columns], both_ends(len(rows), lambda row: [*map(_cell, rows[row])]), type(self).__name__)


class Record(Tabular):
    """A dataclass that is one row of a table, or by itself a table of one row."""

    __slots__ = ()

    def to_row(self) -> dict[str, Any]:
        """The cells by column name."""
        record: Any = self
        return {field.name: getattr(record, field.name) for field in fields(record)}

    def to_columns(self) -> dict[str, list[Any]]:
        """The table that has this row alone."""
        return TableOf([self]).to_columns()


R = TypeVar("R", bound=Record)


class TableOf(list[R], Tabular):
    """A table of records, one per row."""

    def to_columns(self) -> dict[str, list[Any]]:
        """The cells of all rows by column name; no columns if there are no rows."""
        rows = [record.to_row() for record in self]
        return {name: [_defined(row[name]) for row in rows] for name in (rows[0] if rows else ())}


def _defined(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value


def _cell(value: object) -> str:
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
