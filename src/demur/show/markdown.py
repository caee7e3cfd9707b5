"""Markdown tables for GitHub and pandoc; text from files is escaped."""

import re
from collections.abc import Iterable, Sequence

from demur.drawing.labels import unisolated
from demur.errors import harmless
from demur.results.table import Results
from demur.show.statements.signatures import signatures
from demur.show.table_rows import Layout, columns_of_systems, notes, rows_of

_MARKUP = re.compile(r"([\\`*_{}\[\]<>|~$&#@!^]|:(?=//)|(?<=[wW])\.)")


def escaped(text: str) -> str:
    r"""Escape text for Markdown; addresses do not become links.

    >>> print(escaped("a|b <i> [x](y)"))
    a\|b \<i\> \[x\](y)
    """
    return _MARKUP.sub(r"\\\1", harmless(text))


def table(results: Results, layout: Layout) -> str:
    """A Markdown table of all systems and their differences, followed by notes."""
    columns = columns_of_systems(results)
    lines = [["confidence", "", *map(escaped, columns)], ["---", "---", *["--:"] * len(columns)]]
    for confidence in results.selective.confidences:
        for row in rows_of(results, confidence, layout=layout):
            cells = [" ".join(filter(None, cell.texts(layout))) for cell in row.cells]
            lines.append([escaped(confidence), escaped(row.title.words), *cells])
    return framed(lines, results, notes(results, layout))


def framed(lines: Sequence[Sequence[str]], results: Results, below: Iterable[str]) -> str:
    """A Markdown table from escaped cells, followed by sentences, and signatures as code."""
    signed = [f"{name}: `{signature}`" for name, signature in signatures(results).items()]
    noted = [escaped(unisolated(note)) for note in below]
    return "\n".join([*(f"| {' | '.join(cells)} |" for cells in lines), "", *noted, *signed, ""])
