"""Reading of units from files of any format: tables are recognised by their suffix, other files are run files."""

from __future__ import annotations

import os.path
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from demur.errors import UserError, literal, located, repeated, shown
from demur.facts.instruments import BY_ITEMS, Instrument
from demur.facts.items import Items
from demur.options import as_option
from demur.read.kinds import kind_of, reader_of
from demur.read.rows import read_systems
from demur.read.run_json import RunFile
from demur.read.table_options import TableOptions
from demur.read.tables import FORMATS, format_of
from demur.read.tool_logs import refuse_tool_log
from demur.workers import Progress

if TYPE_CHECKING:
    from concurrent.futures import Executor

T = TypeVar("T")


def read_items(  # noqa: PLR0913  (each says how to read one kind of file)
    path: str | Path,
    *,
    mode: str | None = None,
    experiment: int | None = None,
    instrument: str | Path | Instrument = BY_ITEMS,
    columns: Mapping[str, str] | None = None,
    options: TableOptions | None = None,
    counts: bool = False,
) -> Items:
    """Read a run file or a long table (.csv, .tsv, .jsonl, .ndjson, .parquet) as facts.

    With `counts`, it may also be a summary, in which one row stands for several equal units.

    `mode` and `experiment` choose among the experiments of a run file; a table holds one. If no instrument is named, a
    run file has PHQ-8, and a table the known instrument with exactly its items, if there is one; `none` leaves the
    items and scores of a table free. `columns` maps roles to columns and `options` says how to read a table, as in
    `read_table`.
    """
    chosen: Any = {"modes": [mode], "experiments": [experiment], "instrument": instrument}
    taken = Counts() if counts else None
    systems = read_inputs([Path(path)], **chosen, columns=columns, options=options, counts=taken)
    if len(systems) > 1:
        names = ", ".join(shown(items.source.label) for items in systems if items.source and items.source.label)
        raise UserError(f"{path}: {len(systems)} systems, expected one: {names}")
    return systems[0]


def read_inputs(  # noqa: PLR0913  (each says how to read one kind of file)
    inputs: Sequence[Any],
    *,
    modes: Sequence[str | None] = (),
    experiments: Sequence[int | None] = (),
    instrument: str | Path | Instrument = BY_ITEMS,
    columns: Mapping[str, str] | Sequence[Mapping[str, str]] | None = None,
    options: TableOptions | None = None,
    counts: Counts | None = None,
) -> list[Items]:
    """Read several systems. An input is a path, a text `NAME=FILE`, other data, or a pair of a name and data.

    Data are a path, a frame, a dict of lists, or facts that are read already. A table with a column `system` gives the
    facts of each of its systems, under its name. Give one mode, experiment or mapping of columns for all inputs, or one
    per input. A run file given twice, for two of its modes, is read once. With `counts`, units may come as counts.
    """
    named = [*map(named_input, inputs)]
    count = len(named)
    if twice := repeated(name for name, _ in named if name is not None):
        raise UserError(f"two inputs are called {shown(twice[0])}: give each a name of its own, NAME=FILE")
    chosen = for_each(modes, count, "mode"), for_each(experiments, count, "experiment")
    mappings = for_each(columns if isinstance(columns, Sequence) else [columns], count, "mapping of columns")
    files: dict[str, RunFile] = {}
    facts: list[Items] = []
    for (name, data), mode, experiment, mapped in zip(named, *chosen, mappings, strict=True):
        reading = InputReading(mode, experiment, instrument, mapped or {}, options or TableOptions(), counts)
        with located_in(name, data):
            systems = reading.systems(data, files)
            if name is not None and len(systems) > 1:
                listed = ", ".join(shown(items.source.label) for items in systems if items.source)
                where = f"{data}: " if isinstance(data, (str, Path)) else ""
                raise UserError(f"{where}{len(systems)} systems, which have names ({listed}): leave out {shown(name)}=")
        facts += [items if name is None else items.labelled(name) for items in systems]
    labels = [items.source.label for items in facts if items.source and items.source.label is not None]
    if twice := repeated(labels):
        raise UserError(f"two systems are called {shown(twice[0])}: give each a name of its own")
    return facts


