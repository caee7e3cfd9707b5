"""Files of any format that hold units: long tables by their suffix, run files otherwise."""

import os.path
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from demur.errors import UserError, literal, repeated, shown
from demur.facts.instruments import BY_ITEMS, Instrument
from demur.facts.items import Items
from demur.read.foreign import check_foreign
from demur.read.rows import TableOptions, read_systems
from demur.read.run_json import RunFile
from demur.read.tables import format_of

T = TypeVar("T")


def read_items(
    path: str | Path,
    *,
    mode: str | None = None,
    experiment: int | None = None,
    instrument: str | Path | Instrument = BY_ITEMS,
    columns: Mapping[str, str] | None = None,
    options: TableOptions | None = None,
) -> Items:
    """The facts of a run file or of a long table (.csv, .jsonl, .ndjson, .parquet).

    `mode` and `experiment` choose among the experiments of a run file; a table holds one. The instrument of a run
    file is PHQ-8 if none is named, and of a table the known one that has its items, if there is one; `none` leaves the
    items and scores of a table free; `columns` says what its columns are called, as in `read_table`, and
    `options` how else it is to be read.
    """
    chosen: Any = {"modes": [mode], "experiments": [experiment], "instrument": instrument}
    found = read_inputs([Path(path)], **chosen, columns=columns, options=options)
    if len(found) > 1:
        named = ", ".join(shown(items.source.label) for items in found if items.source and items.source.label)
        raise UserError(f"{path}: {len(found)} systems, expected one: {named}")
    return found[0]


def read_inputs(
    inputs: Sequence[str | Path],
    *,
    modes: Sequence[str | None] = (),
    experiments: Sequence[int | None] = (),
    instrument: str | Path | Instrument = BY_ITEMS,
    columns: Mapping[str, str] | Sequence[Mapping[str, str]] | None = None,
    options: TableOptions | None = None,
) -> list[Items]:
    """The facts of several files, each a path, or a text `NAME=FILE` that labels its source.

    A table with a column `system` gives the facts of each of its systems, under its name. One mode, experiment or
    mapping of columns is meant for all, several for each in turn. A run file given twice, for two of its modes, is read
    once.
    """
    named = [*map(named_input, inputs)]
    count = len(named)
    if twice := repeated(name for name, _ in named if name is not None):
        raise UserError(f"two inputs are called {shown(twice[0])}: give each a name of its own, NAME=FILE")
    chosen = for_each(modes, count, "mode"), for_each(experiments, count, "experiment")
    mappings = for_each(columns if isinstance(columns, Sequence) else [columns], count, "mapping of columns")
    files: dict[str, RunFile] = {}
    facts: list[Items] = []
    for (name, path), mode, experiment, mapped in zip(named, *chosen, mappings, strict=True):
        check_foreign(path)
        if format_of(path):
            if mode is not None or experiment is not None:
                raise UserError(f"{path}: a table holds one experiment and no modes: leave out mode and experiment")
            free = instrument == "none"
            systems = read_systems(path, instrument=None if free else instrument, columns=mapped, options=options)
            if name is not None and len(systems) > 1:
                listed = ", ".join(map(shown, systems))
                raise UserError(
                    f"{path}: {len(systems)} systems, which have names ({listed}): leave out {shown(name)}="
                )
            facts += [items if name is None else items.labelled(name) for items in systems.values()]
            continue
        if mapped:
            raise UserError(f"{path}: a run file has no columns to map: leave out columns (--column)")
        if options is not None and options.names:
            raise UserError(f"{path}: a run file says what is in it: leave out {options.names}")
        file = files.get(str(path)) or files.setdefault(str(path), RunFile.of(path))
        facts.append(file.items(mode=mode, experiment=experiment, instrument=instrument).labelled(name))
    labels = [items.source.label for items in facts if items.source and items.source.label is not None]
    if twice := repeated(labels):
        raise UserError(f"two systems are called {shown(twice[0])}: give each a name of its own")
    return facts


def named_input(given: str | Path) -> tuple[str | None, str | Path]:
    """A path with its name, if it has one. The name ends at the first `=`; a file that exists has no name before it."""
    if not isinstance(given, str) or "=" not in given or os.path.exists(given):  # noqa: PTH110  (Path.exists may raise)
        return None, given
    name, _, path = given.partition("=")
    if not (name.strip() and path):
        raise UserError(f"{literal(given)}: expected FILE or NAME=FILE")
    return name, path


def for_each(given: Sequence[T | None], count: int, what: str) -> list[T | None]:
    """What is given once for all inputs, or once for each of them."""
    if len(given) > 1 and len(given) != count:
        raise UserError(f"{len(given)} {what}s for {count} inputs: give it once for all inputs, or once per input")
    return [*given] if len(given) == count else [given[0] if given else None] * count
