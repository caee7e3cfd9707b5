"""Long tables, one row per unit: CSV, JSON Lines, Parquet, a data frame, or a dict of lists."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from demur.errors import UserError, and_more, literal, shown, unknown
from demur.facts.codes import Codes
from demur.facts.columns import Column
from demur.facts.instruments import PHQ8, Instrument
from demur.facts.instruments import instrument as instrument_of
from demur.facts.items import ClusterId, FailedUnits, Items, RawUnits, Source
from demur.facts.losses import LossColumn, label_numbers
from demur.read.cells import Cells, read_cells
from demur.read.roles import Roles, roles_of
from demur.read.tables import missing_column, opened_table
from demur.read.units_file import is_independent, items_with_repeats
from demur.types import Flags

FAILED_UNITS = ("drop", "abstain", "refuse")
_STATES = ("ok", "failed")
_NO_ANSWER = "null (in CSV an empty cell)"


@dataclass(frozen=True, slots=True)
class TableOptions:
    """How a table is to be read, besides its columns and its instrument."""

    score_range: tuple[float, float] | None = None
    loss_max: float | None = None
    every_row_its_own_cluster: bool = False
    noun: str | None = None
    failed_units: str = "drop"

    def __post_init__(self) -> None:
        if self.failed_units not in FAILED_UNITS:
            raise unknown("rule for failed units", self.failed_units, FAILED_UNITS)
        if self.noun is not None and not (self.noun.strip() == self.noun != ""):
            raise UserError(f"noun {literal(self.noun)}, expected a word such as document")

    @property
    def names(self) -> str:
        """The options that are given, as a command line calls them."""
        given = (name for name in self.__slots__ if getattr(self, name) not in (None, False, "drop"))
        return ", ".join(f"--{name.replace('_', '-')}" for name in given)


def read_table(
    table: str | Path | Mapping[str, Any] | object,
    *,
    columns: Mapping[str, str] | None = None,
    instrument: str | Path | Instrument | None = PHQ8,
    options: TableOptions | None = None,
) -> Items:
    """The facts of a long table: a path, a pandas, polars or pyarrow frame, or a dict of lists.

    How wrong an answer is comes from a column `loss`, from a column `score`, of which a higher one is better, or from
    `truth` and `prediction`. A null or NaN there is an abstention, unless a column `abstained` says who abstained.
    `cluster` says whom a unit was sampled with; without a column `item`, units are numbered within their cluster.
    Columns go by these names or by the ones `columns` maps them to; every other column is a signal. A column `success`
    that is false marks a failed cluster, and a `status` that is `failed`, not `ok`, a failed unit, which is left out.

    Scores of an instrument are bounded by it, and every cluster has its items. With `instrument=None` items and integer
    scores are free, clusters may have any items, and truths and predictions may be texts. Losses need no instrument.

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
    instrument: str | Path | Instrument | None = PHQ8,
    options: TableOptions | None = None,
) -> dict[str, Items]:
    """The facts of every system of a long table, by the names in its column `system`, in the order they turn up in.

    The rest is as in `read_table`. A table without such a column holds one system, without a name.

    >>> both = {"system": ["a", "b"], "cluster": [1, 1], "loss": [0, 0.5]}
    >>> {name: len(items) for name, items in read_systems(both).items()}
    {'a': 1, 'b': 1}
    """
    mapped, how = dict(columns or {}), options or TableOptions()
    chosen = None if instrument is None else instrument_of(instrument)
    nan_kept = [mapped.get(role, role) for role in ("prediction", "loss", "score")]
    with opened_table(table, nan_kept=nan_kept) as (opened, source):
        cells = read_cells(opened, mapped)
        if opened.units is not None:
            return {"": _imported(cells, opened.units, mapped, how, source)}
        roles = _roles(cells, mapped, how)
        origin = source()
        return {
            name: Items.of(_raw_units(part, roles, chosen, how), origin).labelled(name or None)
            for name, part in _by_system(cells, roles)
        }


