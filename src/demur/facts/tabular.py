"""Results as tables: plain columns, a data frame, or a table in a notebook."""

import math
from dataclasses import fields
from typing import Any, TypeVar

from demur.facts.frames import frame_of


class Tabular:
    """A result that is a table: `to_columns` gives it as lists, `to_frame` as a data frame, a notebook shows it."""

    __slots__ = ()

    def to_columns(self) -> dict[str, list[Any]]:
        """The table as lists, by the names of the columns; None for an undefined number."""
        raise NotImplementedError

    def to_frame(self) -> Any:
        """The table as a data frame: of polars, pandas or pyarrow, whichever is loaded, or else installed."""
        return frame_of(self.to_columns())

    def _repr_html_(self) -> str:
        columns = self.to_columns()
        rows = [*zip(*columns.values(), strict=True)]
        from demur.drawing.html import both_ends, html_table  # noqa: PLC0415  (only notebooks need it)

        return html_table([*columns], both_ends(len(rows), lambda row: [*map(_cell, rows[row])]), type(self).__name__)


class Record(Tabular):
    """A dataclass that is one row of a table, or a table of one row."""

    __slots__ = ()

    def to_row(self) -> dict[str, Any]:
        """The cells, by the names of their columns."""
        record: Any = self
        return {field.name: getattr(record, field.name) for field in fields(record)}

    def to_columns(self) -> dict[str, list[Any]]:
        """The table of this row alone."""
        return TableOf([self]).to_columns()


R = TypeVar("R", bound=Record)


class TableOf(list[R], Tabular):
    """Records, one row each."""

    def to_columns(self) -> dict[str, list[Any]]:
        """The cells of all rows, by the names of their columns; no columns without rows."""
        rows = [record.to_row() for record in self]
        return {name: [_defined(row[name]) for row in rows] for name in (rows[0] if rows else ())}


def _defined(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value


def _cell(value: object) -> str:
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
