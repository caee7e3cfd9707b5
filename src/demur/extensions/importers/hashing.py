"""Hashes of imported files, and of very many names, to find repeated names in eight bytes each."""

import hashlib
from array import array
from collections.abc import Iterable
from pathlib import Path

import numpy as np

_CHUNK = 1 << 20


def sha256_of(paths: Iterable[Path]) -> str:
    """SHA-256 of the concatenated bytes of all files."""
    total = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                total.update(chunk)
    return total.hexdigest()


def short_hash(text: str) -> int:
    """A 64-bit hash of a text; two texts may have the same, so equal hashes do not prove equal texts."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


class Hashes:
    """The short hashes of texts, in order.

    >>> hashes = Hashes()
    >>> [hashes.add(text) for text in "abca"]
    [None, None, None, None]
    >>> hashes.distinct, len(hashes.repeated())
    (3, 1)
    """

    def __init__(self) -> None:
        self._hashes = array("Q")

    def add(self, text: str) -> None:
        """Add a text."""
        self._hashes.append(short_hash(text))

    @property
    def distinct(self) -> int:
        """The number of distinct hashes."""
        return len(np.unique(self._hashes))

    def repeated(self) -> set[int]:
        """The hashes that were added more than once."""
        hashes, counts = np.unique(self._hashes, return_counts=True)
        return {*hashes[counts > 1].tolist()}

    def positions(self, wanted: int) -> list[int]:
        """The positions at which a hash was added."""
        return np.flatnonzero(np.asarray(self._hashes) == wanted).tolist()
