"""Losses that a table gives: one number per unit, kept as integers over one divisor where decimals allow it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demur.errors import UserError
from demur.facts.codes import Codes
from demur.facts.columns import Column, OtherCells
from demur.types import Flags, Floats, Indices

GIVEN = "given"
COLUMN = "column "  # what the definition of a column of losses begins with
_MOST_DIGITS = 9
_EXACT = 2.0**53
_PART = 1 << 16  # as many numbers as are looked at before one that does not fit ends the search


@dataclass(frozen=True, slots=True)
class LossColumn:
    """A column of losses, or with a `score_range` of scores, of which a higher one is better, as it was read.

    `maximum` is what a loss is at most, if that is known.
    """

    cells: Column
    name: str
    score_range: tuple[float, float] | None = None
    maximum: float | None = None

    def __post_init__(self) -> None:
        if self.score_range is not None and not -math.inf < self.score_range[0] < self.score_range[1] < math.inf:
            low, high = self.score_range
            raise UserError(f"score range {low:g}:{high:g}, expected two numbers, the lower one first")
        if self.maximum is not None and not 0 < self.maximum < math.inf:
            raise UserError(f"the largest loss is {self.maximum:g}, expected a finite number above 0")

    @property
    def role(self) -> str:
        """What the column holds."""
        return "loss" if self.score_range is None else "score"

    @property
    def bounds(self) -> tuple[float, float]:
        """The lowest and the highest number a cell may hold."""
        low, high = self.score_range or (0.0, math.inf)
        return low, high if self.maximum is None or self.score_range else self.maximum

    @property
    def expected(self) -> str:
        """What a cell of an answered unit has to hold, in words."""
        low, high = self.bounds
        if self.score_range is not None:
            return f"a number {low:g} to {high:g} (--score-range)"
        return "a number, 0 or more" if math.isinf(high) else f"a number 0 to {high:g} (--loss-max)"

    @property
    def definition(self) -> str:
        """The loss as a formula of the column."""
        if self.score_range is None:
            return f"{COLUMN}{self.name}"
        low, high = self.score_range
        difference = f"{high:.10g} - column {self.name}"
        return difference if high - low == 1 else f"({difference}) / {high - low:.10g}"

    def wrong(self, answered: Flags) -> Flags:
        """Where an answered unit has no loss that can be used."""
        return np.asarray(answered & ~self.cells.within(*self.bounds))

    def losses(self, answered: Flags) -> Losses:
        """The losses of the answered units; every other unit has 0."""
        values = np.where(answered, self.cells.values, 0.0)
        low, high = self.score_range or (0.0, self.maximum or 1.0)
        digits = _fractional_digits(values, low, high)
        exact, scale = digits is not None, 10 ** (digits or 0)
        if exact:
            np.rint(np.multiply(values, scale, out=values), out=values)
            low, high = round(low * scale), round(high * scale)
        if self.score_range is None:
            largest = None if self.maximum is None else high
            return Losses(_whole(values, exact=exact), scale, largest, self.definition, exact)
        width = high - low
        values = np.where(answered, high - values, 0.0)
        if not exact:  # a score of 1/3, say
            return Losses(values / width, 1, 1, self.definition, exact)
        return Losses(_whole(values, exact=True), int(width), int(width), self.definition, exact)


@dataclass(frozen=True, slots=True, eq=False)
class Losses:
    """The loss of every unit: `numerators` over a `divisor`, 0 where the system abstained.

    `largest` is the largest numerator there can be, None where nothing bounds it. Losses that are not `exact` are
    doubles over 1. `name` is that of the loss they were made by, where truths and answers are not kept.
    """

    numerators: NDArray[Any]
    divisor: int
    largest: float | None
    definition: str
    exact: bool
    name: str = GIVEN

    def __post_init__(self) -> None:
        self.numerators.flags.writeable = False

    def take(self, units: Indices) -> Losses:
        """The losses of these units."""
        return replace(self, numerators=self.numerators[units])


def score_range(text: str) -> tuple[float, float]:
    """A range as it is written on a command line.

    >>> score_range("1:5")
    (1.0, 5.0)
    """
    try:
        low, high = map(float, text.split(":"))
    except ValueError:
        raise UserError(f"score range {text!r}, expected LOW:HIGH, such as 0:1") from None
    return low, high


def label_numbers(*columns: Sequence[Any]) -> tuple[tuple[str, ...], list[Column]]:
    """Texts as numbers that are equal exactly where the texts are, and the text of each number.

    >>> label_numbers(["Paris", "Rome"], ["Rome", None])[0]
    ('Paris', 'Rome')
    """
    coded = [*map(Codes.of, columns)]
    labels = sorted({value for codes in coded for value in codes.values if isinstance(value, str)})
    number = {label: index for index, label in enumerate(labels)}
    return tuple(labels), [_numbered(codes, number) for codes in coded]


def _numbered(codes: Codes, number: dict[str, int]) -> Column:
    """Texts by their numbers; anything but a text or an abstention is no label, and stays for the message to show."""
    column = Column.of([number[value] if isinstance(value, str) else _no_label(value) for value in codes.values])
    units = column.other.units
    kept = OtherCells(units, Codes.of([codes.values[unit] for unit in units.tolist()]))
    return replace(column, other=kept).spread(codes)


def _no_label(cell: Any) -> Any:
    """An abstention as it is; anything else as what is no number."""
    return cell if cell is None or (isinstance(cell, float) and math.isnan(cell)) else [cell]


def flags_of(column: Column) -> Flags:
    """Which cells are true: true and false, or 1 and 0; anything else is to be refused before."""
    flags = column.values == 1
    flags[column.other.where(lambda value: value is True)] = True
    return np.asarray(flags)


def is_flag(column: Column) -> Flags:
    """Which cells are true, false, 1 or 0."""
    good = column.within(0, 1, whole=True)
    good[column.other.where(lambda value: isinstance(value, bool))] = True
    return good


def _fractional_digits(values: Floats, low: float, high: float) -> int | None:
    """How many digits after the point write all of these numbers; None if 9 do not, or the integers are too large."""
    largest = max(abs(low), abs(high), values.max(initial=0), -values.min(initial=0))
    parts = [np.array([low, high]), *(values[start : start + _PART] for start in range(0, len(values), _PART))]
    for digits in range(_MOST_DIGITS + 1):
        scale = 10.0**digits
        if np.rint(largest * scale) >= _EXACT:
            return None
        # Divided, an integer gives the very double that its decimal is read as.
        if all(np.array_equal(np.rint(part * scale) / scale, part) for part in parts):
            return digits
    return None


def _whole(values: Floats, *, exact: bool) -> NDArray[Any]:
    return values.astype(np.int64) if exact else values
