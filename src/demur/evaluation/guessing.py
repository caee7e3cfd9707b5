"""Guessing of what the options leave open about tables; everything ambiguous is reported in one error."""

from __future__ import annotations

import os.path
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from demur.confidences.serving import Names, only_signal, usual_signals
from demur.errors import UserError, shown
from demur.facts.items import Items
from demur.options import door
from demur.read.files import located_in, named_input
from demur.read.kinds import kind_of
from demur.read.role_candidates import Given, Guess, ranked_by
from demur.read.tables import format_of
from demur.read.tool_logs import refuse_tool_log


@dataclass(frozen=True, slots=True)
class Settled:
    """The columns of each input, the loss and the confidence, as given or guessed; `notes` list the guesses."""

    columns: Sequence[dict[str, str]]
    loss: str | None
    confidence: str | Sequence[str]
    notes: tuple[str, ...] = ()

    @contextmanager
    def explaining(self) -> Iterator[None]:
        """A context that appends the guesses to any error raised while the tables are read."""
        try:
            yield
        except UserError as error:
            raise UserError(f"{error} ({'; '.join(self.notes)})" if self.notes else str(error)) from None

    def of(self, runs: Sequence[Items]) -> Settled:
        """Add what follows from the whole data: the instrument of the runs, and the only signal of a run file."""
        known = dict.fromkeys(items.source.instrument for items in runs if items.source and items.source.instrument)
        notes = [*self.notes, *(f"the items are those of {name}" for name in known)]
        if self.confidence == "default" and runs[0].counting is not None:
            return replace(self, confidence=runs[0].counting.confidence, notes=tuple(dict.fromkeys(notes)))
        signal = only_signal(runs[0]) if self.confidence == "default" else None
        if signal is not None:
            notes.append(ranked_by(signal))
        return replace(self, confidence=signal or self.confidence, notes=tuple(dict.fromkeys(notes)))


def settled(inputs: Sequence[Any], given: Given, confidence: Names) -> Settled:
    """Guess what `given` leaves open; raise one error with all that is ambiguous about an input."""
    given = replace(given, confidence=confidence != "default", usual=usual_signals(), alone=len(inputs) == 1)
    guesses = _guesses(inputs, given)
    for where, guess in guesses:
        if guess is not None and guess.questions:
            raise _ambiguous(where, guess)
    tables = [guess for _, guess in guesses if guess is not None]
    signals = {guess.confidence for guess in tables}
    signal = signals.pop() if len(signals) == 1 else None
    return Settled(
        [{**given.columns, **(guess.columns if guess else {})} for _, guess in guesses],
        given.loss or next((guess.loss for guess in tables if guess.loss), None),
        signal or confidence,
        tuple(note for guess in tables for note in guess.notes),
    )


def _ambiguous(where: str, guess: Guess) -> UserError:
    answers = [answer for question in guess.questions for answer in question.answers]
    first, *others = [question.about for question in guess.questions]
    questions = "; ".join([*guess.notes, f"say {first}", *others])
    blanks = [blank for blank in ("ROLE", "COLUMN") if any(blank in (known.role, known.value) for known in answers)]
    noun = door().noun
    which = f"the {noun}, with {' and '.join(blanks)} filled in" if blanks else f"the likeliest {noun}"
    return UserError(f"{f'{where}: ' if where else ''}{questions}; {which}: {door().again(answers)}")


def _guesses(inputs: Iterable[Any], given: Given) -> list[tuple[str, Guess | None]]:
    """The guesses about several inputs of `read_inputs`, each after the name that messages call the input by."""
    named = [*map(named_input, inputs)]
    for _, data in named:
        if isinstance(data, (str, Path)):
            refuse_tool_log(data)
    guesses = []
    for name, data in named:
        with located_in(name, data):
            where = str(data) if isinstance(data, (str, Path)) else "" if name is None else shown(name)
            guesses.append((where, _guess(data, given)))
    return guesses


def _guess(data: Any, given: Given) -> Guess | None:
    """The guess about a table; None for a run file, a pipe, what an extension reads, and facts that are read."""
    if isinstance(data, (str, Path)):
        is_pipe = os.path.exists(data) and not os.path.isfile(data)  # noqa: PTH110, PTH113  (Path.exists may raise)
        if format_of(data) is None or is_pipe or kind_of(data):
            return None
    elif isinstance(data, Items):
        return None
    from demur.read.role_guessing import guess  # noqa: PLC0415  (run files need no guesses)

    return guess(data, given)
