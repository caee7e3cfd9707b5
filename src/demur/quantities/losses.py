"""Losses of answers, each an integer numerator over one common divisor, so that sums are exact."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demur.errors import UserError, literal, registered
from demur.facts.columns import written_number
from demur.facts.instruments import Instrument
from demur.facts.items import Items
from demur.facts.losses import GIVEN, WHICH_LOSS
from demur.options import as_column

Numerators = Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]


@dataclass(frozen=True, slots=True)
class LossFunction:
    """A named loss function: `numerators(truth, answer)` over a divisor, which is 1 or the instrument's range.

    A loss `of_labels` is 0 or 1, and depends only on whether two labels are equal.
    """

    name: str
    meaning: str
    numerators: Numerators
    normalised: bool = False
    of_labels: bool = False

    def divisor(self, instrument: Instrument | None) -> int:
        """The divisor that turns a numerator into a loss."""
        if not self.normalised:
            return 1
        if instrument is None:
            others = " or ".join(entry.name for entry in LOSSES.values() if not entry.normalised)
            raise UserError(
                f"the loss {self.name} divides by the score range: it needs an instrument, e.g. PHQ-8; or use {others}"
            )
        return instrument.range

    def largest(self, instrument: Instrument | None) -> int | None:
        """The largest possible numerator; None if scores are unbounded."""
        if self.of_labels:
            return 1
        return instrument.range if instrument else None

    def definition(self, instrument: Instrument | None) -> str:
        """The formula of the loss, with the divisor of this instrument.

        >>> from demur.facts.instruments import PHQ8
        >>> loss("abs_norm").definition(PHQ8)
        'abs(pred - gt) / 3'
        """
        return f"{self.meaning} / {self.divisor(instrument)}" if self.normalised else self.meaning


def _absolute_error(truth: NDArray[Any], answer: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(np.abs(answer - truth))


def _unequal(truth: NDArray[Any], answer: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(answer != truth, dtype=np.int64)


LOSSES = {
    "abs": LossFunction("abs", "abs(pred - gt)", _absolute_error),
    "abs_norm": LossFunction("abs_norm", "abs(pred - gt)", _absolute_error, normalised=True),
    "zero_one": LossFunction("zero_one", "1 if pred != gt else 0", _unequal, of_labels=True),
}


def loss(name: str) -> LossFunction:
    """Return the registered loss of a name.

    >>> loss("zero_one").numerators(np.array([1, 2]), np.array([1, 3]))
    array([0, 1])
    """
    return registered("loss", name, LOSSES)


def is_share(name: str, maximum: float | None) -> bool:
    """Whether a loss lies between 0 and 1 by declaration, so that its mean can be shown in per cent."""
    return name == "zero_one" or (name == GIVEN and maximum == 1)


def takes_percent(name: str, maximum: float | None) -> bool:
    """Whether a limit on the mean loss may be typed with %; not for losses in score points."""
    return name != "abs" and maximum in (None, 1)


def check_loss(name: str | None) -> None:
    """Raise an error unless the name is that of a loss, or `given`, which means the losses of a table."""
    if name not in (None, GIVEN):
        loss(name)


def loss_of(items: Items, name: str | None, usual: str = "abs_norm") -> str:
    """The name of the loss to use: the one named, else the only one the data allow, else the instrument's usual one."""
    if items.losses is not None:
        if name not in (None, items.losses.name):
            given = items.losses.definition
            if items.count is not None:
                raise UserError(f"a summary by the loss {items.losses.name} ({given}), not {name}: summarize it anew")
            raise UserError(
                f"the loss {name} needs truth and prediction; this table gives losses ({given}): leave it out"
            )
        return items.losses.name
    if name == GIVEN:
        raise UserError(f"the loss given needs a table with a column of losses or scores: map one, {as_column('loss')}")
    chosen = loss(name or (_unnamed(items, usual) if items.labels is None else "zero_one"))
    if items.labels is not None and not chosen.of_labels:
        number = next((n for n, label in enumerate(items.labels) if written_number(label) is None), 0)
        unit = int(np.argmax((items.truth == number) | (items.answered & (items.answer == number))))
        raise needs_number(items.place(unit), items.labels[number], chosen.name)
    return chosen.name


def _unnamed(items: Items, usual: str) -> str:
    return usual if items.instrument is not None else unnamed_loss(items.truth, items.answer[items.answered])


def unnamed_loss(*numbers: NDArray[Any]) -> str:
    """The default loss of numbers without an instrument: zero_one if all are 0 or 1; otherwise raise an error."""
    if all(np.isin(column, (0, 1)).all() for column in numbers):
        return "zero_one"
    raise UserError(f"say {WHICH_LOSS}")


def needs_number(place: str, text: str, name: str | None) -> UserError:
    """Build the error for a text where a loss needs a number, or where no loss is named."""
    able = " or ".join(entry.name for entry in LOSSES.values() if entry.of_labels)
    if name is None:
        return UserError(f"{place}: {literal(text)} is a text: name the loss of labels, {able}")
    what = "no number" if written_number(text) is None else "a text, not a number"
    return UserError(f"{place}: {literal(text)} is {what}: the loss {name} needs one; use {able}")


def are_amounts(items: Items, name: str) -> bool:
    """Whether answers are amounts that can be too high or too low, rather than classes."""
    return items.has_scores and (items.instrument is not None or not loss(name).of_labels)
