"""The rows of a long table as units, with repeats and failures, and the reduction of repeats to one unit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Self

import numpy as np

from demur.errors import UserError, and_more, literal, shown
from demur.facts.codes import Codes
from demur.facts.columns import Column
from demur.facts.ids import ClusterId
from demur.facts.instruments import Instrument
from demur.facts.raw_units import RawUnits
from demur.facts.signals import consistency, modal
from demur.options import as_column, as_option
from demur.read.cells import Cells
from demur.read.table_options import Roles, TableOptions
from demur.read.tables import missing_column
from demur.types import Flags, Indices

_STATE = re.compile("ok|failed(:.*)?", re.DOTALL)
_OF_TEXTS = ("consistency_modal_confidence", "consistency_na_rate")


@dataclass(frozen=True, slots=True)
class UnitRows:
    """The rows of clusters that did not fail as a whole; `repeats` numbers the repeats of an item, from 1.

    `causes` is the reason why a unit failed, "" if unknown, and None for a unit that did not fail.
    """

    table: Cells
    clusters: Codes
    items: Codes
    repeats: Codes | None
    causes: Codes
    failed_clusters: Sequence[ClusterId]

    def take(self, rows: Indices) -> Self:
        """The rows at these indices."""
        return replace(
            self,
            table=self.table.take(rows),
            clusters=self.clusters.take(rows),
            items=self.items.take(rows),
            repeats=None if self.repeats is None else self.repeats.take(rows),
            causes=self.causes.take(rows),
        )

    @property
    def failed(self) -> Flags:
        """Flags of the units that failed."""
        return self.causes.where(lambda cause: cause is not None)

    @property
    def is_repeated(self) -> bool:
        """Whether any item is repeated."""
        return self.repeats is not None and max(self.repeats.values, default=1) > 1

    def named(self) -> Self:
        """The rows with the number of the repeat added to the item's name, if any item is repeated."""
        if self.repeats is None or not self.is_repeated:
            return self
        return replace(self, items=self.items.paired(self.repeats).mapped(lambda pair: f"{pair[0]}#{pair[1]}"))

    def unit_name(self, row: int) -> str:
        """The name of a unit in error messages."""
        return f"cluster {shown(self.clusters[row])}, {shown(self.items[row])}"

    def lost(self) -> dict[tuple[ClusterId, str], str]:
        """The cause of failure of each failed unit, by (cluster, item)."""
        rows = np.flatnonzero(self.failed)[::-1].tolist()  # backwards, so that the first cause of a unit is kept
        causes = {(self.clusters[row], self.items[row]): self.causes[row] for row in rows}
        return dict(reversed(causes.items()))


def unit_rows(table: Cells, roles: Roles, instrument: Instrument | None, options: TableOptions) -> UnitRows:
    """Select the rows of a table that are units, and check their names."""
    clusters = _clusters(table, roles, own=options.every_row_its_own_cluster)
    failed_clusters: Sequence[ClusterId] = ()
    if success := roles.get("success"):
        succeeded = _succeeded(clusters, table.flags(success))
        failed_clusters = clusters.take(np.flatnonzero(~succeeded)).values
        rows_left = np.flatnonzero(succeeded)
        table, clusters = table.take(rows_left), clusters.take(rows_left)
    items = _items(table, roles, clusters, instrument)
    repeats = _repeats(table, roles, items)
    no_causes = Codes(np.zeros(table.rows, dtype=np.intp), [None])
    rows = UnitRows(table, clusters, items, repeats, no_causes, failed_clusters)
    if instrument and rows.is_repeated and options.repeats == "units":
        rules = " or ".join(as_option("repeats", rule) for rule in ("first", "vote"))
        raise UserError(f"{instrument.name} has every item once: reduce repeats by {rules}")
    return replace(rows, causes=_causes(rows.named(), roles, options.failed_units))


def _clusters(table: Cells, roles: Roles, *, own: bool) -> Codes:
    """The cluster of each row; if every row is its own cluster, its item is the id, which pairs two systems."""
    name = roles.get("cluster")
    if not own:
        return table.ids(roles["cluster"], "cluster")
    if name is not None:
        raise UserError(f"the column {shown(name)} holds clusters: leave out {as_option('every_row_its_own_cluster')}")
    item = roles.get("item")
    return Codes(np.arange(table.rows), range(1, table.rows + 1)) if item is None else table.ids(item, "item")


def _items(table: Cells, roles: Roles, clusters: Codes, instrument: Instrument | None) -> Codes:
    """The item of every row: its name, or its number within the cluster."""
    name = roles.get("item")
    if name is None:
        if instrument:
            error = missing_column("item", "item", table.values)
            raise UserError(
                f"{error}; a table without the items of {instrument.name} needs {as_option('instrument', 'none')}"
            )
        return _running_numbers(clusters)
    cells = table.codes(name)
    wrong = cells.first(lambda item: not is_name(item) and (bool(instrument) or type(item) is not int))
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


