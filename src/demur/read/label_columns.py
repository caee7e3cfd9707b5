"""Labels of units from columns of a table, or from members of a file of units."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence

from demur.errors import UserError, shown, unknown
from demur.facts.codes import Codes
from demur.facts.columns import MISSING
from demur.facts.groupings import GroupColumn, Grouping, GroupText
from demur.read.cells import Cells
from demur.read.units_file import GROUPS


def label_columns(header: Sequence[str], columns: Mapping[str, GroupText]) -> list[str]:
    """The columns that hold labels."""
    return [GroupColumn.of(text, header).name for text in columns.values()]


def label_cells(table: Cells, column: GroupColumn) -> Codes:
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
        return {name: named_column(column, known).grouping(known[column.name]) for name, column in columns_of.items()}
    groupings = {}
    for name, text in columns.items():
        column = GroupColumn.of(text, [*table.values])
        if column.name not in table.values:
            listed = ", ".join(map(shown, table.values))
            raise UserError(f"no column {shown(column.name)} for the group {shown(name)}; columns: {listed}")
        groupings[name] = column.grouping(label_cells(table, column))
    return groupings


def named_column(column: GroupColumn, known: Collection[str]) -> GroupColumn:
    """The column, unless it is none of those known."""
    if column.name not in known:
        raise unknown("group of this file", column.name, known)
    return column
