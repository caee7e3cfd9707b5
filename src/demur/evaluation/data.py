"""The data of an evaluation: one input or several, with or without names, and folders of parts."""

import os.path
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from demur.errors import UserError, literal, shown
from demur.facts.frames import is_frame
from demur.facts.items import Items
from demur.read.files import named_input
from demur.read.tables import format_of
from demur.read.tool_logs import tool_of_log
from demur.sampling.graded import Graded
from demur.summaries.mark import is_summary


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


def several(given: Any) -> tuple[Any, ...]:
    """Convert a list to a tuple, a single value to a tuple of one, and None to an empty one."""
    return tuple(given) if isinstance(given, (list, tuple)) else () if given is None else (given,)


def is_data(value: object) -> bool:
    """Whether a member of a mapping is a system's data, not a column."""
    return isinstance(value, (str, Path, Mapping, Items, Graded)) or is_frame(value) or _is_rankings(value)


def _is_rankings(value: object) -> bool:
    from demur.facts.rankings import Rankings  # noqa: PLC0415  (most data are files)

    return isinstance(value, Rankings)


def _check_kind(name: str | None, data: object) -> None:
    """Refuse data that another function takes, and name that function."""
    where = "" if name is None else f"{name}: "
    if isinstance(data, Graded):
        expected = "graded units are for estimate, and several of them for compare; evaluate takes data to grade"
        raise UserError(f"{where}{expected}")
    if _is_rankings(data):
        raise UserError(f"{where}rankings are for evaluate_retrieval, by the names of the systems")
    if isinstance(data, (list, tuple)):
        kind, calls = type(data).__name__, 'in a list, evaluate([a, b]), or by name, evaluate({"a": a, "b": b})'
        raise UserError(f"{where}a {kind} is not a table: give systems {calls}")


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder with the data of one system in parts: the system's name if any, and the files in order."""

    name: str | None
    path: str | Path
    parts: Sequence[Path]


def folders_among(entries: Sequence[Any]) -> dict[int, Folder]:
    """The inputs that are folders of parts, by index; run folders of other tools are not."""
    named = {index: named_input(entry) for index, entry in enumerate(entries)}
    return {
        index: Folder(name, path, _parts(path))
        for index, (name, path) in named.items()
        if isinstance(path, (str, Path)) and os.path.isdir(path) and tool_of_log(path) is None  # noqa: PTH112
    }


def parts_of(given: Sequence[str | Path]) -> list[Path]:
    """List the given files, and the files in the given folders."""
    return [part for path in given for part in (_parts(path) if os.path.isdir(path) else [Path(path)])]  # noqa: PTH112


def _parts(folder: str | Path) -> list[Path]:
    """The files of a folder that hold units, in the order of their names."""
    try:
        parts = sorted(path for path in Path(folder).iterdir() if path.name[0] not in "._")
    except OSError as error:
        raise UserError(f"{folder}: cannot be read ({error.strerror})") from None
    expected = "a folder is a system in parts, and"
    if not parts:
        raise UserError(f"{folder}: {expected} no file in it is a table, a run or a summary")
    for path in parts:
        if not path.is_file() or not (format_of(path) or is_summary(path) or path.suffix == ".json"):
            raise UserError(f"{folder}: {expected} {shown(path.name)} is not a table, a run or a summary: move it out")
    return parts
