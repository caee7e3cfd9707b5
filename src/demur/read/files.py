"""A file of any format that holds units: run files by their structure, long tables by their suffix."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from demur.errors import UserError
from demur.read.rows import PARSERS, read_table
from demur.read.run_json import RunFile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from demur.instruments import Instrument
    from demur.items import Items


def read_items(
    path: str | Path,
    *,
    mode: str | None = None,
    experiment: int | None = None,
    instrument: str | Path | Instrument = "PHQ-8",
    columns: Mapping[str, str] | None = None,
) -> Items:
    """The facts of a run file or of a long table (.csv, .jsonl, .ndjson, .parquet).

    `mode` and `experiment` choose among the experiments of a run file; a table holds one. The instrument `none` leaves
    the items and scores of a table free; `columns` says what its columns are called, as in `read_table`.
    """
    return read_inputs([path], modes=[mode], experiments=[experiment], instrument=instrument, columns=columns)[0]


def read_inputs(
    paths: Sequence[str | Path],
    *,
    modes: Sequence[str | None] = (),
    experiments: Sequence[int | None] = (),
    instrument: str | Path | Instrument = "PHQ-8",
    columns: Mapping[str, str] | None = None,
) -> list[Items]:
    """The facts of several files. One mode or experiment is meant for all, several for each in turn.

    A run file given twice, for two of its modes, is read once.
    """
    files: dict[str, RunFile] = {}
    found = []
    for place, path in enumerate(paths):
        mode, experiment = _for_each(modes, place, paths, "mode"), _for_each(experiments, place, paths, "experiment")
        if Path(path).suffix.lower() in PARSERS:
            _refuse_choice(path, mode, experiment)
            free = None if instrument == "none" else instrument
            found.append(read_table(path, instrument=free, columns=columns))
            continue
        if columns:
            raise UserError(f"{path}: a run file has no columns to map: leave out columns (--column)")
        file = files.get(str(path)) or files.setdefault(str(path), RunFile.of(path))
        found.append(file.items(mode=mode, experiment=experiment, instrument=instrument))
    return found


_T = TypeVar("_T")


def _for_each(given: Sequence[_T | None], place: int, paths: Sequence[object], what: str) -> _T | None:
    if len(given) > 1 and len(given) != len(paths):
        raise UserError(f"{len(given)} {what}s for {len(paths)} inputs: give one for all of them, or one for each")
    return given[min(place, len(given) - 1)] if given else None


def _refuse_choice(path: str | Path, mode: str | None, experiment: int | None) -> None:
    if mode is not None or experiment is not None:
        raise UserError(f"{path}: a table holds one experiment and no modes: leave out mode and experiment")
