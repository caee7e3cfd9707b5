"""Ids of clusters as arrays: integers, then texts, each ascending. This is the order in which clusters are drawn."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demur.errors import UserError
from demur.facts.ids import ClusterId
from demur.types import Indices, Integers

Texts = NDArray[np.bytes_]  # as UTF-8, whose bytes are in the order of the characters


@dataclass(frozen=True, slots=True, eq=False)
class Ids:
    """Distinct ids, integers and texts, each in ascending order."""

    numbers: Integers
    texts: Texts

    @classmethod
    def of(cls, ids: Sequence[ClusterId]) -> Ids:
        """From ids in the order that clusters are drawn in."""
        begin = bisect_left(ids, True, key=lambda name: isinstance(name, str))  # noqa: FBT003
        texts = [str(name).encode() for name in ids[begin:]]
        if any(text.endswith(b"\0") for text in texts):
            raise UserError("the id of a cluster ends with a NUL: no summary can hold it")
        numbers = np.array(ids[:begin], np.int64)
        return cls(numbers, np.array(texts, np.bytes_) if texts else np.zeros(0, "S1"))

    @classmethod
    def union(cls, parts: Sequence[Ids]) -> Ids:
        """The ids that occur in any part."""
        kinds = {(len(part.numbers) > 0, len(part.texts) > 0) for part in parts if len(part)}
        if len(kinds) > 1:
            raise UserError(
                "cluster ids are numbers in one part and texts in another: the same clusters? write them alike"
            )
        return cls(*(_union([getattr(part, name) for part in parts]) for name in _KINDS))

    def __len__(self) -> int:
        return len(self.numbers) + len(self.texts)

    def indices(self, subset: Ids) -> Indices:
        """The index here of each id of a subset of these ids."""
        numbers, texts = (np.searchsorted(getattr(self, name), getattr(subset, name)) for name in _KINDS)
        return np.concatenate([numbers, texts + len(self.numbers)])

    def plain(self) -> tuple[ClusterId, ...]:
        """The ids as Python values."""
        return (*self.numbers.tolist(), *(text.decode() for text in self.texts.tolist()))

    def __getitem__(self, index: int) -> ClusterId:
        number = len(self.numbers)
        return int(self.numbers[index]) if index < number else bytes(self.texts[index - number]).decode()

    def check(self) -> None:
        """Raise unless the ids are distinct, ascending and not empty."""
        for name in _KINDS:
            ids: Any = getattr(self, name)
            if (ids[1:] <= ids[:-1]).any():
                raise UserError("cluster ids are not in order")
        try:
            empty = not all(text.decode() for text in self.texts.tolist())
        except UnicodeDecodeError:
            empty = True
        if empty:
            raise UserError("a cluster id is not a text")


_KINDS = ("numbers", "texts")


def _union(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """The values that occur in any of some ascending arrays, ascending.

    Parts mostly hold the same ids, and all of them at once would take many times the memory of their union. So two of
    similar length are joined at a time, which a stable sort does in one pass.
    """
    waiting: list[NDArray[Any]] = []
    for index, part in enumerate(parts):
        waiting.append(part)
        last = index == len(parts) - 1
        while len(waiting) > 1 and (last or len(waiting[-2]) <= 2 * len(waiting[-1])):
            both = np.sort(np.concatenate([waiting.pop(), waiting.pop()]), kind="stable")
            waiting.append(both[np.append(True, both[1:] != both[:-1])[: len(both)]])
    return waiting[0]
