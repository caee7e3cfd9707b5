"""The risk–coverage curve: operating points, the areas under it, and its lower convex hull."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from demur.facts.frames import Tabular
from demur.quantities.coverage import Coverage
from demur.quantities.exact import RANKS, cumulative_sum, lower_hull, lower_hull_of_sums, sum_of_quotients
from demur.quantities.graded import Graded
from demur.quantities.plateaus import CurvePoints, Plateaus
from demur.types import Floats, Indices, Integers

POINT_COLUMNS = ("coverage", "selective_risk", "generalized_risk", "threshold")


@dataclass(frozen=True, slots=True)
class OperatingPoint:
    """The first operating point that reaches a coverage; `value` is nan where none does."""

    requested: float
    achieved: float
    value: float
    threshold: float


def points_within(thresholds: Floats, threshold: float, scale: int) -> int:
    """The number of operating points at or above a threshold, or below it where lower means more confident (−1)."""
    return int(np.sum(scale * thresholds >= scale * threshold))


@dataclass(frozen=True, eq=False)
class Curve(Tabular):
    """Operating points of a system: one for each distinct confidence of an answered unit, most confident first.

    Thresholds are on the scale of the signal, whose lower values mean more confident where `scale` is −1.

    >>> from demur import risk_coverage
    >>> curve = risk_coverage([2, 2, 1, 0], loss=[0, 2, 0, None])
    >>> curve.coverage
    array([0.5 , 0.75])
    >>> curve.selective_risk
    array([1.        , 0.66666667])
    """

    units: int
    points: CurvePoints
    threshold: Floats
    divisor: int
    loss_levels: NDArray[Any]
    level_sizes: Integers
    plateau: Indices
    abstained_nan: int = 0
    loss_name: str = "as given"
    largest_loss: float | None = None
    scale: int = 1
    library: str = ""

    @classmethod
    def of(cls, graded: Graded) -> Curve:
        """Equal confidences make one point, so that the order within ties does not matter."""
        made = Plateaus.of(graded)
        return cls(
            units=graded.units,
            points=made.points,
            threshold=graded.scale * made.confidence + 0.0,  # turns -0.0 into 0.0
            divisor=graded.divisor,
            loss_levels=made.levels,
            level_sizes=made.sizes,
            plateau=made.plateau,
            abstained_nan=graded.abstained_nan,
            loss_name=graded.loss_name,
            largest_loss=graded.largest_loss,
            scale=graded.scale,
            library=graded.library,
        )

    @classmethod
    def empty(cls, like: Curve) -> Curve:
        """A curve of the same units, none of them answered."""
        arrays = ("threshold", "loss_levels", "level_sizes", "plateau")
        return replace(like, points=like.points.upto(0), **{name: getattr(like, name)[:0] for name in arrays})

    def __len__(self) -> int:
        return len(self.points)

    def __repr__(self) -> str:
        return (
            f"Curve({len(self)} operating points, {self.units} units, {self.answered} answered, Cmax {self.cmax:.4g})"
        )

    def to_columns(self) -> dict[str, list[Any]]:
        """Every operating point: its coverage, its risks and its threshold."""
        return {name: getattr(self, name).tolist() for name in POINT_COLUMNS}

    def _repr_html_(self) -> str:
        from demur.drawing.html import both_ends, html_table  # noqa: PLC0415  (only notebooks need pictures)
        from demur.drawing.looks import LOOKS  # noqa: PLC0415
        from demur.drawing.risk_coverage import RiskCurve, risk_coverage  # noqa: PLC0415

        coverage, risk = self.coverage.tolist(), self.selective_risk.tolist()
        rows = both_ends(len(self), lambda i: (f"{coverage[i]:.4g}", f"{risk[i]:.4g}", f"{self.threshold[i]:.6g}"))
        table = html_table(("coverage", "selective risk", "threshold"), rows, repr(self))
        if not self.defined:
            return f"<div>{table}</div>"
        overall = float(self.overall_risk)
        drawn = RiskCurve("", LOOKS[0].style, coverage, risk, self.cmax, (overall, overall))
        picture = risk_coverage([drawn], units="units that are answered", size=(480, 300))
        return f"<div>{picture.standalone()}{table}</div>"

    @property
    def answered(self) -> int:
        """How many units are answered."""
        return int(self.points.count[-1]) if len(self) else 0

    @property
    def cmax(self) -> float:
        """The largest coverage the system reaches."""
        return float(self.coverage_reached)

    @cached_property
    def coverage_reached(self) -> Fraction:
        """Cmax, not yet rounded."""
        return Fraction(self.answered, max(self.units, 1))

    @property
    def overall_risk(self) -> Fraction | float:
        """Mean loss of everything answered; nan when nothing is."""
        return self.points.risk(-1) / self.divisor if self.defined else math.nan

    @property
    def generalized_risk_reached(self) -> Fraction:
        """Summed loss of everything answered over all units."""
        return Fraction(self.points.loss_sum[-1].item()) / self._area_unit if self.defined else Fraction(0)

    @property
    def defined(self) -> bool:
        """Whether any unit is answered; if none is, the areas are 0 by convention and rank nothing."""
        return len(self) > 0

    @property
    def coverage(self) -> Floats:
        """Share of all units accepted at each point, abstentions in the denominator."""
        return self.points.count / self.units

    @property
    def selective_risk(self) -> Floats:
        """Mean loss of the accepted units at each point."""
        return self.points.loss_sum / (self.points.count * self.divisor)

    @property
    def generalized_risk(self) -> Floats:
        """Summed loss of the accepted units over all units, at each point."""
        return self.points.loss_sum / self._area_unit

    def at(self, coverage: str | float | Fraction | Decimal | Coverage) -> OperatingPoint:
        """The first operating point that reaches a coverage.

        >>> from demur import risk_coverage
        >>> risk_coverage([2, 2, 1, 0], loss=[0, 2, 0, None]).at("0.6")
        OperatingPoint(requested=0.6, achieved=0.75, value=0.6666666666666666, threshold=1.0)
        """
        target = Coverage.of(coverage)
        index = int(self.points.count.searchsorted(target.units_needed(self.units)))
        if index == len(self):
            return OperatingPoint(float(target), np.nan, np.nan, np.nan)
        count, loss_sum = self.points.count[index].item(), self.points.loss_sum[index].item()
        risk = loss_sum / (count * self.divisor)
        return OperatingPoint(float(target), count / self.units, risk, float(self.threshold[index]))

    @cached_property
    def selective_area(self) -> Fraction:
        """Area under the selective risk over [0, Cmax], not yet rounded."""
        return self.selective_area_upto(None)

    @cached_property
    def generalized_area(self) -> Fraction:
        """Area under the generalized risk over [0, Cmax], not yet rounded."""
        return self.generalized_area_upto(None)

    @cached_property
    def optimal_selective_area(self) -> Fraction:
        """The area under the selective risk of the same losses in the oracle order."""
        if self.loss_levels.dtype.kind != "i" or not self.defined:
            return self._oracle().selective_area() / self._area_unit
        doubled = Fraction(0)
        for ranks, loss_sum in self._by_rank(self.oracle_order):
            width = 2.0 + (ranks == 1) - (ranks == self.answered)
            doubled += sum_of_quotients(width * loss_sum, ranks)
        return doubled / (2 * self._area_unit)

    @cached_property
    def optimal_generalized_area(self) -> Fraction:
        """The area under the generalized risk of the same losses in the oracle order."""
        whole = self.loss_levels.dtype.kind == "i"  # whose sums are exact, of a level at once as unit by unit
        points = self.oracle_order if whole else self._oracle()
        return points.generalized_area() / (self._area_unit * max(self.units, 1))

    @cached_property
    def achievable_selective_area(self) -> Fraction:
        """The area under the selective risk with only the vertices of its lower convex hull kept."""
        vertices = lower_hull(self.points.count, self.points.loss_sum)
        hull = CurvePoints(self.points.count[vertices], self.points.loss_sum[vertices])
        return hull.selective_area() / self._area_unit

    @cached_property
    def cheapest_points(self) -> Indices:
        """The operating points that are the cheapest at some price of an abstention, by coverage."""
        return lower_hull_of_sums(self.points.count, self.points.loss_sum)

    @cached_property
    def harmonic_area(self) -> Fraction:
        """Σ_k (mean loss of the k most confident), with the loss of a plateau spread evenly over it, per unit."""
        quotients = (sum_of_quotients(loss_sum, ranks) for ranks, loss_sum in self._by_rank(self.points))
        return sum(quotients, Fraction(0)) / self._area_unit

    def _by_rank(self, points: CurvePoints) -> Iterator[tuple[Floats, Floats]]:
        """Blocks of ranks k, and the summed loss of the first k units, which is linear between two points."""
        count, loss_sum = np.append(0, points.count), np.append(0, points.loss_sum)
        for start in range(0, self.answered, RANKS):
            ranks = np.arange(start + 1.0, min(start + RANKS, self.answered) + 1)
            yield ranks, np.interp(ranks, count, loss_sum)

    @cached_property
    def pairwise_area(self) -> Fraction:
        """Σ of each loss times the share of answered units that are no more confident than it, per unit."""
        if not self.defined:
            return Fraction(0)
        plateau_loss = np.diff(self.points.loss_sum, prepend=0)
        no_more_confident = self.answered - np.append(0, self.points.count[:-1])
        return Fraction((plateau_loss * no_more_confident).sum().item()) / (self._area_unit * self.answered)

    @staticmethod
    def ratio(part: Fraction, whole: Fraction) -> Fraction | float:
        """One number over another; nan where the divisor is 0."""
        return part / whole if whole else math.nan

    def risk_at(self, coverage: Coverage) -> float:
        """Selective risk of the first operating point that reaches the coverage; nan where none does."""
        return self.at(coverage).value

    def coverage_at_risk(self, risk: Fraction) -> Fraction:
        """The largest coverage of an operating point with this risk at most, not yet rounded; 0 where there is none."""
        index = self.last_within(risk, "selective")
        return Fraction(0) if index is None else Fraction(int(self.points.count[index]), self.units)

    def last_within(self, risk: Fraction, kind: Literal["selective", "generalized"]) -> int | None:
        """The operating point of the largest coverage with this risk at most, decided exactly; None if none has it."""
        rounded = self.selective_risk if kind == "selective" else self.generalized_risk
        # Rounding is monotone: a point whose rounded risk is above the rounded limit is above the limit.
        for index in np.flatnonzero(rounded <= float(risk))[::-1].tolist():
            if self.exact_risk(index, kind) <= risk:
                return int(index)
        return None

    def exact_risk(self, index: int, kind: Literal["selective", "generalized"]) -> Fraction:
        """A risk of one operating point, not yet rounded."""
        among = int(self.points.count[index]) if kind == "selective" else self.units
        return Fraction(self.points.loss_sum[index].item()) / (among * self.divisor)

    def coverage_at_threshold(self, threshold: float) -> Fraction:
        """The share of all units that are answered with at least this confidence, not yet rounded."""
        points = points_within(self.threshold, threshold, self.scale)
        return Fraction(int(self.points.count[points - 1]) if points else 0, max(self.units, 1))

    def risk_at_threshold(self, threshold: float) -> Fraction | float:
        """Mean loss of the answers with at least this confidence, not yet rounded; nan where there are none."""
        points = points_within(self.threshold, threshold, self.scale)
        return self.points.risk(points - 1) / self.divisor if points else math.nan

    def selective_area_upto(self, coverage: Coverage | None) -> Fraction:
        """Area under the selective risk from 0 to min(coverage, Cmax), not yet rounded."""
        return self._area_upto(coverage, selective=True) / self._area_unit

    def generalized_area_upto(self, coverage: Coverage | None) -> Fraction:
        """Area under the generalized risk from 0 to min(coverage, Cmax), not yet rounded."""
        return self._area_upto(coverage, selective=False) / (self._area_unit * max(self.units, 1))

    @property
    def _area_unit(self) -> int:
        """The divisor that converts areas of `CurvePoints` to coverage × loss."""
        return max(self.units, 1) * self.divisor

    def _area_upto(self, coverage: Coverage | None, *, selective: bool) -> Fraction:
        """Whole trapezoids up to the last point within the coverage, then the cut one with interpolated height."""
        end: Fraction | int = self.answered
        if coverage is not None:
            end = min(coverage.position(self.units), end)
        whole = int(self.points.count.searchsorted(math.floor(end), side="right"))
        reached = self.points.upto(whole)
        area = reached.selective_area() if selective else reached.generalized_area()
        return area if whole == len(self) else area + self._cut_trapezoid(whole, end, selective=selective)

    def _cut_trapezoid(self, index: int, end: Fraction | int, *, selective: bool) -> Fraction:
        """The trapezoid before a point up to a cut inside it, multiplied out: every operation on fractions is slow."""
        start, stop = [0, *self.points.count[max(index - 1, 0) : index + 1].tolist()][-2:]
        losses = [0, *self.points.loss_sum[max(index - 1, 0) : index + 1].tolist()][-2:]
        left, right = (loss if isinstance(loss, int) else Fraction(loss) for loss in losses)
        left_units, right_units = (start, stop) if selective else (1, 1)  # heights are left / left_units and so on
        if selective and not index:
            left, left_units = right, right_units
        passed, whole = (end - start).as_integer_ratio()
        width = (stop - start) * whole
        doubled = passed * (2 * width * left * right_units + passed * (right * left_units - left * right_units))
        return Fraction(doubled, 2 * width * whole * left_units * right_units)

    @property
    def oracle_order(self) -> CurvePoints:
        """The points of the oracle order where the loss of the next unit is larger, and the last."""
        return CurvePoints(cumulative_sum(self.level_sizes), cumulative_sum(self.loss_levels * self.level_sizes))

    def _oracle(self) -> CurvePoints:
        """The oracle order: losses ascending, each unit a point of its own."""
        losses = np.repeat(self.loss_levels, self.level_sizes)
        return CurvePoints(np.arange(1, len(losses) + 1), cumulative_sum(losses))
