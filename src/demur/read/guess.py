"""Guesses: what is known of a table that was told little of; what was taken is told, and what stays open is a question.

Nothing is guessed in silence: what was taken is told and recorded, and a question comes with the options to answer it.
"""

import os.path
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from demur.errors import shown
from demur.facts.instruments import BY_ITEMS
from demur.facts.items import Items
from demur.read.files import located_in, named_input
from demur.read.foreign import check_foreign
from demur.read.tables import format_of
from demur.summaries.mark import is_summary


@dataclass(frozen=True, slots=True)
class Given:
    """What the user has said already; `usual` are the signals of the confidences that are taken if none is named.

    A table is `alone` if it is compared with no other.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    instrument: object = BY_ITEMS
    own_clusters: bool = False
    score_range: object = None
    loss: str | None = None
    confidence: bool = False
    lower_is_surer: Sequence[str] = ()
    usual: frozenset[str] = frozenset()
    alone: bool = True


@dataclass(frozen=True, slots=True)
class Question:
    """What could not be told from the table, and the words of a command that settle it."""

    about: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Guess:
    """What was taken: the column of each role, a loss and a confidence where they are clear; and what is not clear."""

    columns: Mapping[str, str]
    loss: str | None
    confidence: str | None
    questions: tuple[Question, ...]

    @property
    def notes(self) -> list[str]:
        """What was taken, in words."""
        columns = ", ".join(f"{shown(name)} as {role}" for role, name in self.columns.items())
        took = [f"took {columns}"] if columns else []
        loss = [f"the loss is {self.loss}"] if self.loss else []
        return [*took, *loss, *([ranked_by(self.confidence)] if self.confidence else [])]


def ranked_by(signal: str) -> str:
    """What is said of a confidence that nobody named."""
    return f"answers are ranked by {shown(signal)}, the one numeric signal"


def guess_inputs(inputs: Iterable[Any], given: Given) -> list[tuple[str, Guess | None]]:
    """The guesses of several inputs, as `read_inputs` takes them, with what each is called in a message.

    There is none for a run file, a pipe, and facts that are read already.
    """
    named = [*map(named_input, inputs)]
    for _, data in named:
        if isinstance(data, (str, Path)):
            check_foreign(data)
    made = []
    for name, data in named:
        with located_in(name, data):
            where = str(data) if isinstance(data, (str, Path)) else "" if name is None else shown(name)
            made.append((where, _guessed(data, given) if _can_be_looked_at(data) else None))
    return made


def _can_be_looked_at(data: object) -> bool:
    if not isinstance(data, (str, Path)):
        return not isinstance(data, Items)
    is_pipe = os.path.exists(data) and not os.path.isfile(data)  # noqa: PTH110, PTH113  (Path.exists may raise)
    return format_of(data) is not None and not is_pipe and not is_summary(data)


def _guessed(data: Any, given: Given) -> Guess:
    from demur.read.guesser import guess  # noqa: PLC0415  (a run file says what it holds)

    return guess(data, given)
