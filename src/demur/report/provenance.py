"""Provenance: what the numbers mean, how they were made and of what, and how to take them along."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from demur.metrics import METRICS
from demur.report.carried import carried
from demur.report.numbers import level_of, runs_of
from demur.report.tables import methods_shown, table_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

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
    level: str
    methods: Mapping[str, list[str]]
    latex: str
    carried: Carried


def provenance(metrics: Metrics) -> Provenance:
    """How the artifact came about."""
    one = runs_of(next(iter(metrics.confidence_variants.values())))[0]
    return Provenance(
        definitions=tuple(definition(name, METRICS[name].function) for name in _DEFINED),
        bootstrap=one.bootstrap,
        level=level_of(one),
        methods=methods_shown(metrics),
        latex=table_text(metrics, "latex"),
        carried=carried(metrics, "metrics"),
    )


def definition(name: str, function: Callable[..., Any]) -> Definition:
    """What a metric says of itself: the heading of its docstring and the paragraph below it."""
    heading, _, rest = inspect.cleandoc(function.__doc__ or "").partition("\n\n")
    return Definition(name, heading, rest.partition("\n\n")[0].replace("\n", " "))
