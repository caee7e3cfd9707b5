"""Keys: the identity of a number, the same in memory, in a file, on a page and in an audit."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

from demur.errors import UserError, literal, unknown

_CONTRASTED = ("system", "confidence", "group")


class Group(NamedTuple):
    """The units at one level of a named grouping; without a level, an aggregate over all levels.

    The aggregate is the mean, unless the quantity defines another, such as the highest risk.
    """

    name: str
    level: str | None = None


class Minus(NamedTuple):
    """What a difference subtracts: the same number of another system, under another confidence, or of another group."""

    column: str
    value: str | Group


@dataclass(frozen=True, slots=True)
class Key:
    """The identity of a number. Names are data: any text may be a system, and no text is ever split.

    >>> Key("bge/large", "ndcg@10", among="with_gold", minus=Minus("system", "bge"))
    Key('bge/large', 'ndcg@10', among='with_gold', minus=Minus(column='system', value='bge'))
    """

    system: str
    quantity: str
    confidence: str = ""
    among: str = "all"
    group: Group | None = None
    minus: Minus | None = None
    convention: str = ""

    def __post_init__(self) -> None:
        _check_minus(self.minus)

    def __repr__(self) -> str:
        columns = [(field.name, getattr(self, field.name), field.default) for field in fields(self)[2:]]
        named = [f"{name}={value!r}" for name, value, default in columns if value != default]
        return f"Key({', '.join([repr(self.system), repr(self.quantity), *named])})"

    def less(self, minus: Minus) -> Key:
        """The difference between this number and another."""
        return replace(self, minus=minus)

    def to_json(self) -> dict[str, Any]:
        """The columns as JSON: a group is a pair, and `minus` an object with one member."""
        return {name: _plain(getattr(self, name)) for name in KEY_COLUMNS}

    @classmethod
    def from_json(cls, columns: dict[str, Any]) -> Key:
        """The inverse of `to_json`."""
        checked = _checked(columns)
        for name in ("system", "quantity"):
            if name not in checked:
                raise UserError(f"a key has a {name}, and this one has none")
        return cls(**checked)


KEY_COLUMNS = tuple(field.name for field in fields(Key))


@dataclass(frozen=True, slots=True)
class Pattern:
    """A selection of numbers: those whose key has these columns; None matches any value."""

    system: str | None = None
    quantity: str | None = None
    confidence: str | None = None
    among: str | None = None
    group: Group | None = None
    minus: Minus | None = None
    convention: str | None = None

    def __post_init__(self) -> None:
        _check_minus(self.minus)

    def matches(self, key: Key) -> bool:
        """Whether a number is among them."""
        for name in KEY_COLUMNS:
            value = getattr(self, name)
            if value is not None and getattr(key, name) != value:
                return False
        return True

    def to_json(self) -> dict[str, Any]:
        """The columns that are fixed."""
        columns = ((name, _plain(getattr(self, name))) for name in KEY_COLUMNS)
        return {name: value for name, value in columns if value is not None}

    @classmethod
    def from_json(cls, columns: dict[str, Any]) -> Pattern:
        """The inverse of `to_json`."""
        return cls(**_checked(columns))


def _check_minus(minus: Minus | None) -> None:
    if minus is None:
        return
    if minus.column not in _CONTRASTED:
        raise UserError(f"a difference is between systems, confidences or groups, not {literal(minus.column)}")
    if isinstance(minus.value, Group) != (minus.column == "group"):
        raise UserError(f"a difference subtracts a {minus.column}, not {literal(minus.value)}")


def _plain(value: str | Group | Minus | None) -> Any:
    match value:
        case Group():
            return list(value)
        case Minus(column, subtracted):
            return {column: _plain(subtracted)}
    return value


def _checked(columns: dict[str, Any]) -> dict[str, Any]:
    """Convert the columns of a key from JSON, and check them."""
    for name in columns:
        if name not in KEY_COLUMNS:
            raise unknown("column of a key", name, KEY_COLUMNS)
    return {name: _column(name, value) for name, value in columns.items() if value is not None}


def _column(name: str, value: Any) -> Any:
    if name != "minus":
        return _cell(name, value)
    if not isinstance(value, dict) or len(value) != 1:
        raise UserError(f"minus {literal(value)}, expected an object of one member, such as system")
    ((column, subtracted),) = value.items()
    return Minus(column, _cell(column, subtracted))


def _cell(name: str, value: Any) -> Any:
    match name, value:
        case "group", [str(grouping), str() | None as level]:
            return Group(grouping, level)
        case "group", _:
            raise UserError(f"group {literal(value)}, expected the name of a grouping and a level of it, or null")
        case _, str():
            return value
    raise UserError(f"{name} {literal(value)}, expected text")
