"""A folder of parts as an input: the reader of the kind `folder`."""

from __future__ import annotations

import os.path
from collections.abc import Sequence
from pathlib import Path

from demur.errors import UserError, shown
from demur.extensions.scale.summarizing import PartReading, is_summary, summarize
from demur.facts.items import Items, Source
from demur.facts.memory import give_back
from demur.files.strict_json import fingerprint, shown_path
from demur.read.files import InputReading
from demur.read.tables import format_of


def example(path: str | Path) -> str | Path:
    """The first of the parts."""
    return _parts(path)[0]


def read(path: str | Path, how: InputReading) -> Items:
    """The facts of one system in parts, which workers count."""
    counts = how.counts
    if counts is None or counts.confidence is None:
        raise UserError(f"{path}: a folder: name a file in it, or count its parts first: demur summarize")
    reading = PartReading(
        counts.confidence,
        how.columns,
        how.instrument,
        how.options,
        mode=how.mode,
        experiment=how.experiment,
        loss=counts.loss,
        lower_is_surer=counts.lower_is_surer,
    )
    summary = summarize(_parts(path), reading, counts.workers, counts.progress)
    give_back()  # of the parts, which are merged
    return summary.facts(Source(shown_path(path), fingerprint("\n".join(summary.header.parts).encode())))


def parts_of(given: Sequence[str | Path]) -> list[Path]:
    """List the given files, and the files in the given folders."""
    return [part for path in given for part in (_parts(path) if os.path.isdir(path) else [Path(path)])]  # noqa: PTH112


def _parts(folder: str | Path) -> list[Path]:
    """The files of a folder that hold units, in the order of their names."""
    try:
        parts = sorted(path for path in Path(folder).iterdir() if path.name[0] not in "._")
    except OSError as error:
        raise UserError(f"{folder}: cannot be read ({error.strerror})") from None
    expected = "a folder is a system in parts, and"
    if not parts:
        raise UserError(f"{folder}: {expected} no file in it is a table, a run or a summary")
    for path in parts:
        if not path.is_file() or not (format_of(path) or is_summary(path) or path.suffix == ".json"):
            raise UserError(f"{folder}: {expected} {shown(path.name)} is not a table, a run or a summary: move it out")
    return parts
