"""Summarizing: parts of a system's data, each read as it would be by itself, as one summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from weakref import finalize

from demur.confidences.grading import losses_of
from demur.confidences.serving import only_signal, signals_for
from demur.distributed.workers import Progress, Workers
from demur.errors import UserError, located
from demur.evaluation.data import Folder
from demur.evaluation.guessing import Settled
from demur.facts.instruments import BY_ITEMS
from demur.facts.items import Items, Source
from demur.files.strict_json import fingerprint, shown_path
from demur.quantities.losses import loss_of
from demur.read import TableOptions, read_inputs
from demur.read.files import for_each
from demur.read.table_options import PartOptions
from demur.summaries.bins import MOST
from demur.summaries.file import content, read_summary
from demur.summaries.mark import is_summary
from demur.summaries.merging import merged
from demur.summaries.summary import Kept, Summary


@dataclass(frozen=True, slots=True)
class PartReading:
    """How every part is read, and what is kept of it."""

    confidence: str
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
            raise UserError("a summary keeps the signals of confidences that are named: --confidence NAME,NAME")
        if self.options.repeats != "units":
            raise UserError(
                f"--repeats {self.options.repeats} needs all repeats of a unit at once: no summary can do it"
            )
        if self.options.every_row_its_own_cluster:
            raise UserError("rows of several parts are told apart by an id: map one, cluster=COLUMN (--column)")


def summarized(path: str | Path, reading: PartReading) -> Summary:
    """The summary of one part, or the one that it is."""
    if is_summary(path):
        return read_summary(path)[0]
    found = read_inputs(
        [Path(path)],
        modes=[reading.mode],
        experiments=[reading.experiment],
        instrument=reading.instrument,
        columns=reading.columns,
        options=reading.options,
    )
    with located(path):
        if len(found) > 1:
            raise UserError(f"{len(found)} systems in one table, expected one: write a table for each")
        [items] = found
        losses = losses_of(items, loss_of(items, reading.loss))
        confidence = reading.confidence
        if confidence == "default":
            confidence = only_signal(items) or confidence
        signals = signals_for(items, confidence)
        wanted = Kept(confidence, signals, reading.lower_is_surer, reading.most_bins, reading.loss_digits)
        source = items.source.sha256 if items.source else None
        if source is None:
            raise UserError("a part is a file")
        return Summary.of(items, losses, wanted, source)


def summarize(
    parts: Sequence[str | Path], reading: PartReading, workers: Workers, progress: Progress | None = None
) -> Summary:
    """All parts as one summary: each by one of the workers, then merged."""
    if reading != PartReading("default") and all(map(is_summary, parts)):
        raise UserError("summaries say what is in them: options are for parts that are tables or run files")
    made = workers.each(partial(summarized, reading=reading), [*parts], progress)
    return merged(made, parts) if len(made) > 1 else made[0]


def read_folders(
    entries: list[Any], folders: Mapping[int, Folder], understood: Settled, said: Mapping[str, Any]
) -> None:
    """Put the facts of each folder in its place among the inputs."""
    known = ("instrument", "options", "lower_is_surer")
    for index, folder in folders.items():
        chosen: Any = {name: for_each(said[name], len(entries), name)[index] for name in ("mode", "experiment")}
        reading = PartReading(
            understood.confidence,
            understood.columns[index],
            loss=understood.loss,
            **chosen,
            **{name: said[name] for name in known},
        )
        if said["route"] == "passes":
            entries[index] = folder.name, _in_passes(folder, reading, said)
            continue
        with Workers(said["workers"]) as workers:
            summary = summarize(folder.parts, reading, workers, said.get("progress"))
        entries[index] = folder.name, summary.facts(_source(folder, summary.about.parts))


def _source(folder: Folder, parts: Sequence[str]) -> Source:
    return Source(shown_path(folder.path), fingerprint("\n".join(parts).encode()))


def _in_passes(folder: Folder, reading: PartReading, said: Mapping[str, Any]) -> Items:
    """The facts of a folder whose entries stay with the workers, in a folder that they share, for as long as needed."""
    from demur.distributed.passes import KeptPart, Passes  # noqa: PLC0415  (few evaluations are in passes)

    if said.get("abstention_costs") or reading.options.group or said.get("groups"):
        raise UserError("groups and prices are not looked at in passes: take --route summaries")
    with ExitStack() as stack:
        scratch = stack.enter_context(TemporaryDirectory(prefix="demur-", dir=said.get("scratch")))
        workers = stack.enter_context(Workers(said["workers"]))
        work = partial(_kept_part, reading=reading, folder=scratch)
        parts: list[KeptPart] = workers.each(work, [*enumerate(folder.parts)], said.get("progress"))
        about = parts[0].outline.about
        if len(about.signals) != 1 or about.signals[0].name != about.confidence or about.signals[0].probability:
            raise UserError("passes rank by one signal as it is, no probability: name it, --confidence NAME")
        made = Passes.of(parts, scratch, workers, said.get("seed"))
        finalize(made, stack.pop_all().close)
    return made.items(_source(folder, made.summary.about.parts))


def _kept_part(task: tuple[int, Path], reading: PartReading, folder: str) -> Any:
    """The summary of a part, kept where all workers find it; one that is a file already stays where it is."""
    from demur.distributed.passes import KeptPart  # noqa: PLC0415
    from demur.files.write import write_whole  # noqa: PLC0415

    number, path = task
    summary = summarized(path, reading)
    if not is_summary(path):
        path = write_whole(Path(folder) / f"{number}.sum", content(summary))
    return KeptPart.of(str(path), summary)
