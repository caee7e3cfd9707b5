"""HTML tables and pictures for notebooks, with all text escaped."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape

from demur.drawing.labels import inert
from demur.drawing.picture import Picture

_MOST_ROWS = 12
_MOST_PICTURES = 4


def html_table(header: Sequence[str], rows: Iterable[Sequence[str]], caption: str) -> str:
    """A plain table; markup in the cells is escaped.

    >>> html_table(["<b>"], [["1"]], "x")
    '<table><caption>x</caption><thead><tr><th>&lt;b&gt;</th></tr></thead><tbody><tr><td>1</td></tr></tbody></table>'
    """
    head = "".join(f"<th>{_text(cell)}</th>" for cell in header)
    body = "".join("<tr>" + "".join(f"<td>{_text(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><caption>{_text(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _text(text: str) -> str:
    return escape(inert(text))


def both_ends(count: int, row: Callable[[int], Sequence[str]]) -> list[Sequence[str]]:
    """The first and last rows of a long table, with an ellipsis between; all rows of a short one.

    >>> both_ends(1, lambda index: [f"{index}"]), len(both_ends(100, lambda index: [f"{index}"]))
    ([['0']], 13)
    """
    if count <= _MOST_ROWS:
        return [row(index) for index in range(count)]
    first, last = range(_MOST_ROWS // 2), range(count - _MOST_ROWS // 2, count)
    return [*map(row, first), ["…"] * len(row(0)), *map(row, last)]


def html_pictures(pictures: Mapping[str, Picture], table: str) -> str:
    """The first few pictures, each under its name, followed by a table."""
    figures = [
        f'<figure style="margin:0 1em 0 0"><figcaption>{_text(name)}</figcaption>{picture.standalone()}</figure>'
        for name, picture in [*pictures.items()][:_MOST_PICTURES]
    ]
    more = len(pictures) - len(figures)
    note = f"<p>… and {more} more, which <code>demur figure</code> draws</p>" if more else ""
    return f'<div><div style="display:flex;flex-wrap:wrap">{"".join(figures)}</div>{note}{table}</div>'
