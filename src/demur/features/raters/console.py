"""Raters and published points on the console: a table for each system, and what is said of them."""

from collections.abc import Iterator

from demur.errors import shown
from demur.features.raters.recorded import points_of
from demur.features.raters.statements import point_statements
from demur.features.raters.table_rows import HEADINGS, point_row
from demur.results.table import Results
from demur.show.names import systems_of
from demur.show.text import table


def point_lines(results: Results, confidence: str) -> Iterator[str]:
    """The tables and sentences of one confidence."""
    points, systems = points_of(results), systems_of(results)
    for system in systems:
        heads = (f"  beside {system.label}" if len(systems) > 1 else "  beside", *HEADINGS[1:])
        cells = [point_row(results, point, system, confidence) for point in points]
        yield from ["", *table([heads, *((f"  {shown(name)}", *others) for name, *others in cells)])]
    yield from (statement.sentence for statement in point_statements(results, confidence))
