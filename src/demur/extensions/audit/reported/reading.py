"""Reading the runs of an audit, with the checks of an evaluation."""

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

from demur.errors import UserError, shown
from demur.facts.instruments import BY_ITEMS, Instrument
from demur.facts.items import Items
from demur.read import read_inputs
from demur.read.run_json import RunFile

SIDES = (("left", "input_0"), ("right", "input_1"))


def runs_to_audit(
    paths: Sequence[str | Path], *, modes: Sequence[str] = (), instrument: str | Path | Instrument = BY_ITEMS
) -> dict[str, Items]:
    """Read the runs of some files, by name; without modes, every experiment of a file."""
    if modes:
        repeated = [*paths] * (len(modes) if len(paths) == 1 else 1)
        return named_runs(read_inputs(repeated, modes=modes, instrument=instrument))
    return named_runs([items for path in paths for items in _experiments(path, instrument)])


def named_runs(runs: Sequence[Items]) -> dict[str, Items]:
    """Name runs by their labels or modes, or by run ids or paths where those are not unique."""
    sources = [items.source for items in runs]
    labels = [s and (s.label or s.mode) for s in sources]
    for names in (labels, [s and s.run_id for s in sources], [s and s.path for s in sources]):
        if None not in names and len(set(names)) == len(runs):
            return dict(zip(map(str, names), runs, strict=True))
    return {f"run {number}": items for number, items in enumerate(runs, 1)}


def _experiments(path: str | Path, instrument: str | Path | Instrument) -> list[Items]:
    file = RunFile.of(path)
    experiments = file.content.get("experiments") if isinstance(file.content, dict) else None
    count = len(experiments) if isinstance(experiments, list) else 0
    return [file.items(experiment=index, instrument=instrument) for index in range(max(count, 1))]


def recorded_runs(runs: Mapping[str, Items], content: Any) -> list[str]:
    """The names of the runs that the `inputs` of a report refer to, in order; none unless each refers to another."""
    names = [_named_by(entry, runs) for entry in _inputs(content)]
    return [name for name in names if name] if len({*names} - {""}) == len(names) else []


def check_modes(runs: Mapping[str, Items], content: Any) -> None:
    """Raise an error if the data are of other modes than the report records."""
    modes = {items.source.mode: name for name, items in runs.items() if items.source and items.source.mode}
    for mode in (entry.get("mode") for entry in _inputs(content)):
        if isinstance(mode, str) and modes and mode not in modes:
            other = f"the figures are of the mode {shown(mode)}, and the data of {', '.join(map(shown, modes))}"
            raise UserError(f"{other}: give the run they are of, or the mode to compare them with, --mode")


def _inputs(content: Any) -> list[Mapping[str, Any]]:
    inputs = content.get("inputs") if isinstance(content, Mapping) else None
    return [entry for entry in inputs if isinstance(entry, Mapping)] if isinstance(inputs, list) else []


def _named_by(entry: Mapping[str, Any], runs: Mapping[str, Items]) -> str:
    """The one run with the mode of an entry and, where that leaves several, with its run id or file name."""
    sources = {name: items.source for name, items in runs.items() if items.source is not None}
    if isinstance(mode := entry.get("mode"), str):
        sources = {name: source for name, source in sources.items() if source.mode == mode}
    for attribute in ("run_id", "path"):
        value = entry.get(attribute)
        alike = [name for name, source in sources.items() if _same(getattr(source, attribute), value)]
        sources = {name: sources[name] for name in alike or sources}
    return next(iter(sources)) if len(sources) == 1 else ""


def _same(own: str | None, value: Any) -> bool:
    return isinstance(value, str) and own is not None and PurePath(own).name == PurePath(value).name


def aliases(runs: Mapping[str, Items], sides: list[str]) -> dict[str, str]:
    """All names of each run: its own, any attribute that is unique to it, and its side of a comparison."""
    by_alias: dict[str, set[str]] = {}
    for name, items in runs.items():
        source = items.source
        if source is not None and source.path is not None:
            for alias in (source.mode, source.run_id, source.path, Path(source.path).name, Path(source.path).stem):
                by_alias.setdefault(alias or name, set()).add(name)
    for names, run in zip(SIDES, sides, strict=False):
        for name in names:
            by_alias.setdefault(name, {run})
    return {alias: names.pop() for alias, names in by_alias.items() if len(names) == 1} | {name: name for name in runs}
