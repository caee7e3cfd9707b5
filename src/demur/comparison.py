"""Comparison: two systems on the same clusters and the same draws, and the difference of every number."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from demur import cautions
from demur.coverage import Coverage
from demur.errors import UserError, shown
from demur.estimates import NUMBERS, Estimate, Estimates, System, uncertainty
from demur.influence import SLOPES, influences, standard_errors
from demur.intervals import Evidence
from demur.metrics import METRICS, Measure
from demur.pairing import check_same_truth
from demur.resample import Plan, as_it_is, bootstrap, leave_one_out

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from demur.cautions import Caution
    from demur.graded import Graded
    from demur.metrics import Metric
    from demur.replicates import Replicates

    Floats = NDArray[np.float64]

_ROUNDING = 1e-12  # a replicate's difference that is no larger is 0: the two sides are tied in it
COMMON = "C_common"


@dataclass(frozen=True, slots=True, eq=False)
class Delta(Estimate):
    """A paired difference, right − left, with its two-sided bootstrap p-value and how the replicates fall.

    Those are nan where there is no interval, where one cluster leaves nothing to resample, and, for the shares, where
    neither way is better.
    """

    p_value: float = math.nan
    favours_left: float = math.nan
    favours_right: float = math.nan


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Both systems, and the differences right − left by name; `aurc@C_common` is cut where both still answer.

    `common` holds those areas of the left and of the right side.
    """

    left: Estimates
    right: Estimates
    deltas: Mapping[str, Delta]
    common: Mapping[str, tuple[Estimate, Estimate]]
    common_coverage: float
    warnings: tuple[Caution, ...]


def compare(
    left: Graded,
    right: Graded,
    measures: str | Iterable[str | Measure] | None = None,
    *,
    plan: Plan,
    thorough: bool = False,
) -> Comparison:
    """Both systems and every difference, from the same draws.

    Areas cut at C_common, the smaller of the two Cmax, are always among the differences; C_common is found anew in
    every replicate. `thorough` is as in `estimate`.
    """
    refuse_unpaired(left, right)
    chosen = NUMBERS if measures is None else measures
    systems = [System.of(one, chosen, thorough=thorough, side=side) for one, side in ((left, "left"), (right, "right"))]
    pair = Pair(*systems)
    tables = (pair.left.table, pair.right.table)
    values = bootstrap(pair.numbers, *tables, plan=plan)
    alone = leave_one_out(pair.numbers, *tables, plan=plan) if thorough else {}
    return pair.comparison(values, alone, plan)


