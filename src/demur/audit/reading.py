"""Reading: the queries an audit counts by itself, checked as those of an evaluation are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from demur.errors import UserError
from demur.ranking_columns import as_numbers, rankings_from
from demur.read.queries import RANKED_SUFFIXES, query_lists

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from demur.rankings import Query

    Lists = dict[str, list[Query]]

_ENDS = (*RANKED_SUFFIXES, "_ids")


def queries_to_audit(
    path: str | Path, *, columns: Mapping[str, str] | None = None, systems: Mapping[str, str] | None = None
) -> Lists:
    """The rows of a per-query file for each system: the named ones, and those whose columns are called after them."""
    if systems:
        named = query_lists(path, columns=columns, systems=systems)
        queries = _others(path, columns, systems.values()) | named
    else:
        queries = query_lists(path, columns=columns)
    if Path(path).suffix.lower() == ".csv":
        queries = {name: _with_numbered_posts(rows) for name, rows in queries.items()}
    try:
        for rows in queries.values():
            rankings_from(rows)
    except UserError as error:
        raise error.in_file(path) from None
    return queries


def _with_numbered_posts(rows: Sequence[Query]) -> list[Query]:
    """In CSV posts are texts: they are numbers, and sorted as such, if all of them read as such."""
    texts = {row.post: place for place, row in enumerate(rows)}
    numbered = dict(zip(texts, as_numbers(texts), strict=True))
    return [replace(row, post=numbered[row.post]) for row in rows]


def _others(path: str | Path, columns: Mapping[str, str] | None, taken: Collection[str]) -> Lists:
    """The systems nobody named, if the file can be read without names: one `selected_ids` for two systems cannot."""
    try:
        found = query_lists(path, columns=columns)
    except UserError:
        return {}
    return {name: rows for name, rows in found.items() if not any(f"{name}{end}" in taken for end in _ENDS)}
