"""Groups in an evaluation: the threshold they share, their rows and strata, warnings and record."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property

from demur.drawing.picture import spread
from demur.errors import UserError, shown
from demur.facts.groupings import NONE
from demur.facts.items import Items
from demur.features.groups.named_groupings import check_same_groups, grouping_of
from demur.features.groups.options import Groups
from demur.features.groups.rows import SERVED, GroupRows, Level
from demur.features.groups.study import MULTIPLE
from demur.inference.estimates import Estimate, Estimates
from demur.inference.key import Group, Key
from demur.inference.rows import Contrast, Row
from demur.inference.warnings import ResultWarning, about_counts
from demur.options import as_blank
from demur.quantities import Measure
from demur.quantities.curve import Curve
from demur.quantities.registry import COMMON
from demur.results.features import Additions
from demur.results.study_of_answers import Evaluation
from demur.sampling.coverage import Coverage
from demur.sampling.resample import Plan
from demur.types import Json

MOST_POINTS = 100  # of a small picture


class GroupAdditions(Additions):
    """What groups add: the numbers of each group at a shared threshold and by its own curve, and the extremes."""

    def __init__(self, groups: Groups, evaluation: Evaluation, plan: Plan) -> None:  # noqa: ARG002
        self.asked, self.evaluation = groups, evaluation

    @property
    def _items(self) -> Items:
        """The facts of the first system; all systems have the same groups."""
        return next(iter(self.evaluation.alignment.systems.values()))

    @cached_property
    def groups(self) -> list[GroupRows]:
        """The rows of every requested grouping, under every confidence and of every system."""
        systems, rows = self.evaluation.alignment.systems, list[GroupRows]()
        for name in self.asked.names:
            check_same_groups(systems, name)
        for confidence, by_system in self.evaluation.views.items() if self.asked.names else ():
            reached = min(view.curve.coverage_reached for view in by_system.values())
            for system, view in by_system.items():
                threshold = self._threshold(view.curve, reached)
                for name in self.asked.names:
                    key = Key(system, "", confidence, group=Group(name))
                    grouping = grouping_of(systems[system], name, self.asked.max_groups)
                    rows.append(GroupRows.of(key, view, grouping, threshold, self.asked.min_clusters))
        return rows

    def _threshold(self, curve: Curve, common: Fraction) -> float:
        """The threshold that all groups share: as given, or of the operating point that reaches the coverage."""
        if self.asked.threshold is not None:
            return float(self.asked.threshold)
        if not curve.defined:
            raise UserError(
                f"nothing is answered: groups have no threshold to share unless one is given, {as_blank('threshold')}"
            )
        requested = self.asked.at_coverage
        if requested is not None:
            point = curve.at(requested)
            if math.isnan(point.value):
                text = Coverage.of(requested).text
                raise UserError(f"no operating point reaches the coverage {text}: Cmax is {curve.cmax:.4g}")
            return point.threshold
        cut = self.evaluation.settings.cut(len(self.evaluation.given))
        coverage = min(common if cut == COMMON else Coverage.of(cut).value, curve.coverage_reached)
        return curve.at(coverage).threshold if coverage else float(curve.threshold[-1])

    @property
    def strata(self) -> tuple[int, ...] | None:
        """The stratum of each cluster, if clusters are drawn within the levels of a grouping; None otherwise."""
        name, items = self.asked.stratify, self._items
        if name is None:
            return None
        strata = grouping_of(items, name, self.asked.max_groups).of_clusters(items.cluster)
        if strata is None:
            not_same = f"the group {shown(name)} is not the same within each {items.noun}"
            raise UserError(f"{not_same}: no strata to draw within")
        return tuple(strata.tolist())

    @property
    def further_rows(self) -> list[Row]:
        """The numbers of all units at the threshold, of each group, and of the units outside it."""
        return [*self._overall(), *self._own_rows]

    def _overall(self) -> Iterable[Row]:
        """Coverage and risk of all units at the thresholds of the groups, for comparison."""
        rows: dict[Key, Row] = {}
        for group in self.groups:
            for name in map(group.at_threshold, SERVED):
                key = replace(group.key, quantity=name, group=None)
                view = self.evaluation.views[key.confidence][key.system]
                rows.setdefault(key, Row.of_curve(key, view, Measure.of(name, "curve")))
        return rows.values()

    @property
    def _own_rows(self) -> list[Row]:
        return [row for group in self.groups for row in (*group.rows, *group.rests)]

    @property
    def contrasts(self) -> list[Contrast]:
        """Each group minus the rest."""
        return [contrast for group in self.groups for contrast in group.contrasts]

    def finished(self, estimates: list[Estimate], contrasts: Sequence[Contrast]) -> list[Estimate]:  # noqa: ARG002
        """The estimates without those of groups, which come last."""
        own = {row.key for row in self._own_rows} | {contrast.key for contrast in self.contrasts}
        return [row for row in estimates if row.key not in own]

    def last(self, estimates: Mapping[Key, Estimate]) -> Iterator[Estimate]:
        """The estimates of groups, with intervals that hold for all of them at once, and the extremes."""
        return (row for group in self.groups for row in group.finished(estimates))

    def warnings(self, estimates: Estimates) -> Iterator[ResultWarning]:  # noqa: ARG002
        """Warn of multiple groups, and of judged risks that rest on too few clusters."""
        if self.groups:
            levels = sum(len(group.levels) for group in self.groups)
            compared = sum(len(group.judged(group.at_threshold(stem))) for group in self.groups for stem in SERVED)
            yield ResultWarning(MULTIPLE, parameters={"groups": levels, "comparisons": compared})
        for group in self.groups:
            name = group.at_threshold("risk")
            keys = {group.of_level(level.name, name) for level in group.judged(name)}
            yield from about_counts(row for row in group.rows if row.key in keys)

    def record(self, estimates: Iterable[Estimate]) -> Json:  # noqa: ARG002
        """What was asked, the thresholds, the groupings and the curves."""
        asked = self.asked
        if not asked.names:
            return {}
        record = {
            "threshold": asked.threshold,
            "at_coverage": None if asked.at_coverage is None else Coverage.of(asked.at_coverage).text,
            "min_clusters": asked.min_clusters,
            "max_groups": asked.max_groups,
            "stratified_by": asked.stratify,
            "thresholds": [
                {"system": group.key.system, "confidence": group.key.confidence, "threshold": group.threshold}
                for group in {(group.key.system, group.key.confidence): group for group in self.groups}.values()
            ],
            "groupings": [_grouping(self._items, name, asked.max_groups) for name in asked.names],
            "curves": [_curve(group, level) for group in self.groups for level in group.levels],
        }
        return {"groups": record}


def _curve(group: GroupRows, level: Level) -> Json:
    curve = level.view.curve
    drawn = spread(len(curve), MOST_POINTS)
    columns = ("coverage", "selective_risk", "generalized_risk")
    points = {name: getattr(curve, name)[drawn].tolist() for name in columns}
    key = group.key
    return {"system": key.system, "confidence": key.confidence, "group": tuple(group.group(level.name)), **points}


def _grouping(items: Items, name: str, most: int) -> Json:
    grouping = grouping_of(items, name, most)
    unlabelled = [
        items.number_of(grouping.units(index)) for index, level in enumerate(grouping.levels) if level == NONE
    ]
    return {
        "name": name,
        "column": grouping.column.text if grouping.column else None,
        "file": grouping.column.file if grouping.column else None,
        "kind": "unit" if grouping.of_clusters(items.cluster) is None else "cluster",
        "levels": grouping.levels,
        "without_label": sum(unlabelled),
    }
