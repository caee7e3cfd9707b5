"""The cells of long tables, as written in the file and as parsed values."""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np

from demur.errors import UserError, literal
from demur.facts.codes import Codes
from demur.facts.columns import EXACT, Column, State, is_null, written_number
from demur.facts.ids import checked_ids
from demur.facts.labels import FLAGS
from demur.read.columns_from_rows import Columns
from demur.read.tables import FileTable
from demur.types import Floats, Indices

_MOST_DIGITS = 300
_INTEGER = re.compile(rf"[+-]?[0-9]{{1,{_MOST_DIGITS}}}")
_WHOLE = re.compile(rf"(0|-?[1-9][0-9]{{0,{_MOST_DIGITS - 1}}})(\.0*)?")
_DECIMAL = re.compile(r"[+-]?([0-9]+\.[0-9]*|\.[0-9]+)")
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+(?:[eE][+-]?[0-9]+)?")
_CODED = ("cluster", "item", "system", "truth", "prediction", "abstained", "success", "status", "repeat", "answer")
_ANSWERS = ("truth", "prediction")


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells of a table by column: names as codes, all others as columns.

    With `as_text` every cell of the file is a text; codes have these texts, and `value` parses one. `texts` are the
    columns of truths and predictions that contain texts.
    """

    values: Columns
    value: Callable[[Any], Any]
    as_text: bool
    texts: frozenset[str]

    def take(self, rows: Indices) -> Self:
        """The rows at these indices."""
        return replace(self, values={name: cells.take(rows) for name, cells in self.values.items()})

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(next(iter(self.values.values())))

    def codes(self, name: str) -> Codes:
        """A column of names as they are written."""
        cells = self.values[name]
        return cells if isinstance(cells, Codes) else Codes.of([*cells])

    def column(self, name: str) -> Column:
        """A column of parsed values."""
        cells = self.values[name]
        return Column.of_codes(cells.mapped(self.value)) if isinstance(cells, Codes) else cells

    def ids(self, name: str, noun: str) -> Codes:
        """A column of ids, integers or texts; in a file of texts they are all integers or all texts.

        If all are numbers, 101.0 is 101: so pandas writes integers where another cell was empty.
        """
        codes = self.codes(name)
        as_whole = _spelled_whole if self.as_text else _as_whole
        if all(as_whole(cell) is not None for cell in codes.values):
            codes = codes.mapped(as_whole)
        if not self.as_text or not codes.values or isinstance(codes.values[0], int):
            return replace(codes, values=checked_ids(codes.values, noun))
        # If both could be in one column, it would be unclear whether 300 and 0300 are the same id.
        decimal = next(filter(_DECIMAL.fullmatch, codes.values), None)
        if decimal is not None:
            raise UserError(f"{noun} id {literal(decimal)}, expected an integer or text")
        return replace(codes, values=checked_ids(codes.values, noun))

    def flags(self, name: str) -> Codes:
        """A column of true and false, in any spelling."""
        return self.codes(name).mapped(lambda cell: as_flag(self.value(cell)) if self.as_text else cell)

    def numbers(self, name: str) -> Column:
        """A column of numbers, in which true is 1 and false is 0."""
        return self.column(name).changed(lambda cell: _as_number(as_flag(cell) if self.as_text else cell))

    def labels(self, name: str) -> Codes:
        """A column of labels as written, with a decimal comma as a point; abstentions are null or NaN."""
        return self.codes(name).mapped(lambda cell: _as_label(cell, self.value(cell)))


def read_cells(table: FileTable, mapped: Mapping[str, str], labels: Collection[str] = ()) -> Cells:
    """Read the cells of a table; a text that spells a number is parsed, and an empty text is null.

    The columns `labels` are not parsed.
    """
    value: Callable[[Any], Any] = (
        partial(text_value, decimal_comma=table.decimal_comma) if table.text_only else _unchanged
    )
    as_column = partial(_column, value=value) if table.text_only else Column.of
    coded, answers = ({mapped.get(role, role) for role in roles} for roles in (_CODED, _ANSWERS))
    values = table.columns(coded.union(labels), as_column)
    cells = Cells(values, value, table.text_only, frozenset())
    parsed = {name: map(value, cells.codes(name).values) for name in answers & {*values}}
    texts = (name for name in parsed if any(isinstance(cell, (str, bool)) for cell in parsed[name]))
    return replace(cells, texts=frozenset(texts))


def _column(cells: list[str], value: Callable[[str], Any]) -> Column:
    """A column of texts, converted to numbers at once where possible, and one by one otherwise."""
    numbers = _numbers(cells)
    if numbers is None or (np.abs(numbers) >= EXACT).any():
        return Column.of([*map(value, cells)])
    filled = np.fromiter(map(bool, cells), bool, len(cells))
    return Column(numbers, np.where(filled, State.NUMBER, State.NULL).astype(np.uint8))


def _numbers(cells: list[str]) -> Floats | None:
    """The numbers that texts spell, NaN for an empty one; None if one of them may not be a number."""
    everything = "".join(cells)
    if not everything.isascii() or "_" in everything:  # float() accepts 1_000 and digits of other scripts
        return None
    try:
        return np.fromiter((float(cell or "nan") for cell in cells), float, len(cells))
    except ValueError:
        return None


def text_value(cell: str, *, decimal_comma: bool) -> float | str | None:
    """The number that a text spells, or else the text; None if it is empty."""
    if not cell:
        return None
    if _INTEGER.fullmatch(cell):
        return int(cell)
    if decimal_comma and _DECIMAL_COMMA.fullmatch(cell):
        cell = cell.replace(",", ".")
    number = written_number(cell)
    return cell if number is None else number


def _unchanged(cell: Any) -> Any:
    return cell


def as_flag(cell: Any) -> Any:
    """Convert a text such as yes or False to a truth value; return any other cell unchanged."""
    return FLAGS.get(cell.lower(), cell) if isinstance(cell, str) else cell


def _as_number(cell: Any) -> Any:
    return int(cell) if type(cell) is bool else cell


def _as_whole(cell: Any) -> int | None:
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < EXACT:
        return int(cell)
    return cell if type(cell) is int else None


def _spelled_whole(text: str) -> int | None:
    return int(text.partition(".")[0]) if _WHOLE.fullmatch(text) else None


def _as_label(cell: Any, value: Any) -> Any:
    if is_null(value):
        return value
    return cell.replace(",", ".") if isinstance(cell, str) and isinstance(value, float) else cell
