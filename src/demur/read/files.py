"""A file of any format that holds units: run files by their structure, long tables by their suffix."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from demur.errors import UserError
from demur.read.rows import PARSERS, read_table
from demur.read.run_json import read_run

if TYPE_CHECKING:
    from demur.instruments import Instrument
    from demur.items import Items


def read_items(
    path: str | Path,
    *,
    mode: str | None = None,
    experiment: int | None = None,
    instrument: str | Path | Instrument = "PHQ-8",
) -> Items:
    """The facts of a run file or of a long table (.csv, .jsonl, .ndjson, .parquet).

    `mode` and `experiment` choose among the experiments of a run file; a table holds one. The instrument `none` leaves
    the items and scores of a table free.
    """
    if Path(path).suffix.lower() not in PARSERS:
        return read_run(path, mode=mode, experiment=experiment, instrument=instrument)
    if mode is not None or experiment is not None:
        raise UserError(f"{path}: a table holds one experiment and no modes: leave out mode and experiment")
    return read_table(path, instrument=None if instrument == "none" else instrument)
