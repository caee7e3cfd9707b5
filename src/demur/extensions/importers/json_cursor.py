"""Incremental reading of JSON: objects by member, lists by element, so that files may be large."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from demur.errors import UserError, shown
from demur.files.limits import FILE, MEMBER
from demur.files.strict_json import decoder, unparsed
from demur.read.stream import stream

_CHUNK = 1 << 16
_LONGEST_WORD = 16  # an error so close to the end of the chunk may be a value that continues: tru|e, \u00|e9
_CUT_NUMBER = 2  # characters after a number that may belong to it: 12e+|3 first reads as 12
_BLANK = re.compile(r"[ \t\n\r]*")
_STRICT = decoder()
_ANYTHING = json.JSONDecoder()  # skipped values are not checked strictly


class JsonCursor:
    """A position in a JSON text. The caller iterates over an object or a list, and reads or skips each value.

    >>> cursor = JsonCursor.of_text('{"version": 2, "samples": [{"id": 1}, {"id": 2}]}')
    >>> [cursor.value() if name == "version" else [part["id"] for part in cursor.values()] for name in cursor.members()]
    [2, [1, 2]]
    """

    def __init__(self, read: Callable[[int], str]) -> None:
        self._read, self._text, self._at, self._ended, self._total = read, "", 0, False, 0

    @classmethod
    @contextmanager
    def opened(cls, path: Path) -> Iterator[JsonCursor]:
        """A cursor at the start of a file, which must consist of one value."""
        with stream(path) as file:
            cursor = cls(file.text.read)
            yield cursor
            cursor.finish()

    @classmethod
    def of_text(cls, text: str) -> JsonCursor:
        """A cursor at the start of a complete text."""
        texts = iter([text])
        return cls(lambda _: next(texts, ""))

    def peek(self) -> str:
        """The next character that is not white space; empty at the end."""
        while True:
            self._at = next(_BLANK.finditer(self._text, self._at)).end()
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def members(self, wanted: Collection[str] | None = None) -> Iterator[str]:
        """The names in an object, all or the wanted ones; the caller must read or skip each value before the next."""
        seen = set()
        for _ in self._parts("{", "}"):
            name = self.value()
            if not isinstance(name, str):
                raise UserError("not valid JSON: the name of a member is not text")
            if name in seen:
                raise UserError(f"not valid JSON: the member {shown(name)} appears twice in one object")
            seen.add(name)
            self._take(":")
            if wanted is None or name in wanted:
                yield name
            else:
                self.skip()

    def elements(self) -> Iterator[None]:
        """Stop at each element of a list; the caller must read or skip it before going on."""
        return self._parts("[", "]")

    def values(self) -> Iterator[Any]:
        """Read the elements of a list one by one."""
        return (self.value() for _ in self.elements())

    def value(self, of: json.JSONDecoder = _STRICT) -> Any:
        """Read the value at the cursor."""
        self.peek()
        while True:
            try:
                value, end = of.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                cut = error.msg.startswith("Unterminated") or error.pos >= len(self._text) - _LONGEST_WORD
                if not (cut and self._more()):
                    where = "it ends early" if cut and error.pos >= len(self._text) else error.msg
                    raise UserError(f"not valid JSON: {where}") from None
            except (RecursionError, ValueError) as error:
                raise unparsed(error) from None
            else:
                if end + _CUT_NUMBER < len(self._text) or not self._more():
                    self._at = end
                    return value

    def skip(self) -> None:
        """Skip the value at the cursor."""
        self.value(_ANYTHING)

    def finish(self) -> None:
        """Raise an error if anything follows the value."""
        if self.peek():
            raise UserError("not valid JSON: there is more text after its end")

    def _parts(self, start: str, end: str) -> Iterator[None]:
        self._take(start)
        if self.peek() != end:
            yield
            while self.peek() != end:
                self._take(",")
                yield
        self._take(end)

    def _take(self, expected: str) -> None:
        if self.peek() != expected:
            actual = self.peek()
            text = f"not valid JSON: expected {expected} and found {actual}" if actual else "the JSON ends early"
            raise UserError(text)
        self._at += 1

    def _more(self) -> bool:
        """Read more text and drop what was consumed; double each time, so that a long value is parsed few times."""
        left = len(self._text) - self._at
        MEMBER.check(left)
        added = "" if self._ended else self._read(max(_CHUNK, left))
        if not added:
            self._ended = True
            return False
        self._total += len(added)
        FILE.check(self._total)
        self._text, self._at = self._text[self._at :] + added, 0
        return True
