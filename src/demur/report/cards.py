"""Tables as cards: each cell has the heading of its column, for screens that show rows one below another."""

import re
from html import unescape

from markupsafe import escape

_TABLE = re.compile(r"<table(.*?)</table>", re.DOTALL)
_HEAD = re.compile(r"<thead>(.*?)</thead>", re.DOTALL)
_ROW = re.compile(r"<tr[ >].*?</tr>", re.DOTALL)
_CELL = re.compile(r"<(t[hd])\b([^>]*)>(.*?)</\1>", re.DOTALL)
_SPAN = re.compile(r'colspan="(\d+)"')
_TAG = re.compile(r"<[^>]*>")
_WIDE = 10


def carded(page: str) -> str:
    """A page of ours with a `data-label` in each cell; a table with very many columns can be scrolled.

    >>> rows = "<tbody><tr><th>a</th><td>1</td></tr></tbody>"
    >>> print(carded(f"<table><thead><tr><th>x</th><th>y &lt;</th></tr></thead>{rows}</table>")[-72:])
    <tbody><tr><th>a</th><td data-label="y &lt;">1</td></tr></tbody></table>
    """
    return _TABLE.sub(lambda found: _table(found[0]), page)


def _table(table: str) -> str:
    head = _HEAD.search(table)
    if head is None:
        return table
    labels = _labels(head[1])
    before, body = table[: head.end()], table[head.end() :]
    if len(labels) > _WIDE:
        before = before.replace("<table", '<table tabindex="0"', 1)
        named = 'class="' in before.partition(">")[0]
        before = before.replace(*('class="', 'class="wide ') if named else ("<table", '<table class="wide"'), 1)
    return before + _ROW.sub(lambda row: _labelled(row[0], labels), body)


def _labels(head: str) -> list[str]:
    """The headings of the columns; under a heading of several columns, with that one before them."""
    *above, last = [_CELL.findall(row) for row in _ROW.findall(head)]
    groups: list[str] = []
    for _, attributes, inside in above[0] if above else []:
        span = _SPAN.search(attributes)
        groups += [_text(inside)] * (int(span[1]) if span else 1)
    texts = [_text(inside) for _, _, inside in last]
    return [f"{group} {text}".strip() for group, text in zip(groups, texts, strict=True)] if groups else texts


def _text(inside: str) -> str:
    return " ".join(unescape(_TAG.sub("", inside)).split())


def _labelled(row: str, labels: list[str]) -> str:
    left = iter(labels)

    def cell(found: re.Match[str]) -> str:
        tag, attributes, inside = found.groups()
        heading = next(left, "")
        if tag == "th" or not heading or "drawn" in attributes:
            return found[0]
        return f'<td{attributes} data-label="{escape(heading)}">{inside}</td>'

    return _CELL.sub(cell, row)
