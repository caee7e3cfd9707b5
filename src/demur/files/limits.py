"""How much of a file may be in memory at once: a few packed bytes can unpack to more than any machine holds."""

import os
import re
from dataclasses import dataclass
from typing import BinaryIO

from demur.errors import UserError, literal

_CHUNK = 1 << 20
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


@dataclass(frozen=True, slots=True)
class Limit:
    """The largest size of one thing after unpacking: in bytes, or of text in characters; `variable` sets another.

    >>> LINE.size == 64 * 2**20
    True
    """

    variable: str
    default: str
    what: str

    @property
    def written(self) -> str:
        """The limit in force, as it is written."""
        return os.environ.get(self.variable) or self.default

    @property
    def size(self) -> int:
        """The limit in force, as a number."""
        number = re.fullmatch("0*([1-9][0-9]{0,14})([KMG]?)", self.written)
        if not number:
            raise UserError(f"{self.variable} {literal(self.written)}, expected a size, such as 500M or 2G")
        return int(number[1]) * _UNITS[number[2]]

    def check(self, size: int) -> None:
        """Refuse what is larger."""
        if size > self.size:
            way_out = f"to allow it, set {self.variable} to more"
            raise UserError(f"{self.what} is larger than {self.written}; {way_out}")


LINE = Limit("DEMUR_MAX_LINE", "64M", "a line or a row")
MEMBER = Limit("DEMUR_MAX_MEMBER", "1G", "what has to be read in one piece")
FILE = Limit("DEMUR_MAX_FILE", "8G", "the unpacked file")


def read_whole(file: BinaryIO) -> bytes:
    """All bytes, if no more than may be read in one piece."""
    chunks: list[bytes] = []
    size = 0
    while chunk := file.read(_CHUNK):
        chunks.append(chunk)
        size += len(chunk)
        MEMBER.check(size)
    return b"".join(chunks)
