"""Long tables, one row per unit: CSV, JSON Lines, Parquet, a data frame, or a dict of lists."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import compress, count
from operator import not_
from pathlib import Path
from typing import Any

from demur.errors import UserError, and_more, literal, shown, unknown
from demur.facts.columns import Column
from demur.facts.instruments import BY_ITEMS, PHQ8, Instrument, instrument_with
from demur.facts.instruments import instrument as instrument_of
from demur.facts.items import ClusterId, FailedUnits, Items, RawUnits, Source
from demur.facts.losses import LossColumn, label_numbers
from demur.read.cells import Cells, read_cells
from demur.read.groups import label_columns, table_groups
from demur.read.paths import with_paths
from demur.read.roles import Roles, roles_of
from demur.read.tables import missing_column, opened_table
from demur.read.units_file import GROUPS, is_independent, items_with_repeats

FAILED_UNITS = ("drop", "abstain", "refuse")
_STATES = ("ok", "failed")
_NO_ANSWER = "null (in CSV an empty cell)"


@dataclass(frozen=True, slots=True)
class TableOptions:
    """How a table is to be read, besides its columns and its instrument.

    `group` says which columns hold labels of groups, by the names of the groups; COLUMN:18,40,65 cuts numbers.
    """

    score_range: tuple[float, float] | None = None
    loss_max: float | None = None
    every_row_its_own_cluster: bool = False
    noun: str | None = None
    failed_units: str = "drop"
    group: Mapping[str, str] | None = None

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
    instrument: str | Path | Instrument | None = BY_ITEMS,
    options: TableOptions | None = None,
) -> Items:
    """The facts of a long table: a path, a pandas, polars or pyarrow frame, or a dict of lists.

    How wrong an answer is comes from a column `loss`, from a column `score`, of which a higher one is better, or from
    `truth` and `prediction`. A null or NaN there is an abstention, unless a column `abstained` says who abstained.
    `cluster` says whom a unit was sampled with; without a column `item`, units are numbered within their cluster.
    Columns go by these names or by the ones `columns` maps them to; every other column is a signal. A column `success`
    that is false marks a failed cluster, and a `status` that is `failed`, not `ok`, a failed unit, which is left out.

    Scores of an instrument are bounded by it, and every cluster has its items. If none is named, it is the known one
    that has exactly the items of the table. With `instrument=None`, and where no known one has them, items and integer
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
    instrument: str | Path | Instrument | None = BY_ITEMS,
    options: TableOptions | None = None,
) -> dict[str, Items]:
    """The facts of every system of a long table, by the names in its column `system`, in the order they turn up in.

    The rest is as in `read_table`. A table without such a column holds one system, without a name.

    >>> both = {"system": ["a", "b"], "cluster": [1, 1], "loss": [0, 0.5]}
    >>> {name: len(items) for name, items in read_systems(both).items()}
    {'a': 1, 'b': 1}
    """
    mapped, how = dict(columns or {}), options or TableOptions()
    chosen = None if instrument in (None, BY_ITEMS) else instrument_of(instrument)
    nan_kept = [mapped.get(role, role) for role in ("prediction", "loss", "score")]
    with opened_table(table, nan_kept=nan_kept) as (opened, source):
        labels = label_columns(opened.header, how.group or {})
        cells = read_cells(with_paths(opened, mapped.values()), mapped, labels)
        if opened.units is not None:
            return {"": _imported(cells, opened.units, mapped, how, source)}
        roles = _roles(cells, mapped, how)
        if instrument == BY_ITEMS:
            chosen = _known_instrument(cells, roles)
        parts = _by_system(cells, roles)
        made = {name: _raw_units(part, roles, chosen, how) for name, part in parts.items()}
        origin = _told(source(), roles, chosen if instrument == BY_ITEMS else None)
        return {name: Items.of(raw, origin).labelled(name or None) for name, raw in made.items()}


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
    columns = dict(table.values)
    columns["item"] = items_with_repeats(columns["item"], columns.pop("repeat"))
    roles = Roles({role: role for role in ("cluster", "item", "loss", "status")}, "loss")
    if options.loss_max is None and header["mapping"].get("score_range") is not None:
        options = replace(options, loss_max=1.0)  # a loss is a share of the range of the scores
    raw = _raw_units(replace(table, written=columns, values=columns), roles, None, options)
    run_id, origin = header["source"].get("run_id"), source()
    if origin is not None and isinstance(run_id, str):
        origin = replace(origin, run_id=run_id)
    return Items.of(replace(raw, independent=is_independent(header)), origin)


