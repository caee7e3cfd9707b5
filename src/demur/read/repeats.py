"""Reduces the repeats of a question to one unit: the first repeat, or the most frequent answer."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from demur.errors import UserError, and_more, shown
from demur.facts.codes import Codes
from demur.facts.columns import Column
from demur.facts.raw_units import RawUnits
from demur.facts.signals import consistency, modal
from demur.read.unit_rows import UnitRows

_OF_TEXTS = ("consistency_modal_confidence", "consistency_na_rate")


def first_rows(rows: UnitRows) -> UnitRows:
    """The first repeat of every question."""
    return rows.take(np.array([question[0] for question in _questions(rows)], dtype=np.intp))


def voted_rows(rows: UnitRows, raw: RawUnits, answers: Codes) -> tuple[UnitRows, dict[str, Column]]:
    """The first repeat of each question that gave its most frequent answer, and signals of how much repeats agree.

    `raw` has a unit per row, `answers` the answer of each: all numbers, or all texts.
    """
    answered = raw.answered
    silent = np.flatnonzero(answered & answers.where(lambda answer: not isinstance(answer, (str, int, float))))
    if silent.size:
        text = f"{raw.unit_name(int(silent[0]))}: no answer to vote with; --repeats first needs none"
        raise UserError(and_more(text, silent.size))
    texts = any(isinstance(answer, str) for answer in answers.values)
    votes = [answer if known else None for answer, known in zip(answers, answered.tolist(), strict=True)]
    chosen, signals = list[int](), list[dict[str, Any]]()
    for question in _questions(rows):
        own = [votes[row] for row in question]
        winner = modal(own)
        _check_agreement(raw, question, [row for row in question if votes[row] == winner is not None])
        chosen.append(question[own.index(winner)])
        signals.append(consistency(own))
    names = _OF_TEXTS if texts else tuple(consistency([0]))
    for name in names:
        if name in rows.table.values:
            raise UserError(f"voting computes a signal {name} too: leave out the column, or choose --repeats first")
    columns = {name: Column.of([values[name] for values in signals]) for name in names}
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
            raise UserError(f"{where}: repeats that are voted on must agree; --repeats first needs no vote")
