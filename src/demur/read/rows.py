"""Reading of long tables, one row per unit: CSV, JSON Lines, Parquet, a data frame, or a dict of lists."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from demur.errors import UserError, literal, shown
from demur.facts.codes import Codes
from demur.facts.columns import MISSING, Column, is_null
from demur.facts.instruments import BY_ITEMS, Instrument, instrument_with
from demur.facts.instruments import instrument as instrument_of
from demur.facts.items import Items, Source
from demur.facts.labels import Spelling, spelled
from demur.facts.losses import LossColumn, label_numbers
from demur.facts.raw_units import RawUnits, Repeats, check_values
from demur.options import as_blank, as_option
from demur.read.cells import Cells, read_cells
from demur.read.label_columns import label_columns, table_groups
from demur.read.paths import with_paths
from demur.read.table_options import SOURCES, Roles, TableOptions, check_options, roles_of
from demur.read.tables import FileTable, missing_column, opened_table
from demur.read.unit_rows import UnitRows, first_rows, is_name, unit_rows, voted_rows
from demur.read.units_file import GROUPS, MEMBERS, is_independent

_NO_ANSWER = "null (in CSV an empty cell)"


def read_table(
    table: str | Path | Mapping[str, Any] | object,
    *,
    columns: Mapping[str, str] | None = None,
    instrument: str | Path | Instrument | None = BY_ITEMS,
    options: TableOptions | None = None,
) -> Items:
    """Read a long table as facts: a path, a pandas, polars or pyarrow frame, or a dict of lists.

    The loss comes from a column `loss`, from a column `score`, where higher is better, or from `truth` and
    `prediction`. A null or NaN there is an abstention, unless a column `abstained` marks abstentions. `cluster` names
    the sampled unit, such as a participant, that a row belongs to; without a column `item`, units are numbered within
    their cluster. Columns have these names, or the ones that `columns` maps the roles to; every other column is a
    signal. `success` is false in the rows of a failed cluster; `status` is `ok` or `failed`, and failed units are left
    out.

    An instrument bounds the scores and says which items every cluster has. If none is named, it is the known instrument
    with exactly the items of the table. With `instrument=None`, or if no known one fits, clusters may have any items,
    and truths and predictions may be any integers or texts. Losses need no instrument.

    >>> items = read_table({"who": ["a", "a"], "item": ["q1", "q2"], "truth": [1, 0], "prediction": [1, None]},
    ...                    columns={"cluster": "who"}, instrument=None)
    >>> items
    Items(1 clusters, 0 failed, 2 units, 1 answered, 1 abstained (1 null, 0 NaN), 0 signals)
    >>> read_table({"cluster": ["a", "a", "b"], "loss": [0, 0.5, None], "sure": [0.9, 0.4, 0.2]})
    Items(2 clusters, 0 failed, 3 units, 2 answered, 1 abstained (1 null, 0 NaN), 1 signals)
    """
    systems = read_systems(table, columns=columns, instrument=instrument, options=options)
    if len(systems) > 1:
        error = UserError(f"{len(systems)} systems, expected one: {', '.join(map(shown, systems))}")
        raise error.in_file(table) if isinstance(table, (str, Path)) else error
    return next(iter(systems.values()))


def read_systems(
    table: str | Path | Mapping[str, Any] | object,
    *,
    columns: Mapping[str, str] | None = None,
    instrument: str | Path | Instrument | None = BY_ITEMS,
    options: TableOptions | None = None,
) -> dict[str, Items]:
    """Read every system of a long table, by the names in its column `system`, in order of appearance.

    The arguments are those of `read_table`. A table without this column holds one system, without a name.

    >>> both = {"system": ["a", "b"], "cluster": [1, 1], "loss": [0, 0.5]}
    >>> {name: len(items) for name, items in read_systems(both).items()}
    {'a': 1, 'b': 1}
    """
    mapped = dict(columns or {})
    nan_kept = [mapped.get(role, role) for role in ("prediction", "loss", "score")]
    with opened_table(table, nan_kept=nan_kept) as (opened, source):
        return systems_of(opened, source, mapped, instrument, options or TableOptions())


def systems_of(
    opened: FileTable,
    source: Callable[[], Source | None],
    mapped: Mapping[str, str],
    instrument: Any,
    options: TableOptions,
) -> dict[str, Items]:
    """Read every system of a table that is already open."""
    chosen = None if instrument in (None, BY_ITEMS) else instrument_of(instrument)
    labels = label_columns(opened.header, options.group or {})
    cells = read_cells(with_paths(opened, [*mapped.values(), *labels, *options.probability]), mapped, labels)
    if opened.units is not None:
        return {"": _imported(cells, opened.units, mapped, options, source)}
    roles = _roles(cells, mapped, options)
    if instrument == BY_ITEMS:
        chosen = _known_instrument(cells, roles)
    _check_clusters(cells, roles)
    origin = _with_guesses(source(), roles, mapped, chosen if instrument == BY_ITEMS else None)
    return {
        name: Items.of(_raw_units(part, roles, chosen, options), origin).labelled(name or None)
        for name, part in _by_system(cells, roles)
    }


def _imported(
    table: Cells,
    header: Mapping[str, Any],
    mapped: Mapping[str, str],
    options: TableOptions,
    source: Callable[[], Source | None],
) -> Items:
    """The facts of a file of units, which `demur import` wrote."""
    if mapped:
        raise UserError(f"a file of units has no columns to map: leave out {as_option('columns')}")
    roles = Roles({role: role for role in MEMBERS if role in table.values}, "loss")
    if options.loss_max is None and header["mapping"].get("score_range") is not None:
        options = replace(options, loss_max=1.0)  # such losses are fractions of the range of scores
    raw = _raw_units(table, roles, None, options)
    run_id, origin = header["source"].get("run_id"), source()
    if origin is not None and isinstance(run_id, str):
        origin = replace(origin, run_id=run_id)
    return Items.of(replace(raw, independent=is_independent(header)), origin)


def _roles(table: Cells, mapped: Mapping[str, str], options: TableOptions) -> Roles:
    if "cluster" not in {*table.values, *mapped} and not options.every_row_its_own_cluster:
        error = missing_column("cluster", "cluster", table.values)
        raise UserError(f"{error}; or, if no two rows share anything, {as_blank('every_row_its_own_cluster')}")
    return roles_of(table.values, mapped, table.texts)


def _check_clusters(table: Cells, roles: Roles) -> None:
    name = roles.get("cluster")
    empty = None if name is None else table.codes(name).first(lambda cell: is_null(cell) or cell in ("", MISSING))
    if empty is not None:
        raise UserError(f"row {empty + 1}: {shown(name)} (cluster) is empty, expected what the row belongs to")


def _known_instrument(table: Cells, roles: Roles) -> Instrument | None:
    """The known instrument with exactly the items of a table; rows of failed clusters may have no item."""
    name = roles.get("item")
    if roles.source != "truth" or name is None:
        return None
    items = {item if isinstance(item, str) else None for item in table.codes(name).values}
    return instrument_with(items - {None, ""})


def _with_guesses(
    source: Source | None, roles: Roles, mapped: Mapping[str, str], inferred: Instrument | None
) -> Source | None:
    """A source with the columns of the roles and the instrument that was inferred, for the record.

    Which column gives the loss is recorded if it was stated, as the table may have another that could.
    """
    stated = mapped.keys() & {*SOURCES[roles.source]}
    renamed = {role: name for role, name in roles.columns.items() if role != name or role in stated}
    if source is None and not (renamed or inferred):
        return None
    return replace(source or Source(), columns=renamed or None, instrument=inferred.name if inferred else None)


def _by_system(table: Cells, roles: Roles) -> Iterator[tuple[str, Cells]]:
    """The rows of each system, by its name."""
    column = roles.get("system")
    if column is None:
        yield "", table
        return
    cells = table.codes(column)
    wrong = cells.first(lambda name: not is_name(name) and type(name) is not int)
    if wrong is not None:
        raise UserError(f"row {wrong + 1}: {shown(column)} {literal(cells[wrong])}, expected the name of a system")
    names = cells.mapped(str)
    for number, name in enumerate(names.values):
        yield name, table.take(np.flatnonzero(names.numbers == number))


def _raw_units(table: Cells, roles: Roles, instrument: Instrument | None, options: TableOptions) -> RawUnits:
    if instrument is not None and roles.source != "truth":
        raise UserError(f"{instrument.name} bounds truths and predictions; losses have no use for an instrument")
    check_options(table, roles, options)
    rows = unit_rows(table, roles, instrument, options)
    if options.repeats == "vote":
        raw = _by_vote(rows, roles, instrument, options)
    else:
        units = first_rows(rows) if options.repeats == "first" else rows.named()
        lost, left = units.lost(), units
        if lost and options.failed_units == "drop":
            left = units.take(np.flatnonzero(~units.clusters.is_pair(units.items, lost)))
        raw = _units(left, roles, instrument, options).with_failures(lost, options.failed_units, rows.failed_clusters)
    if rows.is_repeated or options.repeats != "units":
        raw = replace(raw, repeats=Repeats(options.repeats, len(rows.items), int(rows.failed.sum())))
    return replace(raw, part=options.part)


def _by_vote(rows: UnitRows, roles: Roles, instrument: Instrument | None, options: TableOptions) -> RawUnits:
    """One unit per question; failed repeats do not vote if they are dropped, and otherwise count as abstentions."""
    rule, voting = options.failed_units, rows
    if rule == "drop":
        voting = rows.take(np.flatnonzero(~rows.failed))
    named = voting.named()
    raw = _units(named, roles, instrument, options).with_failures(named.lost(), rule)
    check_values(raw)
    units, agreement = voted_rows(voting, raw, _predictions(voting.table, roles, raw))
    lost = units.lost()
    if rule == "drop":
        alive = {*zip(units.clusters, units.items, strict=True)}
        lost = {name: cause for name, cause in rows.lost().items() if name not in alive}
    raw = _units(units, roles, instrument, options).with_failures(lost, rule, rows.failed_clusters)
    return replace(raw, signals={**raw.signals, **agreement})


def _units(rows: UnitRows, roles: Roles, instrument: Instrument | None, options: TableOptions) -> RawUnits:
    """One unit per row."""
    table, groupings = rows.table, table_groups(rows.table, options.group or {})
    labels = (grouping.column.name for grouping in groupings.values() if grouping.column)
    used = {*roles.columns.values(), *labels, GROUPS}
    return RawUnits(
        clusters=rows.clusters,
        items=rows.items,
        **_answers(table, roles, instrument, options),
        abstained=Column.of_codes(table.flags(roles["abstained"])) if roles.get("abstained") else None,
        signals={name: table.column(name) for name in table.values if name not in used},
        groups=groupings,
        instrument=instrument,
        noun=options.noun or ("row" if options.every_row_its_own_cluster else "cluster"),
        no_answer=_NO_ANSWER,
        independent=options.every_row_its_own_cluster,
        probabilities=options.probability,
        numbered=roles.get("item") is None,
    )


def _predictions(table: Cells, roles: Roles, raw: RawUnits) -> Codes:
    """The answers that repeats vote with, numbers or texts: the predictions of a table, or imported answers."""
    if raw.labels is not None:
        return Codes.of([*map(raw.label, raw.prediction)])
    name = roles.get("prediction") or roles.get("answer") or ("prediction" if "prediction" in table.values else None)
    if name is None:
        again = "import the log again with --include-text, or add a column prediction"
        hint = f"{again}; {as_option('repeats', 'first')} needs none"
        raise UserError(f"repeats cannot vote, as there is no column of answers: {hint}")
    if roles.get("answer") or name in table.texts:
        return table.labels(name).mapped(lambda cell: cell if cell is None else str(spelled(cell)))
    return table.codes(name).mapped(table.value)


def _answers(table: Cells, roles: Roles, instrument: Instrument | None, options: TableOptions) -> dict[str, Any]:
    """Losses, or truths and predictions as numbers, or as texts where there is no instrument."""
    if roles.source != "truth":
        name = roles[roles.source]
        cells = table.numbers(name)
        scores = (options.score_range or (0.0, 1.0)) if roles.source == "score" else None
        return {"loss": LossColumn(cells, name, scores, options.loss_max)}
    names = roles["truth"], roles["prediction"]
    if instrument is None and not table.texts.isdisjoint(names):
        labels, (truth, prediction) = label_numbers(*map(table.labels, names))
        return {"truth": truth, "prediction": prediction, "labels": labels}
    if instrument is None and table.as_text:
        Spelling.of(*map(table.labels, names))  # refuses 01 beside 1
    return {role: table.column(roles[role]) for role in ("truth", "prediction")}
