"""Long tables, one row per unit: CSV, JSON Lines, Parquet, a data frame, or a dict of lists."""

import re
from collections.abc import Mapping
from itertools import compress
from operator import not_
from pathlib import Path
from typing import Any

from demur.errors import UserError, literal, repeated, shown
from demur.facts.columns import Column, written_number
from demur.facts.instruments import PHQ8, Instrument
from demur.facts.instruments import instrument as instrument_of
from demur.facts.items import ClusterId, Items, RawUnits, as_integers, checked_ids
from demur.read.tables import Columns, missing_column, opened_table, role_names

ROLES = ("cluster", "item", "truth", "prediction", "success")
_MOST_DIGITS = 300
_INTEGER = re.compile(rf"[+-]?[0-9]{{1,{_MOST_DIGITS}}}")
_DECIMAL = re.compile(r"[+-]?([0-9]+\.[0-9]*|\.[0-9]+)")


def read_table(
    table: str | Path | Mapping[str, Any] | object,
    *,
    columns: Mapping[str, str] | None = None,
    instrument: str | Path | Instrument | None = PHQ8,
) -> Items:
    """The facts of a long table: a path, a pandas, polars or pyarrow frame, or a dict of lists.

    The columns `cluster`, `item`, `truth` and `prediction` are needed, by these names or by the ones `columns` maps
    them to; every other column is a signal. A null or NaN prediction is an abstention. A column `success` that is
    false marks a failed cluster. With `instrument=None` items and integer scores are free, and clusters may have
    any items.

    >>> items = read_table({"who": ["a", "a"], "item": ["q1", "q2"], "truth": [1, 0], "prediction": [1, None]},
    ...                    columns={"cluster": "who"}, instrument=None)
    >>> items
    Items(1 clusters, 0 failed, 2 units, 1 answered, 1 abstained (1 null, 0 NaN), 0 signals)
    """
    names = role_names(columns or {}, ROLES)
    if twice := repeated(names.values()):
        raise UserError(f"the column {shown(twice[0])} is mapped to more than one role")
    chosen = None if instrument is None else instrument_of(instrument)
    with opened_table(table, nan_kept=[names["prediction"]]) as (opened, source):
        cells = opened.columns()
        return Items.of(_raw_units(_typed(cells, names) if opened.text_only else cells, names, chosen), source())


def _raw_units(table: Columns, names: Mapping[str, str], instrument: Instrument | None) -> RawUnits:
    for role, name in names.items():
        if name not in table and not (role == name == "success"):
            raise missing_column(name, role, table)
    clusters = checked_ids(table[names["cluster"]], "cluster")
    failed: dict[ClusterId, None] = {}
    if names["success"] in table:
        flags = table[names["success"]]
        failed = _failures(clusters, flags)
        table = {name: [*compress(values, flags)] for name, values in table.items()}
        clusters = [*compress(clusters, flags)]
    for cluster, item in zip(clusters, table[names["item"]], strict=True):
        is_name = isinstance(item, str) and item.strip() == item != ""
        if not is_name and (instrument or type(item) is not int):
            expected = "its name" if instrument else "a number or a name without spaces around it"
            raise UserError(f"cluster {shown(cluster)}: item {literal(item)}, expected {expected}")
    return RawUnits(
        clusters=clusters,
        items=[*map(str, table[names["item"]])],
        truth=Column.of(table[names["truth"]]),
        prediction=Column.of(table[names["prediction"]]),
        signals={name: Column.of(values) for name, values in table.items() if name not in names.values()},
        failed=[*failed],
        instrument=instrument,
        no_answer="null (in CSV an empty cell)",
    )


def _failures(clusters: list[ClusterId], flags: list[Any]) -> dict[ClusterId, None]:
    """The clusters that failed, in order; their rows count in nothing else."""
    for cluster, flag in zip(clusters, flags, strict=True):
        if type(flag) is not bool:
            raise UserError(f"cluster {shown(cluster)}: success {literal(flag)}, expected true or false")
    failed = dict.fromkeys(compress(clusters, map(not_, flags)))
    for cluster in compress(clusters, flags):
        if cluster in failed:
            raise UserError(f"cluster {shown(cluster)} both succeeded and failed")
    return failed


def _typed(table: Columns, names: Mapping[str, str]) -> Columns:
    """Texts as what they stand for: numbers where they read as numbers, null where they are empty."""
    as_is = (names["cluster"], names["item"], names["success"])
    typed = {name: cells if name in as_is else [*map(_number_or_text, cells)] for name, cells in table.items()}
    if flags := table.get(names["success"]):
        typed[names["success"]] = [{"true": True, "false": False}.get(cell.lower(), cell) for cell in flags]
    if ids := table.get(names["cluster"]):
        # All integers, or all text: a column that mixed them would leave 300 and 0300 open to doubt.
        typed[names["cluster"]] = as_integers(ids, _MOST_DIGITS) or ids
        decimal = next(filter(_DECIMAL.fullmatch, ids), None)
        if decimal is not None:
            raise UserError(f"cluster id {literal(decimal)}, expected an integer or text")
    return typed


def _number_or_text(cell: str) -> float | str | None:
    if not cell:
        return None
    if _INTEGER.fullmatch(cell):
        return int(cell)
    number = written_number(cell)
    return cell if number is None else number
