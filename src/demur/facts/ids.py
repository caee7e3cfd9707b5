"""Ids of clusters: integers or texts, checked, and sorted in the order in which clusters are drawn."""

import re
from collections.abc import Collection, Iterable, Sequence
from operator import lt
from typing import Any

import numpy as np

from demur.errors import UserError, literal
from demur.facts.columns import plain
from demur.files.strict_json import has_half
from demur.types import Indices

ClusterId = int | str
_LARGEST_ID = 2**63


def checked_ids(ids: Iterable[object], noun: str) -> list[ClusterId]:
    """Return cluster ids if each is an integer or a text; 300 and "300" in one run are ambiguous and an error."""
    checked: list[Any] = [*ids]
    if not {*map(type, checked)} <= {str, int}:
        checked = [*map(plain, checked)]
    mixed = len({*map(type, checked)}) > 1
    seen: dict[str, ClusterId] = {}
    for value in checked:
        if not _is_id(value):
            raise UserError(f"{noun} id {literal(value)}, expected an integer or a text without spaces around it")
        if mixed and type(seen.setdefault(str(value), value)) is not type(value):
            raise UserError(f"{noun} {value} is given both as a number and as text: the same {noun}?")
    return checked


def _is_id(value: object) -> bool:
    if type(value) is str:
        # A lone surrogate, half of a character, cannot be written to a file.
        return value.strip() == value != "" and (value.isascii() or not has_half(value))
    return type(value) is int and abs(value) < _LARGEST_ID


def sorted_ids(ids: Iterable[ClusterId]) -> tuple[ClusterId, ...]:
    """Distinct ids in the order in which clusters are drawn: integers, then texts."""
    return ranked([*dict.fromkeys(ids)])[0]


def are_sorted(ids: Sequence[ClusterId]) -> bool:
    """Whether ids are distinct and in the order in which clusters are drawn.

    >>> are_sorted((7, 12)), are_sorted((7, "12")), are_sorted(("7", "12")), are_sorted((7, 7))
    (True, True, False, False)
    """
    if len({*map(type, ids)}) == 1:
        return all(map(lt, ids, ids[1:]))
    return tuple(ids) == sorted_ids(ids)


def ranked(ids: Sequence[Any]) -> tuple[tuple[ClusterId, ...], Indices]:
    """Distinct ids sorted, integers before texts, and the rank of each."""
    numbers = np.array([not isinstance(value, str) for value in ids], dtype=bool)
    order = [
        number for kind in (numbers, ~numbers) for number in sorted(np.flatnonzero(kind).tolist(), key=ids.__getitem__)
    ]
    rank = np.empty(len(ids), dtype=np.intp)
    rank[order] = np.arange(len(ids))
    return tuple(ids[number] for number in order), rank


def as_integers(texts: Collection[object], most_digits: int) -> list[int] | None:
    """The texts as integers if all are canonical integers, None otherwise: 7 and 007 are different texts.

    >>> as_integers(["7", "-12"], 18), as_integers(["7", "007"], 18)
    ([7, -12], None)
    """
    written = re.compile(rf"0|-?[1-9][0-9]{{0,{most_digits - 1}}}")
    integers = [int(text) for text in texts if isinstance(text, str) and written.fullmatch(text)]
    return integers if len(integers) == len(texts) else None
