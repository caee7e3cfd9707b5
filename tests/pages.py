"""Pages as the tests read them, without a browser, and texts that a page must show and not obey."""

from __future__ import annotations

import base64
import gzip
import json
from html.parser import HTMLParser

VOID = ("meta", "input", "br", "wbr")
HOSTILE = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "' onmouseover='alert(1)",
    "<!--",
    "-->",
    "]]>",
    "</style>",
    "</title><h1>",
    "</textarea>",
    "</bdi></td></table>",
    "javascript:alert(1)",
    "&lt;b&gt;",
    "&#x3c;b&#x3e;",
    "{{ 7 * 7 }}",
    "{% raw %}",
    "{# x #}",
    "${alert(1)}",
    "`${1}`",
    "\\u003c/script\\u003e",
    "\\",
    "\\'; alert(1); '",
    '\\"',
    "\u2028alert(1)\u2029",
    "\u202eabc",
    "\u2066\u2067x",
    "\u200f\u200e",
    "שלום",
    "مرحبا 123",
    "\x00",
    "\x1b[31m",
    "\r\nSet-Cookie: x",
    "\t\n ",
    "\ufeff",
    "\ufffe",
    "a" * 5000,
    "http://example.com/x.js",
    "//example.com",
    "url(http://example.com)",
    "@import 'x'",
    "</div>" * 20,
    "<base href=//example.com>",
    "<meta http-equiv=refresh content=0>",
    "<form action=//example.com>",
    "<a href=javascript:alert(1)>x</a>",
    "<iframe src=//example.com>",
    "<math><mi//xlink:href='data:x,<script>'>",
    "constructor",
    "__proto__",
    "",
]
INLINE = ("bdi", "b", "span", "strong", "code")


def spellings(turns):
    """Ways to spell every text of a file: a harmless one, then one with the hostile texts for each turn of them."""
    numbers = {}

    def number(text):
        return numbers.setdefault(text, len(numbers))

    yield lambda text: f"name{number(text)}"
    for turn in turns:
        texts = [*HOSTILE[turn:], *HOSTILE[:turn]]
        yield lambda text, texts=texts: f"{number(text)}{texts[number(text) % 50]}"


class Page(HTMLParser):
    """What a page is made of."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, tuple[tuple[str, str | None], ...]]] = []
        self.scripts: list[str] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, tuple(attrs)))
        self.words.append("" if tag in INLINE else " ")
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, tuple(attrs)))

    def handle_endtag(self, tag):
        assert self._open, f"</{tag}> closes nothing"
        assert self._open.pop() == tag

    def handle_data(self, data):
        if self._open and self._open[-1] == "script":
            self.scripts.append(data)
        elif not self._open or self._open[-1] != "style":
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).split())

    @property
    def data(self):
        """What the page's script knows."""
        return json.loads(self.scripts[0])

    @property
    def points(self):
        """The operating points of each system under each confidence, unpacked."""
        return json.loads(gzip.decompress(base64.b64decode(self.data["points"])))

    def values(self, name: str) -> list[str | None]:
        """Every value of an attribute."""
        return [value for _, attributes in self.elements for key, value in attributes if key == name]
