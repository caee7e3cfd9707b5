"""Kinds of input that extensions read: folders, and files whose first line is `demur`, their kind and a version."""

from __future__ import annotations

import os.path
import re
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from demur.errors import UserError
from demur.extension import installed
from demur.read.tool_logs import tool_of_log

if TYPE_CHECKING:
    from demur.facts.items import Items
    from demur.read.files import InputReading

FOLDER = "folder"
_FIRST_LINE = re.compile(rb"demur ([a-z]{1,20}) ")
_LONGEST_START = 32
_OURS = {"summary": "scale", FOLDER: "scale"}


class Reader(Protocol):
    """How inputs of a kind are read: the functions of a module that an extension names."""

    def example(self, path: str | Path) -> str | Path:
        """The input itself, or a file like those in it, from which columns are inferred."""

    def read(self, path: str | Path, how: InputReading) -> Items:
        """The facts of the system in an input."""


def kind_of(data: object) -> str | None:
    """The kind of an input that an extension reads; None for a table, a run file, or the log of another tool."""
    if not isinstance(data, (str, Path)):
        return None
    try:
        if os.path.isdir(data):  # noqa: PTH112  (Path.is_dir may raise)
            return FOLDER if tool_of_log(data) is None else None
        if not os.path.isfile(data):  # noqa: PTH113  (a pipe can be read once)
            return None
        with Path(data).open("rb") as file:
            first = _FIRST_LINE.match(file.read(_LONGEST_START))
    except (OSError, ValueError):
        return None
    return first[1].decode() if first else None


def reader_of(path: str | Path, kind: str) -> Reader:
    """The reader of a kind of input; an error names the extension that has it."""
    modules = (extension.readers[kind] for extension in installed().values() if kind in extension.readers)
    module = next(modules, None)
    if module is None:
        needed = f"the extension {_OURS[kind]}" if kind in _OURS else "an extension that reads it"
        raise UserError(f"{path}: a {kind} needs {needed}, which is not installed")
    return cast("Reader", import_module(module))
