"""Groups in an evaluation: their threshold, rows, warnings and record."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from demur.errors import UserError, shown
from demur.facts.groupings import NONE
from demur.features.groups.named_groupings import check_same_groups, grouping_of
from demur.features.groups.rows import SERVED, GroupRows, Level
from demur.inference.key import Group, Key
from demur.inference.rows import Row
from demur.inference.views import CurveView
from demur.inference.warnings import ResultWarning, about_counts
from demur.options import as_blank
from demur.quantities import Measure
from demur.quantities.curve import Curve
from demur.quantities.registry import COMMON
from demur.sampling.coverage import Coverage
from demur.types import Json

if TYPE_CHECKING:
    from demur.facts.items import Items
    from demur.features.groups.options import Groups
    from demur.results.record import Evaluation

MOST_POINTS = 100  # of a small picture


def grouped(evaluation: Evaluation) -> list[GroupRows]:
    """The rows of every requested grouping, under every confidence and of every system."""
    settings, systems, rows = evaluation.settings.groups, evaluation.alignment.systems, list[GroupRows]()
    if not settings.names:
        return rows
    for name in settings.names:
        check_same_groups(systems, name)
    for confidence, by_system in evaluation.views.items():
        reached = min(view.curve.coverage_reached for view in by_system.values())
        for system, view in by_system.items():
            threshold = _threshold(evaluation, view.curve, reached)
            for name in settings.names:
                key = Key(system, "", confidence, group=Group(name))
                grouping = grouping_of(systems[system], name, settings.max_groups)
                rows.append(GroupRows.of(key, view, grouping, threshold, settings.min_clusters))
    return rows


def _threshold(evaluation: Evaluation, curve: Curve, common: Fraction) -> float:
    """The threshold that all groups share: as given, or of the operating point that reaches the coverage."""
    settings = evaluation.settings
    if settings.groups.threshold is not None:
        return float(settings.groups.threshold)
    if not curve.defined:
        raise UserError(
            f"nothing is answered: groups have no threshold to share unless one is given, {as_blank('threshold')}"
        )
    requested = settings.groups.at_coverage
    if requested is not None:
        point = curve.at(requested)
        if math.isnan(point.value):
            text = Coverage.of(requested).text
            raise UserError(f"no operating point reaches the coverage {text}: Cmax is {curve.cmax:.4g}")
        return point.threshold
    cut = settings.cut(len(evaluation.given))
    coverage = min(common if cut == COMMON else Coverage.of(cut).value, curve.coverage_reached)
    return curve.at(coverage).threshold if coverage else float(curve.threshold[-1])


def overall_rows(groups: Sequence[GroupRows], views: Mapping[str, Mapping[str, CurveView]]) -> list[Row]:
    """Coverage and risk of all units at the thresholds of the groups, for comparison."""
    rows: dict[Key, Row] = {}
    for group in groups:
        for name in map(group.at_threshold, SERVED):
            key = replace(group.key, quantity=name, group=None)
            view = views[key.confidence][key.system]
            rows.setdefault(key, Row.of_curve(key, view, Measure.of(name, "curve")))
    return [*rows.values()]


def strata_of(evaluation: Evaluation) -> tuple[int, ...] | None:
    """The stratum of each cluster, if clusters are drawn within the levels of a grouping; None otherwise."""
    settings, items = evaluation.settings.groups, next(iter(evaluation.alignment.systems.values()))
    name = settings.stratify
    if name is None:
        return None
    strata = grouping_of(items, name, settings.max_groups).of_clusters(items.cluster)
    if strata is None:
        raise UserError(f"the group {shown(name)} is not the same within each {items.noun}: no strata to draw within")
    return tuple(strata.tolist())


def about_groups(groups: Sequence[GroupRows]) -> Iterator[ResultWarning]:
    """Warn of multiple groups, and of judged risks that rest on too few clusters."""
    if groups:
        levels = sum(len(group.levels) for group in groups)
        compared = sum(len(group.judged(group.at_threshold(stem))) for group in groups for stem in SERVED)
        yield ResultWarning("multiple_groups", parameters={"groups": levels, "comparisons": compared})
    for group in groups:
        name = group.at_threshold("risk")
        keys = {group.of_level(level.name, name) for level in group.judged(name)}
        yield from about_counts(row for row in group.rows if row.key in keys)


def group_record(evaluation: Evaluation, groups: Sequence[GroupRows]) -> Json | None:
    """The record of the groups: settings, thresholds, groupings and curves; None without groups."""
    settings, items = evaluation.settings.groups, next(iter(evaluation.alignment.systems.values()))
    if not settings.names:
        return None
    return {
        "threshold": settings.threshold,
        "at_coverage": None if settings.at_coverage is None else Coverage.of(settings.at_coverage).text,
        "min_clusters": settings.min_clusters,
        "max_groups": settings.max_groups,
        "stratified_by": settings.stratify,
        "thresholds": [
            {"system": group.key.system, "confidence": group.key.confidence, "threshold": group.threshold}
            for group in {(group.key.system, group.key.confidence): group for group in groups}.values()
        ],
        "groupings": [_grouping_record(items, name, settings) for name in settings.names],
        "curves": [_curve(group, level) for group in groups for level in group.levels],
    }


def _curve(group: GroupRows, level: Level) -> Json:
    from demur.drawing.picture import spread  # noqa: PLC0415  (only groups have such curves)

    curve = level.view.curve
    shown = spread(len(curve), MOST_POINTS)
    columns = ("coverage", "selective_risk", "generalized_risk")
    points = {name: getattr(curve, name)[shown].tolist() for name in columns}
    key = group.key
    return {"system": key.system, "confidence": key.confidence, "group": tuple(group.group(level.name)), **points}


def _grouping_record(items: Items, name: str, settings: Groups) -> Json:
    grouping = grouping_of(items, name, settings.max_groups)
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
