"""Plateaus, which are answers of equal confidence: the operating points of the data and their summed losses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from demur.facts.compact_array import CompactArray, occurring, positions, summed_by
from demur.facts.items import summed
from demur.sampling.graded import Graded
from demur.sampling.steps import careful_sum, last_of_equal, narrow
from demur.types import Floats, Indices, Integers


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Number of accepted units at each point of a curve, and the sum of their loss numerators: integers if possible.

    A loss numerator is a loss times the divisor of its table.
    """

    count: Integers
    loss_sum: NDArray[Any]

    def __iter__(self) -> Iterator[NDArray[Any]]:
        yield from (self.count, self.loss_sum)


class Plateaus(NamedTuple):
    """The operating points with their confidences, the plateau of each answer, and the levels of loss with sizes."""

    points: Points
    confidence: Floats
    plateau: Indices
    levels: NDArray[Any]
    sizes: Integers

    @classmethod
    def of(cls, graded: Graded) -> Plateaus:
        """Find the plateaus of graded units, by counting instead of sorting where possible."""
        confidence: Any = graded.confidence
        coded = isinstance(confidence, CompactArray) and graded.loss.dtype.kind == "i"
        return _counted(graded) if coded else _sorted(graded)

    def thresholds(self, graded: Graded) -> Floats:
        """The confidences of the points on the scale of the original signal."""
        return graded.scale * self.confidence + 0.0  # turns -0.0 into 0.0


def oracle_points(levels: NDArray[Any], sizes: Integers) -> Points:
    """The points of the oracle's curve, where answers are ordered by loss: one per level of loss."""
    return Points(careful_sum(sizes), careful_sum(levels * sizes))


def _sorted(graded: Graded) -> Plateaus:
    """Plateaus by sorting the answers once."""
    # Sums of doubles depend on their order: ties are sorted by loss, so that the order of rows does not matter.
    whole = graded.loss.dtype.kind == "i"
    order = (np.argsort(graded.confidence) if whole else np.lexsort((graded.loss, graded.confidence)))[::-1]
    last = last_of_equal(graded.confidence[order])
    ends = np.flatnonzero(last)
    plateau = np.empty(len(order), narrow(len(order)))
    plateau[order] = np.cumsum(last, dtype=plateau.dtype) - last
    levels, sizes = np.unique(graded.loss, return_counts=True)
    accepted, loss = ends + 1, graded.loss[order]
    if graded.count is not None:
        count = graded.count[order]
        accepted, loss = np.cumsum(count)[ends], loss * count
        sizes = summed(np.searchsorted(levels, graded.loss), graded.count, len(levels))
    points = Points(accepted, careful_sum(loss)[ends])
    return Plateaus(points, graded.confidence[order[ends]], plateau, levels, sizes)


def _counted(graded: Graded) -> Plateaus:
    """Plateaus of coded confidences and whole losses, without sorting: sums of integers are exact in any order."""
    confidence, levels = occurring(graded.confidence)[::-1], occurring(graded.loss)
    plateau = positions(-confidence, -graded.confidence)
    units = [] if graded.count is None else [graded.count]
    count, loss = (summed_by(plateau, factors, len(confidence)) for factors in (units, [*units, graded.loss]))
    sizes = summed_by(positions(levels, graded.loss), units, len(levels))
    return Plateaus(Points(np.cumsum(count), np.cumsum(loss)), confidence, plateau, levels, sizes)
