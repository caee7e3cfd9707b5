"""JSON a piece at a time: an object member by member, a list of any length in the memory of one element."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from demur.errors import UserError, shown
from demur.files.limits import FILE, MEMBER
from demur.files.strict_json import decoder, unparsed
from demur.read.stream import stream

_CHUNK = 1 << 16
_LONGEST_WORD = 16  # an error this close to the end may be a value that is cut in two: tru|e, \u00|e9
_CUT_NUMBER = 2  # what may follow a number that is cut in two, as 12 is in 12e+|3
_BLANK = " \t\n\r"
_STRICT = decoder()
_ANYTHING = json.JSONDecoder()  # of what is passed over nothing is asked


class JsonCursor:
    """A place in a JSON text. The caller goes into an object or a list, and takes or passes over what is there.

    >>> cursor = JsonCursor.of_text('{"version": 2, "samples": [{"id": 1}, {"id": 2}]}')
    >>> [cursor.value() if name == "version" else [each["id"] for each in cursor.values()] for name in cursor.members()]
    [2, [1, 2]]
    """

    def __init__(self, read: Callable[[int], str]) -> None:
        self._read, self._text, self._at, self._ended, self._total = read, "", 0, False, 0

    @classmethod
    @contextmanager
    def opened(cls, path: Path) -> Iterator[JsonCursor]:
        """The start of a file, after whose value there must be nothing more."""
        with stream(path) as file:
            cursor = cls(file.text.read)
            yield cursor
            cursor.finish()

    @classmethod
    def of_text(cls, text: str) -> JsonCursor:
        """The start of a text that is all there."""
        texts = iter([text])
        return cls(lambda _: next(texts, ""))

    def peek(self) -> str:
        """The next sign that is not blank; empty at the end."""
        while True:
            while self._at < len(self._text):
                if self._text[self._at] not in _BLANK:
                    return self._text[self._at]
                self._at += 1
            if not self._more():
                return ""

    def members(self) -> Iterator[str]:
        """The names in an object; before the next one, the value must be taken or passed over."""
        seen = set()
        for _ in self._parts("{", "}"):
            name = self.value()
            if not isinstance(name, str):
                raise UserError("not valid JSON: the name of a member is not text")
            if name in seen:
                raise UserError(f"not valid JSON: the member {shown(name)} appears twice in one object")
            seen.add(name)
            self._take(":")
            yield name

    def elements(self) -> Iterator[None]:
        """The places in a list; before the next one, the element must be taken or passed over."""
        return self._parts("[", "]")

    def values(self) -> Iterator[Any]:
        """The elements of a list."""
        return (self.value() for _ in self.elements())

    def value(self, of: json.JSONDecoder = _STRICT) -> Any:
        """The value here, whole."""
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
        """Pass over the value here."""
        self.value(_ANYTHING)

    def finish(self) -> None:
        """After the value there is nothing more."""
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

    def _take(self, sign: str) -> None:
        if self.peek() != sign:
            found = self.peek()
            raise UserError(f"not valid JSON: expected {sign} and found {found}" if found else "the JSON ends early")
        self._at += 1

    def _more(self) -> bool:
        """Read on, and forget what was taken; twice as much each time, so that a long value is not tried too often."""
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
