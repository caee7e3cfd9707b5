"""Columns of cells as a file has them: each cell is a number, null, missing, or something else."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demur.errors import UserError, and_more, literal, shown
from demur.facts.codes import Codes
from demur.types import Flags, Floats, Indices


class Missing(enum.Enum):
    """The value of a cell whose row lacks the member, as opposed to one that is null."""

    MISSING = "missing"

    def __repr__(self) -> str:
        return self.value


MISSING = Missing.MISSING


class State(enum.IntEnum):
    """The kind of a cell."""

    MISSING = 0
    NULL = 1
    NUMBER = 2
    OTHER = 3


EXACT = 2.0**53  # below this, every integer is a double
_LARGEST_SHOWN = 2.0**63  # as an integer
_STATE_OF_TYPE = {Missing: State.MISSING, type(None): State.NULL, int: State.NUMBER, float: State.NUMBER}


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One cell per unit: `values` where `state` is NUMBER, and `other` where it is OTHER, neither number nor null.

    `other` is None in all other units, and as a whole if there is no such cell.

    >>> column = Column.of([2, None, MISSING, "llm", True])
    >>> [State(s).name for s in column.state]
    ['NUMBER', 'NULL', 'MISSING', 'OTHER', 'OTHER']
    >>> [*column.other]
    [None, None, None, 'llm', True]
    """

    values: Floats
    state: NDArray[np.uint8]
    other: Codes | None = None

    @classmethod
    def of(cls, raw: Sequence[object]) -> Column:
        """Build a column from plain Python values; a bool is not a number."""
        state = np.full(len(raw), State.NUMBER, dtype=np.uint8)
        if not {*map(type, raw)} <= {int, float}:
            state[:] = [_STATE_OF_TYPE.get(type(value), State.OTHER) for value in raw]
        values = np.full(len(raw), np.nan)
        numbers = np.flatnonzero(state == State.NUMBER).tolist()
        try:
            values[numbers] = raw if len(numbers) == len(raw) else [raw[i] for i in numbers]
        except OverflowError:
            values[numbers] = [_as_double(raw[i]) for i in numbers]
        # An integer that no double represents is not used as a number: rounded, it could equal another.
        for index in np.flatnonzero(np.abs(values) >= EXACT).tolist():
            if type(raw[index]) is int and (math.isinf(values[index]) or int(values[index]) != raw[index]):
                state[index], values[index] = State.OTHER, np.nan
        units = np.flatnonzero(state == State.OTHER)
        if not units.size:
            return cls(values, state)
        other, value_of = Codes.of([raw[unit] for unit in units.tolist()]), np.zeros(len(raw), dtype=np.intp)
        value_of[units] = other.numbers + 1
        return cls(values, state, Codes.numbered(value_of, [None, *other.values]))

    @classmethod
    def none(cls) -> Column:
        """A column without cells."""
        return cls(np.zeros(0), np.zeros(0, dtype=np.uint8))

    @classmethod
    def of_codes(cls, codes: Codes) -> Column:
        """Build a column from encoded values."""
        return cls.of([*codes.values]).take(codes.numbers)

    @classmethod
    def joined(cls, parts: Sequence[Column]) -> Column:
        """Concatenate columns."""
        values, state = (np.concatenate([getattr(part, name) for part in parts]) for name in ("values", "state"))
        if all(part.other is None for part in parts):
            return cls(values, state)
        none = Codes(np.zeros(max(map(len, parts)), dtype=np.intp), [None])
        return cls(values, state, Codes.joined([part.other or none[: len(part)] for part in parts]))

    @classmethod
    def from_sequence(cls, values: Any) -> Column:
        """Build a column from an array, a list, or a series of any data frame library."""
        raw = plain_values(values)
        if isinstance(raw, list):
            return cls.of(raw)
        numbers = raw.astype(np.float64)
        if raw.dtype.kind in "iu" and (np.abs(numbers) >= EXACT).any():
            return cls.of(raw.tolist())
        return cls(numbers, np.full(len(raw), State.NUMBER, dtype=np.uint8))

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[object]:
        return map(self.cell, range(len(self)))

    def is_(self, state: State) -> Flags:
        """Flags of the cells of this kind."""
        return np.equal(self.state, state)

    def cell(self, index: int) -> object:
        """The value of a cell as it was read: a number, None, MISSING, or anything else."""
        if self.state[index] == State.NUMBER:
            number = float(self.values[index])
            return int(number) if number.is_integer() and abs(number) < _LARGEST_SHOWN else number
        if self.state[index] == State.OTHER and self.other is not None:
            return self.other[index]
        return None if self.state[index] == State.NULL else MISSING

    def usable(self) -> Flags:
        """Flags of the cells that are finite numbers."""
        return np.asarray(self.is_(State.NUMBER) & np.isfinite(self.values))

    def within(self, low: float, high: float, *, whole: bool = False) -> Flags:
        """Flags of the cells that are finite numbers between two bounds, and with `whole`, integers."""
        good = self.usable() & (self.values >= low) & (self.values <= high)
        return np.asarray(good & (self.values == np.round(self.values)) if whole else good)

    def abstains(self) -> Flags:
        """Flags of the cells that are null or NaN."""
        return np.asarray(self.is_(State.NULL) | (self.is_(State.NUMBER) & np.isnan(self.values)))

    def is_other(self, test: Callable[[Any], bool]) -> Flags:
        """Flags of the cells that are neither number nor null and pass a test."""
        if self.other is None:
            return np.zeros(len(self), dtype=bool)
        return np.asarray(self.is_(State.OTHER) & self.other.where(test))

    def is_flag(self) -> Flags:
        """Flags of the cells that are true, false, 1 or 0."""
        return self.within(0, 1, whole=True) | self.is_other(lambda value: isinstance(value, bool))

    def is_true(self) -> Flags:
        """Flags of the cells that are true or 1."""
        return np.asarray((self.values == 1) | self.is_other(lambda value: value is True))

    def refuse(self, bad: Flags, name: str, expected: str, unit_name: Callable[[int], str]) -> None:
        """Raise an error that names the first bad cell and counts the others; do nothing if none is bad."""
        units = np.flatnonzero(bad)
        if units.size:
            first = int(units[0])
            text = f"{unit_name(first)}: {name} {wrong_value(self.cell(first), expected)}"
            raise UserError(and_more(text, units.size))

    def take(self, order: Indices) -> Column:
        """The cells at these indices, which may repeat."""
        return Column(self.values[order], self.state[order], None if self.other is None else self.other.take(order))

    def changed(self, function: Callable[[Any], Any]) -> Column:
        """The column with a function applied to every cell that is neither number nor null."""
        if self.other is None:
            return self
        results, is_other = Column.of_codes(self.other.mapped(function)), self.is_(State.OTHER)
        values = np.where(is_other, results.values, self.values)
        return Column(values, np.where(is_other, results.state, self.state), results.other)


