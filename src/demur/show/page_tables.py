"""Headings of the tables on the page; narrow screens show rows as cards, which repeat them before every cell."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from demur.errors import harmless

_WIDE = 9
_PLAIN = re.compile(r"[^A-Za-z0-9 ]")


class Column(NamedTuple):
    """The heading of a column: its text, its style, and its markup if it is more than text."""

    text: str
    style: str = ""
    markup: Markup | None = None


class ColumnGroup(NamedTuple):
    """A heading above several columns."""

    text: str
    span: int
    markup: Markup | None = None


def card_attributes(columns: Sequence[Column], groups: Sequence[ColumnGroup] = ()) -> Markup:
    r"""The HTML attributes of a table: its headings as CSS properties for cards, and scrolling if it is very wide.

    The first column is in no group.

    >>> print(card_attributes([Column("a_b"), Column(""), Column("y")], [ColumnGroup("x", 2)]))
     style="--c1:'a\5f b ';--c2:'x ';--c3:'x y '"
    """
    above = ["", *(group.text for group in groups for _ in range(group.span))] if groups else [""] * len(columns)
    labels = [f"{group} {column.text}".strip() for group, column in zip(above, columns, strict=True)]
    style = ";".join(f"--c{number}:'{_css(label)} '" for number, label in enumerate(labels, 1) if label)
    wide = ' tabindex="0" data-wide=""' if len(labels) > _WIDE else ""
    return Markup(f'{wide} style="{style}"' if style else wide)  # noqa: S704  (every sign of a label is escaped)


def _css(text: str) -> str:
    return _PLAIN.sub(lambda character: f"\\{ord(character[0]):x} ", harmless(text))
