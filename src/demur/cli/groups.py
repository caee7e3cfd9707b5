"""Groups on the command line: which labels make them, from which file, and how they are looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from demur.errors import UserError, literal

if TYPE_CHECKING:
    from demur.facts.items import Items
    from demur.read import TableOptions
    from demur.results.group_parts import GroupsRecord
    from demur.results.groups import GroupSettings

Names = Annotated[
    list[str] | None,
    typer.Option(
        "--group",
        metavar="NAME=COLUMN",
        help="Groups to look at: NAME=COLUMN of a table, NAME=COLUMN:18,40,65 to cut numbers, or item; once for each.",
    ),
]
File = Annotated[
    Path | None, typer.Option("--groups", help="A table with the columns cluster, perhaps item, and labels of groups.")
]
Threshold = Annotated[float | None, typer.Option(help="The threshold that all groups share.")]
AtCoverage = Annotated[
    str | None, typer.Option(help="Find it by the coverage it reaches instead; where areas are cut if not given.")
]
MinClusters = Annotated[int, typer.Option(help="Groups in fewer clusters are shown, and not judged.")]
MaxGroups = Annotated[int, typer.Option(help="How many levels a group may have.")]
Stratify = Annotated[str | None, typer.Option(metavar="NAME", help="Draw clusters within the levels of this group.")]


@dataclass(frozen=True, slots=True)
class Labels:
    """Where the labels of groups come from: columns of the data and of a file of labels, by the names of the groups."""

    names: Sequence[str] = ()
    of_data: Mapping[str, str] = field(default_factory=dict)
    of_file: Mapping[str, str] = field(default_factory=dict)
    file: Path | None = None

    @classmethod
    def of(cls, given: Sequence[str] | None, file: Path | None) -> Labels:
        """As they were typed; of a file of labels all columns, unless some of them are named."""
        from demur.facts.groups import GroupColumn
        from demur.read.groups import GroupFile

        columns = GroupFile.of(file).columns if file else []
        asked: dict[str, str | None] = {}
        for text in given or ():
            name, equals, column = text.partition("=")
            if not name or (equals and not column):
                raise UserError(f"--group {literal(text)}, expected NAME=COLUMN, or a name such as item")
            if name in asked:
                raise UserError(f"--group {literal(name)} is given twice")
            asked[name] = column or (name if name in columns else None)
        of_file = {name: text for name, text in asked.items() if text and GroupColumn.of(text, columns).name in columns}
        of_data = {name: text for name, text in asked.items() if text and name not in of_file}
        if not of_file:
            of_file = {name: name for name in columns if name not in asked}
        return cls([*dict.fromkeys([*asked, *of_file])], of_data, of_file, file)

    @classmethod
    def recorded(cls, record: GroupsRecord | None) -> Labels:
        """As a file of results records them."""
        known = [(each.name, each.column, each.file) for each in record.groupings] if record else []
        of_data = {name: column for name, column, file in known if column and not file}
        of_file = {name: column for name, column, file in known if column and file}
        file = next((Path(file) for _, _, file in known if file), None)
        return cls([name for name, _, _ in known], of_data, of_file, file)

    def options(self, table: TableOptions) -> TableOptions:
        """How tables are read, with their columns of labels."""
        return replace(table, group=self.of_data) if self.of_data else table

    def joined(self, runs: Sequence[Items]) -> list[Items]:
        """The facts of runs with the labels of the file."""
        from demur.read.groups import GroupFile

        if self.file is None:
            return [*runs]
        file = GroupFile.of(self.file)
        return [file.joined(items, self.of_file) for items in runs]


def group_settings(
    labels: Labels,
    where: tuple[float | None, str | None],
    limits: tuple[int, int],
    stratify: str | None,
) -> GroupSettings:
    """What is asked about groups: at a threshold or a coverage, with so many clusters and levels at least and most."""
    from demur.results.groups import GroupSettings

    return GroupSettings(labels.names, *where, *limits, stratify)
