"""Costs on the console."""

from collections.abc import Iterator

from demur.features.costs.recorded import prices_of
from demur.features.costs.statements import cost_statements
from demur.features.costs.tables import HEADINGS, cost_row
from demur.results.table import Results
from demur.show.names import systems_of
from demur.show.text import table


def cost_lines(results: Results, confidence: str) -> Iterator[str]:
    """The costs of errors and abstentions."""
    systems = systems_of(results)
    for system in systems:
        rows = [cost_row(results, system, confidence, price) for price in prices_of(results)]
        heads = (f"{system.label}, {HEADINGS[0]}" if len(systems) > 1 else HEADINGS[0], *HEADINGS[1:])
        yield from ["", *table([(f"  {row[0]}", *row[1:]) for row in (heads, *rows)])]
    yield from (statement.sentence for statement in cost_statements(results, confidence))
