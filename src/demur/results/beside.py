"""Beside others: raters of the same units, forced runs and published points, as rows, contrasts and hand-over curves.

A rater is a system with one operating point. Its numbers have its name as their system: the share it answers (`cmax`)
and its `risk`, the risk at its own coverage (the group `coverage_of`) beside that of a system there, and the risk on
the units that the other answers too (the group `answered_by`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, cast

import numpy as np

from demur.confidences.grading import grade
from demur.errors import UserError, literal, located, repeated, shown, unknown
from demur.facts.alignment import Alignment
from demur.facts.items import Items
from demur.facts.points import NumbersOfPoint
from demur.facts.raters import RaterAnswers
from demur.inference.beside import IndependentGap, PointView
from demur.inference.estimates import Estimate
from demur.inference.intervals import MOST_DROPPED, Interval
from demur.inference.key import Group, Key
from demur.inference.rows import Contrast, Row
from demur.inference.rules import recommended
from demur.inference.views import CurveView, discordant
from demur.quantities import Measure
from demur.quantities.coverage import Coverage
from demur.quantities.graded import Graded
from demur.results.gaps import (
    ANSWERED_BY,
    COVERAGE_OF,
    HANDED_TO,
    RISK,
    both_key,
    gap_key,
    handed_key,
    system_key,
)
from demur.results.handover import handed_over, handover_curve, shared_units
from demur.results.published import check_point, estimates_of_point, on_our_scale, point_error, point_record
from demur.types import Flags, Json

Views = Mapping[str, Mapping[str, CurveView]]
_LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class Beside:
    """Who stands beside the systems: raters of the same units, points known by their numbers, and forced runs.

    A forced run is a system made to answer everything, under the name of that system. With a `margin` the verdict also
    says whether a system is no worse by more than that. At the `handover_threshold` the system hands over to raters.
    """

    raters: Mapping[str, RaterAnswers] = field(default_factory=dict)
    points: Sequence[NumbersOfPoint] = ()
    forced: Mapping[str, Items] = field(default_factory=dict)
    margin: float | None = None
    handover_threshold: float | None = None

    def __post_init__(self) -> None:
        for name, number in (("margin", self.margin), ("hand-over threshold", self.handover_threshold)):
            if number is not None and not math.isfinite(number):
                raise UserError(f"{name} {literal(number)}, expected a finite number")
        if self.margin is not None and not self.margin > 0:
            raise UserError(f"margin {literal(self.margin)}, expected a number above 0")
        if self.margin is not None and not (self.raters or self.points):
            raise UserError("a margin is for a comparison with raters or points: give one, or leave it out")
        if self.handover_threshold is not None and not self.raters:
            raise UserError("a hand-over threshold needs a rater to hand over to: give one, or leave it out")


@dataclass(frozen=True, eq=False)
class Others:
    """Everybody beside the systems, with what is measured of them."""

    asked: Beside
    views: Views
    raters: Mapping[str, CurveView]
    kinds: Mapping[str, str]

    @classmethod
    def of(cls, asked: Beside, alignment: Alignment, views: Views, loss: str | None, taken: set[str]) -> Others:
        """Put the answers of raters beside the units that are compared, and refuse names that are taken."""
        forced = {f"{name}, forced": items for name, items in asked.forced.items()}
        names = [*taken, *asked.raters, *forced, *(point.name for point in asked.points)]
        if twice := repeated(names):
            raise UserError(f"two systems, raters or points are called {shown(twice[0])}: give each a name of its own")
        if not all(name.strip() for name in names):
            raise UserError("a rater or a point has no name: give each one")
        for name in asked.forced:
            if name not in taken:
                raise unknown("system with a forced run", name, taken)
        like = next(iter(alignment.systems.values()))
        given = {name: answers.beside for name, answers in asked.raters.items()}
        given |= {name: RaterAnswers.of_items(items).beside for name, items in forced.items()}
        lost = {unit for items in alignment.systems.values() for unit in items.units_left_out}
        graded = {}
        for name, beside in given.items():
            with located(f"rater {shown(name)}"):
                rated = beside(like, alignment.left_out, lost)
                usual = None if rated.losses is not None else loss
                graded[name] = CurveView.of(grade(rated, loss=usual, confidence=np.zeros(len(rated))))
        for point in asked.points:
            check_point(point, next(iter(next(iter(views.values())).values())))
        kinds = dict.fromkeys(asked.raters, "paired") | dict.fromkeys(forced, "forced")
        return cls(asked, views, graded, kinds)

    @property
    def points(self) -> dict[str, NumbersOfPoint]:
        """The points that are known by their numbers only."""
        return {point.name: on_our_scale(point, self._any_view) for point in self.asked.points}

    @property
    def names(self) -> list[str]:
        """Everybody."""
        return [*self.raters, *self.points]

    def _each(self) -> Iterator[tuple[str, str, CurveView]]:
        for confidence, by_system in self.views.items():
            for system, view in by_system.items():
                yield confidence, system, view

    @cached_property
    def rows(self) -> list[Row]:
        """The numbers of raters, and those of the systems at their coverage and on their units."""
        rows: list[Row] = []
        for name, view in self.raters.items():
            answers, risk = (Row.of_curve(Key(name, each), view, Measure.of(each)) for each in ("cmax", "risk"))
            rows += [answers, replace(risk, held=_answering(view))]
        rows += [*self._at_points.values()]
        return rows + [row for pair in self._both.values() for row in pair] + [*self._handed.values()]

    @cached_property
    def _at_points(self) -> dict[Key, Row]:
        """Raters and systems at the coverage of each point, by their keys."""
        made: dict[Key, Row] = {}
        for confidence, system, view in self._each():
            for name, rater in self.raters.items():
                own = replace(system_key(name, system, confidence), system=name)
                made.setdefault(own, replace(_at_point(own, PointView((rater, rater))), held=_answering(rater)))
                key = system_key(name, system, confidence)
                made[key] = _at_point(key, PointView((view, rater)))
            for name, point in self.points.items():
                key = system_key(name, system, confidence)
                made[key] = _at_point(key, PointView((view,), _coverage(point)))
        return made

    @cached_property
    def _both(self) -> dict[tuple[str, str], tuple[Row, Row]]:
        """A rater and a system on the units both answer, where there are any."""
        first = next(iter(self.views.values()))
        made: dict[tuple[str, str], tuple[Row, Row]] = {}
        for name, rater in self.raters.items():
            for system, view in first.items():
                sides = shared_units(rater.graded, view.graded)
                if sides is not None:
                    keys = both_key(name, system), both_key(system, name)
                    rows = [_risk_of(key, graded) for key, graded in zip(keys, sides, strict=True)]
                    made[name, system] = (rows[0], rows[1])
        return made

    @cached_property
    def _handed(self) -> dict[Key, Row]:
        threshold = self.asked.handover_threshold
        if threshold is None:
            return {}
        return {
            (key := handed_key(name, system, confidence)): _risk_of(
                key, handed_over(view.graded, self.raters[name].graded, threshold)
            )
            for confidence, system, view in self._each()
            for name in self.asked.raters
        }

    @cached_property
    def contrasts(self) -> list[Contrast]:
        """Each rater less each system at its coverage and on the units of both; each hand-over less the rater alone."""
        made = [_contrast(both_key(name, system, minus=system), *rows) for (name, system), rows in self._both.items()]
        for confidence, system, _ in self._each():
            for name in self.raters:
                own, others = (replace(system_key(name, system, confidence), system=each) for each in (name, system))
                rows = self._at_points[own], self._at_points[others]
                made.append(_contrast(gap_key(name, system, confidence), *rows))
                if (handed := self._handed.get(handed_key(name, system, confidence))) is not None:
                    made.append(_contrast(handed_key(name, system, confidence, minus=True), handed, rows[0]))
        return made

    def finished(self, estimates: Iterable[Estimate]) -> list[Estimate]:
        """With what does not come from draws: points and their differences, coverages, intervals of several at once."""
        rows = {row.key: row for row in map(self._placed, estimates)}
        for name, point in self.points.items():
            rows |= {row.key: row for row in estimates_of_point(point, self._any_view)}
            for confidence, system, view in self._each():
                key = gap_key(name, system, confidence)
                rows[key] = self._independent(key, point, rows[system_key(name, system, confidence)], view)
        for (name, system), (row, _) in self._both.items():
            key = Key(name, "answered", group=Group(ANSWERED_BY, system))
            rows[key] = Estimate(key, float(cast("PointView", row.view).own.curve.answered))
        for confidence, system, _ in self._each():
            rows |= self._at_once([rows[gap_key(name, system, confidence)] for name in self.names])
        return [*rows.values()]

    @property
    def _any_view(self) -> CurveView:
        return next(iter(next(iter(self.views.values())).values()))

    def _placed(self, row: Estimate) -> Estimate:
        group = row.key.group
        if group is None or row.key.minus is not None:
            return row
        if group.name == COVERAGE_OF and row.key in self._at_points:
            view = cast("PointView", self._at_points[row.key].view)
            return replace(row, at=float(view.coverage))
        if group.name == HANDED_TO:
            pair = cast("PointView", self._handed[row.key].view)
            return replace(row, at=pair.own.curve.cmax, threshold=self.asked.handover_threshold)
        return row

    def _independent(self, key: Key, point: NumbersOfPoint, system: Estimate, view: CurveView) -> Estimate:
        gap = IndependentGap(point.risk - system.value, math.nan, len(view.ids))
        if math.isnan(gap.value):
            return Estimate(key, math.nan, undefined=system.undefined, no_interval="there is no number")
        error, drop_rate = point_error(point, view), system.drop_rate
        if error is None or math.isnan(system.std_error) or not drop_rate <= MOST_DROPPED or gap.clusters == 1:
            why = "no_uncertainty" if error is None else system.no_interval or "too many draws have no such number"
            return Estimate(key, gap.value, drop_rate=drop_rate, no_interval=why)
        gap = replace(gap, std_error=math.hypot(system.std_error, error))
        return Estimate(
            key, gap.value, gap.std_error, recommended=gap.interval(), drop_rate=drop_rate, p_value=gap.p_value
        )

    def _at_once(self, gaps: Sequence[Estimate]) -> dict[Key, Estimate]:
        """Gaps to several points, each at the level that so many need (Bonferroni)."""
        judged = [row for row in gaps if row.recommended is not None]
        if len(judged) < 2:  # noqa: PLR2004
            return {}
        counted = {contrast.key: contrast.counted for contrast in self.contrasts}
        level, made = 1 - _LEVEL / len(judged), {}
        for row in judged:
            if row.evidence is not None:
                alone = recommended("difference", row.evidence, counted[row.key], level)[0]
            else:
                alone = IndependentGap(row.value, row.std_error, len(self._any_view.ids)).interval(level)
            if alone is not None:
                together = Interval("simultaneous", *alone.ends, count=len(judged))
                made[row.key] = replace(row, simultaneous=together)
        return made

    def handover(self, view: CurveView) -> Json | None:
        """The hand-over curves of a system under a confidence, by the rater; None without one."""
        return {name: handover_curve(view, self.raters[name].graded) for name in self.asked.raters} or None

    def record(self, estimates: Iterable[Estimate]) -> Json:
        """What a study records of everybody beside its systems."""
        if not self.names:
            return {}
        ends = {row.key: row.recommended.ends for row in estimates if row.recommended}
        sources = {name: answers.source for name, answers in self.asked.raters.items()}
        sources |= {f"{name}, forced": items.source for name, items in self.asked.forced.items()}
        paired: list[Json] = [
            {
                "name": name,
                "kind": self.kinds[name],
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
            "external_points": paired + [point_record(point, self._any_view) for point in self.asked.points],
            "margin": self.asked.margin,
            "handover_threshold": self.asked.handover_threshold,
        }


def _coverage(point: NumbersOfPoint) -> Coverage:
    counted = point.answered is not None and point.units is not None
    return Coverage.of(Fraction(point.answered or 0, point.units or 1) if counted else point.coverage)


def _at_point(key: Key, view: PointView) -> Row:
    return Row.of_curve(key, cast("Any", view), Measure.of(RISK))


def _risk_of(key: Key, graded: Graded) -> Row:
    """The risk of everything answered, as a number that an interval can be made of."""
    view = CurveView.of(graded)
    return replace(_at_point(key, PointView((view, view))), measure=Measure.of("risk"), held=_answering(view))


def _answering(view: CurveView) -> Flags:
    """The clusters in which anything is answered: the others say nothing about a risk."""
    return np.asarray(np.bincount(view.graded.grouped.of_answer, minlength=len(view.ids)) > 0)


def _contrast(key: Key, row: Row, subtracted: Row) -> Contrast:
    return Contrast(key, row, subtracted, discordant(row.entries(), subtracted.entries()))
