"""Per-query files, one row per (post, criterion): CSV, JSON Lines or Parquet, a data frame or a dict of lists."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from demur.errors import UserError, literal, located, shown, unknown
from demur.extensions.retrieval.ranking_columns import RankingsBuilder
from demur.extensions.retrieval.rankings import Query, Rankings, query_name
from demur.facts.columns import is_null, plain, written_number, wrong_value
from demur.facts.frames import library_of
from demur.facts.ids import ClusterId
from demur.read.columns_from_rows import Row
from demur.read.stream import Progress
from demur.read.tables import NO_ROWS, FileTable, missing_column, opened_table, role_names

NEEDED = ("post_id", "criterion_id", "gold_ids")
OPTIONAL = ("scores", "prob", "selected_ids", "fold", "gold_grades")
ROLES = (*NEEDED, "ranked_ids", *OPTIONAL)
RANKED_SUFFIXES = ("_topk", "_ranked_ids")
OWN_SYSTEM = "ranked"
_SEPARATOR = "|"


def read_queries(
    data: str | Path | Mapping[str, Any] | object,
    *,
    columns: Mapping[str, str] | None = None,
    systems: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> dict[str, Rankings]:
    """The facts of a per-query file, a frame or a dict of lists, for each system in it.

    The columns are `post_id`, `criterion_id`, `gold_ids` and `ranked_ids`, or the ones that `columns` maps these to;
    `scores`, `prob`, `selected_ids`, `fold` and `gold_grades` are optional. Every column that ends in `_topk` or
    `_ranked_ids` is a system, whose name is what comes before; `systems` maps other names to columns. A cell of ids is
    a list, or, except in JSON Lines, a text with `|` between the ids; an empty cell is an empty list. `gold_grades`
    says how relevant each of the gold ids is, as an integer.

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
        sources = [origin] if (origin := source()) and origin.path else []
    library = library_of(data)
    return {system: replace(facts.with_sources(*sources), library=library) for system, facts in rankings.items()}


def query_lists(
    data: str | Path | Mapping[str, Any] | object,
    *,
    columns: Mapping[str, str] | None = None,
    systems: Mapping[str, str] | None = None,
) -> dict[str, list[Query]]:
    """The rows of a per-query file as lists, for each system, for a computation that shares no code with `Rankings`."""
    lists: dict[str, list[Query]] = defaultdict(list)
    with opened_table(data) as (table, _):
        for system, query in _queries(table, columns or {}, systems or {}):
            lists[system].append(query)
    return dict(lists)


def _queries(table: FileTable, columns: Mapping[str, str], systems: Mapping[str, str]) -> Iterator[tuple[str, Query]]:
    """Every query of every row, with its system."""
    roles = _roles(table.header, columns, systems)
    used = dict.fromkeys(column for own in roles.values() for column in own.values())
    known = {*role_names(columns, ROLES).values(), *(f"{name}_{role}" for name in roles for role in OPTIONAL)}
    absent = known - {*table.header}
    for position, row in table.rows([*used]):
        with located(position):
            if late := absent & row.keys():
                raise UserError(f"a member {shown(min(late))}, which the first row lacks: give it in every row or none")
            if lacking := [name for name in used if name not in row]:
                raise UserError(f"no member {shown(lacking[0])}, which the first row has")
            queries = {system: _query(row, own, table) for system, own in roles.items()}
        yield from queries.items()


