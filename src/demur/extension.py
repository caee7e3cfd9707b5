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
    """The declaration of an extension: its commands, and the logs of other tools that it reads.

    A command comes with the module that registers it with `demur.cli.app.app` when it is imported; a tool with the
    module whose function `records` gives the records of a log.
    """

    name: str
    commands: Mapping[str, str] = field(default_factory=dict)
    logs: Mapping[str, str] = field(default_factory=dict)


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
