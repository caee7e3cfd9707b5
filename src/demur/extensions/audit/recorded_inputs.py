"""The input files that a results file records, at their recorded paths or next to it, identified by their hashes."""

import hashlib
import os.path
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath
from typing import NamedTuple

from demur.errors import UserError, located, shown
from demur.results.file_models import Input
from demur.results.table import Results

_SELECTIVE = "selective"
_GIVE = "give the data, --data"
_GIVE_TREC = "give the data, --data, or --qrels and --run"


class RecordedData(NamedTuple):
    """The input files: runs and tables, or a file of TREC judgments with the runs of the systems."""

    data: list[Path]
    qrels: Path | None = None
    runs: Sequence[tuple[str | None, str]] = ()

    @property
    def paths(self) -> list[Path]:
        """The paths of all files."""
        return [*self.data, *([self.qrels] if self.qrels else []), *(Path(run) for _, run in self.runs)]


def recorded_data(claimed: Results, path: Path) -> RecordedData:
    """Locate the input files that a results file was computed from."""
    study = claimed.study
    give = _GIVE if study.task == _SELECTIVE else _GIVE_TREC
    with located(path):
        files = [_unchanged(source, path.parent, give) for source in study.inputs]
    if study.task != _SELECTIVE and len(files) > 1:
        qrels, *runs = files
        if len(runs) != len(claimed.systems):
            raise UserError(f"{path}: it does not say which run is whose: give --qrels, and --run NAME=FILE for each")
        return RecordedData([], qrels, [*zip(claimed.systems, map(str, runs), strict=True)])
    return RecordedData([*dict.fromkeys(files)] if len({*files}) == 1 or _are_tables(files) else files)


def _are_tables(files: list[Path]) -> bool:
    """Whether a file given once has all its systems, as a table does; a run file is read once per mode."""
    return not any(file.suffix.lower() == ".json" for file in files)


def _unchanged(source: Input, folder: Path, give: str) -> Path:
    """The file of an input, if its bytes are still those of the evaluation."""
    if source.path is None or source.sha256 is None:
        raise UserError(f"it does not record which file {shown(source.label or 'the data')} was read from: {give}")
    there = [place for place in _places(source.path, folder) if os.path.isfile(place)]  # noqa: PTH113  (Path.is_file may raise)
    if same := next((place for place in there if _hash(place) == source.sha256), None):
        return same
    why = "has changed since the evaluation" if there else "is neither where it was nor next to the results"
    raise UserError(f"its data file {shown(source.path)} {why}: {give}")


def _places(path: str, folder: Path) -> Iterator[Path]:
    yield Path(path)
    yield folder / path
    yield folder / PurePath(path).name


def _hash(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""
