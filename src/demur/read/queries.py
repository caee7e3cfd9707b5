"""Per-query files, one row per (post, criterion): CSV, JSON Lines or Parquet, a data frame or a dict of lists.

Rows are read one at a time, and of each only a few numbers are kept.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demur.columns import plain
from demur.errors import UserError, literal, shown, unknown
from demur.frames import columns_of
from demur.rankings import Query, Rankings, RankingsBuilder
from demur.read.stream import Stream, stream
from demur.strict_json import loads

if TYPE_CHECKING:
    from demur.items import ClusterId, Source
    from demur.read.stream import Progress

NEEDED = ("post_id", "criterion_id", "gold_ids")
OPTIONAL = ("scores", "prob", "selected_ids", "fold")
ROLES = (*NEEDED, "ranked_ids", *OPTIONAL)
RANKED_SUFFIXES = ("_topk", "_ranked_ids", "_ranked")
OWN_SYSTEM = "ranked"
SEPARATOR = "|"
_EVERY = 1000

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Layout:
    """Which column plays which role for each system."""

    roles: Mapping[str, Mapping[str, str]]

    @classmethod
    def of(cls, header: Sequence[str], columns: Mapping[str, str], systems: Mapping[str, str]) -> Layout:
        """Find the columns: those that are mapped by their names, the others by what they are usually called."""
        for role in columns:
            if role not in ROLES:
                raise unknown("column role", role, ROLES)
        named = {role: columns.get(role, role) for role in ROLES}
        for role in (*NEEDED, *columns):
            if named[role] not in header:
                there = ", ".join(map(shown, header)) or "none"
                raise UserError(f"no column {shown(named[role])} for {role}; columns: {there}; map it to one of them")
        ranked = systems or _ranked_columns(header, named["ranked_ids"])
        for column in ranked.values():
            if column not in header:
                raise unknown("column", column, header)
        shared = {role: named[role] for role in NEEDED}
        return cls({name: shared | _own(name, column, header, named, len(ranked)) for name, column in ranked.items()})

    def queries(self, row: Row) -> dict[str, Query]:
        """What one row says, for each system."""
        found = {}
        for system, roles in self.roles.items():
            post, criterion = _id(row[roles["post_id"]], "post_id"), _criterion(row[roles["criterion_id"]])
            try:
                found[system] = Query(
                    post,
                    criterion,
                    _ids(row[roles["gold_ids"]], "gold_ids"),
                    _ids(row[roles["ranked_ids"]], roles["ranked_ids"]),
                    _numbers(row[roles["scores"]]) if "scores" in roles else None,
                    _number(row[roles["prob"]], "prob") if "prob" in roles else None,
                    _ids(row[roles["selected_ids"]], roles["selected_ids"]) if "selected_ids" in roles else None,
                    _fold(row[roles["fold"]]) if "fold" in roles else None,
                )
            except UserError as error:
                raise UserError(f"post {shown(post)}, criterion {shown(criterion)}: {error}") from None
        return found


def _ranked_columns(header: Sequence[str], own: str) -> dict[str, str]:
    found = {OWN_SYSTEM: own} if own in header else {}
    for column in header:
        suffix = next((suffix for suffix in RANKED_SUFFIXES if column.endswith(suffix)), None)
        if suffix and column not in found.values() and column != suffix:
            found[column.removesuffix(suffix)] = column
    if not found:
        there = ", ".join(map(shown, header))
        raise UserError(
            f"no column ranked_ids, and none that ends in {' or '.join(RANKED_SUFFIXES)}; columns: {there}; "
            "name one: a system is NAME=COLUMN"
        )
    return found


def _own(system: str, column: str, header: Sequence[str], named: Mapping[str, str], systems: int) -> dict[str, str]:
    """The columns of one system: under its own name, or shared where that is not open to doubt."""
    roles = {"ranked_ids": column}
    for role in OPTIONAL:
        if f"{system}_{role}" in header:
            roles[role] = f"{system}_{role}"
        elif named[role] in header:
            if systems > 1 and role in ("scores", "selected_ids"):
                raise UserError(
                    f"the column {shown(named[role])} belongs to one of {systems} systems, which is not said: "
                    f"call it {system}_{role}, or evaluate the systems one at a time"
                )
            roles[role] = named[role]
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
    `columns` maps them to; `scores`, `prob`, `selected_ids` and `fold` are optional. Every column that ends in `_topk`,
    `_ranked_ids` or `_ranked` is a system, called what comes before; `systems` names them otherwise. A cell of ids is
    a list, or a text with `|` between them; an empty one is empty.

    >>> read_queries({"post_id": [1, 1], "criterion_id": ["A", "B"], "gold_ids": ["s1|s2", ""],
    ...               "retriever_topk": ["s3|s1", ""]})
    {'retriever': Rankings(2 queries of 1 posts and 2 criteria, 1 with gold, 1 abstained)}
    """
    builders: dict[str, RankingsBuilder] = {}
    with _rows(data, columns or {}, systems or {}, progress) as rows:
        for queries in rows.queries:
            for system, query in queries.items():
                (builders.get(system) or builders.setdefault(system, RankingsBuilder())).add(query)
        if not builders:
            raise UserError("the file has no rows: there is nothing to evaluate")
        made = {system: builder.done(text_ids=rows.text_ids) for system, builder in builders.items()}
        source = rows.source()
    return {system: found.with_sources(*source) for system, found in made.items()}


