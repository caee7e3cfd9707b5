"""Reads what is compared with the systems: raters of the same units, published points, and forced runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from demur.errors import UserError, literal, shown
from demur.evaluation.data import is_data, several
from demur.facts.items import Items
from demur.facts.points import NumbersOfPoint, typed_point
from demur.facts.raters import RaterAnswers
from demur.read import read_inputs, read_points, read_rater
from demur.results.beside import Beside
from demur.results.record import input_of
from demur.results.table import system_names


def read_beside(options: Mapping[str, Any], runs: Sequence[Items], columns: Mapping[str, str]) -> Beside:
    """The raters, points and forced runs that the options name."""
    raters = {
        name: given if isinstance(given, RaterAnswers) else read_rater(given, columns)
        for name, given in (options.get("raters") or {}).items()
    }
    points = [point for given in several(options.get("points")) for point in _points(given)]
    numbers = {name: options.get(name) for name in ("margin", "handover_threshold")}
    return Beside(raters, points, _forced(options.get("forced"), runs, columns), **numbers)


def files_beside(options: Mapping[str, Any]) -> list[str | Path]:
    """The files of raters, points and forced runs that the options name."""
    forced = options.get("forced")
    tables = [*(options.get("raters") or {}).values(), *(forced.values() if isinstance(forced, Mapping) else [forced])]
    listed = [given for given in several(options.get("points")) if _is_file(given)]
    return [path for path in (*listed, *tables) if isinstance(path, (str, Path))]


def _is_file(given: Any) -> bool:
    return isinstance(given, Path) or (isinstance(given, str) and given.lower().endswith(".toml"))


def _points(given: Any) -> Sequence[NumbersOfPoint]:
    if isinstance(given, NumbersOfPoint):
        return [given]
    return read_points(given) if _is_file(given) else [typed_point(given)]


def _forced(given: Any, runs: Sequence[Items], columns: Mapping[str, str]) -> dict[str, Items]:
    """The forced run of each system, by its name; the name may be left out if there is one system."""
    if given is None:
        return {}
    systems, forced = system_names([input_of(run) for run in runs]), {}
    named = isinstance(given, Mapping) and any(map(is_data, given.values()))
    pairs = given if named else {systems[0] if len(systems) == 1 else "": given}
    for system, data in pairs.items():
        if system not in systems:
            expected = f"SYSTEM=FILE with one of {', '.join(map(shown, systems))}"
            raise UserError(f"--forced {literal(data)}, expected {expected}")
        run = runs[systems.index(system)]
        mode = run.source.mode if run.source and isinstance(data, (str, Path)) else None
        reading: Any = {} if isinstance(data, Items) else {"instrument": run.instrument or "none", "columns": columns}
        forced[system] = read_inputs([(None, data)], modes=[mode] if mode else (), **reading)[0]
    return forced
