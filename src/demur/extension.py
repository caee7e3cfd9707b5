"""Extensions: jobs of their own on top of an evaluation, found through entry points of the group `demur.extensions`.

Ours are found like anybody's. An entry point names an `Extension`, in a module that imports nothing heavy:

    [project.entry-points."demur.extensions"]
    decide = "demur.extensions.decide:EXTENSION"
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

GROUP = "demur.extensions"


@dataclass(frozen=True, slots=True)
class Task:
    """A task whose results are written to files of their own kind: where its models and its page are.

    `study` is the model of what was evaluated and how, and `file` that of the whole file, each as MODULE:NAME. `page`
    is the package whose modules register the sections of the page; its folder `templates` holds their templates.
    """

    study: str
    file: str
    page: str


@dataclass(frozen=True, slots=True)
class Extension:
    """What an extension adds: commands, logs and further kinds of input that it reads, workers, tasks and quantities.

    A command comes with the module that registers it with `demur.cli.app.app` when it is imported; a tool with the
    module whose function `records` gives the records of a log; a kind of input with the module that is its
    `demur.read.kinds.Reader`; a task with the models of its files, by the name that these record. `workers` is the
    module whose class `Workers` shares out tasks, as `demur.workers` says. The modules in `quantities` register
    quantities when they are imported.
    """

    name: str
    commands: Mapping[str, str] = field(default_factory=dict)
    logs: Mapping[str, str] = field(default_factory=dict)
    readers: Mapping[str, str] = field(default_factory=dict)
    workers: str = ""
    tasks: Mapping[str, Task] = field(default_factory=dict)
    quantities: tuple[str, ...] = ()


@cache
def installed() -> Mapping[str, Extension]:
    """The installed extensions by name; an entry point whose module does not exist is skipped."""
    found: dict[str, Extension] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        try:
            found[point.name] = point.load()
        except ModuleNotFoundError as error:
            if error.name is None or not f"{point.module}.".startswith(f"{error.name}."):
                raise
    return found


def tasks() -> dict[str, Task]:
    """The tasks of all installed extensions, by name."""
    return {name: task for extension in installed().values() for name, task in extension.tasks.items()}


def named_object(name: str) -> Any:
    """The object that MODULE:NAME names."""
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)