def _roles(table: Cells, mapped: Mapping[str, str], options: TableOptions) -> Roles:
    if "cluster" not in {*table.values, *mapped} and not options.every_row_its_own_cluster:
        error = missing_column("cluster", "cluster", table.values)
        raise UserError(f"{error}; or, if no two rows share anything, --every-row-its-own-cluster")
    return roles_of(table.values, mapped, table.texts)


def _known_instrument(table: Cells, roles: Roles) -> Instrument | None:
    """The instrument whose items these are; a row of a cluster that failed may have none."""
    name = roles.get("item")
    if roles.source != "truth" or name is None:
        return None
    items = {item if isinstance(item, str) else None for item in table.values[name]}
    return instrument_with(items - {None, ""})


def _told(source: Source | None, roles: Roles, inferred: Instrument | None) -> Source | None:
    """A source with how its table was understood."""
    renamed = {role: name for role, name in roles.columns.items() if role != name}
    return source and replace(source, columns=renamed or None, instrument=inferred.name if inferred else None)


def _by_system(table: Cells, roles: Roles) -> dict[str, Cells]:
    """The rows of each system, by its name."""
    column = roles.get("system")
    if column is None:
        return {"": table}
    cells = (table.written if table.as_text else table.values)[column]
    for row, name in enumerate(cells, 1):
        is_name = isinstance(name, str) and name.strip() == name != ""
        if not is_name and type(name) is not int:
            raise UserError(f"row {row}: {shown(column)} {literal(name)}, expected the name of a system")
    names = [*map(str, cells)]
    return {name: table.only([each == name for each in names]) for name in dict.fromkeys(names)}


