"""Groups of units: who is served, at the threshold all share and each by a curve of its own.

Rows and differences of groups are rows and differences like all others, on the same draws. What is added is which
groups are large enough to be judged, and the intervals that hold for all of those at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from demur.facts.groups import REST, Grouping
from demur.inference.estimates import Estimate
from demur.inference.intervals import NO_VARIATION, Interval
from demur.inference.key import Group, Key, Minus
from demur.inference.rows import Contrast, Row
from demur.inference.rules import recommended
from demur.inference.views import CurveView, GroupView
from demur.quantities import Measure, quantities
from demur.quantities.operating import UnitSums
from demur.quantities.registry import COMMON
from demur.quantities.thresholds import AcceptedSums, threshold_text
from demur.types import Flags, Json

FEWEST_ACCEPTED = 5
SERVED = ("coverage", "risk")  # at the threshold that all groups share
WITHIN = tuple(  # by curves of their own
    f"{entry.stem}@{COMMON}" if entry.parameter else entry.name for entry in quantities("curve", "within")
)


@dataclass(frozen=True, eq=False)
class Level:
    """One group of one system under one confidence: its units, its curve and that of the rest, and what it accepts."""

    name: str
    view: CurveView
    rest: CurveView
    sums: AcceptedSums

    @property
    def clusters(self) -> int:
        """In how many clusters it is."""
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
        """Tell the units apart; the key is that of the grouping, of no quantity and no level."""
        levels = [_level(name, whole, grouping.units(index), threshold) for index, name in enumerate(grouping.levels)]
        return cls(key, threshold, levels, min_clusters)

    def at_threshold(self, stem: str) -> str:
        """The name of a quantity at the threshold."""
        return f"{stem}@{threshold_text(self.threshold)}"

    def judged(self, quantity: str) -> list[Level]:
        """The groups large enough: by their clusters, and for a risk by how many of their answers are accepted."""
        by_risk = quantity == self.at_threshold("risk")
        return [
            level
            for level in self.levels
            if level.clusters >= self.min_clusters and not (by_risk and level.sums.accepted < FEWEST_ACCEPTED)
        ]

    def of_level(self, level: str | None, quantity: str) -> Key:
        """The identity of a number of a group."""
        return replace(self.key, quantity=quantity, group=self.group(level))

    def group(self, level: str | None) -> Group:
        """A group by its name; None for all of them."""
        assert self.key.group is not None  # noqa: S101  (it is the key of a grouping)
        return Group(self.key.group.name, level)

    @cached_property
    def rows(self) -> list[Row]:
        """Every number that is drawn: of each group at the threshold, and by a curve of its own."""
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
                # Of no level: a group may itself be called rest.
                row, rest = by_key[key], Row.of_curve(self.of_level(None, name), level.rest, Measure.of(name, "curve"))
                fewer = min(row.counted.number, rest.counted.number)
                contrasts.append(Contrast(replace(key, minus=Minus("group", self.group(REST))), row, rest, fewer))
        return contrasts

    @property
    def rests(self) -> list[Row]:
        """The numbers of the rests, which are drawn, and shown in differences alone."""
        return [contrast.subtracted for contrast in self.contrasts]

    def counts(self) -> Iterator[Estimate]:
        """How many clusters, units, answers and accepted answers each group has, and what those lose."""
        for level in self.levels:
            own = UnitSums(level.view.curve.units, level.view.curve.answered, math.nan)
            for entry in quantities("units", "groups"):
                sums: Any = own if "items" in entry.shown else level.sums
                name = entry.name if entry.parameter is None else self.at_threshold(entry.stem)
                yield Estimate(self.of_level(level.name, name), Measure.of(name, "units")(sums))

    def finished(self, estimates: Mapping[Key, Estimate]) -> Iterator[Estimate]:
        """The estimates of the groups with intervals that hold for all judged groups at once, then the extremes."""
        made = {}
        everything: list[Row | Contrast] = [*self.rows, *self.contrasts]
        for row in everything:
            judged = self.judged(row.key.quantity)
            known = estimates[row.key]
            kept = any(row.key.group == self.group(level.name) for level in judged)
            made[row.key] = _simultaneous(row, known, len(judged)) if kept else _too_small(known, self._why_small(row))
        yield from made.values()
        yield from self.counts()
        yield from self._extremes(made)

    def _why_small(self, row: Row | Contrast) -> str:
        level = next(level for level in self.levels if self.group(level.name) == row.key.group)
        few = level.clusters < self.min_clusters
        counted = f"{level.clusters} clusters" if few else f"{level.sums.accepted} accepted units"
        return f"too small to judge: {counted}"

    def _extremes(self, made: Mapping[Key, Estimate]) -> Iterator[Estimate]:
        """The highest risk, and how far it is above the lowest."""
        name = self.at_threshold("risk")
        judged = [made[self.of_level(level.name, name)] for level in self.judged(name)]
        intervals = [row.simultaneous for row in judged if row.simultaneous]
        known = len(intervals) == len(judged)
        risks, ends = [row.value for row in judged], [each.ends for each in intervals] if known else []
        yield self._extreme("worst_risk", risks, ends)
        apart = [(max(low, 0.0), high) for low, high in (self._apart(judged) if known else ())]
        yield self._extreme("worst_minus_best", risks, apart)

    def _extreme(self, stem: str, risks: Sequence[float], ends: Sequence[tuple[float, float]]) -> Estimate:
        """A largest number lies between the largest low end and the largest high end of intervals that all hold."""
        measure = Measure.of(self.at_threshold(stem), "groups")
        value, interval = measure(risks), None
        if ends:
            low, high = max(low for low, _ in ends), max(high for _, high in ends)
            interval = Interval("simultaneous", low, high, count=len(ends))
        undefined = measure.quantity.undefined if math.isnan(value) else ""
        why_none = "" if interval else undefined or "a group has no interval"
        key = self.of_level(None, str(measure))
        return Estimate(key, value, simultaneous=interval, undefined=undefined, no_interval=why_none)

    def _apart(self, judged: Sequence[Estimate]) -> Iterator[tuple[float, float]]:
        """Intervals of the differences of any two groups, in both directions, that hold for all of them at once.

        Where no cluster moves either of two, as without a loss, they follow from intervals of the two.
        """
        rows = {row.key: row for row in self.rows}
        pairs = [*combinations([rows[each.key] for each in judged], 2)]
        for one, other in pairs:
            minus = Minus("group", other.key.group or self.group(REST))
            contrast = Contrast(replace(one.key, minus=minus), one, other, 0)
            evidence = contrast.evidence(np.array([contrast.point]))
            made, _ = recommended("difference", evidence, contrast.counted, _level_of(len(pairs)))
            if made is None or made.note == NO_VARIATION:
                made = _from_sides(one, other, _level_of(2 * len(pairs)))
            if made is not None:
                yield made.ends
                yield 0.0 - made.high, 0.0 - made.low


def _level(name: str, whole: CurveView, units: Flags, threshold: float) -> Level:
    graded = whole.graded.only(units)
    view, rest = CurveView.of(graded), CurveView.of(whole.graded.only(~units))
    taken = graded.confidence >= graded.scale * threshold
    losses = graded.loss if graded.count is None else graded.loss * graded.count
    loss = float(Fraction(losses[taken].sum().item()) / graded.divisor)
    sums = AcceptedSums(int(view.held.sum()), graded.number_of(taken), graded.number_of(taken & (losses != 0)), loss)
    return Level(name, view, rest, sums)


def _from_sides(one: Row, other: Row, level: float) -> Interval | None:
    """An interval of a difference of two ratios from one of each: as wide as both together."""
    ends = [row.ratio.interval(level)[0] for row in (one, other) if row.ratio]
    if None in ends:
        return None
    first, second = (each for each in ends if each)
    return Interval("simultaneous", first.low - second.high, first.high - second.low)


def _level_of(family: int) -> float:
    """The level at which so many intervals hold together at 95 %, as Bonferroni has it."""
    return float(1 - Fraction(5, 100 * family))


def _simultaneous(row: Row | Contrast, estimate: Estimate, family: int) -> Estimate:
    """The interval by the same rule at the level a family needs; a p-value is that of the family too."""
    if estimate.evidence is None or estimate.recommended is None:
        return estimate
    rule = row.row.contrast_rule if isinstance(row, Contrast) else row.rule
    made, _ = recommended(rule, estimate.evidence, row.counted, _level_of(family))
    p_value = min(1.0, family * estimate.p_value)
    at_once = made and Interval("simultaneous", *made.ends, count=family)
    return replace(estimate, simultaneous=at_once, p_value=math.nan if math.isnan(estimate.p_value) else p_value)


def _too_small(estimate: Estimate, reason: str) -> Estimate:
    """Numbers without an interval, which nobody judges by."""
    gone: Json = dict.fromkeys(("percentile", "recommended", "requested", "simultaneous", "upper_bound"))
    nothing: Json = dict.fromkeys(("std_error", "p_value", "above", "below"), math.nan)
    return replace(estimate, **gone, **nothing, no_interval=reason, not_requested="")
