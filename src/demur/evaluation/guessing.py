"""What nobody has said of tables: it is guessed, told and recorded; all that stays open is asked for in one message."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from demur.confidences.serving import only_signal, usual_signals
from demur.errors import UserError
from demur.inference.draws import NO_SEED
from demur.read.guess import Given, Guess, guess_inputs, ranked_by

if TYPE_CHECKING:
    from demur.evaluation.voice import Voice
    from demur.facts.items import Items

_SEEDED = ("--seed", "1")


@dataclass(frozen=True, slots=True)
class Settled:
    """What is known once everything has been guessed: the columns of each input, the loss and the confidence."""

    columns: Sequence[dict[str, str]]
    loss: str | None
    confidence: str
    notes: tuple[str, ...] = ()

    @contextmanager
    def explaining(self) -> Iterator[None]:
        """A mistake found in a table that was understood so is told with how it was understood."""
        try:
            yield
        except UserError as error:
            raise UserError(f"{error} ({'; '.join(self.notes)})" if self.notes else str(error)) from None

    def of(self, runs: Sequence[Items]) -> Settled:
        """The same, with what only the whole files tell: their instrument, and the one signal that a run file has."""
        known = dict.fromkeys(items.source.instrument for items in runs if items.source and items.source.instrument)
        notes = [*self.notes, *(f"the items are those of {name}" for name in known)]
        if self.confidence == "default" and runs[0].summary is not None:
            return replace(self, confidence=runs[0].summary.confidence, notes=tuple(dict.fromkeys(notes)))
        signal = only_signal(runs[0]) if self.confidence == "default" else None
        if signal is not None:
            notes.append(ranked_by(signal))
        return replace(self, confidence=signal or self.confidence, notes=tuple(dict.fromkeys(notes)))


def settled(inputs: Sequence[Any], given: Given, confidence: str, voice: Voice, *, seedless: bool) -> Settled:
    """Guess what nobody has said of tables; what stays open, and a seed that is missing, is one error."""
    given = replace(given, confidence=confidence != "default", usual=usual_signals(), alone=len(inputs) == 1)
    guesses = guess_inputs(inputs, given)
    for where, made in guesses:
        if made is not None and made.questions:
            raise _asked(where, made, voice, seedless=seedless)
    if seedless:
        raise UserError(f"{NO_SEED}: {voice.answer(_SEEDED)}")
    tables = [each for _, each in guesses if each is not None]
    signals = {each.confidence for each in tables}
    signal = signals.pop() if len(signals) == 1 else None
    return Settled(
        [{**given.columns, **(each.columns if each else {})} for _, each in guesses],
        given.loss or next((each.loss for each in tables if each.loss), None),
        signal or confidence,
        tuple(note for each in tables for note in each.notes),
    )


def _asked(where: str, made: Guess, voice: Voice, *, seedless: bool) -> UserError:
    words = [word for question in made.questions for word in question.words]
    first, *others = [question.about for question in made.questions]
    seed = ["a seed: any integer, 0 or more"] if seedless else []
    told = "; ".join([*made.notes, f"say {first}", *others, *seed])
    unsure = any("COLUMN" in word for word in words)
    which = f"the {voice.noun}, with COLUMN filled in" if unsure else f"the likeliest {voice.noun}"
    answer = voice.answer([*words, *(_SEEDED if seedless else ())])
    return UserError(f"{f'{where}: ' if where else ''}{told}; {which}: {answer}")
