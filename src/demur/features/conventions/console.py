"""Numbers of other conventions on the console."""

from collections.abc import Iterator

from demur.features.conventions.statements import OverTies, emulated_text, other_numbers, remarks
from demur.results.table import Results
from demur.show.names import systems_of
from demur.show.text import table


def convention_lines(results: Results, confidence: str) -> Iterator[str]:
    """The numbers, what their ranges are, and the remarks on them."""
    rows = [*other_numbers(results, confidence)]
    if rows:
        labels = [system.label if len(results.systems) > 1 else "value" for system in systems_of(results)]
        cells = [(f"  {row.title.words}", *map(emulated_text, row.numbers)) for row in rows]
        yield from ["", *table([("  in other conventions", *labels), *cells], to_the_left=(0,))]
        yield OverTies().sentence
        yield from (remark.words for remark in remarks(rows))