def _imported(
    table: Cells,
    header: Mapping[str, Any],
    mapped: Mapping[str, str],
    options: TableOptions,
    source: Callable[[], Source | None],
) -> Items:
    """The facts of a file of units: its header says what is in it."""
    if mapped:
        raise UserError("a file of units has no columns to map: leave out columns (--column)")
    items = items_with_repeats(table.codes("item"), table.codes("repeat"))
    columns = {name: cells for name, cells in table.values.items() if name != "repeat"} | {"item": items}
    roles = Roles({role: role for role in ("cluster", "item", "loss", "status")}, "loss")
    if options.loss_max is None and header["mapping"].get("score_range") is not None:
        options = replace(options, loss_max=1.0)  # a loss is a share of the range of the scores
    raw = _raw_units(replace(table, values=columns), roles, None, options)
    run_id, origin = header["source"].get("run_id"), source()
    if origin is not None and isinstance(run_id, str):
        origin = replace(origin, run_id=run_id)
    return Items.of(replace(raw, independent=is_independent(header)), origin)


def _roles(table: Cells, mapped: Mapping[str, str], options: TableOptions) -> Roles:
    if "cluster" not in {*table.values, *mapped} and not options.every_row_its_own_cluster:
        error = missing_column("cluster", "cluster", table.values)
        raise UserError(f"{error}; or, if no two rows share anything, --every-row-its-own-cluster")
    return roles_of(table.values, mapped, table.texts)


def _by_system(table: Cells, roles: Roles) -> Iterator[tuple[str, Cells]]:
    """The rows of each system, by its name."""
    column = roles.get("system")
    if column is None:
        yield "", table
        return
    cells = table.codes(column)
    wrong = cells.first(lambda name: not _is_name(name) and type(name) is not int)
    if wrong is not None:
        raise UserError(f"row {wrong + 1}: {shown(column)} {literal(cells[wrong])}, expected the name of a system")
    names = cells.mapped(str)
    for number, name in enumerate(names.values):
        yield name, table.only(names.numbers == number)


def _is_name(cell: object) -> bool:
    return isinstance(cell, str) and cell.strip() == cell != ""


def _raw_units(table: Cells, roles: Roles, instrument: Instrument | None, options: TableOptions) -> RawUnits:
    if roles.source != "truth":
        if instrument not in (None, PHQ8):
            raise UserError(f"{instrument.name} bounds truths and predictions; losses have no use for an instrument")
        instrument = None
    _check_options(roles, options)
    clusters = _clusters(table, roles, options)
    failed: dict[ClusterId, None] = {}
    if success := roles.get("success"):
        succeeded = _succeeded(clusters, table.flags(success))
        failed = dict.fromkeys(clusters.take(np.flatnonzero(~succeeded)).values)
        table, clusters = table.only(succeeded), clusters.take(np.flatnonzero(succeeded))
    items = _items(table, roles, clusters, instrument)
    lost = _failed_units(table, roles, (clusters, items), options.failed_units)
    if lost and options.failed_units == "drop":
        left = ~clusters.is_pair(items, lost.names)
        rows = np.flatnonzero(left)
        table, clusters, items = table.only(left), clusters.take(rows), items.take(rows)
        kept = {*clusters.values}
        failed |= dict.fromkeys(cluster for cluster, _ in lost.names if cluster not in kept)
    used = {*roles.columns.values()}
    return RawUnits(
        clusters=clusters,
        items=items,
        **_answers(table, roles, instrument, options),
        abstained=Column.of_codes(table.flags(roles["abstained"])) if roles.get("abstained") else None,
        signals={name: table.column(name) for name in table.values if name not in used},
        failed=[*failed],
        failed_units=lost,
        instrument=instrument,
        noun=options.noun or ("row" if options.every_row_its_own_cluster else "cluster"),
        no_answer=_NO_ANSWER,
        independent=options.every_row_its_own_cluster,
    )