def wrong_value(value: object, expected: str) -> str:
    """The end of an error message: the value, what was expected, and a note if no double represents it.

    >>> wrong_value(2**53 + 1, "a finite number")
    '9007199254740993, expected a finite number; no double holds this integer'
    """
    reason = ""
    if type(value) is int and _as_double(value) != value:
        reason = "; no double holds this integer"
    elif isinstance(value, float) and math.isinf(value):
        reason = "; infinite, or larger than any double"
    return f"{literal(value)}, expected {expected}{reason}"


def check_lengths(columns: Mapping[str, Sized]) -> None:
    """Raise an error unless the columns of a table have the same length."""
    if len({*map(len, columns.values())}) > 1:
        listed = ", ".join(f"{shown(name)} {len(values)}" for name, values in columns.items())
        raise UserError(f"the columns are of different lengths: {listed}")


def _as_double(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def written_number(text: str) -> float | None:
    """The number that a text spells, None if it spells none; 1_0, which Python accepts, is not a number.

    >>> written_number("2.5e1"), written_number("1_0")
    (25.0, None)
    """
    try:
        return float(text) if text.isascii() and "_" not in text else None
    except ValueError:
        return None


def is_null(value: object) -> bool:
    """Whether a cell is null or NaN; in a loss, a prediction or a label, that is an abstention."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def plain_values(values: Any) -> list[Any] | NDArray[Any]:
    """Return an array of numbers unchanged, anything else as a list of Python values with None for nulls.

    >>> plain_values((1, np.float64(0.5), None))
    [1, 0.5, None]
    """
    if type(values) is np.ndarray and values.ndim == 1 and values.dtype.kind in "iuf":
        return values
    is_time = isinstance(values, np.ndarray) and values.dtype.kind in "mM"
    unordered = isinstance(values, (str, bytes, Mapping, AbstractSet)) or getattr(values, "ndim", 1) == 0
    if is_time or unordered or not hasattr(values, "__iter__"):
        raise UserError(f"{literal(values)} is not a column: expected one number, text or null per unit, in order")
    for name in ("to_list", "to_pylist", "tolist"):  # pandas and polars, pyarrow, numpy
        if hasattr(values, name):
            values = getattr(values, name)()
            break
    return [plain(value) for value in values]


def plain(value: Any) -> Any:
    """Convert a numpy scalar to a Python value, and pandas' NA and NaT to None; return anything else unchanged."""
    if isinstance(value, np.generic):
        return value.item()
    return None if type(value).__name__ in {"NAType", "NaTType"} else value
