"""Plateaus: answers of equal confidence. How many are accepted at each point of a curve, and their summed loss."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from demur.facts.coded import Coded, occurring, positions, summed_by
from demur.facts.items import summed
from demur.quantities.exact import cumulative_sum, sum_of_quotients
from demur.quantities.graded import Graded
from demur.types import Flags, Floats, Indices, Integers


@dataclass(frozen=True, slots=True, eq=False)
class CurvePoints:
    """The accepted units and their summed loss numerators at each point, from which areas are computed.

    Integers stay integers until the last division.
    """

    count: Integers
    loss_sum: NDArray[Any]

    def __len__(self) -> int:
        return len(self.count)

    def risk(self, index: int) -> Fraction:
        """The mean loss numerator of the units accepted at point `index`."""
        return Fraction(self.loss_sum[index].item()) / int(self.count[index])

    def upto(self, length: int) -> CurvePoints:
        """The first `length` points."""
        return CurvePoints(self.count[:length], self.loss_sum[:length])

    def selective_area(self) -> Fraction:
        """Area under the mean loss, in units × loss numerators: trapezoids, flat from 0 to the first point.

        Each risk appears in the trapezoids on both its sides, so the doubled area is one sum of quotients.
        """
        if not len(self):
            return Fraction(0)
        count = self.count.astype(np.float64)
        width = np.empty_like(count)
        width[:-1], width[-1] = count[1:], count[-1]
        width[1:] -= count[:-1]
        width[0] += count[0]
        return sum_of_quotients(width * self.loss_sum, count) / 2

    def generalized_area(self) -> Fraction:
        """Area under the summed loss, in units × loss numerators: trapezoids, from 0 at coverage 0."""
        width, heights = self.count.copy(), self.loss_sum.copy()
        width[1:] -= self.count[:-1]
        heights[1:] += self.loss_sum[:-1]
        return Fraction((width * heights).sum().item()) / 2


def last_of_equal(values: NDArray[Any]) -> Flags:
    """Where the next of some sorted values is another."""
    return np.append(values[1:] != values[:-1], True)[: len(values)]


def narrow(size: int) -> np.dtype[Any]:
    """The integers that tell so many apart, in four bytes where these do: there may be tens of millions."""
    return np.promote_types(np.int32, np.min_scalar_type(-size - 1))


class Plateaus(NamedTuple):
    """Points with their confidence, the plateau of each answer, and the levels of loss with their numbers of units."""

    points: CurvePoints
    confidence: Floats
    plateau: Indices
    levels: NDArray[Any]
    sizes: Integers

    @classmethod
    def of(cls, graded: Graded) -> Plateaus:
        """The plateaus of some answers, by counting where that is enough."""
        confidence: Any = graded.confidence
        coded = isinstance(confidence, Coded) and graded.loss.dtype.kind == "i"
        return _counted(graded) if coded else _sorted(graded)


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
    points = CurvePoints(accepted, cumulative_sum(loss)[ends])
    return Plateaus(points, graded.confidence[order[ends]], plateau, levels, sizes)


def _counted(graded: Graded) -> Plateaus:
    """Plateaus of coded confidences and whole losses, without sorting: sums of integers are exact in any order."""
    confidence, levels = occurring(graded.confidence)[::-1], occurring(graded.loss)
    plateau = positions(-confidence, -graded.confidence)
    units = [] if graded.count is None else [graded.count]
    count, loss = (summed_by(plateau, factors, len(confidence)) for factors in (units, [*units, graded.loss]))
    sizes = summed_by(positions(levels, graded.loss), units, len(levels))
    return Plateaus(CurvePoints(np.cumsum(count), np.cumsum(loss)), confidence, plateau, levels, sizes)
