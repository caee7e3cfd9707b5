"""Numbers of other conventions as a section."""

from demur.features.conventions.statements import OverTies, conventions_of, emulated_text, other_numbers, remarks
from demur.results.table import Results
from demur.show.sections import Content, section


@section("conventions", "Other conventions", task="selective", order=75)
def conventions(results: Results) -> Content | None:
    """Every number of another convention; None if none was requested."""
    if not conventions_of(results):
        return None
    tables = [[*other_numbers(results, confidence)] for confidence in results.selective.confidences]
    return {
        "tables": [[(row, [*map(emulated_text, row.numbers)]) for row in table] for table in tables],
        "ranges": OverTies(),
        "remarks": remarks([row for table in tables for row in table]),
    }
