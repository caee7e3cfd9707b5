"""How much of a file may be in memory at once: a few packed bytes can unpack to more than any machine holds."""

import os
import re
from dataclasses import dataclass
from typing import Protocol

from demur.errors import UserError, literal

_CHUNK = 1 << 20
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


@dataclass(frozen=True, slots=True)
class Limit:
    """The largest size of one thing after unpacking, in bytes (of lines, in characters); `variable` sets another.

    >>> LINE.size == 64 * 2**20
    True
    """

    variable: str
    default: str
    what: str

    @property
    def size(self) -> int:
        """The limit in force, in bytes."""
        written = os.environ.get(self.variable) or self.default
        number = re.fullmatch("([0-9]{1,15})([KMG]?)", written)
        if not number or not int(number[1]):
            raise UserError(f"{self.variable} {literal(written)}, expected a number of bytes, such as 500M or 2G")
        return int(number[1]) * _UNITS[number[2]]

    def check(self, size: int) -> None:
        """Refuse what is larger."""
        if size > self.size:
            written = os.environ.get(self.variable) or self.default
            raise UserError(f"{self.what} is larger than {written} bytes; to allow it, set {self.variable} to more")


LINE = Limit("DEMUR_MAX_LINE", "64M", "a line or a row")
MEMBER = Limit("DEMUR_MAX_MEMBER", "1G", "what has to be read in one piece")
FILE = Limit("DEMUR_MAX_FILE", "8G", "the unpacked file")


class Readable(Protocol):
    """What bytes are read from: a file, or what unpacks one."""

    def read(self, size: int, /) -> bytes:
        """At most so many bytes, none at the end."""


def read_whole(file: Readable) -> bytes:
    """All bytes, if no more than may be read in one piece."""
    chunks: list[bytes] = []
    size = 0
    while chunk := file.read(_CHUNK):
        chunks.append(chunk)
        size += len(chunk)
        MEMBER.check(size)
    return b"".join(chunks)
