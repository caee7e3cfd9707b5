"""Cells of long tables: as they are written, and as what they stand for."""

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any, Self

from demur.errors import UserError, literal
from demur.facts.columns import Column, written_number
from demur.facts.items import ClusterId, as_integers, checked_ids
from demur.read.tables import Columns, FileTable

_MOST_DIGITS = 300
_INTEGER = re.compile(rf"[+-]?[0-9]{{1,{_MOST_DIGITS}}}")
_DECIMAL = re.compile(r"[+-]?([0-9]+\.[0-9]*|\.[0-9]+)")
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+(?:[eE][+-]?[0-9]+)?")
_BOOLS = {"true": True, "false": False}
_IDS, _ANSWERS, _FLAGS = ("cluster", "item", "system"), ("truth", "prediction"), ("abstained", "success")


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells of a table by column: as they were written, where that matters, and as what they stand for.

    `texts` are the columns of answers that hold texts.
    """

    written: Columns
    values: Columns
    as_text: bool
    texts: frozenset[str]

    def only(self, flags: list[bool]) -> Self:
        """The rows whose flag is true."""
        kept = [{name: [*compress(cells, flags)] for name, cells in of.items()} for of in (self.written, self.values)]
        return replace(self, written=kept[0], values=kept[1])

    @property
    def rows(self) -> int:
        """How many there are."""
        return len(next(iter(self.values.values())))

    def ids(self, name: str, noun: str) -> list[ClusterId]:
        """The ids of a column, each an integer or a text; of a file of texts all integers, or all texts."""
        if not self.as_text:
            return checked_ids(self.values[name], noun)
        cells = self.written[name]
        # A column that mixed them would leave 300 and 0300 open to doubt.
        decimal = next(filter(_DECIMAL.fullmatch, cells), None)
        if decimal is not None:
            raise UserError(f"{noun} id {literal(decimal)}, expected an integer or text")
        return checked_ids(as_integers(cells, _MOST_DIGITS) or cells, noun)

    def flags(self, name: str) -> list[Any]:
        """A column of true and false, however they are written."""
        if not self.as_text:
            return self.values[name]
        pairs = zip(self.written[name], self.values[name], strict=True)
        return [_BOOLS.get(text.lower(), value) for text, value in pairs]

    def numbers(self, name: str) -> Column:
        """A column of numbers, in which true is 1 and false is 0."""
        cells = self.values[name]
        if self.as_text:
            cells = [_BOOLS.get(cell.lower(), cell) if isinstance(cell, str) else cell for cell in cells]
        return Column.of([int(cell) if type(cell) is bool else cell for cell in cells])

    def labels(self, name: str) -> list[Any]:
        """A column of texts as they are written, true and false among them; an abstention is no text."""
        if not self.as_text:
            return [str(cell).lower() if type(cell) is bool else cell for cell in self.values[name]]
        pairs = zip(self.written[name], self.values[name], strict=True)
        return [value if value is None or _is_nan(value) else text for text, value in pairs]


def read_cells(table: FileTable, mapped: Mapping[str, str], labels: Collection[str] = ()) -> Cells:
    """Texts as what they stand for: numbers where they read as numbers, null where they are empty.

    The columns `labels` are kept as they are written as well.
    """
    cells = typed = table.columns()
    ids, answers, flags = ({mapped.get(role, role) for role in roles} for roles in (_IDS, _ANSWERS, _FLAGS))
    if table.text_only:
        typed = {
            name: column if name in ids else [_value(cell, decimal_comma=table.decimal_comma) for cell in column]
            for name, column in cells.items()
        }
        cells = {name: column for name, column in cells.items() if name in ids | answers | flags | {*labels}}
    texts = frozenset(name for name in answers & {*typed} if any(isinstance(cell, (str, bool)) for cell in typed[name]))
    return Cells(cells, typed, table.text_only, texts)


def _value(cell: str, *, decimal_comma: bool) -> float | str | None:
    if not cell:
        return None
    if _INTEGER.fullmatch(cell):
        return int(cell)
    if decimal_comma and _DECIMAL_COMMA.fullmatch(cell):
        cell = cell.replace(",", ".")
    number = written_number(cell)
    return cell if number is None else number


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)