def _check_options(roles: Roles, options: TableOptions) -> None:
    """An option that would say nothing is a misunderstanding."""
    if options.score_range is not None and roles.source != "score":
        raise UserError("a score range is of a column of scores: map one, score=COLUMN (--column), or leave it out")
    if options.loss_max is not None and roles.source != "loss":
        raise UserError("the largest loss is of a column of losses: map one, loss=COLUMN (--column), or leave it out")


def _clusters(table: Cells, roles: Roles, options: TableOptions) -> Codes:
    """Whose each row is; a row of its own is called by its item, so that two systems are paired by it."""
    name = roles.get("cluster")
    if not options.every_row_its_own_cluster:
        return table.ids(roles["cluster"], "cluster")
    if name is not None:
        raise UserError(f"the column {shown(name)} says whose each row is: leave out --every-row-its-own-cluster")
    item = roles.get("item")
    return Codes(np.arange(table.rows), range(1, table.rows + 1)) if item is None else table.ids(item, "item")


def _items(table: Cells, roles: Roles, clusters: Codes, instrument: Instrument | None) -> Codes:
    """The item of every row: its name, or its number within the cluster."""
    name = roles.get("item")
    if name is None:
        if instrument:
            error = missing_column("item", "item", table.values)
            raise UserError(f"{error}; a table without the items of {instrument.name} needs --instrument none")
        return _running_numbers(clusters)
    cells = table.codes(name)
    wrong = cells.first(lambda item: not _is_name(item) and (bool(instrument) or type(item) is not int))
    if wrong is not None:
        expected = "its name" if instrument else "a number or a name without spaces around it"
        raise UserError(f"cluster {shown(clusters[wrong])}: item {literal(cells[wrong])}, expected {expected}")
    return cells.mapped(str)


def _running_numbers(clusters: Codes) -> Codes:
    """The rows of each cluster by their number, from 1."""
    order = np.argsort(clusters.numbers, kind="stable")
    sizes = np.bincount(clusters.numbers)
    numbers = np.empty(len(clusters), dtype=np.intp)
    numbers[order] = np.arange(len(clusters)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return Codes(numbers, [str(number) for number in range(1, sizes.max(initial=0) + 1)])


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
    return {role: table.column(roles[role]) for role in ("truth", "prediction")}


def _failed_units(table: Cells, roles: Roles, units: tuple[Codes, Codes], rule: str) -> FailedUnits | None:
    """The units whose status is failed, by cluster and item; None if there are none."""
    column = roles.get("status")
    if column is None:
        return None
    states = table.codes(column)
    wrong = states.first(lambda state: state not in _STATES)
    if wrong is not None:
        unit = ", ".join(shown(each[wrong]) for each in units)
        found = literal(table.value(states[wrong]))
        raise UserError(f"cluster {unit}: {shown(column)} {found}, expected {' or '.join(_STATES)}")
    rows = np.flatnonzero(states.where(lambda state: state == "failed")).tolist()
    failed = tuple((units[0][row], units[1][row]) for row in rows)
    if failed and rule == "refuse":
        unit = f"cluster {shown(failed[0][0])}, {shown(failed[0][1])}"
        raise UserError(and_more(f"{unit}: it failed; --failed-units drop leaves such units out", len(failed)))
    return FailedUnits(rule, failed) if failed else None


def _succeeded(clusters: Codes, flags: Codes) -> Flags:
    """Which rows are of clusters that succeeded; those of the others count in nothing else."""
    wrong = flags.first(lambda flag: type(flag) is not bool)
    if wrong is not None:
        flag = literal(flags[wrong])
        raise UserError(f"cluster {shown(clusters[wrong])}: success {flag}, expected true or false")
    succeeded = flags.where(bool)
    failed = np.bincount(clusters.numbers[~succeeded], minlength=len(clusters.values)) > 0
    both = np.flatnonzero(succeeded & failed[clusters.numbers])
    if both.size:
        raise UserError(f"cluster {shown(clusters[int(both[0])])} both succeeded and failed")
    return succeeded
