"""Numbers of other conventions as rows of tables."""

import math
from collections.abc import Iterator, Sequence

from demur.features.conventions.statements import is_order_dependent, other_numbers
from demur.results.table import Results
from demur.show.names import pairs_of
from demur.show.table_rows import Cell, TableRow


def rows_of_tools(results: Results, confidence: str, names: Sequence[str]) -> Iterator[TableRow]:
    """The numbers, all or those of these names; they have no differences."""
    for row in other_numbers(results, confidence):
        if not names or row.name in names:
            cells = [
                Cell(
                    None if math.isnan(number.value) else number.value,
                    over_ties=number.over_ties if is_order_dependent(number) else None,
                )
                for number in row.numbers
            ]
            yield TableRow(row.name, row.title, [*cells, *(Cell() for _ in pairs_of(results))], row.convention)
