"""Summaries of data in parts: each part is read and summarized, and the summaries are merged."""

from __future__ import annotations

import os.path
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demur.confidences.grading import losses_of
from demur.confidences.serving import only_signal, signals_for
from demur.errors import UserError, located
from demur.extensions.scale.batches import in_batches
from demur.extensions.scale.bins import MOST
from demur.extensions.scale.file import read_summary
from demur.extensions.scale.merging import merged
from demur.extensions.scale.summary import Summary, SummaryOptions
from demur.facts.instruments import BY_ITEMS
from demur.facts.items import Items
from demur.options import as_column, as_option
from demur.quantities.losses import loss_of
from demur.read import TableOptions, read_inputs
from demur.read.kinds import kind_of
from demur.read.rows import systems_of
from demur.read.table_options import PartOptions
from demur.read.tables import FileTable, format_of
from demur.workers import Progress, alone, hired

if TYPE_CHECKING:
    from concurrent.futures import Executor


@dataclass(frozen=True, slots=True)
class PartReading:
    """Options for reading every part, and for the contents of its summary."""

    confidence: str | Sequence[str]
    columns: Mapping[str, str] = field(default_factory=dict)
    instrument: Any = BY_ITEMS
    options: TableOptions = field(default_factory=TableOptions)
    mode: str | None = None
    experiment: int | None = None
    loss: str | None = None
    lower_is_surer: Sequence[str] = ()
    most_bins: int = MOST
    loss_digits: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", PartOptions.of(self.options))
        if self.confidence == "all":
            raise UserError(
                f"a summary keeps the signals of confidences that are named: {as_option('confidence', 'NAME,NAME')}"
            )
        if self.options.repeats != "units":
            rule = as_option("repeats", self.options.repeats)
            raise UserError(f"{rule} needs all repeats of a unit at once: no summary can do it")
        if self.options.every_row_its_own_cluster:
            raise UserError(f"parts are merged by the ids of their clusters: map a column, {as_column('cluster')}")

    @property
    def is_of_rows(self) -> bool:
        """Whether units are read row by row, rather than as clusters with all items of an instrument."""
        return self.instrument in (BY_ITEMS, "none") and self.mode is None and self.experiment is None

    def systems(self, rows: FileTable) -> dict[str, Items]:
        """Read each system in a batch of rows."""
        instrument = None if self.instrument == "none" else self.instrument
        return systems_of(rows, lambda: None, self.columns, instrument, self.options)


def summarized(reading: PartReading, path: str | Path, progress: Progress | None = None) -> Summary:
    """Summarize one part: a summary is read as it is, a table in batches of rows if possible."""
    if is_summary(path):
        return read_summary(path)[0]
    if reading.is_of_rows and format_of(path) and os.path.isfile(path):  # noqa: PTH113  (a pipe can be read once)
        summary = in_batches(path, reading.systems, partial(_counted, reading=reading), progress)
        if summary is not None:
            return summary
    systems = read_inputs(
        [Path(path)],
        modes=[reading.mode],
        experiments=[reading.experiment],
        instrument=reading.instrument,
        columns=reading.columns,
        options=reading.options,
    )
    with located(path):
        if len(systems) > 1:
            raise UserError(f"{len(systems)} systems in one table, expected one: write a table for each")
        [items] = systems
        if items.source is None or items.source.sha256 is None:
            raise UserError("a part is a file")
        return _counted(items, items.source.sha256, reading)


def _counted(items: Items, part: str, reading: PartReading) -> Summary:
    """The summary of units that are read."""
    losses = losses_of(items, loss_of(items, reading.loss))
    confidence = reading.confidence
    if confidence == "default":
        confidence = only_signal(items) or confidence
    signals = signals_for(items, confidence)
    options = SummaryOptions(confidence, signals, reading.lower_is_surer, reading.most_bins, reading.loss_digits)
    return Summary.of(items, losses, options, part)


def is_summary(path: str | Path) -> bool:
    """Whether a file is a summary."""
    return kind_of(path) == "summary"


def summarize(
    parts: Sequence[str | Path],
    reading: PartReading,
    workers: int | str | Executor = 1,
    progress: Progress | None = None,
) -> Summary:
    """Summarize all parts by workers, and merge the summaries into one.

    The progress of a single part is told by its rows.
    """
    if reading != PartReading("default") and all(map(is_summary, parts)):
        raise UserError("summaries take no options for reading: these are for parts that are tables or run files")
    if len(parts) == 1 and alone(workers):
        return summarized(reading, parts[0], progress)
    with hired(workers, reading) as pool:
        return merged(pool.each(summarized, [*parts], progress), parts)
