"""Raters of the same units, forced runs and published points: their rows, contrasts and hand-over curves.

A rater is a system with one operating point. Its numbers have its name as their system: the share it answers (`cmax`)
and its `risk`, the risk at its own coverage (the group `coverage_of`) beside that of a system there, and the risk on
the units that the other answers too (the group `answered_by`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from demur.facts.alignment import Alignment
from demur.features.raters.comparators import Comparators
from demur.features.raters.gaps import (
    ANSWERED_BY,
    COVERAGE_OF,
    HANDED_TO,
    RISK,
    both_key,
    gap_key,
    handed_key,
    system_key,
)
from demur.features.raters.handover import handed_over, handover_curve, shared_units
from demur.features.raters.intervals import IndependentGap
from demur.features.raters.point_view import PointView
from demur.features.raters.published import NO_UNCERTAINTY, PublishedPoint
from demur.inference.estimates import Estimate
from demur.inference.intervals import MOST_DROPPED, Interval
from demur.inference.key import Group, Key
from demur.inference.rows import Contrast, Row
from demur.inference.rules import recommended
from demur.inference.views import CurveView, discordant
from demur.quantities import Measure
from demur.results.features import Additions
from demur.results.study_of_answers import Evaluation
from demur.sampling.graded import Graded
from demur.sampling.resample import Plan
from demur.types import Flags, Json

Views = Mapping[str, Mapping[str, CurveView]]
_LEVEL = 0.05


@dataclass(frozen=True, eq=False)
class Comparison(Additions):
    """Raters, forced runs and published points, with their rows and contrasts."""

    comparators: Comparators
    views: Views
    raters: Mapping[str, CurveView]
    points: Mapping[str, PublishedPoint]

    @classmethod
    def of(
        cls, comparators: Comparators, alignment: Alignment, views: Views, loss: str | None, systems: set[str]
    ) -> Comparison:
        """Align the answers of raters with the compared units, and check names and published points."""
        comparators.check_names(systems)
        raters = comparators.views(alignment, loss)
        every_view = [view for by_system in views.values() for view in by_system.values()]
        points = {point.name: PublishedPoint.of(point, every_view) for point in comparators.points}
        return cls(comparators, views, raters, points)

    @property
    def names(self) -> list[str]:
        """The names of all raters, forced runs and points."""
        return [*self.raters, *self.points]

    def _curve_views(self) -> Iterator[tuple[str, str, CurveView]]:
        """Each confidence and system with its view."""
        for confidence, by_system in self.views.items():
            for system, view in by_system.items():
                yield confidence, system, view

    @cached_property
    def further_rows(self) -> list[Row]:
        """The numbers of the raters, and of the systems at the raters' coverages and on their units."""
        rows: list[Row] = []
        for name, view in self.raters.items():
            answers, risk = (Row.of_curve(Key(name, stem), view, Measure.of(stem)) for stem in ("cmax", "risk"))
            rows += [answers, replace(risk.by_resampling, held=_answering(view))]
        rows += [*self._at_points.values()]
        return rows + [row for pair in self._both.values() for row in pair] + [*self._handed.values()]

    @cached_property
    def _at_points(self) -> dict[Key, Row]:
        """The risk of each rater and system at the coverage of each point, by key."""
        rows: dict[Key, Row] = {}
        for confidence, system, view in self._curve_views():
            for name, rater in self.raters.items():
                own = replace(system_key(name, system, confidence), system=name)
                rows.setdefault(own, replace(_at_point(own, PointView((rater, rater))), held=_answering(rater)))
                key = system_key(name, system, confidence)
                rows[key] = _at_point(key, PointView((view, rater)))
            for name, point in self.points.items():
                key = system_key(name, system, confidence)
                rows[key] = _at_point(key, PointView((view,), point.coverage))
        return rows

    @cached_property
    def _both(self) -> dict[tuple[str, str], tuple[Row, Row]]:
        """The risks of a rater and a system on the units both answer, if there are any."""
        first = next(iter(self.views.values()))
        rows: dict[tuple[str, str], tuple[Row, Row]] = {}
        for name, rater in self.raters.items():
            for system, view in first.items():
                sides = shared_units(rater.graded, view.graded)
                if sides is not None:
                    keys = both_key(name, system), both_key(system, name)
                    pair = [_risk_of(key, graded) for key, graded in zip(keys, sides, strict=True)]
                    rows[name, system] = (pair[0], pair[1])
        return rows

    @cached_property
    def _handed(self) -> dict[Key, Row]:
        threshold = self.comparators.handover_threshold
        if threshold is None:
            return {}
        return {
            (key := handed_key(name, system, confidence)): _risk_of(
                key, handed_over(view.graded, self.raters[name].graded, threshold)
            )
            for confidence, system, view in self._curve_views()
            for name in self.comparators.raters
        }

    @cached_property
    def contrasts(self) -> list[Contrast]:
        """Rater minus system, at the rater's coverage and on the units of both; hand-over minus the rater alone."""
        both = self._both.items()
        contrasts = [_contrast(both_key(name, system, minus=system), *rows) for (name, system), rows in both]
        for confidence, system, _ in self._curve_views():
            for name in self.raters:
                own, others = (replace(system_key(name, system, confidence), system=side) for side in (name, system))
                rows = self._at_points[own], self._at_points[others]
                contrasts.append(_contrast(gap_key(name, system, confidence), *rows))
                if (handed := self._handed.get(handed_key(name, system, confidence))) is not None:
                    contrasts.append(_contrast(handed_key(name, system, confidence, minus=True), handed, rows[0]))
        return contrasts

    @property
    def counted(self) -> list[Contrast]:
        """All of its contrasts."""
        return self.contrasts

    def finished(self, estimates: list[Estimate], contrasts: Sequence[Contrast]) -> list[Estimate]:  # noqa: ARG002
        """Add what needs no draws: published points, their differences, coverages and simultaneous intervals."""
        rows = {row.key: row for row in map(self._placed, estimates)}
        for name, point in self.points.items():
            rows |= {row.key: row for row in point.estimates()}
            for confidence, system, view in self._curve_views():
                key = gap_key(name, system, confidence)
                rows[key] = _independent(key, point, rows[system_key(name, system, confidence)], len(view.ids))
        for (name, system), (row, _) in self._both.items():
            key = Key(name, "answered", group=Group(ANSWERED_BY, system))
            rows[key] = Estimate(key, float(cast("PointView", row.view).own.curve.answered))
        for confidence, system, _ in self._curve_views():
            rows |= self._at_once([rows[gap_key(name, system, confidence)] for name in self.names])
        return [*rows.values()]

    def _placed(self, row: Estimate) -> Estimate:
        group = row.key.group
        if group is None or row.key.minus is not None:
            return row
        if group.name == COVERAGE_OF and row.key in self._at_points:
            view = cast("PointView", self._at_points[row.key].view)
            return replace(row, at=float(view.coverage))
        if group.name == HANDED_TO:
            pair = cast("PointView", self._handed[row.key].view)
            return replace(row, at=pair.own.curve.cmax, threshold=self.comparators.handover_threshold)
        return row

    def _at_once(self, gaps: Sequence[Estimate]) -> dict[Key, Estimate]:
        """Gaps to several points with simultaneous intervals (Bonferroni)."""
        judged = [row for row in gaps if row.recommended is not None]
        if len(judged) < 2:  # noqa: PLR2004
            return {}
        counted = {contrast.key: contrast.counted for contrast in self.contrasts}
        clusters = next(len(view.ids) for _, _, view in self._curve_views())
        level, widened = 1 - _LEVEL / len(judged), dict[Key, Estimate]()
        for row in judged:
            if row.evidence is not None:
                alone = recommended("difference", row.evidence, counted[row.key], level)[0]
            else:
                alone = IndependentGap(row.value, row.std_error, clusters).interval(level)
            if alone is not None:
                together = Interval("simultaneous", *alone.ends, count=len(judged))
                widened[row.key] = replace(row, simultaneous=together)
        return widened

    def curve(self, view: CurveView) -> Json:
        """The hand-over curve of a system to each rater, if there are any."""
        raters = self.comparators.raters
        return {"handover": {name: handover_curve(view, self.raters[name].graded) for name in raters}} if raters else {}

    def record(self, estimates: Iterable[Estimate]) -> Json:
        """What a study records of raters, forced runs and points."""
        if not self.names:
            return {}
        ends = {row.key: row.recommended.ends for row in estimates if row.recommended}
        sources = {name: answers.source for name, answers in self.comparators.raters.items()}
        sources |= {name: items.source for name, items in self.comparators.forced_runs.items()}
        paired: list[Json] = [
            {
                "name": name,
                "kind": "paired" if name in self.comparators.raters else "forced",
                "source": source.path if (source := sources[name]) else None,
                "coverage": view.curve.cmax,
                "risk": float(view.curve.overall_risk),
                "n_units": view.curve.units,
                "n_answered": view.curve.answered,
                "ci95": {"coverage": ends.get(Key(name, "cmax")), "risk": ends.get(Key(name, "risk"))},
            }
            for name, view in self.raters.items()
        ]
        return {
            "external_points": paired + [point.record() for point in self.points.values()],
            "margin": self.comparators.margin,
            "handover_threshold": self.comparators.handover_threshold,
        }


