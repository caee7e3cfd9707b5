"""The data of an evaluation: one input or several, with or without names."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from demur.errors import UserError, literal
from demur.facts.frames import is_frame
from demur.facts.items import Items
from demur.sampling.graded import Graded


def entries_of(data: Any) -> list[Any]:
    """Convert data to a list of inputs: paths as given, anything else as a pair of a name, or None, and data."""
    entries: list[Any] = []
    for given in data if isinstance(data, (list, tuple)) else [data]:
        if isinstance(given, Mapping) and (not given or any(map(is_data, given.values()))):
            for name in given:
                if not isinstance(name, str) or not name:
                    raise UserError(f"a system is called {literal(name)}, expected a name")
            entries += given.items()
        else:
            entries.append(given if isinstance(given, (str, Path)) else (None, given))
    if not entries:
        raise UserError("nothing to evaluate: give a run file or a table, or several to compare")
    for entry in entries:
        if isinstance(entry, tuple):
            _check_kind(*entry)
    return entries


def is_data(value: object) -> bool:
    """Whether a member of a mapping is a system's data, not a column."""
    return isinstance(value, (str, Path, Mapping, Items, Graded)) or is_frame(value) or bool(_evaluated_by(value))


def _evaluated_by(value: object) -> str:
    """Who evaluates the data of an extension, as their class says; empty for other values."""
    return getattr(type(value), "evaluated_by", "")


def _check_kind(name: str | None, data: object) -> None:
    """Refuse data that another function takes, and name that function."""
    where = "" if name is None else f"{name}: "
    if isinstance(data, Graded):
        expected = "graded units are for estimate, and several of them for compare; evaluate takes data to grade"
        raise UserError(f"{where}{expected}")
    if function := _evaluated_by(data):
        raise UserError(f"{where}{type(data).__name__.lower()} are for {function}")
    if isinstance(data, (list, tuple)):
        kind, calls = type(data).__name__, 'in a list, evaluate([a, b]), or by name, evaluate({"a": a, "b": b})'
        raise UserError(f"{where}a {kind} is not a table: give systems {calls}")
