"""Statements on operating points, on the effect of answering less, and on the risk of all answers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from demur.errors import shown
from demur.inference.key import Key
from demur.results.file_models import CurveRecord
from demur.results.table import Results
from demur.show.names import NamedSystem, systems_of
from demur.show.statements.leaderboard import board_to_show
from demur.show.statements.statement import Statement, counted
from demur.show.text import listing, three

LEVEL = "95 % interval"  # of the risk at an operating point
NO_INTERVAL = "no interval at this point"
ABSENT = {
    "coverage": "no threshold reaches this coverage",
    "risk": "no threshold meets this limit",
    "threshold": "accepts nothing",
}
ASKED = {"coverage": "a coverage of at least", "risk": "a risk of at most", "threshold": "a threshold of"}
_SPOKEN = 2


class RiskWords(NamedTuple):
    """The wording of a risk: as a percentage of wrong answers, or as a mean loss."""

    percent: bool

    @property
    def clause(self) -> str:
        """The template of the clause about a system at an operating point, which the script of the page fills too."""
        wrong = "of which {risk} are wrong" if self.percent else "with a mean loss of {risk}"
        return "{who} answers {accepted} of {items} items ({coverage}), " + wrong + " ({interval})"

    @property
    def unit(self) -> str:
        """The unit after a number."""
        return "%" if self.percent else ""

    def number(self, risk: float) -> str:
        """A risk formatted to three digits, without its unit."""
        return three(100 * risk if self.percent else risk)

    def risk(self, risk: float) -> str:
        """A risk formatted to three digits, with its unit."""
        return f"{self.number(risk)}{self.unit}"

    def ends(self, record: CurveRecord, point: int) -> tuple[str, str] | None:
        """The limits of the interval of the risk at a point, formatted without unit; None if there is no interval."""
        intervals = record.risk_intervals
        low, high = (None, None) if intervals is None else (intervals.low[point], intervals.high[point])
        return None if low is None or high is None else (self.number(low), self.number(high))

    def between(self, ends: tuple[str, str]) -> str:
        """The limits of an interval, joined and with their unit."""
        return f"{ends[0]}{self.unit} to {ends[1]}{self.unit}"


def risk_words(results: Results) -> RiskWords:
    """The wording of risks for these results."""
    return RiskWords(results.selective.loss.name == "zero_one")


def spoken(results: Results) -> list[NamedSystem]:
    """The systems that a sentence names: all of up to two, or the first of the leaderboard."""
    systems = systems_of(results)
    if len(systems) <= _SPOKEN:
        return [*systems]
    board = board_to_show(results)
    first = board.standings[0].system if board else systems[0].system
    return [system for system in systems if system.system == first]


@dataclass(frozen=True, slots=True)
class OperatingPoints(Statement):
    """States the operating point of each system that meets a target; None if it has none."""

    way: str
    target: str
    wording: RiskWords
    units: int
    points: tuple[tuple[str, CurveRecord, int | None], ...]

    @property
    def words(self) -> str:
        """The target, and the coverage and risk of each system there, in words."""
        return f"for {ASKED[self.way]} {self.target}: {'; '.join(self._clauses())}"

    def _clauses(self) -> Iterator[str]:
        for name, record, point in self.points:
            if point is None:
                yield f"{name}: {ABSENT[self.way]}"
                continue
            coverage, ends = record.curve.coverage[point], self.wording.ends(record, point)
            yield self.wording.clause.format(
                who=name,
                accepted=round(coverage * self.units),
                items=self.units,
                coverage=f"{coverage:.1%}",
                risk=self.wording.risk(record.curve.selective_risk[point]),
                interval=f"{LEVEL} {self.wording.between(ends)}" if ends else NO_INTERVAL,
            )


@dataclass(frozen=True, slots=True)
class AnsweringLess(Statement):
    """States how the risk changes by answering half as much: name, two coverages and two risks of each system."""

    wording: RiskWords
    by_system: tuple[tuple[str, tuple[float, float], tuple[float, float]], ...]

    @property
    def words(self) -> str:
        """The change of each system, or that no threshold changes anything."""
        return "; ".join(self._changes()) or "there is one operating point: no threshold changes anything"

    def _changes(self) -> Iterator[str]:
        for name, coverages, (now, then) in self.by_system:
            less = "from {:.1%} to {:.1%} of the items".format(*coverages)
            change = f"{'falls' if then < now else 'rises'} from {self.wording.risk(now)} to {self.wording.risk(then)}"
            risk = change if then != now else f"stays at {self.wording.risk(now)}"
            yield f"if {name} answers less, {less}, its risk {risk}"


def answering_less(results: Results, confidence: str) -> AnsweringLess:
    """The statement on answering half as much, for the systems that a sentence names."""
    changes = []
    for system in spoken(results):
        curve = results.curves[system.system, confidence].curve
        if len(curve.coverage) > 1:
            half = min(range(len(curve.coverage)), key=lambda i: abs(curve.coverage[i] - curve.coverage[-1] / 2))
            coverages = (curve.coverage[-1], curve.coverage[half])
            changes.append((system.name, coverages, (curve.selective_risk[-1], curve.selective_risk[half])))
    return AnsweringLess(risk_words(results), tuple(changes))


@dataclass(frozen=True, slots=True)
class RisksOfAll(Statement):
    """States the risk of all answers of each system; `unequal` if they answer different shares."""

    wording: RiskWords
    definition: str
    risks: tuple[tuple[str, float], ...]
    unequal: bool

    @property
    def words(self) -> str:
        """The risks, with a caution if they are not comparable."""
        if not self.risks:
            return "nothing is answered, so nothing can be wrong"
        subject = "share of wrong answers" if self.wording.percent else f"mean loss ({shown(self.definition)})"
        aside = ", which are about different items," if self.unequal else ""
        listed = listing([f"{self.wording.risk(risk)} for {name}" for name, risk in self.risks])
        return f"the {subject} among all answers{aside} is {listed}"


def risks_of_all(results: Results, confidence: str) -> RisksOfAll:
    """The statement on the risk of all answers, for each system that answers anything."""
    risks = [(system.name, results[Key(system.system, "risk", confidence)].value) for system in systems_of(results)]
    defined = tuple((name, risk) for name, risk in risks if not math.isnan(risk))
    unequal = len({results.curves[system, confidence].cmax for system in results.systems}) > 1
    return RisksOfAll(risk_words(results), results.selective.loss.definition, defined, unequal)


@dataclass(frozen=True, slots=True)
class IntervalsOfRisk(Statement):
    """States the interval of the risk of all answers of each system; None if it has none."""

    wording: RiskWords
    ends: tuple[tuple[str, tuple[str, str] | None], ...]
    noun: str
    clusters: int

    @property
    def words(self) -> str:
        """The intervals, and the number of clusters they are based on."""
        texts = [f"{self.wording.between(ends) if ends else 'not known'} for {name}" for name, ends in self.ends]
        return f"the {LEVEL} of that risk is {listing(texts)}, from {counted(self.clusters, self.noun)}"


def intervals_of_risk(results: Results, confidence: str) -> IntervalsOfRisk:
    """The statement on the interval of the risk of all answers of each system."""
    wording, study = risk_words(results), results.selective
    records = [(system.name, results.curves[system.system, confidence]) for system in systems_of(results)]
    ends = tuple(
        (name, wording.ends(record, len(record.curve.coverage) - 1) if record.defined else None)
        for name, record in records
    )
    return IntervalsOfRisk(wording, ends, study.noun, study.clusters_included)


@dataclass(frozen=True, slots=True)
class ComparedWithNobody(Statement):
    """One system alone, and what was not given to compare it with."""

    missing: tuple[Statement, ...] = ()

    @property
    def words(self) -> str:
        """The statement in words, with how to add a comparison."""
        return ", and ".join(["with nobody: this is one system", *(statement.words for statement in self.missing)])


@dataclass(frozen=True, slots=True)
class WorstItems(Statement):
    """States the item with the highest risk of each system, among items with enough answers, or why there is none.

    `items` is empty if there are too few, or if items are not distinguished, as in a summary (`summarized`).
    """

    wording: RiskWords
    worst: tuple[tuple[str, str, float], ...]
    items: int
    few: int
    summarized: bool

    @property
    def words(self) -> str:
        """The items, or the reason why there are none, in words."""
        if self.summarized and not self.items:
            return "summaries do not tell items apart"
        if not self.items:
            enough = f"at least {self.few} units each"
            return f"items are compared if an instrument fixes them, or if up to 30 are named, with {enough}"
        if not self.worst:
            return f"no two items have {self.few} answers, so none is called worse"
        listed = listing([f"{item} for {name} ({self.wording.risk(risk)})" for name, item, risk in self.worst])
        return f"by item, it is most often or most severely wrong on {listed}"
