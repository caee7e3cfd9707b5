"""The options of groups: which to report, by name, and how they are compared."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from demur.errors import UserError, literal
from demur.facts.groupings import GroupColumn, GroupText
from demur.feature import features
from demur.features.groups.named_groupings import MOST_LEVELS
from demur.options import as_blank, as_option, declared, number_of, option, section
from demur.results.features import FeatureOptions
from demur.sampling.coverage import Coverage

if TYPE_CHECKING:
    from demur.features.groups.labels import Labels
    from demur.features.groups.study import GroupsRecord

FEWEST_CLUSTERS = 10


@section("groups")
@dataclass(frozen=True, slots=True, init=False)
class Groups(FeatureOptions):
    """Groups of units to report, by name, and how they are compared.

    A name stands for a column of labels, for a column of numbers with its cut points, or for groups that the data have
    already, such as `item`. `table` is a table of labels by cluster. Groups share a `threshold`, or that of the first
    operating point that reaches a coverage, `at_coverage`, which is where areas are cut if neither is given. A group in
    fewer than `min_clusters` clusters is not judged. With `stratify`, clusters are drawn within the levels of that
    grouping.

    >>> Groups("item", sex="Gender", age=("Age", [18, 40])).names
    ('item', 'sex', 'age')
    """

    feature: ClassVar[str] = "groups"

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

    @classmethod
    def recorded(cls, record: GroupsRecord | None) -> Groups:
        """The groups that were asked for, from their record in a study."""
        if record is None:
            return cls()
        return cls(
            {grouping.name: grouping.column for grouping in record.groupings},
            table=next((grouping.file for grouping in record.groupings if grouping.file), None),
            threshold=record.threshold,
            at_coverage=record.at_coverage,
            min_clusters=record.min_clusters,
            max_groups=record.max_groups,
            stratify=record.stratified_by,
        )

    @property
    def files(self) -> list[str | Path]:
        """The table of labels, if it is a file."""
        return [self.table] if isinstance(self.table, (str, Path)) else []

    def opened(self) -> Labels:
        """The groups with the columns of their labels."""
        from demur.features.groups.labels import Labels  # noqa: PLC0415  (it imports this module)

        return Labels.of(self)

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