def refuse_unpaired(left: Graded, right: Graded) -> None:
    """The same clusters with the same units, truths and loss on both sides, or a difference means nothing."""
    if left.clusters is None or right.clusters is None:
        raise UserError("a comparison needs to know whose each unit is: give clusters on both sides")
    if (left.loss_name, left.divisor) != (right.loss_name, right.divisor):
        losses = f"{left.loss_name} / {left.divisor} and {right.loss_name} / {right.divisor}"
        raise UserError(f"the two sides have different losses ({losses})")
    if left.clusters.ids != right.clusters.ids:
        stray = sorted(set(left.clusters.ids) ^ set(right.clusters.ids), key=str)
        sides = f"{len(stray)} are on one side only: {shown(stray[0])} …"
        raise UserError(f"the two sides hold different clusters ({sides})")
    different = np.flatnonzero(left.clusters.units != right.clusters.units)
    if different.size:
        sizes = f"{left.clusters.units[different[0]]} units and {right.clusters.units[different[0]]}"
        raise UserError(f"cluster {shown(left.clusters.ids[different[0]])} holds {sizes} on the two sides: not paired")
    if left.items is not None and right.items is not None:
        check_same_truth({"left": left.items, "right": right.items})


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Two systems, and what is asked of both in every replicate."""

    left: System
    right: System

    def numbers(self, left: Replicates, right: Replicates) -> dict[str, Any]:
        """The numbers of both sides, and the areas both have in common in each replicate."""
        common = np.minimum(left.answered, right.answered)
        found: dict[str, Any] = {}
        for side, system, sample in (("left", self.left, left), ("right", self.right, right)):
            found |= {f"{side} {name}": value for name, value in system.numbers(sample).items()}
            found[f"{side} aurc@{COMMON}"] = sample.selective_area_upto(common)
            found[f"{side} augrc@{COMMON}"] = sample.generalized_area_upto(common)
        for name in self._analytic():
            found[f"delta error {name}"] = _delta_errors(name, left, right)
        return found

    def _analytic(self) -> list[str]:
        """The differences that get an analytic error: where both sides have one, and it is asked for."""
        both = self.left.thorough and self.left.curve.defined and self.right.curve.defined
        return [str(measure) for measure in self.left.measures if both and str(measure) in SLOPES]

    def comparison(self, values: Mapping[str, Any], alone: Mapping[str, Any], plan: Plan) -> Comparison:
        """Put the sides and their differences together."""
        left = self.left.estimates(_of_side(values, "left"), _of_side(alone, "left"), plan)
        right = self.right.estimates(_of_side(values, "right"), _of_side(alone, "right"), plan)
        reached = min(self.left.curve.coverage_reached, self.right.curve.coverage_reached)
        areas = self._common_areas(Coverage.of(reached)) if reached else dict.fromkeys(COMMON_AREAS, (0.0, 0.0))
        common = {name: self._common_estimates(name, pair, values, alone) for name, pair in areas.items()}
        points = {name: (left[name].point, right[name].point) for name in left} | areas
        deltas = {name: self._delta(name, pair, values, alone) for name, pair in points.items()}
        warned = [*left.warnings, *right.warnings]
        for name, delta in deltas.items():
            warned += cautions.about_a_target(f"difference {name}", delta.drop_rate, 0.0, 0.0)
        warned += cautions.about_comparisons(len(deltas))
        return Comparison(left, right, deltas, common, float(reached), tuple(warned))

    def _common_areas(self, reached: Coverage) -> dict[str, tuple[float, float]]:
        left, right = self.left.curve, self.right.curve
        selective = left.selective_area_upto(reached), right.selective_area_upto(reached)
        generalized = left.generalized_area_upto(reached), right.generalized_area_upto(reached)
        areas = dict(zip(COMMON_AREAS, (selective, generalized), strict=True))
        return {name: (float(one), float(other)) for name, (one, other) in areas.items()}

    def _common_estimates(
        self, name: str, points: tuple[float, float], values: Mapping[str, Any], alone: Mapping[str, Any]
    ) -> tuple[Estimate, Estimate]:
        method = _metric_of(name).interval
        left, right = (
            Evidence(
                point=point,
                values=values.get(f"{side} {name}", np.zeros(0)),
                clusters=self.left.table.clusters,
                left_out=alone.get(f"{side} {name}"),
                two_sided=system.two_sided,
            )
            for side, system, point in (("left", self.left, points[0]), ("right", self.right, points[1]))
        )
        return Estimate(**uncertainty(left, method)), Estimate(**uncertainty(right, method))

    def _delta(
        self, name: str, points: tuple[float, float], values: Mapping[str, Any], alone: Mapping[str, Any]
    ) -> Delta:
        difference = _difference(values, name)
        evidence = Evidence(
            point=points[1] - points[0],
            values=np.zeros(0) if difference is None else difference,
            clusters=self.left.table.clusters,
            std_error=self._analytic_error(name),
            replicate_std_error=values.get(f"delta error {name}"),
            left_out=_difference(alone, name),
        )
        metric = _metric_of(name)
        parts = uncertainty(evidence, metric.delta_interval)
        if parts["percentile"] is None or evidence.clusters == 1:
            return Delta(**parts)
        below, above = (float(np.mean(sign * evidence.reached > _ROUNDING)) for sign in (-1, 1))
        favours = {"lower": (above, below), "higher": (below, above)}.get(metric.better, (math.nan, math.nan))
        return Delta(**parts, p_value=_p_value(evidence.reached), favours_left=favours[0], favours_right=favours[1])

    def _analytic_error(self, name: str) -> float | None:
        if name not in self._analytic():
            return None
        return float(_delta_errors(name, as_it_is(self.left.table), as_it_is(self.right.table))[0])


def _delta_errors(name: str, left: Replicates, right: Replicates) -> Floats:
    """A cluster moves a difference by as much as it moves the two sides apart."""
    apart = influences(right, SLOPES[name]) - influences(left, SLOPES[name])
    return standard_errors(apart, left.weights)


COMMON_AREAS = (f"aurc@{COMMON}", f"augrc@{COMMON}")


def _metric_of(name: str) -> Metric:
    return METRICS[f"{name.partition('@')[0]}@C"] if "@" in name else METRICS[name]


def _of_side(values: Mapping[str, Any], side: str) -> dict[str, Any]:
    start = f"{side} "
    return {name.removeprefix(start): value for name, value in values.items() if name.startswith(start)}


def _difference(values: Mapping[str, Any], name: str) -> Floats | None:
    if f"left {name}" not in values:
        return None
    return np.asarray(values[f"right {name}"] - values[f"left {name}"])


def _p_value(reached: Floats) -> float:
    """Twice the smaller share of replicates on the far side of 0, the observed sample counted among them."""
    tails = (np.count_nonzero(reached <= _ROUNDING) + 1, np.count_nonzero(reached >= -_ROUNDING) + 1)
    return min(1.0, 2 * min(tails) / (len(reached) + 1))
