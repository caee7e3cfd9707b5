"""Grading: every answered unit of a run is given its loss and its confidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from demur.columns import Column
from demur.confidences import confidence as confidence_named
from demur.errors import UserError
from demur.graded import Clusters, Graded
from demur.items import Items
from demur.losses import loss as loss_named
from demur.types import Floats
from demur.variants import Confidence

if TYPE_CHECKING:
    from demur.calibration import Calibration


def grade(items: Items, *, loss: str, confidence: Any, calibration: Calibration | None = None) -> Graded:
    """Give every answered unit of a run its loss and its confidence.

    The confidence is the name of a variant or of a signal, a `Confidence`, or a column of one number per unit in the
    order of the items. Calibrated variants need the `calibration`.
    """
    chosen, answered = loss_named(loss), items.answered
    made_of = confidence if isinstance(confidence, Confidence) else None
    if isinstance(confidence, str):
        made_of = confidence_named(items, confidence, calibration)
    elif calibration is not None:
        raise UserError("a calibration goes with the name of a variant, not with confidences")
    values = made_of.values if made_of else _given(items, confidence)
    return Graded(
        units=len(items),
        loss=chosen.numerators(items.truth[answered], items.answer[answered]),
        confidence=values[answered],
        divisor=chosen.divisor(items.instrument),
        abstained_nan=items.abstained_nan,
        loss_name=loss,
        largest_loss=chosen.largest(items.instrument),
        items=items,
        made_of=made_of,
        clusters=Clusters(
            ids=items.cluster_ids,
            units=np.bincount(items.cluster, minlength=len(items.cluster_ids)),
            of_answer=items.cluster[answered],
        ),
    )


def _given(items: Items, given: Any) -> Floats:
    column = Column.from_sequence(given)
    if len(column) != len(items):
        raise UserError(f"{len(column)} confidences, expected one for each of {len(items)} units")
    column.refuse(items.answered & ~column.usable(), "confidence", "a finite number", items.place)
    return column.values
