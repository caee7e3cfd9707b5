"""Cells of per-query files: ids, lists of ids and numbers, each taken as it is or refused."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from demur.columns import plain
from demur.errors import UserError, literal, shown

if TYPE_CHECKING:
    from demur.items import ClusterId

SEPARATOR = "|"


@dataclass(frozen=True, slots=True)
class Cells:
    """How a format writes things: whether ids may come joined in one text, and numbers as text."""

    joined_ids: bool
    written_numbers: bool

    def one_id(self, cell: Any, role: str) -> ClusterId:
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
        return [str(self.one_id(one, role)) for one in cell]

    def numbers(self, cell: Any, role: str) -> list[float]:
        """A list of numbers; nothing is an empty one."""
        if _is_null(cell):
            return []
        if isinstance(cell, str) and self.written_numbers:
            cell = cell.split(SEPARATOR) if cell else []
        if not isinstance(cell, (Sequence, np.ndarray)) or isinstance(cell, (str, bytes, Mapping)):
            raise UserError(f"{shown(role)} {literal(cell)}, expected a list of numbers")
        found = [self.number(one, role) for one in cell]
        if any(one is None for one in found):
            raise UserError(f"{shown(role)} {literal(cell)}: one of them is missing")
        return [one for one in found if one is not None]

    def number(self, cell: Any, role: str) -> float | None:
        """A number as it is given; nothing is filled in for one that is not there."""
        value = plain(cell)
        if value is None or (value == "" and self.written_numbers):
            return None
        written = isinstance(value, str) and self.written_numbers and value.isascii() and "_" not in value
        try:
            if written or (isinstance(value, (int, float)) and not isinstance(value, bool)):
                return float(value)
        except (ValueError, OverflowError):
            pass
        raise UserError(f"{shown(role)} {literal(value)}, expected a number")

    def fold(self, cell: Any, role: str) -> str | None:
        """The name of a fold."""
        return None if _is_null(cell) or cell == "" else str(self.one_id(cell, role))


def _is_null(cell: Any) -> bool:
    return plain(cell) is None or (isinstance(cell, float) and math.isnan(cell))
