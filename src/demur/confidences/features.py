"""Signals as numeric columns; a value that is absent, null or not a number is an error unless a default is declared."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from demur.errors import UserError, and_more, literal, shown
from demur.facts.columns import MISSING, Column, State, plain
from demur.facts.items import Items
from demur.facts.signals import SIGNALS
from demur.types import Flags, Floats


@dataclass(frozen=True, slots=True)
class Need:
    """A required signal, with the values that replace a null and an absent signal; None makes these errors."""

    signal: str
    null: float | None = None
    absent: float | None = None

    def problem(self, items: Items) -> str | None:
        """The first answered unit without a usable value, and the number of others, as text; None if there is none."""
        column = items.signals.get(self.signal)
        if column is None:
            needed = items.answered if items.answered.any() else ~items.answered
            return None if self.absent is not None else _at(items, needed, f"{self.signal} is missing")
        missing, null = items.answered & column.is_(State.MISSING), items.answered & column.is_(State.NULL)
        if missing.any():
            return _at(items, missing, f"{self.signal} is missing")
        if self.null is None and null.any():
            return _at(items, null, f"{self.signal} is null")
        bad = items.answered & ~column.usable() & ~null
        if not bad.any():
            return None
        return _at(items, bad, f"{self.signal} {literal(column.cell(int(np.argmax(bad))))}, expected a finite number")

    def numbers(self, items: Items) -> Floats:
        """The signal of the answered units, with nulls and absence replaced; there must be no `problem`."""
        column = items.signals.get(self.signal)
        if column is None:
            return np.full(int(items.answered.sum()), self.absent)
        values = column.values if self.null is None else np.where(column.is_(State.NULL), self.null, column.values)
        return values[items.answered]


def _at(items: Items, bad: Flags, complaint: str) -> str:
    return and_more(f"{items.place(int(np.argmax(bad)))}: {complaint}", int(bad.sum()))


def first_problem(needs: Iterable[Need], items: Items) -> str | None:
    """The first of these needs that a run cannot meet, as text; None if it meets all."""
    return next(filter(None, (need.problem(items) for need in needs)), None)


def nulls_filled(needs: Iterable[Need], items: Items) -> dict[str, int]:
    """The number of nulls replaced among the answered units, by signal; signals without any are left out."""
    filled = [need.signal for need in needs if need.null is not None and need.signal in items.signals]
    nulls = {signal: items.number_of(items.signals[signal].is_(State.NULL) & items.answered) for signal in filled}
    return {signal: count for signal, count in nulls.items() if count}


class Features(NamedTuple):
    """One column per feature, with one value per answered unit, and the number of nulls replaced in each."""

    columns: Mapping[str, Floats]
    nulls_filled: Mapping[str, int]


class CalibratorFeatureExtractor:
    """Named signals as a calibrator's features.

    A null is replaced by the signal's declared cautious value, and counted. A null without such a value is an error,
    and so is a signal that is absent or not a number.

    >>> extractor = CalibratorFeatureExtractor(["verbalized_confidence", "token_msp"])
    >>> extractor.extract({"token_msp": 0.9, "verbalized_confidence": None, "llm_evidence_count": 2})
    {'verbalized_confidence': 3.0, 'token_msp': 0.9}
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.names = (names,) if isinstance(names, str) else tuple(names)
        if not self.names or len(set(self.names)) < len(self.names):
            raise UserError(f"features {literal(list(self.names))}, expected one name or more, none of them twice")
        for name in self.names:
            if not isinstance(name, str) or not name:
                raise UserError(f"feature {literal(name)}, expected the name of a signal")
            if name in SIGNALS and SIGNALS[name].text:
                raise UserError(f"the signal {name} is text and cannot be a feature")
        declared = [(name, SIGNALS.get(name)) for name in self.names]
        self.needs = [Need(name, null=signal.cautious if signal else None) for name, signal in declared]

    def __call__(self, items: Items) -> Features:
        """The features of a run's answered units."""
        for need in self.needs:
            problem = need.problem(items)
            if problem:
                no_number = need.null is None and " is null" in problem
                reason = "; no cautious number stands for it" if no_number else ""
                raise UserError(f"feature {shown(need.signal)}: {problem}{reason}")
        return Features({need.signal: need.numbers(items) for need in self.needs}, nulls_filled(self.needs, items))

    def extract(self, item_signals: Mapping[str, object]) -> dict[str, float]:
        """The features of one unit, from its signals."""
        numbers: dict[str, float] = {}
        for need in self.needs:
            name, declared = need.signal, SIGNALS.get(need.signal)
            column = Column.of([plain(item_signals.get(name, MISSING))])
            null = None if not column.is_(State.NULL)[0] else need.null
            numbers[name] = float(column.values[0] if null is None else null)
            if not math.isfinite(numbers[name]) or (declared is not None and not declared.allows(numbers[name])):
                expected = declared.expected if declared else "a finite number"
                raise UserError(f"feature {shown(name)}: {literal(column.cell(0))}, expected {expected}")
        return numbers
