"""What is given as data: one thing or several, with or without names."""

import os.path
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from demur.errors import UserError, literal, shown
from demur.facts.frames import is_frame
from demur.facts.items import Items
from demur.quantities.graded import Graded
from demur.read.files import named_input
from demur.read.foreign import foreign_tool
from demur.read.tables import format_of
from demur.summaries.mark import is_summary


def entries_of(data: Sequence[Any]) -> list[Any]:
    """What is to be read: data as they were given, or pairs of a name and data."""
    entries: list[Any] = []
    for each in data:
        if isinstance(each, Mapping) and (not each or any(map(is_data, each.values()))):
            for name in each:
                if not isinstance(name, str) or not name:
                    raise UserError(f"a system is called {literal(name)}, expected a name")
            entries += each.items()
        else:
            entries.append(each if isinstance(each, (str, Path)) else (None, each))
    if not entries:
        raise UserError("nothing to evaluate: give a run file or a table, or several to compare")
    for entry in entries:
        if isinstance(entry, tuple):
            _check_kind(*entry)
    return entries


def several(given: Any) -> tuple[Any, ...]:
    """Several, or one alone."""
    return tuple(given) if isinstance(given, (list, tuple)) else () if given is None else (given,)


def is_data(value: object) -> bool:
    """Whether a member of a mapping is a system's data, not a column."""
    return isinstance(value, (str, Path, Mapping, Items, Graded)) or is_frame(value) or _is_rankings(value)


def _is_rankings(value: object) -> bool:
    from demur.facts.rankings import Rankings  # noqa: PLC0415  (files are no rankings, and most data are files)

    return isinstance(value, Rankings)


def _check_kind(name: str | None, data: object) -> None:
    """Data of another call are told which one."""
    where = "" if name is None else f"{name}: "
    if isinstance(data, Graded):
        more = "graded units are for estimate, and several of them for compare; evaluate takes data to grade"
        raise UserError(f"{where}{more}")
    if _is_rankings(data):
        raise UserError(f"{where}rankings are for evaluate_retrieval, by the names of the systems")
    if isinstance(data, (list, tuple)):
        kind, ways = type(data).__name__, 'one after another, evaluate(a, b), or by name, evaluate({"a": a, "b": b})'
        raise UserError(f"{where}a {kind} is not a table: give systems {ways}")


@dataclass(frozen=True, slots=True)
class Folder:
    """One system in parts: what it is called, if it has a name, and its files in order."""

    name: str | None
    path: str | Path
    parts: Sequence[Path]


def folders_among(entries: Sequence[Any]) -> dict[int, Folder]:
    """Which inputs are folders, by their places; a run folder of another tool is not one."""
    named = {index: named_input(entry) for index, entry in enumerate(entries)}
    return {
        index: Folder(name, path, _parts(path))
        for index, (name, path) in named.items()
        if isinstance(path, (str, Path)) and os.path.isdir(path) and foreign_tool(path) is None  # noqa: PTH112
    }


def parts_of(given: Sequence[str | Path]) -> list[Path]:
    """The files that are given, and those of the folders that are."""
    return [part for path in given for part in (_parts(path) if os.path.isdir(path) else [Path(path)])]  # noqa: PTH112


def _parts(folder: str | Path) -> list[Path]:
    """The files of a folder that hold units, in the order of their names."""
    try:
        held = sorted(each for each in Path(folder).iterdir() if each.name[0] not in "._")
    except OSError as error:
        raise UserError(f"{folder}: cannot be read ({error.strerror})") from None
    told = f"{folder}: a folder is a system in parts, and"
    if not held:
        raise UserError(f"{told} no file in it is a table, a run or a summary")
    for path in held:
        if path.is_dir() or not (format_of(path) or is_summary(path) or path.suffix == ".json"):
            raise UserError(f"{told} {shown(path.name)} is not a table, a run or a summary: take it elsewhere")
    return held
