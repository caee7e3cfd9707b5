"""Reading: tables of raters who answered the same units, files of published points, and forced runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from demur.errors import UserError, literal, located, repeated, shown
from demur.evaluation.data import is_data
from demur.facts.items import Items, Source
from demur.features.raters.answers import RaterAnswers
from demur.features.raters.comparators import Comparators
from demur.features.raters.options import Raters, is_file
from demur.features.raters.points import NumbersOfPoint, point_of, typed_point
from demur.files.strict_json import decode, read_bytes
from demur.files.toml import parsed_toml
from demur.options import as_option
from demur.read import read_inputs
from demur.read.cells import Cells, read_cells
from demur.read.tables import opened_table
from demur.results.study_of_answers import input_of
from demur.results.table import system_names

_ABOUT = ("source", "population", "loss")


def read_points(path: str | Path) -> list[NumbersOfPoint]:
    """The points of a TOML file: a table per point, called by its name, with its numbers and where they come from.

    The file calls the sum of losses `loss_sum`, because `loss` names the loss that the risk is the mean of.
    """
    content = read_bytes(path)
    with located(path):
        tables = parsed_toml(decode(content))
        if not tables:
            raise UserError('there are no points in it: expected a table for each, such as ["Rater A"]')
        return [_point(name, members) for name, members in tables.items()]


def _point(name: str, members: Any) -> NumbersOfPoint:
    if not isinstance(members, dict):
        raise UserError(f"{shown(name)} {literal(members)}, expected a table of the numbers of a point")
    about = {member: members[member] for member in _ABOUT if member in members}
    for member, value in about.items():
        if not isinstance(value, str):
            raise UserError(f"point {shown(name)}: {member} {literal(value)}, expected a text")
    renamed = {"loss_sum": "loss"}
    numbers = [
        f"{renamed.get(member, member)}={_typed(name, member, value)}"
        for member, value in members.items()
        if member not in _ABOUT
    ]
    return point_of(name, ", ".join(numbers), **about)


def _typed(name: str, member: str, value: Any) -> str:
    if isinstance(value, list) and member == "ci" and len(value) == 2:  # noqa: PLR2004
        return "..".join(_typed(name, member, end) for end in value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise UserError(f"point {shown(name)}: {member} {literal(value)}, expected a number")
    return np.format_float_positional(value, trim="-") if isinstance(value, float) else str(value)


def read_rater(table: str | Path | Any, columns: Mapping[str, str] | None = None) -> RaterAnswers:
    """The answers of a rater: a table with cluster, item, and a prediction or a loss for each unit, null for none.

    Columns have these names, or the names that `columns` maps them to if the table has those.
    """
    try:
        with opened_table(table, nan_kept=("prediction", "loss")) as (opened, source):
            mapped = {role: name for role, name in (columns or {}).items() if name in opened.header}
            cells = read_cells(opened, mapped)
            origin = source()
        return _rater(cells, mapped, origin)
    except UserError as error:
        unlocated = isinstance(table, (str, Path)) and not str(error).startswith(f"{table}: ")
        raise (error.in_file(table) if unlocated else error) from None


def _rater(cells: Cells, columns: Mapping[str, str], origin: Source | None) -> RaterAnswers:
    names = {role: columns.get(role, role) for role in ("cluster", "item", "prediction", "loss", "truth")}
    names = {role: name for role, name in names.items() if name in cells.values}
    given = [role for role in ("prediction", "loss") if role in names]
    if "cluster" not in names or len(given) != 1:
        raise UserError("a rater's table has the columns cluster, item, and prediction or loss, one of the two")
    clusters = cells.ids(names["cluster"], "cluster")
    numbers = {cluster: count(1) for cluster in clusters}
    items = cells.codes(names["item"]) if "item" in names else None
    names_of = (next(numbers[cluster]) if items is None else items[row] for row, cluster in enumerate(clusters))
    units = [*zip(clusters, map(str, names_of), strict=True)]
    if twice := repeated(units):
        raise UserError(f"cluster {shown(twice[0][0])}, {shown(twice[0][1])}: given more than once")
    texts = not cells.texts.isdisjoint([names[given[0]]])
    values = cells.labels if texts else cells.column
    answers, truths = [*values(names[given[0]])], [*values(names["truth"])] if "truth" in names else None
    return RaterAnswers(units, answers, given[0], truths, origin)


def read_comparators(given: Raters, runs: Sequence[Items], columns: Mapping[str, str]) -> Comparators:
    """The raters, points and forced runs to compare these runs with."""
    raters = {
        name: table if isinstance(table, RaterAnswers) else read_rater(table, columns)
        for name, table in given.raters.items()
    }
    points = [point for each in given.points for point in _points(each)]
    forced = _forced(given.forced, runs, columns)
    return Comparators(raters, points, forced, margin=given.margin, handover_threshold=given.handover_threshold)


def _points(given: Any) -> Sequence[NumbersOfPoint]:
    if isinstance(given, NumbersOfPoint):
        return [given]
    return read_points(given) if is_file(given) else [typed_point(given)]


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
            raise UserError(f"{as_option('forced')} {literal(data)}, expected {expected}")
        run = runs[systems.index(system)]
        mode = run.source.mode if run.source and isinstance(data, (str, Path)) else None
        reading: Any = {} if isinstance(data, Items) else {"instrument": run.instrument or "none", "columns": columns}
        forced[system] = read_inputs([(None, data)], modes=[mode] if mode else (), **reading)[0]
    return forced
