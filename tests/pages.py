"""Pages as the tests read them: elements with their attributes, words, and tables, without a browser."""

from __future__ import annotations

import json
from html.parser import HTMLParser

VOID = ("meta", "input", "br")
INLINE = ("bdi", "b", "span", "strong", "code")


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

    def values(self, name: str) -> list[str | None]:
        """Every value of an attribute."""
        return [value for _, attributes in self.elements for key, value in attributes if key == name]
