"""Guesses about a table whose columns were not mapped: roles, loss and confidence, and questions where several fit.

Nothing is guessed silently: guesses are reported and recorded, and a question comes with the options that answer it.
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
    """What the user specified; `usual` are the signals of the confidences that are evaluated by default.

    A table is `alone` if it is the only input.
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
    """What the table leaves open, and the words of a command line that answer it."""

    about: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Guess:
    """The guessed column of each role, the loss and the confidence where they are clear, and the open questions."""

    columns: Mapping[str, str]
    loss: str | None
    confidence: str | None
    questions: tuple[Question, ...]

    @property
    def notes(self) -> list[str]:
        """The guesses in words."""
        taken = ", ".join(f"{shown(name)} as {role}" for role, name in self.columns.items())
        columns = [f"took {taken}"] if taken else []
        loss = [f"the loss is {self.loss}"] if self.loss else []
        return [*columns, *loss, *([ranked_by(self.confidence)] if self.confidence else [])]


def ranked_by(signal: str) -> str:
    """The note on a confidence that was guessed."""
    return f"answers are ranked by {shown(signal)}, the one numeric signal"


def guess_inputs(inputs: Iterable[Any], given: Given) -> list[tuple[str, Guess | None]]:
    """The guesses about several inputs of `read_inputs`, each after the name that messages call the input by.

    The guess is None for a run file, a pipe, a summary, and facts that are read already.
    """
    named = [*map(named_input, inputs)]
    for _, data in named:
        if isinstance(data, (str, Path)):
            check_foreign(data)
    guesses = []
    for name, data in named:
        with located_in(name, data):
            where = str(data) if isinstance(data, (str, Path)) else "" if name is None else shown(name)
            guesses.append((where, _guessed(data, given) if _is_table(data) else None))
    return guesses


def _is_table(data: object) -> bool:
    if not isinstance(data, (str, Path)):
        return not isinstance(data, Items)
    is_pipe = os.path.exists(data) and not os.path.isfile(data)  # noqa: PTH110, PTH113  (Path.exists may raise)
    return format_of(data) is not None and not is_pipe and not is_summary(data)


def _guessed(data: Any, given: Given) -> Guess:
    from demur.read.guesser import guess  # noqa: PLC0415  (run files need no guesses)

    return guess(data, given)
