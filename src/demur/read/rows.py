"""Long tables, one row per unit: CSV, JSON Lines, Parquet, a data frame, or a dict of lists."""

from __future__ import annotations

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from demur.columns import MISSING, Column, plain, plain_values
from demur.errors import UserError, literal, shown, unknown
from demur.frames import columns_of
from demur.instruments import PHQ8, Instrument
from demur.instruments import instrument as instrument_of
from demur.items import ClusterId, Items, RawUnits, Source, checked_ids
from demur.strict_json import decode, fingerprint, json_objects, read_bytes, shown_path

Table = dict[str, list[Any]]
ROLES = ("cluster", "item", "truth", "prediction")


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
    names = _role_names(columns or {})
    chosen = None if instrument is None else instrument_of(instrument)
    if isinstance(table, (str, Path)):
        data = read_bytes(table)
        source = Source(shown_path(table), fingerprint(data))
        try:
            return Items.of(_raw_units(_parser(Path(table))(data, names), names, chosen), source)
        except UserError as error:
            raise error.in_file(table) from None
    parsed = _from_mapping(table) if isinstance(table, Mapping) else _from_frame(table, names["prediction"])
    return Items.of(_raw_units(parsed, names, chosen))


def _role_names(mapped: Mapping[str, str]) -> dict[str, str]:
    for role in mapped:
        if role not in (*ROLES, "success"):
            raise unknown("column role", role, (*ROLES, "success"))
    names = {role: mapped.get(role, role) for role in (*ROLES, "success")}
    for name, times in Counter(names.values()).items():
        if times > 1:
            raise UserError(f"the column {shown(name)} is mapped to more than one role")
    return names


def _parser(path: Path) -> Callable[[bytes, Mapping[str, str]], Table]:
    if path.suffix.lower() not in PARSERS:
        raise UserError(f"tables end in {', '.join(PARSERS)}; this name does not")
    return PARSERS[path.suffix.lower()]


def _raw_units(table: Table, names: Mapping[str, str], instrument: Instrument | None) -> RawUnits:
    for role in (*ROLES, *(["success"] if names["success"] != "success" else [])):
        if names[role] not in table:
            there = ", ".join(map(shown, table)) or "none"
            way = f"map it: columns={{'{role}': 'your column'}}, or --column {role}=COLUMN"
            raise UserError(f"no column {shown(names[role])} for {role}; columns: {there}; {way}")
    lengths = {name: len(values) for name, values in table.items()}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{shown(name)} {length}" for name, length in lengths.items())
        raise UserError(f"the columns are of different lengths: {listed}")
    clusters = checked_ids(table[names["cluster"]], "cluster")
    table, clusters, failed = _without_failures(table, clusters, names["success"])
    return RawUnits(
        clusters=clusters,
        items=_item_names(table[names["item"]], clusters, instrument),
        truth=Column.of(table[names["truth"]]),
        prediction=Column.of(table[names["prediction"]]),
        signals={name: Column.of(values) for name, values in table.items() if name not in names.values()},
        failed=failed,
        instrument=instrument,
        no_answer="null (in CSV an empty cell)",
    )


def _without_failures(
    table: Table, clusters: list[ClusterId], success: str
) -> tuple[Table, list[ClusterId], list[ClusterId]]:
    """Rows of failed clusters leave the table; they count as failures and in nothing else."""
    if success not in table:
        return table, clusters, []
    flags = table[success]
    for cluster, flag in zip(clusters, flags, strict=True):
        if type(flag) is not bool:
            raise UserError(f"cluster {shown(cluster)}: success {literal(flag)}, expected true or false")
    failed = list(dict.fromkeys(c for c, flag in zip(clusters, flags, strict=True) if not flag))
    kept = [index for index, flag in enumerate(flags) if flag]
    there = {clusters[index] for index in kept}
    both = next((cluster for cluster in failed if cluster in there), None)
    if both is not None:
        raise UserError(f"cluster {shown(both)} both succeeded and failed")
    table = {name: [values[i] for i in kept] for name, values in table.items()}
    return table, [clusters[i] for i in kept], failed


def _item_names(items: list[Any], clusters: list[ClusterId], instrument: Instrument | None) -> list[str]:
    for cluster, item in zip(clusters, items, strict=True):
        free_number = instrument is None and type(item) is int
        if not free_number and not (isinstance(item, str) and item.strip()):
            expected = "its name" if instrument else "a name or a number"
            raise UserError(f"cluster {shown(cluster)}: item {literal(item)}, expected {expected}")
    return [str(item) for item in items]


