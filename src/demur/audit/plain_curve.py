"""The risk–coverage curve by plain loops: working points, areas and what is derived from them, point by point."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Answer = tuple[float, int]  # a confidence, and the numerator of a loss
_ERROR_FREE = 0.05


@dataclass(frozen=True, slots=True)
class PlainCurve:
    """Working points of answers among `units`: at each, how many are accepted and the sum of their losses.

    Losses are integers over `divisor`. A curve that is not `anchored` is integrated from its first point, as other
    pipelines do.
    """

    units: int
    divisor: int
    threshold: list[float]
    count: list[int]
    loss: list[int]
    losses: list[int]
    anchored: bool = True

    @classmethod
    def of(cls, answers: Iterable[Answer], units: int, divisor: int, *, anchored: bool = True) -> PlainCurve:
        """From the answers, the surest first; equal confidences are accepted together."""
        threshold: list[float] = []
        count: list[int] = []
        loss: list[int] = []
        total = 0
        ordered = sorted(answers, key=lambda answer: -answer[0])
        for accepted, (confidence, wrong) in enumerate(ordered, start=1):
            total += wrong
            if threshold and threshold[-1] == confidence:
                count[-1], loss[-1] = accepted, total
            else:
                threshold.append(confidence)
                count.append(accepted)
                loss.append(total)
        return cls(units, divisor, threshold, count, loss, sorted(wrong for _, wrong in ordered), anchored)

    @property
    def answered(self) -> int:
        """How many units are answered."""
        return self.count[-1] if self.count else 0

    @property
    def cmax(self) -> float:
        """The share of the units that is answered."""
        return self.answered / self.units if self.units else 0.0

    @property
    def coverage(self) -> list[float]:
        """The share of the units accepted at each point."""
        return [count / self.units for count in self.count]

    @property
    def selective_risk(self) -> list[float]:
        """The mean loss of the accepted at each point."""
        return [loss / (count * self.divisor) for count, loss in zip(self.count, self.loss, strict=True)]

    @property
    def generalized_risk(self) -> list[float]:
        """The summed loss of the accepted over all units, at each point."""
        return [loss / (self.units * self.divisor) for loss in self.loss]

    def aurc(self, upto: Fraction | None = None) -> float:
        """Area under the selective risk; the first risk holds from coverage 0 on."""
        return self._area(self.selective_risk, self.selective_risk[:1], upto)

    def augrc(self, upto: Fraction | None = None) -> float:
        """Area under the generalized risk, from 0 at coverage 0."""
        return self._area(self.generalized_risk, [0.0], upto)

    def _area(self, risk: list[float], at_zero: list[float], upto: Fraction | None) -> float:
        if not self.count:
            return 0.0
        places = [0, *self.count] if self.anchored else self.count
        heights = [*at_zero, *risk] if self.anchored else risk
        end = self.answered if upto is None else min(float(upto * self.units), self.answered)
        return _trapezoids(places, heights, end) / self.units

    @property
    def aurc_optimal(self) -> float:
        """AURC of the same losses, the smallest first, each a point of its own."""
        return self._best_first().aurc()

    @property
    def augrc_optimal(self) -> float:
        """AUGRC of the same losses, the smallest first, each a point of its own."""
        return self._best_first().augrc()

    def _best_first(self) -> PlainCurve:
        answers = [(-float(place), loss) for place, loss in enumerate(self.losses)]
        return PlainCurve.of(answers, self.units, self.divisor, anchored=self.anchored)

    @property
    def bends_of_best_order(self) -> PlainCurve:
        """The best order with equal losses accepted together: its points are where the next loss is larger."""
        return PlainCurve.of([(-float(loss), loss) for loss in self.losses], self.units, self.divisor)

    @property
    def aurc_achievable(self) -> float:
        """AURC over the vertices of the lower convex hull of the points."""
        hull: list[tuple[int, Fraction]] = []
        for count, loss in zip(self.count, self.loss, strict=True):
            point = count, Fraction(loss, count * self.divisor)
            while len(hull) > 1 and _is_above(hull[-2], hull[-1], point):
                hull.pop()
            hull.append(point)
        risk = [float(height) for _, height in hull]
        vertices = PlainCurve(self.units, self.divisor, [], [count for count, _ in hull], [], [], self.anchored)
        return vertices._area(risk, risk[:1], None)

    @property
    def risk(self) -> float | None:
        """The mean loss of everything answered."""
        return self.selective_risk[-1] if self.count else None

    def error_free_bounds(self, clusters: int, largest: float) -> tuple[float, float]:
        """How large AURC and AUGRC may be, one-sided 95 %, where no answer has a loss, which is at most `largest`.

        Of so many clusters without an error: one that is prone to them is rarer than 1 − 0.05^(1/P).
        """
        rare, cmax = float(1 - _ERROR_FREE ** (1 / clusters)), self.cmax
        return largest * (rare * (1 + math.log(cmax / rare)) if rare < cmax else cmax), largest * rare * cmax

    def first_reaching(self, coverage: Fraction) -> int | None:
        """The place of the first point that reaches a coverage."""
        needed = math.ceil(coverage * self.units)
        return next((place for place, count in enumerate(self.count) if count >= needed), None)


def coverage_of(text: str) -> Fraction | None:
    """A coverage as a file gives it: the decimal as typed; None where it is none.

    So many digits are those of a float, which reaches k/N within one part in 10¹².

    >>> coverage_of("0.30"), coverage_of("1.5")
    (Fraction(3, 10), None)
    """
    try:
        value = Fraction(text)
    except (ValueError, ZeroDivisionError):
        return None
    if len(text) > len("0.123456"):
        value *= 1 - Fraction(1, 10**12)
    return value if 0 < value <= 1 else None


def _trapezoids(places: Sequence[float], heights: Sequence[float], end: float) -> float:
    """The area up to a place, the height there interpolated."""
    parts = []
    for place, (x0, x1) in enumerate(pairwise(places)):
        if x0 >= end:
            break
        y0, y1 = heights[place], heights[place + 1]
        if x1 > end:
            x1, y1 = end, y0 + (y1 - y0) * (end - x0) / (x1 - x0)  # noqa: PLW2901
        parts.append((x1 - x0) * (y0 + y1) / 2)
    return math.fsum(parts)


def _is_above(left: tuple[int, Fraction], middle: tuple[int, Fraction], right: tuple[int, Fraction]) -> bool:
    """Whether the middle point lies on or above the line from left to right."""
    run, rise = right[0] - left[0], right[1] - left[1]
    return (middle[1] - left[1]) * run >= rise * (middle[0] - left[0])
