"""Retrieval provenance: what the numbers mean, how they were made and of what, and how to take them along."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from demur.quantities import quantities
from demur.report.carried import carried
from demur.report.definitions import definition
from demur.report.retrieval.places import worded_warnings
from demur.report.sections import section

if TYPE_CHECKING:
    from demur.report.carried import Carried
    from demur.report.definitions import Definition
    from demur.results.table import Results


@dataclass(frozen=True, slots=True)
class RetrievalProvenance:
    """What a reviewer asks for."""

    definitions: tuple[Definition, ...]
    methods: tuple[str, ...]
    carried: Carried


@section("methods", "Methods and provenance", task="retrieval", order=90)
def retrieval_provenance(results: Results) -> RetrievalProvenance:
    """How the results came about."""
    entries = (*quantities("ranking"), *quantities("forecasts", "detection"))
    pooled = [row for row in results.where(group=None) if row.recommended]
    methods = [
        f"{row.recommended.method}{' (differences)' if row.key.minus else ''}" for row in pooled if row.recommended
    ]
    return RetrievalProvenance(
        definitions=tuple(map(definition, entries)),
        methods=tuple(dict.fromkeys(methods)),
        carried=carried(results, "retrieval", worded_warnings(results)),
    )
