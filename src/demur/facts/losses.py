"""Columns of losses or scores, stored as integers over one divisor where they are short decimals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demur.errors import UserError, literal
from demur.facts.codes import Codes
from demur.facts.columns import EXACT, Column, is_null, written_number
from demur.facts.labels import Spelling
from demur.options import as_option
from demur.types import Flags, Floats, Indices

GIVEN = "given"
WHICH_LOSS = "the loss: zero_one if a number is a class, abs if it is an amount"
COLUMN = "column "  # the start of the definition of a column of losses
_MOST_DIGITS = 9
_PART = 1 << 16  # numbers that are tested at once; the first part that fails ends the test


@dataclass(frozen=True, slots=True)
class LossColumn:
    """A column of losses as read from a table, or of scores, where higher is better, if it has a `score_range`.

    `maximum` is the largest possible loss, if it is known.
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
        """The role of the column: loss or score."""
        return "loss" if self.score_range is None else "score"

    @property
    def bounds(self) -> tuple[float, float]:
        """The lowest and the highest number that a cell may have."""
        low, high = self.score_range or (0.0, math.inf)
        return low, high if self.maximum is None or self.score_range else self.maximum

    @property
    def expected(self) -> str:
        """The expected value of an answered unit in words, for error messages."""
        low, high = self.bounds
        if self.score_range is not None:
            return f"a number {low:g} to {high:g} (the range of scores, {as_option('score_range')})"
        return (
            "a number, 0 or more"
            if math.isinf(high)
            else f"a number 0 to {high:g} (the largest loss, {as_option('loss_max')})"
        )

    @property
    def definition(self) -> str:
        """The formula that turns a cell into a loss."""
        if self.score_range is None:
            return f"{COLUMN}{self.name}"
        low, high = self.score_range
        difference = f"{high:.10g} - column {self.name}"
        return difference if high - low == 1 else f"({difference}) / {high - low:.10g}"

    def wrong(self, answered: Flags) -> Flags:
        """Flags of the answered units whose cell is not a valid loss or score."""
        return np.asarray(answered & ~self.cells.within(*self.bounds))

    def losses(self, answered: Flags) -> Losses:
        """The losses of the answered units, and 0 for every other unit."""
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

    `largest` is the largest possible numerator, None if there is no bound. Losses that are not `exact` are doubles, and
    the divisor is 1. `name` is the loss that they were computed by, if truths and answers are not stored.
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
        """The losses of the units at these indices."""
        return replace(self, numerators=self.numerators[units])


def score_range(text: str) -> tuple[float, float]:
    """Parse LOW:HIGH, the notation of the command line.

    >>> score_range("1:5")
    (1.0, 5.0)
    """
    low, high = (written_number(end) for end in text.partition(":")[::2])
    if low is None or high is None:
        raise UserError(f"score range {literal(text)}, expected LOW:HIGH, such as 0:1")
    return low, high


def label_numbers(truth: Sequence[Any], answer: Sequence[Any]) -> tuple[tuple[str, ...], list[Column]]:
    """The distinct labels of two columns, sorted, and both columns with each label replaced by its index.

    >>> label_numbers(["Paris", "Rome"], ["Rome", None])[0]
    ('Paris', 'Rome')
    """
    columns = Codes.of(truth), Codes.of(answer)
    coded = Spelling.of(*columns).texts(*columns)
    labels = sorted({value for codes in coded for value in codes.values if isinstance(value, str)})
    number = {label: index for index, label in enumerate(labels)}
    return tuple(labels), [_numbered(codes, number) for codes in coded]


def _numbered(codes: Codes, number: dict[str, int]) -> Column:
    """The index of each text; cells that are neither texts nor abstentions stay as they are, for the error message."""
    column = Column.of([number[value] if isinstance(value, str) else _no_label(value) for value in codes.values])
    if column.other is not None:
        column = replace(column, other=column.other.mapped(lambda listed: listed and listed[0]))
    return column.take(codes.numbers)


def _no_label(cell: Any) -> Any:
    """An abstention unchanged; anything else in a list, so that a column does not take it for a number."""
    return cell if is_null(cell) else [cell]


def _fractional_digits(values: Floats, low: float, high: float) -> int | None:
    """The number of decimals that represent all of these numbers; None if 9 do not, or the integers are too large."""
    largest = max(abs(low), abs(high), values.max(initial=0), -values.min(initial=0))
    parts = [np.array([low, high]), *(values[start : start + _PART] for start in range(0, len(values), _PART))]
    for digits in range(_MOST_DIGITS + 1):
        scale = 10.0**digits
        if np.rint(largest * scale) >= EXACT:
            return None
        # Dividing the integer gives the same double as parsing the decimal.
        if all(np.array_equal(np.rint(part * scale) / scale, part) for part in parts):
            return digits
    return None


def _whole(values: Floats, *, exact: bool) -> NDArray[Any]:
    return values.astype(np.int64) if exact else values
