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
from demur.intervals import Evidence
from demur.metrics import METRICS, Measure
from demur.resample import Plan, bootstrap, left_out

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from demur.cautions import Caution
    from demur.graded import Graded
    from demur.metrics import Metric
    from demur.replicates import Replicates

    Floats = NDArray[np.float64]

COMMON = "C_common"


@dataclass(frozen=True, slots=True, eq=False)
class Delta(Estimate):
    """A paired difference, right − left, with its two-sided bootstrap p-value and how the replicates fall."""

    p_value: float = math.nan
    favours_left: float = math.nan
    favours_right: float = math.nan


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Both systems, and the differences right − left by name; `aurc@C_common` is cut where both still answer."""

    left: Estimates
    right: Estimates
    deltas: Mapping[str, Delta]
    common: Mapping[str, tuple[float, float]]
    common_coverage: float
    warnings: tuple[Caution, ...]


def compare(
    left: Graded,
    right: Graded,
    measures: Iterable[str | Measure] | None = None,
    *,
    plan: Plan,
    jackknife: bool = False,
) -> Comparison:
    """Both systems and every difference.

    Areas cut at C_common, the smaller of the two Cmax, are always among the differences; C_common is found anew in
    every replicate.
    """
    chosen = tuple(NUMBERS if measures is None else measures)
    pair = _Pair(System.of(left, chosen), System.of(right, chosen))
    pair.refuse_misaligned()
    values = bootstrap(pair.numbers, pair.left.table, pair.right.table, plan=plan)
    alone = pair.numbers(left_out(pair.left.table), left_out(pair.right.table)) if jackknife else {}
    return pair.comparison(values, alone, plan)


@dataclass(frozen=True, slots=True, eq=False)
class _Pair:
    left: System
    right: System

    def refuse_misaligned(self) -> None:
        """The same clusters with the same units on both sides, or the difference means nothing."""
        left, right = self.left.table, self.right.table
        if left.ids != right.ids:
            stray = sorted(set(left.ids) ^ set(right.ids), key=str)
            raise UserError(
                f"the two sides hold different clusters ({len(stray)} are on one side only: {shown(stray[0])} …)"
            )
        if (left.cluster_units != right.cluster_units).any():
            first = int(np.argmax(left.cluster_units != right.cluster_units))
            sizes = f"{left.cluster_units[first]:g} units and {right.cluster_units[first]:g}"
            raise UserError(f"cluster {shown(left.ids[first])} holds {sizes} on the two sides: they are not paired")
        if left.divisor != right.divisor:
            raise UserError("the two sides have different losses")

    def numbers(self, left: Replicates, right: Replicates) -> dict[str, Any]:
        """The numbers of both sides, and the areas both have in common in each replicate."""
        common = np.minimum(left.answered, right.answered)
        found: dict[str, Any] = {}
        for side, system, sample in (("left", self.left, left), ("right", self.right, right)):
            found |= {f"{side} {name}": value for name, value in system.numbers(sample).items()}
            found[f"{side} aurc@{COMMON}"] = sample.selective_area_upto(common)
            found[f"{side} augrc@{COMMON}"] = sample.generalized_area_upto(common)
        return found

    def comparison(self, values: Mapping[str, Any], alone: Mapping[str, Any], plan: Plan) -> Comparison:
        """Put the sides and their differences together."""
        sides = {"left": _of_side(values, "left"), "right": _of_side(values, "right")}
        lone = {"left": _of_side(alone, "left"), "right": _of_side(alone, "right")}
        left, right = (
            system.estimates(sides[side], lone[side], plan)
            for side, system in (("left", self.left), ("right", self.right))
        )
        reached = min(self.left.curve.coverage_reached, self.right.curve.coverage_reached)
        common = self._common_areas(Coverage.of(reached)) if reached else dict.fromkeys(_COMMON_AREAS, (0.0, 0.0))
        points = {name: (left[name].point, right[name].point) for name in left} | common
        deltas = {name: self._delta(name, pair, sides, lone) for name, pair in points.items()}
        warned = [*left.warnings, *right.warnings, *cautions.about_comparisons(len(deltas))]
        return Comparison(left, right, deltas, common, float(reached), tuple(dict.fromkeys(warned)))

    def _common_areas(self, reached: Coverage) -> dict[str, tuple[float, float]]:
        left, right = self.left.curve, self.right.curve
        selective = left.selective_area_upto(reached), right.selective_area_upto(reached)
        generalized = left.generalized_area_upto(reached), right.generalized_area_upto(reached)
        areas = dict(zip(_COMMON_AREAS, (selective, generalized), strict=True))
        return {name: (float(one), float(other)) for name, (one, other) in areas.items()}

    def _delta(
        self, name: str, points: tuple[float, float], sides: Mapping[str, Any], lone: Mapping[str, Any]
    ) -> Delta:
        values = _difference(sides, name)
        evidence = Evidence(points[1] - points[0], values, self.left.table.clusters, left_out=_difference(lone, name))
        metric = _metric_of(name)
        two_sided = self.left.two_sided or self.right.two_sided or name == "cmax"
        smaller, larger = _shares(values)
        favours_left, favours_right = (smaller, larger) if metric.better == "higher" else (larger, smaller)
        return Delta(
            **uncertainty(evidence, metric.delta_interval, two_sided=two_sided),
            p_value=math.nan if math.isnan(evidence.point) else _p_value(values),
            favours_left=favours_left,
            favours_right=favours_right,
        )


_COMMON_AREAS = (f"aurc@{COMMON}", f"augrc@{COMMON}")


def _metric_of(name: str) -> Metric:
    return METRICS[f"{name.partition('@')[0]}@C"] if "@" in name else METRICS[name]


def _of_side(values: Mapping[str, Any], side: str) -> dict[str, Any]:
    start = f"{side} "
    return {name.removeprefix(start): value for name, value in values.items() if name.startswith(start)}


def _difference(sides: Mapping[str, Any], name: str) -> Floats:
    if name not in sides["left"]:
        return np.zeros(0)
    return np.asarray(sides["right"][name] - sides["left"][name])


def _shares(values: Floats) -> tuple[float, float]:
    """Shares of the replicates below and above 0, of those that have a number."""
    reached = values[~np.isnan(values)]
    return (float(np.mean(reached < 0)), float(np.mean(reached > 0))) if len(reached) else (math.nan, math.nan)


def _p_value(values: Floats) -> float:
    """Twice the smaller share of replicates on the far side of 0, the observed sample counted among them."""
    reached = values[~np.isnan(values)]
    if not len(reached):
        return math.nan
    tails = (np.count_nonzero(reached <= 0) + 1, np.count_nonzero(reached >= 0) + 1)
    return min(1.0, 2 * min(tails) / (len(reached) + 1))
