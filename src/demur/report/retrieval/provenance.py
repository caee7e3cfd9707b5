"""Retrieval provenance: what the numbers mean, how they were made and of what, and how to take them along."""

from demur.quantities import quantities
from demur.report.carried import carried
from demur.report.definitions import definition
from demur.report.retrieval.places import worded_warnings
from demur.report.sections import Content, section
from demur.results.table import Results


@section("methods", "Methods and provenance", task="retrieval", order=90)
def retrieval_provenance(results: Results) -> Content:
    """How the results came about."""
    entries = (*quantities("ranking"), *quantities("forecasts", "detection"))
    pooled = [row for row in results.where(group=None) if row.recommended]
    methods = [
        f"{row.recommended.method}{' (differences)' if row.key.minus else ''}" for row in pooled if row.recommended
    ]
    return {
        "definitions": [definition(entry) for entry in entries],
        "methods": [*dict.fromkeys(methods)],
        "carried": carried(results, "retrieval", worded_warnings(results)),
    }
