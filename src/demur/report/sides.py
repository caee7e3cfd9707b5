"""Sides: the runs of an artifact, and what to call them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING
from unicodedata import bidirectional

from demur.errors import shown

if TYPE_CHECKING:
    from demur.artifact import Input, Metrics

_FROM_THE_RIGHT = ("R", "AL", "AN")


@dataclass(frozen=True, slots=True)
class Side:
    """One of the runs: which one it is, what a picture calls it, and its name for people."""

    word: str
    style: str
    name: str


def sides_of(metrics: Metrics) -> tuple[Side, ...]:
    """The run, or left and right, by the first thing their files say that tells them apart."""
    if not metrics.comparison.enabled:
        one = metrics.inputs[0]
        return (Side("run", "left", isolated(one.mode or one.run_id or _file_name(one) or "The run")),)
    left, right = metrics.inputs
    choices = ((left.mode, right.mode), (left.run_id, right.run_id), (_file_name(left), _file_name(right)))
    words = ("left", "right")
    # A run whose mode is called right may stand on the left: such a name would say the opposite of what is meant.
    clear = (pair for pair in choices if not {*map(str, pair)} & {*words})
    names = next(((a, b) for a, b in clear if a and b and shown(a) != shown(b)), words)
    return tuple(Side(word, word, isolated(name)) for word, name in zip(words, names, strict=True))


def _file_name(one: Input) -> str | None:
    return PurePath(one.path).name if one.path else None


def isolated(name: str) -> str:
    r"""A name inside a sentence; one with letters that run from right to left may not turn the words around it.

    >>> isolated("few_shot"), len(isolated("\u05d0")), isolated("\u202e")
    ('few_shot', 3, "'\\u202e'")
    """
    safe = shown(name)
    return f"\u2068{safe}\u2069" if any(bidirectional(letter) in _FROM_THE_RIGHT for letter in safe) else safe
