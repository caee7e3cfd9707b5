"""The lab: simulated runs, queries and interviews, studies of interval coverage, planning, and a demonstration."""

from importlib import import_module
from typing import TYPE_CHECKING

from demur.extension import Extension

if TYPE_CHECKING:
    from demur.extensions.lab.queries import simulated_queries
    from demur.extensions.lab.runs import FEW_SHOT, ZERO_SHOT, People, System, make_people, run_system, simulated_run

__all__ = [
    "EXTENSION",
    "FEW_SHOT",
    "ZERO_SHOT",
    "People",
    "System",
    "make_people",
    "run_system",
    "simulated_queries",
    "simulated_run",
]

EXTENSION = Extension("lab", dict.fromkeys(("study", "simulate", "demo"), f"{__name__}.commands"))


def __getattr__(name: str) -> object:
    """Import what is asked for: whoever only looks for commands needs none of it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{'queries' if name == 'simulated_queries' else 'runs'}"), name)
