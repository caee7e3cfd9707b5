"""Extensions: jobs of their own on top of an evaluation, found through entry points of the group `demur.extensions`.

Ours are found like anybody's. An entry point names an `Extension`, in a module that imports nothing heavy:

    [project.entry-points."demur.extensions"]
    decide = "demur.extensions.decide:EXTENSION"
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import entry_points

GROUP = "demur.extensions"


@dataclass(frozen=True, slots=True)
class Extension:
    """What an extension adds: commands, logs of other tools and further kinds of input that it reads, and workers.

    A command comes with the module that registers it with `demur.cli.app.app` when it is imported; a tool with the
    module whose function `records` gives the records of a log; a kind of input with the module that is its
    `demur.read.kinds.Reader`. `workers` is the module whose class `Workers` shares out tasks, as `demur.workers` says.
    """

    name: str
    commands: Mapping[str, str] = field(default_factory=dict)
    logs: Mapping[str, str] = field(default_factory=dict)
    readers: Mapping[str, str] = field(default_factory=dict)
    workers: str = ""


@cache
def installed() -> Mapping[str, Extension]:
    """The installed extensions by name; an entry point whose module is not there counts as not installed."""
    found: dict[str, Extension] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        try:
            found[point.name] = point.load()
        except ModuleNotFoundError as error:
            if error.name is None or not f"{point.module}.".startswith(f"{error.name}."):
                raise
    return found
