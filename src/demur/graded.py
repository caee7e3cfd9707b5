"""Graded units: the only table a curve sees. Answers with a loss and a confidence; abstentions are counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from demur.errors import UserError, and_more, literal
from demur.losses import loss as loss_named

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from demur.items import Items

_SAFE_PRODUCT = 2.0**62


@dataclass(frozen=True, slots=True, eq=False)
class Graded:
    """Losses and confidences of the answered units, and how many units there are in all.

    A loss is `loss / divisor`. Whole numbers are kept as integers, whatever type they came in: their sums are exact
    and do not depend on the order of the rows.
    """

    units: int
    loss: NDArray[Any]
    confidence: NDArray[np.float64]
    divisor: int = 1
    abstained_nan: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "loss", _whole_if_possible(self.loss, self.units))

    @property
    def answered(self) -> int:
        """How many units are answered."""
        return len(self.loss)


def _whole_if_possible(loss: NDArray[Any], units: int) -> NDArray[Any]:
    """As integers if they are whole and no sum of (units × losses) can overflow; as doubles otherwise."""
    largest = float(np.abs(loss).max(initial=0)) * len(loss) * units * 2
    if largest < _SAFE_PRODUCT and (loss.dtype.kind in "iub" or bool((loss == np.rint(loss)).all())):
        return loss.astype(np.int64, copy=False)
    return loss.astype(np.float64)


def grade(items: Items, *, loss: str, confidence: ArrayLike) -> Graded:
    """Give every answered unit of a run its loss and its confidence (one per unit, in the order of the items)."""
    values = np.asarray(confidence, dtype=np.float64)
    if values.shape != (len(items),):
        raise UserError(f"confidence has shape {values.shape}, expected one number for each of {len(items)} units")
    refuse_unusable(values, items.answered, "confidence", items.place)
    chosen = loss_named(loss)
    answered = items.answered
    return Graded(
        units=len(items),
        loss=chosen.numerators(items.truth[answered], items.answer[answered]),
        confidence=values[answered],
        divisor=chosen.divisor(items.instrument),
        abstained_nan=items.abstained_nan,
    )


def refuse_unusable(
    values: NDArray[np.float64], needed: NDArray[np.bool_], what: str, place: Callable[[int], str]
) -> None:
    """An answered unit needs a finite number: NaN would rank nowhere, infinity would hide a bug as full trust."""
    bad = np.flatnonzero(needed & ~np.isfinite(values))
    if bad.size:
        first = int(bad[0])
        text = f"{place(first)}: {what} {literal(float(values[first]))}, expected a finite number"
        raise UserError(and_more(text, bad.size))
