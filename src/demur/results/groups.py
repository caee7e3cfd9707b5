"""Groups of units in an evaluation: their settings and record, and their threshold, rows and warnings."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from demur.errors import IncompleteError, UserError, literal, shown
from demur.facts.groups import MOST_LEVELS, NONE, GroupColumn, GroupText, check_same_groups, grouping_of
from demur.feature import features
from demur.files.strict_model import Count, Declared, Part
from demur.inference.groups import SERVED, GroupRows, Level
from demur.inference.key import Group, Key
from demur.inference.rows import Row
from demur.inference.views import CurveView
from demur.inference.warnings import ResultWarning, about_counts
from demur.options import as_blank, as_option, declared, number_of, option, section
from demur.quantities import Measure
from demur.quantities.curve import Curve
from demur.quantities.registry import COMMON
from demur.results.parts import Many, Vertices
from demur.sampling.coverage import Coverage
from demur.types import Json

if TYPE_CHECKING:
    from demur.facts.items import Items
    from demur.results.record import Evaluation

FEWEST_CLUSTERS = 10
MOST_POINTS = 100  # of a small picture


@section("groups")
@dataclass(frozen=True, slots=True, init=False)
class Groups:
    """Groups of units to report, by name, and how they are compared.

    A name stands for a column of labels, for a column of numbers with its cut points, or for groups that the data have
    already, such as `item`. `table` is a table of labels by cluster. Groups share a `threshold`, or that of the first
    operating point that reaches a coverage, `at_coverage`, which is where areas are cut if neither is given. A group in
    fewer than `min_clusters` clusters is not judged. With `stratify`, clusters are drawn within the levels of that
    grouping.

    >>> Groups("item", sex="Gender", age=("Age", [18, 40])).names
    ('item', 'sex', 'age')
    """

    labels: Mapping[str, GroupText | None] = option(
        (),
        "Groups to report: NAME=COLUMN of a table, NAME=COLUMN:18,40,65 to cut numbers, or item.",
        flag="--group",
        metavar="NAME=COLUMN",
        repeated=True,
        call="Groups(sex='Gender')",
        by_name={str: "the name of a column", list: "a list of it and its cut points, ['Age', [18, 40]]"},
    )
    table: Any = option(
        None,
        "A table with the columns cluster, perhaps item, and labels of groups.",
        flag="--groups",
        kind=Path,
        file=True,
    )
    threshold: float | None = option(None, "The threshold that all groups share.", kind=float)
    at_coverage: Coverage | str | float | None = option(
        None, "Set it by the coverage it reaches; if not given, the coverage areas are cut at.", also=(float,)
    )
    min_clusters: int = option(FEWEST_CLUSTERS, "Groups in fewer clusters are shown but not judged.", kind=int)
    max_groups: int = option(MOST_LEVELS, "The largest number of levels of a group.", kind=int)
    stratify: str | None = option(None, "Draw clusters within the levels of this group.", metavar="NAME")
    names: tuple[str, ...] = ()

    def __init__(
        self,
        *groups: Any,
        table: Any = None,
        threshold: float | None = None,
        at_coverage: Coverage | str | float | None = None,
        min_clusters: int = FEWEST_CLUSTERS,
        max_groups: int = MOST_LEVELS,
        stratify: str | None = None,
        **columns: Any,
    ) -> None:
        named: dict[str, Any] = {}
        for given in groups:
            if isinstance(given, str):
                named[given] = None
            elif isinstance(given, Mapping):
                named |= given
            else:
                expected = "names with their columns, {'sex': 'Gender'}, or a name such as item"
                raise UserError(f"group {literal(given)}, expected {expected}")
        named |= columns
        values = {
            "labels": {str(name): _column(column) for name, column in named.items()},
            "table": table,
            "threshold": threshold,
            "at_coverage": None if at_coverage is None else Coverage.of(at_coverage).plain,
            "min_clusters": min_clusters,
            "max_groups": max_groups,
            "stratify": stratify,
            "names": tuple(map(str, named)),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        self._check()

    def _check(self) -> None:
        for feature in features().values():
            if reserved := [name for name in self.names if name in feature.groupings]:
                taken = f"which is for {feature.name}"
                raise UserError(f"a group cannot be called {reserved[0]}, {taken}: give it another name")
        if self.threshold is not None and self.at_coverage is not None:
            raise UserError("a threshold and a coverage to find it by are both given: leave out one")
        number_of("threshold", self.threshold)
        if self.threshold is not None and not math.isfinite(self.threshold):
            raise UserError(f"{as_option('threshold')} {literal(self.threshold)}, expected a finite number")
        for name, least in (("min_clusters", 2), ("max_groups", 2)):
            value = getattr(self, name)
            if type(value) is not int or value < least:
                raise UserError(f"{as_option(name)} {literal(value)}, expected an integer, {least} or more")
        changed = [known.name for known in fields(self) if known.default != getattr(self, known.name)]
        if not self.names and self.table is None and {*changed} - {"labels"}:
            raise UserError(f"{as_option(changed[-1])} is for groups: name some, {as_blank('labels')}")

    @classmethod
    def typed(cls, labels: Iterable[str] = (), **others: Any) -> Groups:
        """Groups of the command line, NAME=COLUMN or a name that the data have already, over those of a file."""
        named: dict[str, str | None] = {}
        for text in labels:
            name, equals, column = text.partition("=")
            if not name or (equals and not column):
                raise UserError(f"--group {literal(text)}, expected NAME=COLUMN, or a name such as item")
            if name in named:
                raise UserError(f"--group {literal(name)} is given twice")
            named[name] = column or None
        known = declared(cls)
        of_file = {name: others.pop(name) for name in [*others] if name not in known}
        return cls({**of_file, **named}, **others)

    def named(self, names: Iterable[str]) -> Groups:
        """The same, with the names of all groups, those of the columns of the table among them."""
        groups = copy(self)
        object.__setattr__(groups, "names", tuple(dict.fromkeys(names)))
        groups._check()  # noqa: SLF001  (of its own class)
        return groups


def _column(given: Any) -> GroupText | None:
    if isinstance(given, (list, tuple)):
        name, cuts = given if len(given) == 2 else (given, ())  # noqa: PLR2004
        return GroupColumn.cut_at(str(name), cuts if isinstance(cuts, (list, tuple, range)) else (), given)
    return given if given is None else str(given)


class SharedThreshold(Part):
    """The threshold all groups of one system share under one confidence."""

    system: str
    confidence: str
    threshold: float


class GroupingRecord(Part):
    """A grouping of the units: its levels, the column (and file) its labels came from, and how many units have none.

    It is of the `cluster` if all units of every cluster are in one group, and of the `unit` otherwise.
    """

    name: str
    column: str | None
    file: str | None
    kind: Literal["cluster", "unit"]
    levels: Many[str]
    without_label: Count


class GroupCurve(Vertices):
    """Operating points of one group of a system under one confidence: all of them, or some spread evenly."""

    of: ClassVar[str] = "the curve of a group"
    system: str
    confidence: str
    group: Annotated[tuple[str, str], Declared(strict=False)]

    def _mistakes(self) -> Iterator[str]:
        if not len(self.coverage) == len(self.selective_risk) == len(self.generalized_risk):
            yield "the columns of the curve of a group have different lengths"


class GroupsRecord(Part):
    """What was asked about groups: the threshold they share, as given or by a coverage, and who can be judged."""

    threshold: float | None
    at_coverage: str | None
    min_clusters: Count
    max_groups: Count
    stratified_by: str | None
    thresholds: Many[SharedThreshold]
    groupings: Annotated[Many[GroupingRecord], Declared(min_length=1)]
    curves: Many[GroupCurve]

    def threshold_of(self, system: str, confidence: str) -> float:
        """The threshold the groups of a system share."""
        for shared in self.thresholds:
            if (shared.system, shared.confidence) == (system, confidence):
                return shared.threshold
        raise IncompleteError(f"groups: no threshold of {shown(system)}, by {shown(confidence)}")

    def curve_of(self, system: str, confidence: str, group: Group) -> GroupCurve:
        """The curve of one group of a system."""
        for curve in self.curves:
            if (curve.system, curve.confidence, *curve.group) == (system, confidence, *group):
                return curve
        raise IncompleteError(f"groups: no curve of {shown(system)}, by {shown(confidence)}, of {shown(group.level)}")


def recorded_groups(record: GroupsRecord | None) -> Groups:
    """The groups that were asked for, from their record."""
    if record is None:
        return Groups()
    return Groups(
        {grouping.name: grouping.column for grouping in record.groupings},
        table=next((grouping.file for grouping in record.groupings if grouping.file), None),
        threshold=record.threshold,
        at_coverage=record.at_coverage,
        min_clusters=record.min_clusters,
        max_groups=record.max_groups,
        stratify=record.stratified_by,
    )


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
