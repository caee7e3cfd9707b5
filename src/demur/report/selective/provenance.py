"""Provenance: what the numbers mean, how they were made and of what, and how to take them along."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from demur.quantities import quantities
from demur.report.carried import carried
from demur.report.definitions import Definition, definition
from demur.report.names import worded_warnings
from demur.report.sections import section
from demur.report.tables import methods_shown, table_text
from demur.report.text import level_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from demur.report.carried import Carried
    from demur.results.table import Results


@dataclass(frozen=True, slots=True)
class Provenance:
    """What a reviewer asks for."""

    definitions: tuple[Definition, ...]
    level: str
    methods: Mapping[str, list[str]]
    latex: str
    carried: Carried


@section("methods", "Methods and provenance", task="selective", order=90)
def provenance(results: Results) -> Provenance:
    """How the results came about."""
    return Provenance(
        definitions=tuple(map(definition, quantities("curve", "definitions"))),
        level=level_of(results),
        methods=methods_shown(results),
        latex=table_text(results, "latex"),
        carried=carried(results, "metrics" if results.nested else "results", worded_warnings(results)),
    )