def _roles(header: Sequence[str], columns: Mapping[str, str], systems: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """The column of each role for each system, as mapped or by its usual name."""
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
    return {
        name: shared | {"ranked_ids": column} | _own(name, header, columns, len(ranked))
        for name, column in ranked.items()
    }


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
    """The optional columns of one system: as mapped, with the system's name in front, or shared by all systems."""
    roles = {}
    for role in OPTIONAL:
        shared = columns.get(role, role)
        if f"{system}_{role}" in header and role not in columns:
            roles[role] = f"{system}_{role}"
        elif shared in header:
            if systems > 1 and role in ("scores", "selected_ids"):
                raise UserError(
                    f"the column {shown(shared)} could belong to any of {systems} systems: "
                    f"call it {system}_{role}, or evaluate the systems one at a time"
                )
            roles[role] = shared
    return roles


def _query(row: Row, roles: Mapping[str, str], table: FileTable) -> Query:
    post, criterion = (_id(row[roles[role]], role) for role in ("post_id", "criterion_id"))
    optional: dict[str, Callable[[Any, str, FileTable], Any]] = {
        "scores": _numbers,
        "prob": _number,
        "selected_ids": _ids,
        "fold": _fold,
        "gold_grades": _grades,
    }
    try:
        return Query(
            post,
            criterion,
            _ids(row[roles["gold_ids"]], roles["gold_ids"], table, ordered=False),
            _ids(row[roles["ranked_ids"]], roles["ranked_ids"], table),
            *(read(row[roles[role]], roles[role], table) if role in roles else None for role, read in optional.items()),
        )
    except UserError as error:
        raise UserError(f"{query_name(post, criterion)}: {error}") from None


def _id(cell: Any, role: str) -> ClusterId:
    value = plain(cell)
    if type(value) is int or (isinstance(value, str) and value.strip() == value != ""):
        return value
    raise UserError(f"{shown(role)} {literal(value)}, expected an integer or a text without spaces around it")


def _ids(cell: Any, role: str, table: FileTable, *, ordered: bool = True) -> list[str]:
    """A list of ids, empty for a null cell; a set is accepted only where the order does not matter."""
    ids = [_id(value, role) for value in _parts(cell, role, "ids", joined=table.joined_ids, ordered=ordered)]
    if len({*map(type, ids)}) > 1:
        raise UserError(f"{shown(role)} {literal(ids)}, expected integers or texts, not both")
    return [*map(str, ids)]


def _numbers(cell: Any, role: str, table: FileTable) -> list[float]:
    parts = _parts(cell, role, "numbers", joined=table.text_only)
    numbers = [number for value in parts if (number := _number(value, role, table)) is not None]
    if len(numbers) < len(parts):
        raise UserError(f"{shown(role)} {literal(parts)}: one of them is missing")
    return numbers


def _grades(cell: Any, role: str, table: FileTable) -> list[int]:
    """The grade of each gold id, as integers."""
    values = [plain(value) for value in _parts(cell, role, "integers", joined=table.text_only)]
    if table.text_only:
        values = [int(value) if re.fullmatch("[+-]?[0-9]{1,18}", value) else value for value in values]
    for value in values:
        if type(value) is not int:
            raise UserError(f"{shown(role)} {literal(value)}, expected an integer")
    return values


def _parts(cell: Any, role: str, what: str, *, joined: bool, ordered: bool = True) -> list[Any]:
    """The elements of a list, or if `joined`, of a text with `|` between them; a null cell has none."""
    if is_null(plain(cell)):
        return []
    if isinstance(cell, str) and joined:
        return cell.split(_SEPARATOR) if cell else []
    is_list = isinstance(cell, (Sequence, np.ndarray)) or (isinstance(cell, AbstractSet) and not ordered)
    if not is_list or isinstance(cell, (str, bytes, bytearray)):
        raise UserError(f"{shown(role)} {literal(cell)}, expected a list of {what}")
    return [*cell]


def _number(cell: Any, role: str, table: FileTable) -> float | None:
    """A number as it is given; None if it is missing."""
    value = plain(cell)
    if value is None or (value == "" and table.text_only):
        return None
    number = None
    if isinstance(value, str) and table.text_only:
        number = written_number(value)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        with suppress(OverflowError):
            number = float(value)
    if number is None:
        raise UserError(f"{shown(role)} {wrong_value(value, 'a number')}")
    return number


def _fold(cell: Any, role: str, _: FileTable) -> str | None:
    return None if is_null(plain(cell)) or cell == "" else str(_id(cell, role))
