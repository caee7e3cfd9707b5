"""Groups of units: coverage and risk at a shared threshold, and each group's own curve.

Rows and contrasts of groups use the same draws as all others. This module adds which groups are large enough to be
judged, and the intervals that hold for all judged groups at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations

import numpy as np

from demur.facts.groupings import Grouping
from demur.features.groups.quantities import AcceptedSums
from demur.inference.estimates import TOO_SMALL, Estimate
from demur.inference.intervals import NO_VARIATION, Interval
from demur.inference.key import Group, Key, Minus
from demur.inference.rows import Contrast, Row
from demur.inference.rules import recommended
from demur.inference.views import CurveView, SharedView
from demur.quantities import Measure
from demur.quantities.operating import UnitSums
from demur.quantities.registry import COMMON
from demur.quantities.thresholds import threshold_text
from demur.sampling.coverage import Coverage
from demur.sampling.sample import Cut, Sample
from demur.types import Flags, Json

FEWEST_ACCEPTED = 5
REST = "rest"  # all units outside a group
SERVED = ("coverage", "risk")  # at the threshold that all groups share
WITHIN = ("cmax", "aurc", "augrc", "eaurc", f"aurc@{COMMON}", f"augrc@{COMMON}")  # of each group's own curve
OF_UNITS, OF_ACCEPTED = ("units", "answered"), ("accepted", "errors", "loss_sum")
COUNTS = (*OF_UNITS, "clusters", *OF_ACCEPTED)


@dataclass(frozen=True, eq=False)
class GroupView(SharedView):
    """One of several groups of units, cut at the smallest Cmax of the groups that answer anything.

    Groups have different numbers of units, so the common coverage is a share; in a replicate it is taken over the
    groups that the replicate holds.
    """

    @cached_property
    def reached(self) -> Coverage | None:
        """The common coverage; None where no group answers anything."""
        reached = [member.curve.coverage_reached for member in self.members if member.curve.defined]
        return Coverage.of(min(reached)) if reached else None

    def joined(self, samples: Sequence[Sample]) -> Cut:
        """The replicates of the group, cut at the smallest Cmax of all groups that a replicate has answers of."""
        return Cut.at_common_coverage(samples[self.index], samples, answering=True)


@dataclass(frozen=True, eq=False)
class Level:
    """One group of one system under one confidence: its units, its curve and that of the rest, and what it accepts."""

    name: str
    view: CurveView
    rest: CurveView
    sums: AcceptedSums

    @property
    def clusters(self) -> int:
        """The number of clusters with units of the group."""
        return self.sums.clusters


@dataclass(frozen=True, eq=False)
class GroupRows:
    """The rows of one grouping, of one system under one confidence."""

    key: Key
    threshold: float
    levels: Sequence[Level]
    min_clusters: int

    @classmethod
    def of(cls, key: Key, whole: CurveView, grouping: Grouping, threshold: float, min_clusters: int) -> GroupRows:
        """Split the units into groups; the key is that of the grouping, without quantity and level."""
        levels = [_level(name, whole, grouping.units(index), threshold) for index, name in enumerate(grouping.levels)]
        return cls(key, threshold, levels, min_clusters)

    def at_threshold(self, stem: str) -> str:
        """The name of a quantity at the threshold."""
        return f"{stem}@{threshold_text(self.threshold)}"

    def judged(self, quantity: str) -> list[Level]:
        """The groups with enough clusters and, for a risk, enough accepted answers."""
        by_risk = quantity == self.at_threshold("risk")
        return [
            level
            for level in self.levels
            if level.clusters >= self.min_clusters and not (by_risk and level.sums.accepted < FEWEST_ACCEPTED)
        ]

    def of_level(self, level: str | None, quantity: str) -> Key:
        """The key of a number of a group."""
        return replace(self.key, quantity=quantity, group=self.group(level))

    def group(self, level: str | None) -> Group:
        """A group by its name; None for all of them."""
        assert self.key.group is not None  # noqa: S101  (it is the key of a grouping)
        return Group(self.key.group.name, level)

    @cached_property
    def rows(self) -> list[Row]:
        """The resampled numbers of each group: at the threshold, and of its own curve."""
        views, rows = tuple(level.view for level in self.levels), []
        for index, level in enumerate(self.levels):
            shared = GroupView(views, index)
            for name in (*map(self.at_threshold, SERVED), *WITHIN):
                measure = Measure.of(name, "curve")
                view = shared if measure.value == COMMON else level.view
                rows.append(Row.of_curve(self.of_level(level.name, name), view, measure))
        return rows

    @cached_property
    def contrasts(self) -> list[Contrast]:
        """Each group minus all units outside it."""
        by_key, contrasts = {row.key: row for row in self.rows}, []
        for level in self.levels:
            for name in map(self.at_threshold, SERVED):
                key = self.of_level(level.name, name)
                # No level, as a group may itself be called rest.
                row, rest = by_key[key], Row.of_curve(self.of_level(None, name), level.rest, Measure.of(name, "curve"))
                fewer = min(row.counted.number, rest.counted.number)
                contrasts.append(Contrast(replace(key, minus=Minus("group", self.group(REST))), row, rest, fewer))
        return contrasts

    @property
    def rests(self) -> list[Row]:
        """The numbers of the units outside each group, which are drawn only for differences."""
        return [contrast.subtracted for contrast in self.contrasts]

    def counts(self) -> Iterator[Estimate]:
        """The clusters, units, answers, accepted answers and summed loss of each group."""
        for level in self.levels:
            own = UnitSums(level.view.curve.units, level.view.curve.answered, math.nan)
            for stem in COUNTS:
                sums = own if stem in OF_UNITS else level.sums
                name = self.at_threshold(stem) if stem in OF_ACCEPTED else stem
                yield Estimate(self.of_level(level.name, name), Measure.of(name, "units")(sums))

    def finished(self, estimates: Mapping[Key, Estimate]) -> Iterator[Estimate]:
        """The estimates of the groups with intervals that hold for all judged groups at once, then the extremes."""
        finished = {}
        everything: list[Row | Contrast] = [*self.rows, *self.contrasts]
        for row in everything:
            judged = self.judged(row.key.quantity)
            if any(row.key.group == self.group(level.name) for level in judged):
                finished[row.key] = _simultaneous(row, estimates[row.key], len(judged))
            else:
                finished[row.key] = _too_small(estimates[row.key], self._why_small(row))
        yield from finished.values()
        yield from self.counts()
        yield from self._extremes(finished)

    def _why_small(self, row: Row | Contrast) -> str:
        level = next(level for level in self.levels if self.group(level.name) == row.key.group)
        few = level.clusters < self.min_clusters
        counted = f"{level.clusters} clusters" if few else f"{level.sums.accepted} accepted units"
        return f"{TOO_SMALL}: {counted}"

    def _extremes(self, finished: Mapping[Key, Estimate]) -> Iterator[Estimate]:
        """The highest risk, and its difference from the lowest."""
        name = self.at_threshold("risk")
        judged = [finished[self.of_level(level.name, name)] for level in self.judged(name)]
        intervals = [row.simultaneous for row in judged if row.simultaneous]
        complete = len(intervals) == len(judged)
        risks, ends = [row.value for row in judged], [interval.ends for interval in intervals] if complete else []
        yield self._extreme("worst_risk", risks, ends)
        differences = [(max(low, 0.0), high) for low, high in (self._pair_intervals(judged) if complete else ())]
        yield self._extreme("worst_minus_best", risks, differences)

    def _extreme(self, stem: str, risks: Sequence[float], ends: Sequence[tuple[float, float]]) -> Estimate:
        """The largest of several numbers: if all intervals hold, it lies between the largest low and high ends."""
        measure = Measure.of(self.at_threshold(stem), "groups")
        value, interval = measure(risks), None
        if ends:
            low, high = max(low for low, _ in ends), max(high for _, high in ends)
            interval = Interval("simultaneous", low, high, count=len(ends))
        undefined = measure.quantity.undefined if math.isnan(value) else ""
        reason = "" if interval else undefined or "a group has no interval"
        key = self.of_level(None, str(measure))
        return Estimate(key, value, simultaneous=interval, undefined=undefined, no_interval=reason)

    def _pair_intervals(self, judged: Sequence[Estimate]) -> Iterator[tuple[float, float]]:
        """Simultaneous intervals of the differences of all pairs of groups, in both directions.

        Where a difference has no variation, as without a loss, they follow from the intervals of both sides.
        """
        by_key = {row.key: row for row in self.rows}
        pairs = [*combinations([by_key[estimate.key] for estimate in judged], 2)]
        for row, other in pairs:
            minus = Minus("group", other.key.group or self.group(REST))
            contrast = Contrast(replace(row.key, minus=minus), row, other, 0)
            evidence = contrast.evidence(np.array([contrast.point]))
            interval, _ = recommended("difference", evidence, contrast.counted, _level_of(len(pairs)))
            if interval is None or interval.note == NO_VARIATION:
                interval = _from_sides(row, other, _level_of(2 * len(pairs)))
            if interval is not None:
                yield interval.ends
                yield 0.0 - interval.high, 0.0 - interval.low


def _level(name: str, whole: CurveView, units: Flags, threshold: float) -> Level:
    graded = whole.graded.only(units)
    view, rest = CurveView.of(graded), CurveView.of(whole.graded.only(~units))
    accepted = graded.confidence >= graded.scale * threshold
    losses = graded.loss if graded.count is None else graded.loss * graded.count
    loss = float(Fraction(losses[accepted].sum().item()) / graded.divisor)
    wrong = graded.number_of(accepted & (losses != 0))
    sums = AcceptedSums(int(view.held.sum()), graded.number_of(accepted), wrong, loss)
    return Level(name, view, rest, sums)


def _from_sides(row: Row, other: Row, level: float) -> Interval | None:
    """A conservative interval of a difference of two ratios: as wide as the intervals of both together."""
    ends = [side.ratio.interval(level)[0] for side in (row, other) if side.ratio]
    if None in ends:
        return None
    first, second = (end for end in ends if end)
    return Interval("simultaneous", first.low - second.high, first.high - second.low)


def _level_of(family: int) -> float:
    """The level at which `family` intervals hold together at 95 % (Bonferroni)."""
    return float(1 - Fraction(5, 100 * family))


def _simultaneous(row: Row | Contrast, estimate: Estimate, family: int) -> Estimate:
    """Add the simultaneous interval by the same rule, and adjust the p-value (Bonferroni)."""
    if estimate.evidence is None or estimate.recommended is None:
        return estimate
    rule = row.row.contrast_rule if isinstance(row, Contrast) else row.rule
    interval, _ = recommended(rule, estimate.evidence, row.counted, _level_of(family))
    p_value = min(1.0, family * estimate.p_value)
    at_once = interval and Interval("simultaneous", *interval.ends, count=family)
    return replace(estimate, simultaneous=at_once, p_value=math.nan if math.isnan(estimate.p_value) else p_value)


def _too_small(estimate: Estimate, reason: str) -> Estimate:
    """Remove the intervals and p-value of a group that is too small to be judged."""
    intervals: Json = dict.fromkeys(("percentile", "recommended", "requested", "simultaneous", "upper_bound"))
    numbers: Json = dict.fromkeys(("std_error", "p_value", "above", "below"), math.nan)
    return replace(estimate, **intervals, **numbers, no_interval=reason, not_requested="")
