"""The labels of groups: columns of the data, and a table of labels by cluster or by unit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypeVar

from demur.errors import UserError, literal, repeated, shown
from demur.facts.groupings import GroupColumn, GroupText
from demur.facts.ids import ClusterId
from demur.facts.items import Items
from demur.features.groups.options import Groups
from demur.read.cells import Cells, read_cells
from demur.read.label_columns import label_cells, named_column
from demur.read.tables import missing_column, opened_table
from demur.results.features import FeatureOptions

if TYPE_CHECKING:
    from demur.read import TableOptions

T = TypeVar("T", bound="TableOptions")
_IDS = ("cluster", "item")


@dataclass(frozen=True, slots=True)
class Labels(FeatureOptions):
    """Where the labels of groups are: columns of the data, and of a table of labels, by the names of the groups."""

    feature: ClassVar[str] = "groups"

    groups: Groups
    of_data: Mapping[str, GroupText]
    of_file: Mapping[str, GroupText]
    file: GroupFile | None

    @classmethod
    def of(cls, groups: Groups) -> Labels:
        """The column of each group, if it has one; all columns of the table of labels if none of them is asked for."""
        file = None if groups.table is None else GroupFile.of(groups.table)
        columns = file.columns if file else []
        texts = {name: column or (name if name in columns else None) for name, column in groups.labels.items()}
        of_file = {name: text for name, text in texts.items() if text and GroupColumn.of(text, columns).name in columns}
        of_data = {name: text for name, text in texts.items() if text and name not in of_file}
        if not of_file:
            of_file = {name: name for name in columns if name not in texts}
        return cls(groups.named([*texts, *of_file]), of_data, of_file, file)

    def reading(self, options: T) -> T:
        """The options of a table, with its columns of labels added."""
        return replace(options, group=self.of_data) if self.of_data else options

    def joined(self, runs: list[Items]) -> list[Items]:
        """Add the labels of the separate table to the facts of runs."""
        return runs if self.file is None else [self.file.joined(items, self.of_file) for items in runs]

    def read(self, runs: Sequence[Items], columns: Mapping[str, str]) -> Groups:  # noqa: ARG002
        """The groups, with the names of all of them."""
        return self.groups


def with_groups(items: Items, labels: str | Path | object, columns: Mapping[str, GroupText] | None = None) -> Items:
    """The facts of a run, with the labels of groups from a path, a frame or a dict of lists with a column `cluster`.

    With a column `item` the labels are those of units. `columns` maps names of groups to columns, or to
    COLUMN:18,40,65, which cuts numbers; without it every column is a group.

    >>> from demur import read_table
    >>> items = read_table({"cluster": ["a", "b"], "loss": [0, 1]})
    >>> with_groups(items, {"cluster": ["a", "b"], "site": ["x", "y"]}).groups["site"].levels
    ('x', 'y')
    """
    file = GroupFile.of(labels)
    return file.joined(items, columns or {name: name for name in file.columns})


@dataclass(frozen=True, slots=True)
class GroupFile:
    """A table of labels: `cluster`, optionally `item`, and a column for each grouping."""

    path: str | None
    keys: Sequence[tuple[ClusterId, str | None]]
    table: Cells

    @property
    def columns(self) -> list[str]:
        """The columns of labels."""
        return [name for name in self.table.values if name not in _IDS]

    @classmethod
    def of(cls, path: str | Path | object) -> GroupFile:
        """Read a table of labels, and check that a cluster, or a unit, has one row."""
        with opened_table(path) as (opened, _):
            cells = read_cells(opened, {}, opened.header)
            if "cluster" not in cells.values:
                raise missing_column("cluster", "cluster", cells.values)
            clusters = cells.ids("cluster", "cluster")
            named = "item" in cells.values
            items = cells.codes("item").mapped(str) if named else [None] * len(clusters)
            keys = [*zip(clusters, items, strict=True)]
            if twice := repeated(keys):
                unit = ", ".join(shown(name) for name in twice[0] if name is not None)
                raise UserError(f"cluster {unit}: given more than once")
            file = cls(str(path) if isinstance(path, (str, Path)) else None, keys, cells)
            if not file.columns:
                raise UserError("there is no column of labels beside cluster and item")
        return file

    def joined(self, items: Items, columns: Mapping[str, GroupText]) -> Items:
        """The facts of a run with labels from these columns, by the names of the groups; (none) without a row."""
        rows = {key: index for index, key in enumerate(self.keys)}
        by_item = bool(self.keys) and self.keys[0][1] is not None
        if by_item and items.count is not None:
            raise self._error("labels of single units, and a summary holds counts: leave out item, or give the data")
        units = [rows.get((cluster, item if by_item else None)) for cluster, item in items.unit_names]
        if all(unit is None for unit in units):
            first = literal(self.keys[0][0]) if self.keys else "none"
            raise self._error(f"no {items.noun} of the run is among its clusters, the first of which is {first}")
        groups = dict(items.groups)
        for name, text in columns.items():
            column = replace(GroupColumn.of(text, self.columns), file=self.path)
            if name in groups:
                raise self._error(f"the data have a group {shown(name)} as well: give this one another name")
            cells = label_cells(self.table, named_column(column, self.columns))
            try:
                groups[name] = column.grouping([None if unit is None else cells[unit] for unit in units])
            except UserError as error:
                raise self._error(str(error)) from None
        return replace(items, groups=groups)

    def _error(self, text: str) -> UserError:
        return UserError(text if self.path is None else f"{self.path}: {text}")
