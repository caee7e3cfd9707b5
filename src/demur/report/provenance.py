"""Provenance: what the numbers mean, how they were made and of what, and how to take them along."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from demur.metrics import METRICS
from demur.report.carried import carried
from demur.report.numbers import runs_of
from demur.report.tables import table_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from demur.artifact import Metrics
    from demur.artifact_numbers import Bootstrap
    from demur.report.carried import Carried

_DEFINED = ("cmax", "mae", "mae@C", "aurc@C", "augrc@C", "aurc", "augrc", "eaurc", "eaugrc")


@dataclass(frozen=True, slots=True)
class Definition:
    """A number by name, and what it means."""

    name: str
    title: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Provenance:
    """What a reviewer asks for."""

    definitions: tuple[Definition, ...]
    bootstrap: Bootstrap | None
    methods: Mapping[str, list[str]]
    latex: str
    carried: Carried


def provenance(metrics: Metrics) -> Provenance:
    """How the artifact came about."""
    entry = next(iter(metrics.confidence_variants.values()), None)
    return Provenance(
        definitions=tuple(definition(name, METRICS[name].function) for name in _DEFINED),
        bootstrap=runs_of(entry)[0].bootstrap if entry else None,
        methods=_methods(metrics),
        latex=table_text(metrics, "latex"),
        carried=carried(metrics, "metrics"),
    )


def definition(name: str, function: Callable[..., Any]) -> Definition:
    """What a metric says of itself: the heading of its docstring and the paragraph below it."""
    heading, _, rest = inspect.cleandoc(function.__doc__ or "").partition("\n\n")
    return Definition(name, heading, rest.partition("\n\n")[0].replace("\n", " "))


def _methods(metrics: Metrics) -> dict[str, list[str]]:
    """Which interval methods were used, and for which numbers."""
    found: dict[str, list[str]] = {}
    for entry in metrics.confidence_variants.values():
        for one in runs_of(entry):
            for key, ends in (one.bootstrap.ci95_recommended if one.bootstrap else {}).items():
                nested = ends.values() if isinstance(ends, Mapping) else [ends]
                for method in dict.fromkeys(each.method for each in nested if each is not None):
                    keys = found.setdefault(method, [])
                    keys += [key] if key not in keys else []
    return found
