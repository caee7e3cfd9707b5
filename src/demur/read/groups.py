"""Labels of groups: columns of a long table, members of a file of units, or a table of labels beside run files."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from demur.errors import UserError, literal, repeated, shown, unknown
from demur.facts.codes import Codes
from demur.facts.columns import MISSING
from demur.facts.groups import GroupColumn, Grouping, GroupText
from demur.facts.ids import ClusterId
from demur.facts.items import Items
from demur.read.cells import Cells, read_cells
from demur.read.tables import missing_column, opened_table
from demur.read.units_file import GROUPS

_IDS = ("cluster", "item")


def label_columns(header: Sequence[str], columns: Mapping[str, GroupText]) -> list[str]:
    """The columns that hold labels."""
    return [GroupColumn.of(text, header).name for text in columns.values()]


def _cells(table: Cells, column: GroupColumn) -> Codes:
    """A column of labels as they are written, so that 01 is not 1; as numbers if it is to be cut."""
    codes = table.codes(column.name)
    return codes.mapped(table.value) if column.cuts else codes


def table_groups(table: Cells, columns: Mapping[str, GroupText]) -> dict[str, Grouping]:
    """The groups of a table: the requested columns, and in a file of units also those that it names."""
    if GROUPS in table.values:
        labels = table.codes(GROUPS).mapped(lambda text: {} if text is MISSING else json.loads(text))
        names = dict.fromkeys(name for unit in labels.values for name in unit)
        known = {name: labels.mapped(lambda unit, name=name: unit.get(name)) for name in names}  # type: ignore[misc]
        requested = {name: GroupColumn.of(text, [*known]) for name, text in columns.items()}
        columns_of = {name: GroupColumn(name) for name in known} | requested
        return {name: _named(column, known).grouping(known[column.name]) for name, column in columns_of.items()}
    groupings = {}
    for name, text in columns.items():
        column = GroupColumn.of(text, [*table.values])
        if column.name not in table.values:
            listed = ", ".join(map(shown, table.values))
            raise UserError(f"no column {shown(column.name)} for the group {shown(name)}; columns: {listed}")
        groupings[name] = column.grouping(_cells(table, column))
    return groupings


def _named(column: GroupColumn, known: Collection[str]) -> GroupColumn:
    if column.name not in known:
        raise unknown("group of this file", column.name, known)
    return column


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
            cells = _cells(self.table, _named(column, self.columns))
            try:
                groups[name] = column.grouping([None if unit is None else cells[unit] for unit in units])
            except UserError as error:
                raise self._error(str(error)) from None
        return replace(items, groups=groups)

    def _error(self, text: str) -> UserError:
        return UserError(text if self.path is None else f"{self.path}: {text}")