def _from_mapping(table: Mapping[str, Any]) -> Table:
    return {str(name): [plain(value) for value in plain_values(values)] for name, values in table.items()}


def _from_frame(frame: Any, prediction: str) -> Table:
    """What the frame's own library calls null is null; only a prediction's NaN is kept, to be counted as one."""
    table: Table = {}
    for name, series in columns_of(frame).items():
        null = series.is_null().to_list()
        table[name] = [
            None if gone and not (name == prediction and _is_nan(value)) else value
            for value, gone in zip(map(plain, series.to_list()), null, strict=True)
        ]
    return table


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _from_parquet(data: bytes, names: Mapping[str, str]) -> Table:
    try:
        from pyarrow import ArrowException, parquet  # noqa: PLC0415  (an extra)
    except ImportError:
        raise UserError("reading Parquet needs pyarrow: pip install 'demur[parquet]'") from None
    try:
        return _from_frame(parquet.read_table(io.BytesIO(data)), names["prediction"])
    except (ArrowException, OSError, UnicodeDecodeError) as error:
        raise UserError(f"not valid Parquet: {error}") from None


def _from_json_lines(data: bytes, _: Mapping[str, str]) -> Table:
    rows = [row for _, row in json_objects(decode(data).split("\n"))]
    if not rows:
        raise UserError("the file is empty: there is nothing to evaluate")
    members = dict.fromkeys(chain.from_iterable(rows))
    if len(members) > _MOST_COLUMNS:
        raise UserError(f"{len(members)} different members, expected at most {_MOST_COLUMNS}")
    return {name: [row.get(name, MISSING) for row in rows] for name in members}


_MOST_COLUMNS = 1000  # members that never repeat would take rows × rows of memory
_INTEGER = re.compile(r"[+-]?[0-9]{1,300}")
_DECIMAL_ID = re.compile(r"[+-]?[0-9]*\.[0-9]*")


def _from_csv(data: bytes, names: Mapping[str, str]) -> Table:
    """Cells are numbers where they read as numbers, null where they are empty, text otherwise."""
    rows = csv.reader(io.StringIO(decode(data).removeprefix("\ufeff"), newline=""), strict=True)
    try:
        header, body = next(rows, []), []
        for row in filter(None, rows):
            if len(row) != len(header):
                raise UserError(f"line {rows.line_num}: {len(row)} cells, expected {len(header)} as in the header")
            body.append(row)
    except csv.Error as error:
        raise UserError(f"line {rows.line_num}: not valid CSV: {error}") from None
    if not body:
        raise UserError("the file has no rows: there is nothing to evaluate")
    if len(set(header)) < len(header):
        twice = next(name for name in header if header.count(name) > 1)
        raise UserError(f"the column {shown(twice)} stands twice in the header")
    table: Table = {}
    for name, cells in zip(header, zip(*body, strict=True), strict=True):
        if name == names["cluster"]:
            table[name] = _csv_ids(cells)
        elif name == names["success"]:
            table[name] = [{"true": True, "false": False}.get(cell.lower(), cell) for cell in cells]
        elif name == names["item"]:
            table[name] = list(cells)
        else:
            table[name] = [_number_or_text(cell) for cell in cells]
    return table


def _csv_ids(cells: tuple[str, ...]) -> list[Any]:
    """All integers, or all text: a column that mixed them would leave 300 and 0300 open to doubt."""
    if all(_INTEGER.fullmatch(cell) and str(int(cell)) == cell for cell in cells):
        return [int(cell) for cell in cells]
    decimal = next((cell for cell in cells if _DECIMAL_ID.fullmatch(cell)), None)
    if decimal is not None:
        raise UserError(f"cluster id {literal(decimal)}, expected an integer or text")
    return list(cells)


def _number_or_text(cell: str) -> float | str | None:
    if not cell:
        return None
    if _INTEGER.fullmatch(cell):
        return int(cell)
    try:
        return float(cell) if cell.isascii() and "_" not in cell else cell
    except ValueError:
        return cell


PARSERS: dict[str, Callable[[bytes, Mapping[str, str]], Table]] = {
    ".csv": _from_csv,
    ".jsonl": _from_json_lines,
    ".ndjson": _from_json_lines,
    ".parquet": _from_parquet,
}
