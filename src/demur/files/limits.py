"""Limits on the size of decompressed data: a few compressed bytes can expand to more than any machine's memory."""

import os
import re
from dataclasses import dataclass
from typing import BinaryIO

from demur.errors import UserError, literal

_CHUNK = 1 << 20
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit on the size of decompressed data, in bytes or characters; an environment `variable` changes it.

    >>> LINE.size == 64 * 2**20
    True
    """

    variable: str
    default: str
    what: str

    @property
    def written(self) -> str:
        """The current limit as text, such as 64M."""
        return os.environ.get(self.variable) or self.default

    @property
    def size(self) -> int:
        """The current limit as a number."""
        number = re.fullmatch("0*([1-9][0-9]{0,14})([KMG]?)", self.written)
        if not number:
            raise UserError(f"{self.variable} {literal(self.written)}, expected a size, such as 500M or 2G")
        return int(number[1]) * _UNITS[number[2]]

    def check(self, size: int) -> None:
        """Raise an error if a size exceeds the limit."""
        if size > self.size:
            raise UserError(f"{self.what} is larger than {self.written}; to allow it, set {self.variable} to more")


LINE = Limit("DEMUR_MAX_LINE", "64M", "a line or a row")
MEMBER = Limit("DEMUR_MAX_MEMBER", "1G", "what has to be read in one piece")
FILE = Limit("DEMUR_MAX_FILE", "8G", "the unpacked file")
RATIO = Limit("DEMUR_MAX_RATIO", "300", "the unpacked file as a multiple of the packed one")
_HARMLESS = 1 << 24  # bytes that take no time, however small they are packed


def check_unpacked(unpacked: int, packed: int) -> None:
    """Raise an error if a small file decompresses to a very large one."""
    if unpacked > _HARMLESS and unpacked > RATIO.size * packed:
        raise UserError(
            f"it unpacks to more than {RATIO.written} times its size; to allow it, set {RATIO.variable} to more"
        )


def read_whole(file: BinaryIO) -> bytes:
    """Read all bytes of a file; raise an error if they exceed the limit on a file read in one piece."""
    chunks: list[bytes] = []
    size = 0
    while chunk := file.read(_CHUNK):
        chunks.append(chunk)
        size += len(chunk)
        MEMBER.check(size)
    return b"".join(chunks)
