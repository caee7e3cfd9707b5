"""What other tools would report of the same answers."""

from demur.report.emulated import emulated_text, other_numbers
from demur.report.sections import Content, section
from demur.results.table import Results


@section("conventions", "Other conventions", task="selective", order=75)
def conventions(results: Results) -> Content | None:
    """Every number of another convention; nothing where none was asked for."""
    if not results.selective.conventions:
        return None
    rows = [[*other_numbers(results, confidence)] for confidence in results.selective.confidences]
    return {
        "tables": [[(row, [*map(emulated_text, row.numbers)]) for row in each] for each in rows],
        "notes": [*dict.fromkeys(f"{row.title}: {note}" for each in rows for row in each for note in row.notes)],
    }
