"""Provenance: what the numbers mean, how they were made and of what, and how to take them along."""

from demur.quantities import quantities
from demur.report.carried import carried
from demur.report.definitions import definition
from demur.report.names import worded_warnings
from demur.report.sections import Content, section
from demur.report.tables import methods_shown, table_text
from demur.report.text import level_of
from demur.results.table import Results


@section("methods", "Methods and provenance", task="selective", order=90)
def provenance(results: Results) -> Content:
    """How the results came about, and what a reviewer takes along."""
    return {
        "definitions": [*map(definition, quantities("curve", "definitions"))],
        "level": level_of(results),
        "methods": methods_shown(results),
        "latex": table_text(results, "latex"),
        "carried": carried(results, "metrics" if results.nested else "results", worded_warnings(results)),
    }