def _raw_units(table: Cells, roles: Roles, instrument: Instrument | None, options: TableOptions) -> RawUnits:
    if roles.source != "truth":
        if instrument not in (None, PHQ8):
            raise UserError(f"{instrument.name} bounds truths and predictions; losses have no use for an instrument")
        instrument = None
    _check_options(roles, options)
    clusters = _clusters(table, roles, options)
    failed: dict[ClusterId, None] = {}
    if success := roles.get("success"):
        flags = table.flags(success)
        failed = _failures(clusters, flags)
        table, clusters = table.only(flags), [*compress(clusters, flags)]
    items = _items(table, roles, clusters, instrument)
    lost = _failed_units(table, roles, zip(clusters, items, strict=True), options.failed_units)
    if lost and options.failed_units == "drop":
        gone = {*lost.names}
        flags = [name not in gone for name in zip(clusters, items, strict=True)]
        table, clusters, items = table.only(flags), [*compress(clusters, flags)], [*compress(items, flags)]
        left = {*clusters}
        failed |= dict.fromkeys(cluster for cluster, _ in lost.names if cluster not in left)
    groupings = table_groups(table, options.group or {})
    used = {*roles.columns.values(), *(each.column.name for each in groupings.values() if each.column), GROUPS}
    return RawUnits(
        clusters=clusters,
        items=items,
        **_answers(table, roles, instrument, options),
        abstained=Column.of(table.flags(roles["abstained"])) if roles.get("abstained") else None,
        signals={name: Column.of(values) for name, values in table.values.items() if name not in used},
        failed=[*failed],
        failed_units=lost,
        groups=groupings,
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


def _clusters(table: Cells, roles: Roles, options: TableOptions) -> list[ClusterId]:
    """Whose each row is; a row of its own is called by its item, so that two systems are paired by it."""
    name = roles.get("cluster")
    if not options.every_row_its_own_cluster:
        return table.ids(roles["cluster"], "cluster")
    if name is not None:
        raise UserError(f"the column {shown(name)} says whose each row is: leave out --every-row-its-own-cluster")
    item = roles.get("item")
    return [*range(1, table.rows + 1)] if item is None else table.ids(item, "item")


def _items(table: Cells, roles: Roles, clusters: list[ClusterId], instrument: Instrument | None) -> list[str]:
    """The item of every row: its name, or its number within the cluster."""
    name = roles.get("item")
    if name is None:
        if instrument:
            error = missing_column("item", "item", table.values)
            raise UserError(f"{error}; a table without the items of {instrument.name} needs --instrument none")
        numbers = {cluster: count(1) for cluster in clusters}
        return [str(next(numbers[cluster])) for cluster in clusters]
    cells = (table.written if table.as_text else table.values)[name]
    for cluster, item in zip(clusters, cells, strict=True):
        is_name = isinstance(item, str) and item.strip() == item != ""
        if not is_name and (instrument or type(item) is not int):
            expected = "its name" if instrument else "a number or a name without spaces around it"
            raise UserError(f"cluster {shown(cluster)}: item {literal(item)}, expected {expected}")
    return cells if table.as_text else [*map(str, cells)]


def _answers(table: Cells, roles: Roles, instrument: Instrument | None, options: TableOptions) -> dict[str, Any]:
    """Losses, or truths and predictions as numbers, or as texts where there is no instrument."""
    if roles.source != "truth":
        name = roles[roles.source]
        cells = table.numbers(name)
        scores = (options.score_range or (0.0, 1.0)) if roles.source == "score" else None
        nothing = Column.of([None] * len(cells))
        loss = LossColumn(cells, name, scores, options.loss_max)
        return {"truth": nothing, "prediction": nothing, "loss": loss}
    names = roles["truth"], roles["prediction"]
    if instrument is None and not table.texts.isdisjoint(names):
        labels, (truth, prediction) = label_numbers(*map(table.labels, names))
        return {"truth": truth, "prediction": prediction, "labels": labels}
    return {role: Column.of(table.values[roles[role]]) for role in ("truth", "prediction")}


def _failed_units(table: Cells, roles: Roles, names: Iterable[tuple[ClusterId, str]], rule: str) -> FailedUnits | None:
    """The units whose status is failed, None if there are none."""
    column = roles.get("status")
    if column is None:
        return None
    cells = [*zip(names, table.values[column], strict=True)]
    for (cluster, item), state in cells:
        if state not in _STATES:
            unit = f"cluster {shown(cluster)}, {shown(item)}"
            raise UserError(f"{unit}: {shown(column)} {literal(state)}, expected {' or '.join(_STATES)}")
    failed = tuple(name for name, state in cells if state == "failed")
    if failed and rule == "refuse":
        unit = f"cluster {shown(failed[0][0])}, {shown(failed[0][1])}"
        raise UserError(and_more(f"{unit}: it failed; --failed-units drop leaves such units out", len(failed)))
    return FailedUnits(rule, failed) if failed else None


def _failures(clusters: list[ClusterId], flags: list[Any]) -> dict[ClusterId, None]:
    """The clusters that failed, in order; their rows count in nothing else."""
    for cluster, flag in zip(clusters, flags, strict=True):
        if type(flag) is not bool:
            raise UserError(f"cluster {shown(cluster)}: success {literal(flag)}, expected true or false")
    failed = dict.fromkeys(compress(clusters, map(not_, flags)))
    for cluster in compress(clusters, flags):
        if cluster in failed:
            raise UserError(f"cluster {shown(cluster)} both succeeded and failed")
    return failed
