"""The fingerprint of what was imported, and which of very many names appear twice, in eight bytes for each."""

import hashlib
from array import array
from collections.abc import Iterable
from pathlib import Path

import numpy as np

_CHUNK = 1 << 20


def sha256_of(paths: Iterable[Path]) -> str:
    """SHA-256 of the bytes of all files, one after another."""
    total = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                total.update(chunk)
    return total.hexdigest()


def short_hash(text: str) -> int:
    """Sixty-four bits of a text. Two texts may share them: what must be certain is compared in full afterwards."""
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
        """Take one more."""
        self._hashes.append(short_hash(text))

    @property
    def distinct(self) -> int:
        """How many different ones there are."""
        return len(np.unique(self._hashes))

    def repeated(self) -> set[int]:
        """Those that were taken more than once."""
        hashes, counts = np.unique(self._hashes, return_counts=True)
        return {*hashes[counts > 1].tolist()}

    def positions(self, wanted: int) -> list[int]:
        """Where one was taken."""
        return np.flatnonzero(np.asarray(self._hashes) == wanted).tolist()
