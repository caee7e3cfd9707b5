"""Per-query files, one row per (post, criterion): CSV, JSON Lines or Parquet, a data frame or a dict of lists.

Rows are read one at a time, and of each only a few numbers are kept.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from demur.errors import UserError, literal, located, shown, unknown
from demur.facts.columns import plain, written_number, wrong_value
from demur.facts.items import ClusterId
from demur.facts.ranking_columns import RankingsBuilder
from demur.facts.rankings import Query, Rankings, query_name
from demur.read.stream import Progress
from demur.read.tables import NO_ROWS, FileTable, Row, missing_column, opened_table, role_names

NEEDED = ("post_id", "criterion_id", "gold_ids")
OPTIONAL = ("scores", "prob", "selected_ids", "fold")
ROLES = (*NEEDED, "ranked_ids", *OPTIONAL)
RANKED_SUFFIXES = ("_topk", "_ranked_ids")
OWN_SYSTEM = "ranked"
_SEPARATOR = "|"


@dataclass(frozen=True, slots=True)
class Cells:
    """How a format writes cells: whether ids may come joined in one text, and whether every cell is a text."""

    joined_ids: bool
    text_only: bool

    def single_id(self, cell: Any, role: str) -> ClusterId:
        """An id: a text, or an integer."""
        value = plain(cell)
        if type(value) is int or (isinstance(value, str) and value.strip() == value != ""):
            return value
        raise UserError(f"{shown(role)} {literal(value)}, expected an integer or a text without spaces around it")

    def ids(self, cell: Any, role: str, *, ordered: bool = True) -> list[str]:
        """A list of ids; nothing is an empty one. Where the order matters a set has none."""
        if _is_null(cell):
            return []
        if isinstance(cell, str) and self.joined_ids:
            cell = cell.split(_SEPARATOR) if cell else []
        accepted = (Sequence, np.ndarray) if ordered else (Sequence, np.ndarray, AbstractSet)
        if not isinstance(cell, accepted) or isinstance(cell, (str, bytes, bytearray)):
            raise UserError(f"{shown(role)} {literal(cell)}, expected a list of ids")
        ids = [self.single_id(value, role) for value in cell]
        if len({type(value) for value in ids}) > 1:
            raise UserError(f"{shown(role)} {literal([*cell])}, expected integers or texts, not both")
        return [*map(str, ids)]

    def numbers(self, cell: Any, role: str) -> list[float]:
        """A list of numbers; nothing is an empty one."""
        if _is_null(cell):
            return []
        if isinstance(cell, str) and self.text_only:
            cell = cell.split(_SEPARATOR) if cell else []
        if not isinstance(cell, (Sequence, np.ndarray)) or isinstance(cell, (str, bytes, Mapping)):
            raise UserError(f"{shown(role)} {literal(cell)}, expected a list of numbers")
        numbers = [number for value in cell if (number := self.number(value, role)) is not None]
        if len(numbers) < len(cell):
            raise UserError(f"{shown(role)} {literal(cell)}: one of them is missing")
        return numbers

    def number(self, cell: Any, role: str) -> float | None:
        """A number as it is given; nothing is filled in for one that is not there."""
        value = plain(cell)
        if value is None or (value == "" and self.text_only):
            return None
        number = None
        if isinstance(value, str) and self.text_only:
            number = written_number(value)
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            with suppress(OverflowError):
                number = float(value)
        if number is None:
            raise UserError(f"{shown(role)} {wrong_value(value, 'a number')}")
        return number

    def fold(self, cell: Any, role: str) -> str | None:
        """The name of a fold."""
        return None if _is_null(cell) or cell == "" else str(self.single_id(cell, role))


def _is_null(cell: Any) -> bool:
    return plain(cell) is None or (isinstance(cell, float) and math.isnan(cell))


@dataclass(frozen=True, slots=True)
class Layout:
    """Which column plays which role for each system, and which names would play one if they were there."""

    roles: Mapping[str, Mapping[str, str]]
    absent: frozenset[str]

    @classmethod
    def of(cls, header: Sequence[str], columns: Mapping[str, str], systems: Mapping[str, str]) -> Layout:
        """Find the columns: those that are mapped by their names, the others by what they are usually called."""
        named = role_names(columns, ROLES)
        if systems and "ranked_ids" in columns:
            raise UserError("the ranked columns are named as systems: leave out the mapping of ranked_ids")
        for role in (*NEEDED, *columns):
            if named[role] not in header:
                raise missing_column(named[role], role, header)
        ranked = systems or _ranked_columns(header, named["ranked_ids"])
        for column in ranked.values():
            if column not in header:
                raise unknown("column", column, header)
        shared = {role: named[role] for role in NEEDED}
        own = {name: _own(name, header, columns, len(ranked)) for name in ranked}
        roles = {name: shared | {"ranked_ids": column} | own[name] for name, column in ranked.items()}
        wanted = {*named.values(), *(f"{name}_{role}" for name in ranked for role in OPTIONAL)}
        return cls(roles, frozenset(wanted - {*header}))

    @property
    def columns(self) -> list[str]:
        """The columns that play a role."""
        return [*dict.fromkeys(column for roles in self.roles.values() for column in roles.values())]

    def queries(self, row: Row, cells: Cells) -> dict[str, Query]:
        """What one row says, for each system."""
        late = next((name for name in row if name in self.absent), None)
        if late is not None:
            raise UserError(f"a member {shown(late)}, which the first row lacks: give it in every row or in none")
        return {system: _query(row, roles, cells) for system, roles in self.roles.items()}


def _query(row: Row, roles: Mapping[str, str], cells: Cells) -> Query:
    lacks = next((column for column in roles.values() if column not in row), None)
    if lacks is not None:
        raise UserError(f"no member {shown(lacks)}, which the first row has")
    post, criterion = (cells.single_id(row[roles[role]], role) for role in ("post_id", "criterion_id"))
    optional: dict[str, Callable[[Any, str], Any]] = {
        "scores": cells.numbers,
        "prob": cells.number,
        "selected_ids": cells.ids,
        "fold": cells.fold,
    }
    try:
        return Query(
            post,
            criterion,
            cells.ids(row[roles["gold_ids"]], roles["gold_ids"], ordered=False),
            cells.ids(row[roles["ranked_ids"]], roles["ranked_ids"]),
            *(read(row[roles[role]], roles[role]) if role in roles else None for role, read in optional.items()),
        )
    except UserError as error:
        raise UserError(f"{query_name(post, criterion)}: {error}") from None


def _ranked_columns(header: Sequence[str], own: str) -> dict[str, str]:
    columns = {OWN_SYSTEM: own} if own in header else {}
    for column in header:
        suffix = next((suffix for suffix in RANKED_SUFFIXES if column.endswith(suffix)), None)
        name = column.removesuffix(suffix or "")
        if suffix and name and column not in columns.values():
            if name in columns:
                raise UserError(
                    f"the columns {shown(columns[name])} and {shown(column)} are both of a system {shown(name)}: "
                    "name the one that is meant, NAME=COLUMN"
                )
            columns[name] = column
    if not columns:
        listed, endings = ", ".join(map(shown, header)), " or ".join(RANKED_SUFFIXES)
        raise UserError(
            f"no column ranked_ids, and none that ends in {endings}; columns: {listed}; name NAME=COLUMN (--system)"
        )
    return columns


def _own(system: str, header: Sequence[str], columns: Mapping[str, str], systems: int) -> dict[str, str]:
    """The optional columns of one system: as mapped, under its own name, or shared where that is not open to doubt."""
    roles = {}
    for role in OPTIONAL:
        shared = columns.get(role, role)
        if f"{system}_{role}" in header and role not in columns:
            roles[role] = f"{system}_{role}"
        elif shared in header:
            if systems > 1 and role in ("scores", "selected_ids"):
                raise UserError(
                    f"the column {shown(shared)} belongs to one of {systems} systems, which is not said: "
                    f"call it {system}_{role}, or evaluate the systems one at a time"
                )
            roles[role] = shared
    return roles


def read_queries(
    data: str | Path | Mapping[str, Any] | object,
    *,
    columns: Mapping[str, str] | None = None,
    systems: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> dict[str, Rankings]:
    """The facts of a per-query file, a frame or a dict of lists, for each system in it.

    The columns `post_id`, `criterion_id`, `gold_ids` and `ranked_ids` are looked for, by these names or by the ones
    `columns` maps them to; `scores`, `prob`, `selected_ids` and `fold` are optional. Every column that ends in `_topk`
    or `_ranked_ids` is a system, called what comes before; `systems` names them otherwise. A cell of ids is a list, or,
    but for JSON Lines, a text with `|` between them; an empty one is empty.

    >>> read_queries({"post_id": [1, 1], "criterion_id": ["A", "B"], "gold_ids": ["s1|s2", ""],
    ...               "retriever_topk": ["s3|s1", ""]})
    {'retriever': Rankings(2 queries of 1 posts and 2 criteria, 1 with gold, 1 abstained)}
    """
    builders: dict[str, RankingsBuilder] = defaultdict(RankingsBuilder)
    with opened_table(data, progress) as (table, source):
        for system, query in _queries(table, columns or {}, systems or {}):
            builders[system].add(query)
        if not builders:
            raise UserError(NO_ROWS)
        rankings = {system: builder.done(text_ids=table.text_only) for system, builder in builders.items()}
        sources = [origin] if (origin := source()) else []
    return {system: facts.with_sources(*sources) for system, facts in rankings.items()}


def query_lists(
    data: str | Path | Mapping[str, Any] | object,
    *,
    columns: Mapping[str, str] | None = None,
    systems: Mapping[str, str] | None = None,
) -> dict[str, list[Query]]:
    """The rows of a per-query file as they stand, for each system: for those who want to count by themselves."""
    lists: dict[str, list[Query]] = defaultdict(list)
    with opened_table(data) as (table, _):
        for system, query in _queries(table, columns or {}, systems or {}):
            lists[system].append(query)
    return dict(lists)


def _queries(table: FileTable, columns: Mapping[str, str], systems: Mapping[str, str]) -> Iterator[tuple[str, Query]]:
    """Every query of every row, with its system."""
    layout, cells = Layout.of(table.header, columns, systems), Cells(table.joined_ids, table.text_only)
    for position, row in table.rows(layout.columns):
        with located(position):
            queries = layout.queries(row, cells)
        yield from queries.items()