def _repeats(table: Cells, roles: Roles, items: Codes) -> Codes | None:
    """Which repeat of its item each row is."""
    name = roles.get("repeat")
    if name is None:
        return None
    if roles.get("item") is None:
        raise UserError(f"the column {shown(name)} counts repeats of an item: map that too, {as_column('item')}")
    repeats = table.codes(name).mapped(table.value)
    wrong = repeats.first(lambda repeat: type(repeat) is not int or repeat < 1)
    if wrong is not None:
        raise UserError(f"item {literal(items[wrong])}: repeat {literal(repeats[wrong])}, expected an integer from 1")
    return repeats


def _causes(rows: UnitRows, roles: Roles, rule: str) -> Codes:
    """Why each unit failed, by its status: ok, failed, or `failed: ` and the cause."""
    column = roles.get("status")
    if column is None:
        return rows.causes
    states = rows.table.codes(column)
    wrong = states.first(lambda state: not (isinstance(state, str) and _STATE.fullmatch(state)))
    if wrong is not None:
        value = literal(rows.table.value(states[wrong]))
        raise UserError(f"{rows.unit_name(wrong)}: {shown(column)} {value}, expected ok, failed or failed: CAUSE")
    failed = states.where(lambda state: state != "ok")
    if rule == "refuse" and failed.any():
        leaving_out = as_option("failed_units", "drop")
        text = f"{rows.unit_name(int(np.argmax(failed)))}: it failed; {leaving_out} leaves such units out"
        raise UserError(and_more(text, int(failed.sum())))
    return states.mapped(lambda state: None if state == "ok" else state.removeprefix("failed").lstrip(":").strip())


def _succeeded(clusters: Codes, flags: Codes) -> Flags:
    """Which rows belong to clusters that succeeded; all rows of a cluster must agree."""
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


def is_name(cell: object) -> bool:
    """Whether a cell is a text that can be a name: not empty, and without spaces around it."""
    return isinstance(cell, str) and cell.strip() == cell != ""


def first_rows(rows: UnitRows) -> UnitRows:
    """Keep the first repeat of every question."""
    return rows.take(np.array([question[0] for question in _questions(rows)], dtype=np.intp))


def voted_rows(rows: UnitRows, raw: RawUnits, answers: Codes) -> tuple[UnitRows, dict[str, Column]]:
    """Keep one repeat per question, the first with its most frequent answer, and compute signals of agreement.

    `raw` has a unit per row, `answers` the answer of each: all numbers, or all texts.
    """
    answered = raw.answered
    silent = np.flatnonzero(answered & answers.where(lambda answer: not isinstance(answer, (str, int, float))))
    if silent.size:
        text = f"{raw.unit_name(int(silent[0]))}: no answer to vote with; {as_option('repeats', 'first')} needs none"
        raise UserError(and_more(text, silent.size))
    texts = any(isinstance(answer, str) for answer in answers.values)
    votes = [answer if known else None for answer, known in zip(answers, answered.tolist(), strict=True)]
    chosen, signals = list[int](), list[dict[str, Any]]()
    for question in _questions(rows):
        cast = [votes[row] for row in question]
        winner = modal(cast)
        _check_agreement(raw, question, [row for row in question if votes[row] == winner is not None])
        chosen.append(question[cast.index(winner)])
        signals.append(consistency(cast))
    names = _OF_TEXTS if texts else tuple(consistency([0]))
    own = [name for name in names if name in rows.table.values]  # of repeats that were reduced before
    if own and rows.is_repeated:
        raise UserError(
            f"voting computes a signal {own[0]} too: leave out the column, or choose {as_option('repeats', 'first')}"
        )
    columns = {name: Column.of([values[name] for values in signals]) for name in names if name not in own}
    return rows.take(np.array(chosen, dtype=np.intp)), columns


def _questions(rows: UnitRows) -> Iterator[list[int]]:
    """The rows of each question, in the order of its repeats."""
    question = rows.clusters.paired(rows.items).numbers
    repeat = np.ones(len(question), dtype=np.int64)
    if rows.repeats is not None and len(question):
        repeat = np.array(rows.repeats.values, dtype=np.int64)[rows.repeats.numbers]
    order = np.lexsort((repeat, question))
    twice = order[1:][(np.diff(question[order]) == 0) & (np.diff(repeat[order]) == 0)]
    if twice.size:
        text = f"{rows.unit_name(int(twice[0]))}: repeat {repeat[twice[0]]} is given more than once"
        raise UserError(and_more(text, twice.size))
    starts = np.flatnonzero(np.diff(question[order], prepend=-1)).tolist()
    listed = order.tolist()
    yield from (listed[start:end] for start, end in pairwise([*starts, len(listed)]))


def _check_agreement(raw: RawUnits, question: list[int], same: list[int]) -> None:
    """Check that repeats of a question have the same truth, and those with the winning answer the same loss."""
    column, rows, what = (raw.truth, question, "ground truth") if raw.loss is None else (raw.loss.cells, same, "loss")
    for row in rows:
        if column.values[row] != column.values[rows[0]]:
            value, first = (shown(str(raw.label(column.cell(index)))) for index in (row, rows[0]))
            where = f"{raw.unit_name(row)}: {what} {value}, but {first} in {shown(raw.items[rows[0]])}"
            raise UserError(
                f"{where}: repeats that are voted on must agree; {as_option('repeats', 'first')} needs no vote"
            )
