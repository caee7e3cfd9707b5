"""The risk–coverage curve of the data: its operating points, and the sample that quantities are functions of."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from demur.facts.frames import Tabular
from demur.sampling.coverage import Coverage
from demur.sampling.exact import ExactSample
from demur.sampling.graded import Graded
from demur.sampling.hull import lower_hull_of_sums
from demur.sampling.plateaus import Plateaus, Points, oracle_points
from demur.sampling.table import Table
from demur.types import Floats, Indices, Integers

POINT_COLUMNS = ("coverage", "selective_risk", "generalized_risk", "threshold")


@dataclass(frozen=True, slots=True)
class OperatingPoint:
    """The first operating point that reaches a requested coverage; `value` is its risk, nan if none reaches it."""

    requested: float
    achieved: float
    value: float
    threshold: float


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
    points: Points
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
    def of(cls, graded: Graded, plateaus: Plateaus | None = None) -> Curve:
        """The curve of graded units; equal confidences make one point, so the order within ties does not matter."""
        made = Plateaus.of(graded) if plateaus is None else plateaus
        return cls(
            units=graded.units,
            points=made.points,
            threshold=made.thresholds(graded),
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

    @cached_property
    def sample(self) -> ExactSample:
        """The data as a sample with exact arithmetic, all units in one cluster."""
        return ExactSample.of(
            Table.pooled(
                self.units,
                self.points,
                self.oracle_order,
                threshold=self.threshold,
                level_loss=self.loss_levels.astype(np.float64),
                divisor=self.divisor,
                whole=self.loss_levels.dtype.kind == "i",
                largest_loss=self.largest_loss,
                scale=self.scale,
            )
        )

    def __len__(self) -> int:
        return len(self.points.count)

    def __repr__(self) -> str:
        return (
            f"Curve({len(self)} operating points, {self.units} units, {self.answered} answered, Cmax {self.cmax:.4g})"
        )

    def to_columns(self) -> dict[str, list[Any]]:
        """The operating points as columns: coverage, risks and threshold."""
        return {name: getattr(self, name).tolist() for name in POINT_COLUMNS}

    def _repr_html_(self) -> str:
        from demur.drawing.html import both_ends, html_table  # noqa: PLC0415  (only notebooks need pictures)
        from demur.drawing.risk_coverage import RiskCurve, risk_coverage  # noqa: PLC0415
        from demur.drawing.system_styles import STYLES  # noqa: PLC0415

        coverage, risk = self.coverage.tolist(), self.selective_risk.tolist()
        rows = both_ends(len(self), lambda i: (f"{coverage[i]:.4g}", f"{risk[i]:.4g}", f"{self.threshold[i]:.6g}"))
        table = html_table(("coverage", "selective risk", "threshold"), rows, repr(self))
        if not self.defined:
            return f"<div>{table}</div>"
        overall = self.overall_risk
        drawn = RiskCurve("", STYLES[0].style, coverage, risk, self.cmax, (overall, overall))
        picture = risk_coverage([drawn], units="units that are answered", size=(480, 300))
        return f"<div>{picture.standalone()}{table}</div>"

    @property
    def answered(self) -> int:
        """The number of answered units."""
        return int(self.points.count[-1]) if len(self) else 0

    @property
    def cmax(self) -> float:
        """The largest coverage the system reaches."""
        return float(self.coverage_reached)

    @cached_property
    def coverage_reached(self) -> Fraction:
        """Cmax, the largest coverage, as an exact fraction."""
        return Fraction(self.answered, max(self.units, 1))

    @property
    def overall_risk(self) -> float:
        """Mean loss of all answered units; nan if there are none."""
        return float(self.selective_risk[-1]) if self.defined else math.nan

    @property
    def defined(self) -> bool:
        """Whether any unit is answered; if none is, areas are 0 by convention, and the system is not ranked."""
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
        """Summed loss of the accepted units divided by the number of all units, at each point."""
        return self.points.loss_sum / (max(self.units, 1) * self.divisor)

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
    def cheapest_points(self) -> Indices:
        """Indices of the operating points that cost least at some price of an abstention, in order of coverage."""
        return lower_hull_of_sums(self.points.count, self.points.loss_sum)

    def last_within(self, risk: Fraction, kind: Literal["selective", "generalized"]) -> int | None:
        """Index of the operating point of largest coverage whose risk is at most `risk`; None if there is none."""
        rounded = self.selective_risk if kind == "selective" else self.generalized_risk
        # Rounding is monotone: a point whose rounded risk is above the rounded limit is above the limit.
        for index in np.flatnonzero(rounded <= float(risk))[::-1].tolist():
            if self.exact_risk(index, kind) <= risk:
                return int(index)
        return None

    def exact_risk(self, index: int, kind: Literal["selective", "generalized"]) -> Fraction:
        """The risk of one operating point as an exact fraction."""
        among = int(self.points.count[index]) if kind == "selective" else self.units
        return Fraction(self.points.loss_sum[index].item()) / (among * self.divisor)

    @cached_property
    def oracle_order(self) -> Points:
        """The points of the oracle's curve, where answers are ordered by loss: one per level of loss."""
        return oracle_points(self.loss_levels, self.level_sizes)
