"""Per-query files: one row a query, one ranked column a system."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from demur.errors import UserError, shown
from demur.rankings import Query, Rankings
from demur.strict_json import decode, read_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_ROLES = {"post": "post_id", "criterion": "criterion_id", "gold": "gold_ids", "prob": "prob"}
_ROLES |= {"selected": "selected_ids", "fold": "fold"}
_RANKED = ("_topk", "_ids")


def read_queries(
    path: str | Path, columns: Mapping[str, str] | None = None, systems: Mapping[str, str] | None = None
) -> dict[str, Rankings]:
    """The rankings of a CSV file by system: the named ones, and every other column called `…_topk` or `ranked_ids`."""
    try:
        rows = [*csv.DictReader(io.StringIO(decode(read_bytes(path)), newline=""))]
        names = _ROLES | dict(columns or {})
        header = [*rows[0]] if rows else []
        chosen = dict(systems or {})
        for name in header:
            if name not in chosen.values() and (name.endswith("_topk") or name == "ranked_ids"):
                chosen[name.removesuffix("_topk").removesuffix("_ids")] = name
        _refuse_missing([names["post"], names["criterion"], names["gold"], *chosen.values()], header)
        return {
            system: Rankings(tuple(_query(row, names, column) for row in rows)) for system, column in chosen.items()
        }
    except UserError as error:
        raise error.in_file(path) from None


def _refuse_missing(needed: list[str], header: list[str]) -> None:
    for name in needed:
        if name not in header:
            raise UserError(f"no column {shown(name)}; columns: {', '.join(map(shown, header))}")


def _query(row: Mapping[str, str], names: Mapping[str, str], ranked: str) -> Query:
    prob, selected = row.get(names["prob"]), row.get(names["selected"])
    return Query(
        row[names["post"]],
        row[names["criterion"]],
        _ids(row[names["gold"]]),
        _ids(row[ranked]),
        prob=float(prob) if prob else None,
        selected=None if selected is None else _ids(selected),
        fold=row.get(names["fold"]) or None,
    )


def _ids(cell: str) -> tuple[str, ...]:
    return tuple(filter(None, cell.split("|")))
