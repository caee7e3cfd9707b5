"""Checks of units before they become facts: none appears twice or is missing, and every value is valid."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from demur.errors import UserError, and_more, shown
from demur.facts.columns import Column, State, wrong_value
from demur.facts.losses import LossColumn, is_flag
from demur.facts.signals import SIGNALS, Signal
from demur.types import Flags, Indices

if TYPE_CHECKING:
    from demur.facts.raw_units import RawUnits

_SCORES = (-(2.0**31), 2.0**31)
_Check = tuple[str, Column, Flags, str]  # the name of a column, its cells, which are wrong, and what is expected


def check_complete(units: RawUnits, cluster: Indices, item: Indices, order: Indices) -> None:
    """Check that no unit appears twice and, in this sorted `order`, that clusters have all items of an instrument."""
    twice = order[:-1][(cluster[1:] == cluster[:-1]) & (item[1:] == item[:-1])]
    if twice.size:
        raise UserError(and_more(f"{units.unit_name(int(twice[0]))}: given more than once", twice.size))
    names = units.instrument.items if units.instrument else ()
    short = np.flatnonzero(np.bincount(cluster) < len(names)) if names else np.zeros(0, np.intp)
    lost = {*units.failed_units.names} if units.failed_units else set()
    for incomplete in short if lost else ():
        own_id = units.clusters[int(order[np.argmax(cluster == incomplete)])]
        if np.sum(cluster == incomplete) + sum((own_id, name) in lost for name in names) == len(names):
            short = short[short != incomplete]
    if units.instrument and short.size:
        present = np.flatnonzero(cluster == short[0])
        cluster_id = units.clusters[int(order[present[0]])]
        expected = (index for index, name in enumerate(names) if (cluster_id, name) not in lost)
        missing = names[next(index for index in expected if index not in item[present])]
        unit = f"{units.noun} {shown(cluster_id)}, {shown(missing)}"
        text = f"{unit}: missing, expected all {len(names)} items of {units.instrument.name}"
        raise UserError(and_more(text, short.size))


def check_values(units: RawUnits) -> None:
    """Check losses or scores, declared signals and probabilities; other signals are checked when they are used."""
    if units.abstained is not None:
        wrong_flags = ~is_flag(units.abstained) & ~units.lost
        units.abstained.refuse(wrong_flags, "abstained", "true or false, or 1 or 0", units.unit_name)
    checks = [*(_wrong_losses(units, units.loss) if units.loss else _wrong_scores(units))]
    for name, column in units.signals.items():
        if signal := SIGNALS.get(name):
            checks.append((name, column, _is_no_signal(signal, column), f"{signal.expected} or null"))
    checks += _wrong_probabilities(units)
    wrong = [(int(np.argmax(bad)), check) for check in checks if (bad := check[2]).any()]
    if wrong:
        unit, (name, column, _, expected) = min(wrong, key=lambda mistake: mistake[0])
        text = f"{units.unit_name(unit)}: {name} {wrong_value(column.cell(unit), expected)}"
        raise UserError(and_more(text, sum(int(check[2].sum()) for check in checks)))


def _wrong_scores(units: RawUnits) -> Iterator[_Check]:
    scale = units.instrument
    low, high, score = (scale.minimum, scale.maximum, scale.score) if scale else (*_SCORES, "an integer")
    score = score if units.labels is None else "a text"
    wrong = units.answered & ~units.prediction.within(low, high, whole=True)
    yield "ground truth", units.truth, ~units.truth.within(low, high, whole=True), score
    yield "predicted", units.prediction, wrong, score if units.abstained else f"{score} or {units.no_answer}"


def _wrong_losses(units: RawUnits, loss: LossColumn) -> Iterator[_Check]:
    alternative = ", as abstained is false" if units.abstained else f" or {units.no_answer}"
    yield loss.role, loss.cells, loss.wrong(units.answered), loss.expected + alternative


def _wrong_probabilities(units: RawUnits) -> Iterator[_Check]:
    """Signals declared as probabilities, with the values outside [0, 1]; a NaN of an abstention is allowed."""
    for name in units.probabilities:
        column = units.signals[name]
        unused = np.isnan(column.values) & column.is_(State.NUMBER) & ~units.answered
        given = (column.is_(State.NUMBER) & ~unused) | column.is_(State.OTHER)
        yield name, column, given & ~column.within(0, 1), "a probability from 0 to 1 (--probability) or null"


def _is_no_signal(signal: Signal, column: Column) -> Flags:
    if not signal.text:
        good = column.within(signal.low, signal.high, whole=signal.whole)
        return np.asarray((column.is_(State.OTHER) | column.is_(State.NUMBER)) & ~good)
    return column.is_(State.NUMBER) | column.is_other(lambda value: not isinstance(value, str))
