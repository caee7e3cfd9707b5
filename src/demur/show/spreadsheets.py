r"""Results as CSV: an apostrophe precedes text that a spreadsheet would take for a formula."""

import csv
import io
from collections.abc import Iterable, Sequence

from demur.errors import harmless
from demur.results.study import SIGNATURE
from demur.results.table import Results
from demur.show.statements.signatures import OURS, signatures
from demur.show.table_rows import Layout, columns_of_systems, rows_of

_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")


def no_formula(text: str) -> str:
    r"""Put an apostrophe before text that a spreadsheet would take for a formula.

    >>> no_formula("=1+1"), no_formula(" @SUM(A1)"), no_formula("llm"), no_formula("\u202e=1")
    ("'=1+1", "' @SUM(A1)", 'llm', '\\u202e=1')
    """
    plain = harmless(text)
    return f"'{plain}" if plain.lstrip().startswith(_FORMULA) else plain


def written(rows: Iterable[Sequence[object]]) -> str:
    """Format rows as CSV."""
    lines = io.StringIO()
    csv.writer(lines, lineterminator="\n").writerows(rows)
    return lines.getvalue()


def table(results: Results, layout: Layout) -> str:
    """A CSV table with one row per number, in full precision."""
    others = ["convention"] if any(row.key.convention for row in results) else []
    rows: list[Sequence[object]] = [
        ("variant", "system", "metric", "value", "low", "high", "level", "method", *others, SIGNATURE)
    ]
    requested = results.study.requested
    level = "0.95" if requested is None else str(requested.level)
    for confidence in results.selective.confidences:
        signed = signatures(results, confidence)
        for row in rows_of(results, confidence, "csv", layout):
            for system, cell in zip(columns_of_systems(results), row.cells, strict=True):
                ends: tuple[float | None, float | None, str, str] = (None, None, "", "")
                if cell.interval is not None:
                    ends = (cell.interval.low, cell.interval.high, level, no_formula(cell.interval.method))
                elif cell.bound is not None:
                    ends = (None, cell.bound, "0.95", "one_sided_bound")
                elif cell.over_ties is not None:
                    ends = (*cell.over_ties, "", "over_ties")
                numbers = map(layout.in_full, (cell.value, *ends[:2]))
                origin = [*([no_formula(row.convention)] if others else []), signed.get(row.convention or OURS, "")]
                rows.append((*map(no_formula, (confidence, system, row.name)), *numbers, *ends[2:], *origin))
    return written(rows)
