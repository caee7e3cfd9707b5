"""Tables as cards: headings as CSS properties, for narrow screens that stack the cells of a row."""

import re
from html import unescape

_TABLE = re.compile(r"<table([^>]*)>(.*?<thead>(.*?)</thead>)", re.DOTALL)
_ROW = re.compile(r"<tr[ >].*?</tr>", re.DOTALL)
_CELL = re.compile(r"<(t[hd])\b([^>]*)>(.*?)</\1>", re.DOTALL)
_SPAN = re.compile(r'colspan="(\d+)"')
_TAG = re.compile(r"<[^>]*>")
_WIDE = 9
_PLAIN = re.compile(r"[^A-Za-z0-9 ]")


def carded(page: str) -> str:
    r"""Add its headings to every table of a page as CSS properties; make very wide tables scrollable.

    >>> print(carded("<table><thead><tr><th>a_b</th><th>y</th></tr></thead></table>")[:40])
    <table style="--c1:'a\5f b ';--c2:'y '">
    """
    return _TABLE.sub(_with_headings, page)


def _with_headings(table: re.Match[str]) -> str:
    attributes, rest, head = table.groups()
    labels = _labels(head)
    wide = ' tabindex="0" data-wide=""' if len(labels) > _WIDE else ""
    numbered = [(column, label) for column, label in enumerate(labels, 1) if label]
    style = ";".join(f"--c{column}:'{_string(label)} '" for column, label in numbered)
    return f'<table{attributes}{wide} style="{style}">{rest}' if style else table[0]


def _labels(head: str) -> list[str]:
    """The headings of the columns, each prefixed by the heading that spans it, if any."""
    *above, last = [_CELL.findall(row) for row in _ROW.findall(head)]
    groups: list[str] = []
    for _, attributes, inside in above[0] if above else []:
        span = _SPAN.search(attributes)
        groups += [_text(inside)] * (int(span[1]) if span else 1)
    texts = [_text(inside) for _, _, inside in last]
    return [f"{group} {text}".strip() for group, text in zip(groups, texts, strict=True)] if groups else texts


def _text(inside: str) -> str:
    return " ".join(unescape(_TAG.sub("", inside)).split())


def _string(text: str) -> str:
    """Text as a CSS string: everything except letters, digits and spaces is escaped."""
    return _PLAIN.sub(lambda character: f"\\{ord(character[0]):x} ", text)