def query_lists(
    data: str | Path | Mapping[str, Any] | object,
    *,
    columns: Mapping[str, str] | None = None,
    systems: Mapping[str, str] | None = None,
) -> dict[str, list[Query]]:
    """The rows of a per-query file as they stand, for each system: for those who want to count by themselves."""
    found: dict[str, list[Query]] = {}
    with _rows(data, columns or {}, systems or {}, None) as rows:
        for queries in rows.queries:
            for system, query in queries.items():
                found.setdefault(system, []).append(query)
    return found


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows on their way in. In CSV ids are texts: they are numbers if all of them read as such."""

    queries: Iterator[dict[str, Query]]
    text_ids: bool
    source: Callable[[], list[Source]]


@contextmanager
def _rows(
    data: Any, columns: Mapping[str, str], systems: Mapping[str, str], progress: Progress | None
) -> Iterator[_Rows]:
    if not isinstance(data, (str, Path)):
        header, raw = _from_memory(data)
        layout = Layout.of(header, columns, systems)
        yield _Rows(_told(layout, raw), text_ids=False, source=list)
        return
    kind = Path(data).suffix.lower()
    if kind not in READERS:
        raise UserError(f"{data}: per-query files end in {', '.join(READERS)}; this name does not")
    with stream(data, progress) as opened:
        header, raw = READERS[kind](opened, data)
        layout = Layout.of(header, columns, systems)
        yield _Rows(_told(layout, raw), text_ids=kind == ".csv", source=lambda: [opened.source()])


def _told(layout: Layout, rows: Iterable[tuple[str, Row]]) -> Iterator[dict[str, Query]]:
    for place, row in rows:
        try:
            yield layout.queries(row)
        except UserError as error:
            raise UserError(f"{place}: {error}") from None


Table = tuple[Sequence[str], Iterator[tuple[str, Row]]]


def _from_memory(data: Any) -> Table:
    given = data if isinstance(data, Mapping) else {name: one.to_list() for name, one in columns_of(data).items()}
    table = {str(name): [*values] for name, values in given.items()}
    lengths = {name: len(values) for name, values in table.items()}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{shown(name)} {length}" for name, length in lengths.items())
        raise UserError(f"the columns are of different lengths: {listed}")
    rows = zip(*table.values(), strict=True)
    return [*table], ((f"row {number}", dict(zip(table, row, strict=True))) for number, row in enumerate(rows))


def _from_csv(opened: Stream, _: str | Path) -> Table:
    rows = csv.reader(opened.lines, strict=True)
    header = next(_legible(rows), [])
    if len(set(header)) < len(header):
        twice = next(name for name in header if header.count(name) > 1)
        raise UserError(f"the column {shown(twice)} stands twice in the header")

    def body() -> Iterator[tuple[str, Row]]:
        for row in _legible(rows):
            if row and len(row) != len(header):
                raise UserError(f"line {rows.line_num}: {len(row)} cells, expected {len(header)} as in the header")
            if row:
                yield f"line {rows.line_num}", dict(zip(header, row, strict=True))

    return header, body()


def _legible(rows: Any) -> Iterator[list[str]]:
    try:
        yield from rows
    except csv.Error as error:
        raise UserError(f"line {rows.line_num}: not valid CSV: {error}") from None


def _from_json_lines(opened: Stream, _: str | Path) -> Table:
    """The members of the first row are the columns: every other row must have those that play a role."""
    rows = _json_rows(opened)
    first = next(rows, None)
    if first is None:
        raise UserError("the file is empty: there is nothing to evaluate")
    return [*first[1]], _chained(first, rows)


def _chained(first: tuple[str, Row], rows: Iterator[tuple[str, Row]]) -> Iterator[tuple[str, Row]]:
    yield first
    for place, row in rows:
        lacks = next((name for name in first[1] if name not in row), None)
        if lacks is not None:
            raise UserError(f"{place}: no member {shown(lacks)}, which the first row has")
        yield place, row


def _json_rows(opened: Stream) -> Iterator[tuple[str, Row]]:
    for number, line in enumerate(opened.lines, 1):
        if not line.strip():
            continue
        try:
            row = loads(line)
        except UserError as error:
            raise UserError(f"line {number}: {error}") from None
        if not isinstance(row, dict):
            raise UserError(f"line {number}: expected an object")
        text = next((name for name, value in row.items() if name.endswith(("_ids", "_topk")) and _joined(value)), None)
        if text is not None:
            raise UserError(f"line {number}: {shown(text)} {literal(row[text])}, expected a list of ids")
        yield f"line {number}", row


def _joined(value: object) -> bool:
    return isinstance(value, str)


def _from_parquet(_: Stream, path: str | Path) -> Table:
    try:
        from pyarrow import ArrowException, parquet  # noqa: PLC0415  (an extra)
    except ImportError:
        raise UserError("reading Parquet needs pyarrow: pip install 'demur[parquet]'") from None
    try:
        file = parquet.ParquetFile(path)
    except (ArrowException, OSError) as error:
        raise UserError(f"not valid Parquet: {error}") from None

    def body() -> Iterator[tuple[str, Row]]:
        number = 0
        try:
            for batch in file.iter_batches(_EVERY):
                for row in batch.to_pylist():
                    yield f"row {number}", row
                    number += 1
        except (ArrowException, OSError) as error:
            raise UserError(f"not valid Parquet: {error}") from None

    return file.schema_arrow.names, body()


READERS: dict[str, Callable[[Stream, str | Path], Table]] = {
    ".csv": _from_csv,
    ".jsonl": _from_json_lines,
    ".ndjson": _from_json_lines,
    ".parquet": _from_parquet,
}


def _id(value: Any, role: str) -> ClusterId:
    value = plain(value)
    if type(value) is int or (isinstance(value, str) and value.strip() == value != ""):
        return value
    raise UserError(f"{role} {literal(value)}, expected an integer or a text without spaces around it")


def _criterion(value: Any) -> str:
    return str(_id(value, "criterion_id"))


def _ids(cell: Any, role: str) -> list[str]:
    """The ids of a cell: a list, a text with | between them, or nothing."""
    if _is_null(cell):
        return []
    if isinstance(cell, str):
        cell = cell.split(SEPARATOR) if cell else []
    if not isinstance(cell, Iterable) or isinstance(cell, Mapping):
        raise UserError(f"{shown(role)} {literal(cell)}, expected a list of ids")
    return [str(_id(one, shown(role))) for one in cell]


def _numbers(cell: Any) -> list[float]:
    if _is_null(cell):
        return []
    parts = cell.split(SEPARATOR) if isinstance(cell, str) and cell else cell or []
    found = [_number(part, "scores") for part in parts]
    if any(score is None for score in found):
        raise UserError(f"scores {literal(cell)}: one of them is missing")
    return [score for score in found if score is not None]


def _number(cell: Any, role: str) -> float | None:
    """A number as it is given; nothing is filled in for one that is not there."""
    cell = plain(cell)
    if cell is None or cell == "":
        return None
    if isinstance(cell, str):
        try:
            return float(cell) if cell.isascii() and "_" not in cell else math.nan
        except ValueError:
            raise UserError(f"{role} {literal(cell)}, expected a number") from None
    if isinstance(cell, bool) or not isinstance(cell, (int, float)):
        raise UserError(f"{role} {literal(cell)}, expected a number")
    return float(cell)


def _fold(cell: Any) -> str | None:
    return None if _is_null(cell) or cell == "" else str(_id(cell, "fold"))


def _is_null(cell: Any) -> bool:
    return plain(cell) is None or (isinstance(cell, float) and math.isnan(cell))
