"""Groups on the console."""

from collections.abc import Iterator

from demur.drawing.labels import isolated
from demur.features.groups.statements import group_tables
from demur.results.table import Results
from demur.show.text import table


def group_lines(results: Results, confidence: str) -> Iterator[str]:
    """The groups of every grouping under one confidence, those too small to judge first."""
    for group in group_tables(results, confidence):
        prefix = f"{group.system.label} " if len(results.systems) > 1 else ""
        yield ""
        yield f"{prefix}{isolated(confidence)} by {isolated(group.name)}, {group.shared.words}"
        yield from (f"  {statement.sentence}" for statement in group.statements)
        counts = (f"{group.noun}s", "items accepted")
        heads = (f"  {isolated(group.name)}", *counts, "coverage", "risk", "risk − the rest")
        yield from table([heads, *((f"  {line.label}", *line.cells) for line in group.lines)])
