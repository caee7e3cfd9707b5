"""Bounds on the error of areas that comes from binned confidences or losses rounded to a decimal grid."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from demur.facts.compact_array import occurring, positions, summed_by
from demur.quantities.curve import Curve
from demur.sampling.graded import Graded
from demur.types import Floats


class AreaBounds(NamedTuple):
    """Upper bounds on the difference between an area of binned data and that of the data, up to any coverage."""

    aurc: float
    augrc: float


def area_bounds(graded: Graded, curve: Curve, rounding: float = 0.0, *, whole: bool = False) -> AreaBounds:
    """Bound the error of areas if the order within plateaus is unknown and losses are off by at most `rounding`.

    If plateaus are `whole`, they are real ties, and only rounding counts. Otherwise the losses of a bin ascend in the
    best order and descend in the worst, and every other order is between them. The summed loss of the bin's straight
    line is the middle of the two; a mean loss within the bin is no lower than the lowest of the best order and no
    higher than the highest of the worst.
    """
    if not curve.defined:
        return AreaBounds(0.0, 0.0)
    reached = curve.cmax
    if whole:
        return AreaBounds(reached * rounding, reached**2 * rounding)
    steps = len(curve)
    levels = occurring(graded.loss)
    cell = curve.plateau * np.int64(len(levels)) + positions(levels, graded.loss)
    held = summed_by(cell, [] if graded.count is None else [graded.count], steps * len(levels))
    counts, losses = held.reshape(steps, len(levels)).astype(np.float64), levels.astype(np.float64)
    best, worst = (_within(curve, counts[:, ::turn], losses[::turn]) for turn in (1, -1))
    lowest, highest = (pick(sums, axis=1) for pick, sums in ((np.min, best.risks), (np.max, worst.risks)))
    width, apart = counts.sum(axis=1), worst.area - best.area
    unit = curve.units * curve.divisor
    selective = float((width * (highest - lowest)).sum()) / unit
    generalized = float(apart.sum() + apart.max()) / (2 * unit * curve.units)
    slack = 1 + 1e-9  # far above the rounding of these sums
    return AreaBounds(slack * selective + reached * rounding, slack * generalized + reached**2 * rounding)


class _Within(NamedTuple):
    """In one order of the losses: the mean loss where each level ends, and the area under the summed loss of a bin."""

    risks: Floats
    area: Floats


def _within(curve: Curve, counts: Floats, losses: Floats) -> _Within:
    size, total = np.cumsum(counts, axis=1), np.cumsum(counts * losses, axis=1)
    area = ((total - counts * losses / 2) * counts).sum(axis=1)
    before, loss_before = np.append(0, curve.points.count[:-1]), np.append(0, curve.points.loss_sum[:-1])
    size, total = (
        np.column_stack([before, size + before[:, None]]),
        np.column_stack([loss_before, total + loss_before[:, None]]),
    )
    risks = np.divide(total, size, out=np.full_like(total, np.nan), where=size > 0)
    ended = curve.points.loss_sum / curve.points.count  # stands where there is nothing yet
    return _Within(np.where(np.isnan(risks), ended[:, None], risks), area)
