"""Tables as cards: a table carries its headings once, for screens that show the cells of a row one below another."""

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
    r"""A page of ours whose tables have their headings as properties of style; very wide ones can be scrolled.

    >>> print(carded("<table><thead><tr><th>a_b</th><th>y</th></tr></thead></table>")[:40])
    <table style="--c1:'a\5f b ';--c2:'y '">
    """
    return _TABLE.sub(_with_headings, page)


def _with_headings(found: re.Match[str]) -> str:
    attributes, rest, head = found.groups()
    labels = _labels(head)
    wide = ' tabindex="0" data-wide=""' if len(labels) > _WIDE else ""
    named = [(column, label) for column, label in enumerate(labels, 1) if label]
    style = ";".join(f"--c{column}:'{_string(label)} '" for column, label in named)
    return f'<table{attributes}{wide} style="{style}">{rest}' if style else found[0]


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


def _string(text: str) -> str:
    """Text inside a string of a style sheet: nothing but letters, digits and spaces is left as it is."""
    return _PLAIN.sub(lambda sign: f"\\{ord(sign[0]):x} ", text)
