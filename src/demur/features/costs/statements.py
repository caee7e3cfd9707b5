"""Costs: the cheapest policy at each price of an abstention, and the prices at which one system is cheaper."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from demur.features.costs.prices import price_of
from demur.features.costs.quantities import COST, OF_ALL
from demur.features.costs.recorded import prices_of
from demur.inference.estimates import Estimate, deciding
from demur.inference.key import Key
from demur.results.table import Results
from demur.show.names import NamedSystem, Pair, pairs_of, systems_of
from demur.show.statements.statement import Statement
from demur.show.text import three, threshold_at

_PARTS = {1: "as much as", 2: "half", 3: "a third of", 4: "a quarter of", 5: "a fifth of", 10: "a tenth of"}
_PARTS |= {20: "a twentieth of", 50: "a fiftieth of", 100: "a hundredth of"}


def in_words(price: Fraction) -> str:
    """A price as a share of the worst error.

    >>> in_words(Fraction(1, 10)), in_words(Fraction(3, 20)), in_words(Fraction(0))
    ('a tenth of the worst error', '0.15 of the worst error', 'nothing')
    """
    if not price:
        return "nothing"
    part = _PARTS.get(price.denominator) if price.numerator == 1 else None
    return f"{part or f'{float(price):.3g} of'} the worst error"


@dataclass(frozen=True, slots=True)
class Policy(Statement):
    """Which answers to decline: below a threshold, all (no threshold), or none (`answers_all`)."""

    threshold: str | None
    answers_all: bool = False

    @property
    def words(self) -> str:
        """The policy."""
        if self.threshold is None:
            return "declining everything"
        return "answering everything it can" if self.answers_all else f"declining below {self.threshold}"

    @property
    def declined(self) -> str:
        """What is declined, as a cell of a table."""
        return "everything" if self.threshold is None else "nothing" if self.answers_all else self.threshold


def policy(results: Results, system: str, confidence: str, cost: Estimate) -> Policy:
    """The policy that a lowest cost belongs to."""
    record = results.curves[system, confidence]
    if cost.threshold is None:
        return Policy(None)
    points = record.curve.threshold
    return Policy(threshold_at(record, points.index(cost.threshold)), answers_all=cost.threshold == points[-1])


@dataclass(frozen=True, slots=True)
class CheapestPolicy(Statement):
    """The cheapest policy of a system at a price; `system` is empty where there is one alone."""

    system: str
    price: Fraction
    policy: Policy
    cost: float
    cost_of_all: float

    @property
    def starts_with_name(self) -> bool:
        """Whether the system is named first."""
        return bool(self.system)

    @property
    def words(self) -> str:
        """The policy, its cost, and that of the nearest simple one."""
        against = f"{three(self.cost_of_all)} for answering everything"
        if self.cost == self.cost_of_all:
            against = f"{three(float(self.price))} for declining everything"
        silence = f"if a silence costs {in_words(self.price)}, {self.policy.words} is cheapest"
        return f"{self.system and f'{self.system}: '}{silence}: {three(self.cost)} per unit, against {against}"


@dataclass(frozen=True, slots=True)
class CheaperBetween(Statement):
    """A range of prices at which a system is cheaper than the other, both ends included."""

    system: str
    first: str
    last: str
    starts_with_name: ClassVar[bool] = True

    @property
    def words(self) -> str:
        """The system and the prices."""
        between = self.first if self.first == self.last else f"between {self.first} and {self.last}"
        return f"{self.system} is cheaper where an abstention costs {between}"


@dataclass(frozen=True, slots=True)
class NeitherCheaper(Statement):
    """Two systems of which neither is shown to be cheaper at any requested price."""

    first: str
    second: str

    @property
    def words(self) -> str:
        """The two systems."""
        neither = f"neither {self.first} nor {self.second} is shown to be cheaper at any of these prices"
        return f"{neither}: the simultaneous 95 % intervals include 0"


def cost_statements(results: Results, confidence: str) -> Iterator[Statement]:
    """What is said of each system at each price, and of each pair."""
    for system in systems_of(results):
        yield from _cheapest(results, system, confidence)
    for pair in pairs_of(results):
        yield from cheaper(results, pair, confidence)


def _cheapest(results: Results, system: NamedSystem, confidence: str) -> Iterator[CheapestPolicy]:
    name = system.name if len(results.systems) > 1 else ""
    for price in prices_of(results):
        cost, of_all = (results.get(Key(system.system, f"{stem}@{price}", confidence)) for stem in (COST, OF_ALL))
        if cost is not None and of_all is not None:
            chosen = policy(results, system.system, confidence, cost)
            yield CheapestPolicy(name, price_of(price), chosen, cost.value, of_all.value)


def cheaper(results: Results, pair: Pair, confidence: str) -> Iterator[CheaperBetween | NeitherCheaper]:
    """The prices at which one of two systems is cheaper, by the simultaneous band over all prices."""
    prices = sorted(prices_of(results), key=price_of)
    winners = [_winner(results, pair, confidence, price) for price in prices]
    for system in (pair.first, pair.second):
        for first, last in _runs([winner == system.system for winner in winners]):
            yield CheaperBetween(system.name, prices[first], prices[last])
    if prices and not any(winners):
        yield NeitherCheaper(pair.first.name, pair.second.name)


def _winner(results: Results, pair: Pair, confidence: str, price: str) -> str | None:
    difference = results.get(pair.key(f"{COST}@{price}", confidence))
    ends = None if difference is None else deciding(difference)
    if ends is None or ends.low <= 0 <= ends.high:
        return None
    return pair.other.system if ends.high < 0 else pair.baseline.system


def _runs(flags: list[bool]) -> Iterator[tuple[int, int]]:
    """Where flags are true in a row: the first and the last of each run.

    >>> [*_runs([True, True, False, True])]
    [(0, 1), (3, 3)]
    """
    start = None
    for index, flag in enumerate([*flags, False]):
        if flag and start is None:
            start = index
        elif not flag and start is not None:
            yield start, index - 1
            start = None
