"""Hand-over: a system answers the units it accepts, a rater the others; and the units that both answer."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demur.inference.views import CurveView
from demur.sampling.graded import Clusters, Graded
from demur.types import Flags, Json


def _answered(graded: Graded) -> Flags:
    """Which units are answered."""
    assert graded.items is not None  # noqa: S101  (an evaluation grades items)
    return graded.items.answered


def _spread(graded: Graded, values: NDArray[Any]) -> NDArray[Any]:
    """Numbers of the answered units as a column of all units, 0 elsewhere."""
    column = np.zeros(graded.units, values.dtype)
    column[_answered(graded)] = values
    return column


def _of_units(like: Graded, answered: Flags, loss: NDArray[Any], divisor: int) -> Graded:
    """Graded units of which these are answered, with these losses and one common confidence."""
    items, clusters = like.items, like.clusters
    assert items is not None  # noqa: S101
    assert clusters is not None  # noqa: S101
    largest = None if like.largest_loss is None else like.largest_loss / like.divisor * divisor
    return replace(
        like,
        loss=loss[answered],
        confidence=np.zeros(int(answered.sum())),
        divisor=divisor,
        largest_loss=largest,
        clusters=Clusters(clusters.ids, clusters.units, items.cluster[answered]),
        items=None,
        made_of=None,
    )


def shared_units(rater: Graded, system: Graded) -> tuple[Graded, Graded] | None:
    """A rater and a system on the units that both answer; None where there are none."""
    both = _answered(rater) & _answered(system)
    if not both.any():
        return None
    sides = (_of_units(system, both, _spread(side, side.loss), side.divisor) for side in (rater, system))
    first, second = sides
    return first, second


def handed_over(system: Graded, rater: Graded, threshold: float) -> Graded:
    """System and rater together: the system's answers at or above the threshold, the rater's elsewhere."""
    common = math.lcm(system.divisor, rater.divisor)
    accepted = _spread(system, system.confidence >= system.scale * threshold).astype(bool)
    losses = [_spread(side, side.loss * (common // side.divisor)) for side in (system, rater)]
    return _of_units(system, accepted | _answered(rater), np.where(accepted, *losses), common)


def handover_curve(view: CurveView, rater: Graded) -> Json:
    """At every operating point: the share handed over, and the coverage and risk of the two together."""
    curve, system = view.curve, view.graded
    on_answered = _answered(rater)[_answered(system)], _spread(rater, rater.loss)[_answered(system)]
    not_handed, lost = (
        np.append(0, np.cumsum(np.bincount(curve.plateau, part, minlength=len(curve)))) for part in on_answered
    )
    answered = np.append(0, curve.points.count) + rater.answered - not_handed
    losses = np.append(0, curve.points.loss_sum) / curve.divisor + (rater.loss.sum() - lost) / rater.divisor
    risks = [loss / count if count else None for loss, count in zip(losses.tolist(), answered.tolist(), strict=True)]
    return {
        "threshold": [None, *curve.threshold.tolist()],
        "share": (1 - np.append(0, curve.points.count) / curve.units).tolist(),
        "coverage": (answered / curve.units).tolist(),
        "risk": risks,
        "joint": (losses / curve.units).tolist(),
    }