def compared(comparators: Comparators, evaluation: Evaluation, plan: Plan) -> Comparison:  # noqa: ARG001
    """What the comparators add to an evaluation."""
    systems, loss = {*evaluation.given}, evaluation.settings.loss
    return Comparison.of(comparators, evaluation.alignment, evaluation.views, loss, systems)


def _at_point(key: Key, view: PointView) -> Row:
    return Row.of_curve(key, cast("Any", view), Measure.of(RISK))


def _risk_of(key: Key, graded: Graded) -> Row:
    """The risk of all answers, as a row that can have an interval."""
    view = CurveView.of(graded)
    return replace(_at_point(key, PointView((view, view))), measure=Measure.of("risk"), held=_answering(view))


def _answering(view: CurveView) -> Flags:
    """The clusters with at least one answer; the others do not bear on a risk."""
    return np.asarray(np.bincount(view.graded.grouped.of_answer, minlength=len(view.ids)) > 0)


def _independent(key: Key, point: PublishedPoint, system: Estimate, clusters: int) -> Estimate:
    """The risk of a published point minus that of a system, which are independent."""
    value, error, drop_rate = point.risk - system.value, point.std_error, system.drop_rate
    if math.isnan(value):
        return Estimate(key, math.nan, undefined=system.undefined, no_interval="there is no number")
    if error is None or math.isnan(system.std_error) or not drop_rate <= MOST_DROPPED or clusters == 1:
        reason = NO_UNCERTAINTY if error is None else system.no_interval or "too many draws have no such number"
        return Estimate(key, value, drop_rate=drop_rate, no_interval=reason)
    gap = IndependentGap(value, math.hypot(system.std_error, error), clusters)
    return Estimate(key, value, gap.std_error, recommended=gap.interval(), drop_rate=drop_rate, p_value=gap.p_value)


def _contrast(key: Key, row: Row, subtracted: Row) -> Contrast:
    return Contrast(key, row, subtracted, discordant(row.entries(), subtracted.entries()))