@dataclass(frozen=True, slots=True)
class Counts:
    """That counts of equal units will do, and what units of an input in parts are counted by.

    Without a `confidence` no units are counted: an input has counts, or single units.
    """

    confidence: str | Sequence[str] | None = None
    loss: str | None = None
    lower_is_surer: Sequence[str] = ()
    workers: int | str | Executor = 1
    progress: Progress | None = None


@dataclass(frozen=True, slots=True)
class InputReading:
    """How one input is to be read; `counts` is None where single units are needed."""

    mode: str | None
    experiment: int | None
    instrument: Any
    columns: Mapping[str, str]
    options: TableOptions
    counts: Counts | None = None

    def systems(self, data: Any, files: dict[str, RunFile]) -> list[Items]:
        """The facts of each system."""
        if isinstance(data, Items):
            return [self.without_options(data, "facts that are read already have")]
        if not isinstance(data, (str, Path)):
            return self.table(data)
        refuse_tool_log(data)
        if kind := kind_of(data):
            return [reader_of(data, kind).read(data, self)]
        return self.table(data) if format_of(data) else [self.run(data, files)]

    def run(self, path: str | Path, files: dict[str, RunFile]) -> Items:
        """An experiment of a run file; `files` holds those that are read already."""
        table = _hint_of_tables(path)
        if self.columns:
            raise UserError(f"{path}: a run file has no columns to map: leave out {as_option('columns')}{table}")
        if self.options.names:
            raise UserError(f"{path}: a run file takes no options of tables: leave out {self.options.names}{table}")
        file = files.get(str(path)) or files.setdefault(str(path), _run_file(path))
        return file.items(mode=self.mode, experiment=self.experiment, instrument=self.instrument)

    def table(self, data: Any) -> list[Items]:
        """The systems of a table."""
        where = f"{data}: " if isinstance(data, (str, Path)) else ""
        if self.mode is not None or self.experiment is not None:
            raise UserError(f"{where}a table holds one experiment and no modes: leave out mode and experiment")
        own = None if self.instrument == "none" else self.instrument
        return [*read_systems(data, instrument=own, columns=self.columns, options=self.options).values()]

    def without_options(self, items: Items, who: str) -> Items:
        """The facts; an option of reading is refused, as it would change nothing."""
        given = {"mode": self.mode, "experiment": self.experiment, "columns": self.columns or None}
        names = [name for name, value in given.items() if value is not None]
        names += ["instrument"] if self.instrument != BY_ITEMS else []
        names += [self.options.names] if self.options.names else []
        if names:
            raise UserError(f"{who} no use for {', '.join(names)}")
        return items


def _run_file(path: str | Path) -> RunFile:
    try:
        return RunFile.of(path)
    except UserError as error:
        raise UserError(f"{error}{_hint_of_tables(path) if os.path.exists(path) else ''}") from None  # noqa: PTH110


def _hint_of_tables(path: str | Path) -> str:
    suffix = Path(str(path).lower().removesuffix(".gz")).suffix
    return "" if suffix in ("", ".json") else f"; a table is known by its name, which ends in {', '.join(FORMATS)}"


def located_in(name: str | None, data: object) -> AbstractContextManager[None]:
    """A context that prefixes errors with the name of the data, unless it is a file, which errors name anyway."""
    return located(shown(name)) if name and not isinstance(data, (str, Path)) else nullcontext()


def named_input(given: Any) -> tuple[str | None, Any]:
    """Split an input into its name, or None, and its data; it is a pair, a text `NAME=FILE`, or data alone.

    The name ends at the first `=`; a text that is the path of a file is not split.
    """
    if isinstance(given, tuple):
        return given
    if not isinstance(given, str) or "=" not in given or os.path.exists(given):  # noqa: PTH110  (Path.exists may raise)
        return None, given
    name, _, path = given.partition("=")
    if not (name.strip() and path):
        raise UserError(f"{literal(given)}: expected FILE or NAME=FILE")
    return name, path


def for_each(given: Sequence[T | None], count: int, what: str) -> list[T | None]:
    """One value per input: a single value is repeated for all inputs."""
    if len(given) > 1 and len(given) != count:
        raise UserError(f"{len(given)} {what}s for {count} inputs: give it once for all inputs, or once per input")
    return [*given] if len(given) == count else [given[0] if given else None] * count
