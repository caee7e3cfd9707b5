"""Comparison of class labels, which are either equal or not: numbers, truth values and texts in any spelling."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain
from typing import Any

from demur.errors import UserError
from demur.facts.codes import Codes
from demur.facts.columns import EXACT, is_null, written_number

FLAGS = {"true": True, "false": False}
_INTEGER = re.compile(r"\s*[+-]?[0-9]{1,300}\s*")
_PADDED = re.compile(r"\s*(\+|-?0[0-9])")  # 01 and +1 may be codes
_DECIMAL = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]*)?([eE][+-]?[0-9]{1,3})?")  # 01 is a code, not a number
_FLAG, _BINARY, _NUMBER, _TEXT = "true or false", "0 or 1", "a number", "a text"


def spelled(cell: Any) -> Any:
    """Spell a label as text: true, false, or a whole number without decimals; return other cells unchanged.

    >>> [spelled(cell) for cell in (True, 2.0, 2, "2.0", "True", 0.5)]
    ['true', '2', '2', '2.0', 'True', 0.5]
    """
    if isinstance(cell, bool):
        return "true" if cell else "false"
    is_whole = isinstance(cell, int) or (isinstance(cell, float) and cell.is_integer() and abs(cell) < EXACT)
    return str(int(cell)) if is_whole else cell


def folded(cell: Any) -> Any:
    """Spell a label as text, with one spelling each for true, for false and for every whole number.

    >>> [folded(cell) for cell in ("0.0", "-0.0", "1e0", "1", "True", "01", "0.5", "a")]
    ['0', '0', '1', '1', 'true', '01', '0.5', 'a']
    """
    if not isinstance(cell, str):
        return spelled(cell)
    if cell.lower() in FLAGS:
        return cell.lower()
    number = Fraction(cell) if _DECIMAL.fullmatch(cell) else None
    return str(number) if number is not None and number.denominator == 1 and abs(number) < EXACT else cell


def number_of(cell: Any) -> Any:
    """The whole number that a label is or spells, exactly; any other label unchanged.

    >>> [number_of(cell) for cell in ("2.0", "02", 3, "0.50", "a")]
    [2, 2, 3, '0.50', 'a']
    """
    if not isinstance(cell, str):
        return cell
    if cell.isascii() and _INTEGER.fullmatch(cell):
        return int(cell)
    number = written_number(cell)
    return int(number) if number is not None and number.is_integer() else cell


@dataclass(slots=True)
class Spelling:
    """How labels of two columns, truths and answers, are compared; it depends on the contents of both columns.

    Texts are equal if every character is. But a column without any text other than numbers, true and false has no
    spelling of its own: pandas writes 0 as 0.0 where another cell is empty, and true as True. Against such a column
    labels are compared as `folded`. If both columns hold nothing but numbers, whole ones are compared as such.
    """

    kinds: tuple[set[str], set[str]] = field(default_factory=lambda: (set(), set()))
    _padded: set[Any] = field(default_factory=set)
    _plain: set[Any] = field(default_factory=set)

    @classmethod
    def of(cls, truth: Codes, answer: Codes) -> Spelling:
        """Determine how to compare the labels of two whole columns."""
        spelling = cls()
        spelling.add(truth, answer)
        spelling.check()
        return spelling

    def add(self, truth: Codes, answer: Codes) -> None:
        """Take more cells of both columns into account."""
        for kinds, codes in zip(self.kinds, (truth, answer), strict=True):
            kinds.update(_kinds(codes.values))
        if self.reading is number_of:
            for cell in (cell for codes in (truth, answer) for cell in codes.values if not is_null(cell)):
                is_padded = isinstance(cell, str) and _PADDED.match(cell)
                (self._padded if is_padded else self._plain).add(number_of(cell))

    def check(self) -> None:
        """Raise an error if both columns are read, and true and false would be compared with 1 and 0, or 01 with 1."""
        if self.reading is number_of and (both := self._padded & self._plain):
            label, way = min(both, key=str), "write truths and predictions in the same way, as codes or as numbers"
            raise UserError(f"{label} is a label with and without a leading 0 or +: {way}")
        if [*self.kinds] in ([{_FLAG}, {_BINARY}], [{_BINARY}, {_FLAG}]):
            first, second = (next(iter(kinds)) for kinds in self.kinds)
            raise UserError(f"a truth is {first}, a prediction {second}: write both in the same way")

    @property
    def reading(self) -> Callable[[Any], Any]:
        """The function that turns a label into what is compared: its number, its folded text, or its text."""
        if {*chain(*self.kinds)} <= {_BINARY, _NUMBER}:
            return number_of
        return folded if any(_TEXT not in kinds for kinds in self.kinds) else spelled

    def texts(self, truth: Codes, answer: Codes) -> tuple[Codes, Codes]:
        """Truths and answers as texts that are equal where the labels are, in the spelling of the first truth."""
        labels = [spelled(cell) for codes in (truth, answer) for cell in codes.values]
        first = {self.reading(label): label for label in reversed(labels) if isinstance(label, str)}

        def merged(cell: Any) -> Any:
            label = spelled(cell)
            return first[self.reading(label)] if isinstance(label, str) else label

        return truth.mapped(merged), answer.mapped(merged)


def _kinds(cells: Iterable[Any]) -> set[str]:
    return {_kind(cell) for cell in cells if not is_null(cell)}


def _kind(cell: Any) -> str:
    if isinstance(cell, bool) or (isinstance(cell, str) and cell.lower() in FLAGS):
        return _FLAG
    number = written_number(cell) if isinstance(cell, str) else cell
    if not isinstance(number, (int, float)) or not math.isfinite(number):
        return _TEXT
    return _BINARY if number in (0, 1) else _NUMBER
