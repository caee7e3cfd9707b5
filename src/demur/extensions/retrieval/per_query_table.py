"""The per-query table: one row per system and query with every metric, for further analysis."""

import csv
import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from demur.errors import UserError, literal, without_extra
from demur.extensions.retrieval.rankings import Rankings
from demur.extensions.retrieval.rows import RetrievalRows
from demur.extensions.retrieval.settings import RetrievalSettings
from demur.quantities import Measure
from demur.show.spreadsheets import no_formula
from demur.types import Floats

Columns = Mapping[str, list[Any]]


def per_query_columns(systems: Mapping[str, Rankings], settings: RetrievalSettings) -> dict[str, list[Any]]:
    """The per-query table as columns: identity, counts and every metric; None where undefined.

    `gold` counts the relevant ids, `candidates` those returned. The mean over the rows of a system is the number over
    all queries, the mean over the rows with any gold the number over the queries with gold.

    >>> from demur.extensions.retrieval.ranking_columns import rankings_of
    >>> facts = rankings_of([{"a"}, set()], [["x", "a"], []], posts=["p", "q"])
    >>> per_query_columns({"mine": facts}, RetrievalSettings(metrics=["RR", "P@2"]))
    ... # doctest: +NORMALIZE_WHITESPACE
    {'system': ['mine', 'mine'], 'post_id': ['p', 'q'], 'criterion_id': ['all', 'all'], 'gold': [1, 0],
     'candidates': [2, 0], 'mrr': [0.5, 0.0], 'precision@2': [0.5, 0.0]}
    """
    level = settings.relevance_level
    by_system = [RetrievalRows(name, facts.at_level(level), settings) for name, facts in systems.items()]
    parts = [_facts_of(rows) for rows in by_system]
    metrics: list[Mapping[Measure, Floats]] = [{**rows.values, **rows.selections} for rows in by_system]
    for part, columns in zip(parts, metrics, strict=True):
        part |= {str(measure): column.tolist() for measure, column in columns.items()}
    names = dict.fromkeys(name for part in parts for name in part)
    return {name: [cell for part in parts for cell in part.get(name, [None] * len(part["system"]))] for name in names}


def _facts_of(rows: RetrievalRows) -> dict[str, list[Any]]:
    rankings = rows.rankings
    name = rows.name.encode("utf-8", "surrogateescape").decode()  # typed under another locale
    columns: dict[str, list[Any]] = {
        "system": [name] * len(rankings),
        "post_id": [rankings.post_ids[post] for post in rankings.post.tolist()],
        "criterion_id": [rankings.criteria[criterion] for criterion in rankings.criterion.tolist()],
    }
    if rankings.fold is not None:
        columns["fold"] = [rankings.folds[fold] for fold in rankings.fold.tolist()]
    columns |= {"gold": rankings.gold_count.tolist(), "candidates": rankings.candidates.tolist()}
    return columns if rankings.prob is None else columns | {"prob": rankings.prob.tolist()}


def _csv(columns: Columns) -> bytes:
    """CSV, with an apostrophe before text that a spreadsheet would take for a formula; undefined is empty."""
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(columns)
    for row in zip(*columns.values(), strict=True):
        writer.writerow(no_formula(cell) if isinstance(cell, str) else cell for cell in row)
    return lines.getvalue().encode()


def _json_lines(columns: Columns) -> bytes:
    rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    return "".join(f"{json.dumps(row, ensure_ascii=False, allow_nan=False)}\n" for row in rows).encode()


def _parquet(columns: Columns) -> bytes:
    try:
        from pyarrow import BufferOutputStream, parquet, table  # noqa: PLC0415  (an extra)
    except ImportError:
        raise without_extra("writing Parquet needs pyarrow", "parquet") from None
    sink = BufferOutputStream()
    parquet.write_table(table(dict(columns)), sink)
    return bytes(sink.getvalue())


_WRITERS: dict[str, Callable[[Columns], bytes]] = {".csv": _csv, ".jsonl": _json_lines, ".parquet": _parquet}


def check_per_query_path(path: Path) -> None:
    """Refuse an unsupported file type before anything is computed."""
    if path.suffix.lower() not in _WRITERS:
        raise UserError(f"--per-query {literal(str(path))}, expected a file that ends in {', '.join(_WRITERS)}")


def per_query_bytes(path: Path, columns: Columns) -> bytes:
    """The content of the file, in the format of its suffix."""
    return _WRITERS[path.suffix.lower()](columns)
