"""Cells of per-query files: ids, lists of ids and numbers, each taken as it is or refused."""

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from demur.columns import plain, written_number
from demur.errors import UserError, literal, shown
from demur.items import ClusterId

SEPARATOR = "|"


@dataclass(frozen=True, slots=True)
class Cells:
    """How a format writes cells: whether ids may come joined in one text, and whether every cell is a text."""

    joined_ids: bool
    text_only: bool

    def single_id(self, cell: Any, role: str) -> ClusterId:
        """An id: a text, or an integer."""
        value = plain(cell)
        if type(value) is int or (isinstance(value, str) and value.strip() == value != ""):
            return value
        raise UserError(f"{shown(role)} {literal(value)}, expected an integer or a text without spaces around it")

    def ids(self, cell: Any, role: str, *, ordered: bool = True) -> list[str]:
        """A list of ids; nothing is an empty one. Where the order matters a set has none."""
        if _is_null(cell):
            return []
        if isinstance(cell, str) and self.joined_ids:
            cell = cell.split(SEPARATOR) if cell else []
        accepted = (Sequence, np.ndarray) if ordered else (Sequence, np.ndarray, AbstractSet)
        if not isinstance(cell, accepted) or isinstance(cell, (str, bytes, bytearray)):
            raise UserError(f"{shown(role)} {literal(cell)}, expected a list of ids")
        return [str(self.single_id(value, role)) for value in cell]

    def numbers(self, cell: Any, role: str) -> list[float]:
        """A list of numbers; nothing is an empty one."""
        if _is_null(cell):
            return []
        if isinstance(cell, str) and self.text_only:
            cell = cell.split(SEPARATOR) if cell else []
        if not isinstance(cell, (Sequence, np.ndarray)) or isinstance(cell, (str, bytes, Mapping)):
            raise UserError(f"{shown(role)} {literal(cell)}, expected a list of numbers")
        numbers = [number for value in cell if (number := self.number(value, role)) is not None]
        if len(numbers) < len(cell):
            raise UserError(f"{shown(role)} {literal(cell)}: one of them is missing")
        return numbers

    def number(self, cell: Any, role: str) -> float | None:
        """A number as it is given; nothing is filled in for one that is not there."""
        value = plain(cell)
        if value is None or (value == "" and self.text_only):
            return None
        number = None
        if isinstance(value, str) and self.text_only:
            number = written_number(value)
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            with suppress(OverflowError):
                number = float(value)
        if number is None:
            raise UserError(f"{shown(role)} {literal(value)}, expected a number")
        return number

    def fold(self, cell: Any, role: str) -> str | None:
        """The name of a fold."""
        return None if _is_null(cell) or cell == "" else str(self.single_id(cell, role))


def _is_null(cell: Any) -> bool:
    return plain(cell) is None or (isinstance(cell, float) and math.isnan(cell))
