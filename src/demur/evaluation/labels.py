"""Columns with the labels of groups, in the data or in a separate table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from demur.facts.groups import GroupColumn, GroupText
from demur.read.groups import GroupFile

if TYPE_CHECKING:
    from demur.facts.items import Items
    from demur.read import TableOptions
    from demur.results.groups import GroupsRecord

T = TypeVar("T", bound="TableOptions")


@dataclass(frozen=True, slots=True)
class Labels:
    """The names of all groups, and the columns of the data and of a table of labels, by the groups' names."""

    names: Sequence[str] = ()
    of_data: Mapping[str, GroupText] = field(default_factory=dict)
    of_file: Mapping[str, GroupText] = field(default_factory=dict)
    file: GroupFile | None = None

    @classmethod
    def of(cls, requested: Mapping[str, GroupText | None], table: Any = None) -> Labels:
        """Determine the column of each group, None if it has none; all columns of `table` if no group is requested."""
        file = None if table is None else GroupFile.of(table)
        columns = file.columns if file else []
        texts = {name: column or (name if name in columns else None) for name, column in requested.items()}
        of_file = {name: text for name, text in texts.items() if text and GroupColumn.of(text, columns).name in columns}
        of_data = {name: text for name, text in texts.items() if text and name not in of_file}
        if not of_file:
            of_file = {name: name for name in columns if name not in texts}
        return cls([*dict.fromkeys([*texts, *of_file])], of_data, of_file, file)

    @classmethod
    def recorded(cls, record: GroupsRecord | None) -> Labels:
        """The columns of labels that a results file records."""
        known = [(grouping.name, grouping.column, grouping.file) for grouping in record.groupings] if record else []
        of_data: dict[str, GroupText] = {name: column for name, column, file in known if column and not file}
        of_file: dict[str, GroupText] = {name: column for name, column, file in known if column and file}
        path = next((Path(file) for _, _, file in known if file), None)
        return cls([name for name, _, _ in known], of_data, of_file, GroupFile.of(path) if path else None)

    def options(self, table: T) -> T:
        """Add the columns of labels to the options of a table."""
        return replace(table, group=self.of_data) if self.of_data else table

    def joined(self, runs: Sequence[Items]) -> list[Items]:
        """Add the labels of the separate table to the facts of runs."""
        return [*runs] if self.file is None else [self.file.joined(items, self.of_file) for items in runs]
