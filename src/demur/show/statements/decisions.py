"""Decisions by a difference from the baseline, and whether its two sides are comparable."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from demur.inference.estimates import Estimate, deciding
from demur.inference.intervals import Interval
from demur.inference.key import Key
from demur.inference.warnings import FEW_DISCORDANT
from demur.quantities import Measure
from demur.quantities.registry import COVERAGE, CUT
from demur.results.table import Results
from demur.show.statements.statement import Statement
from demur.show.text import interval_text

_PAIR = 2
_WHY = {
    "all silent": "nothing is answered",
    "one silent": "one side answers nothing",
    "cmax": "not comparable: Cmax differs",
    "range": "not comparable: one side ends before",
    "coverage": "not comparable: reached at different coverages",
}


@dataclass(frozen=True, slots=True)
class Incomparable(Statement):
    """States why the two sides of a difference are not comparable; `reached` are their coverages if those differ."""

    why: Literal["all silent", "one silent", "cmax", "range", "coverage"]
    reached: tuple[float, float] | None = None

    @property
    def words(self) -> str:
        """The reason with the coverages."""
        if self.reached is None:
            return self.rule
        return "not comparable: reached at {:.3g} and {:.3g}".format(*self.reached)

    @property
    def rule(self) -> str:
        """The reason without its numbers, to be stated once for several differences."""
        return _WHY[self.why]


@dataclass(frozen=True, slots=True)
class DecidingInterval(Statement):
    """Names the interval that decides a difference; `ends` are its limits if another interval is shown."""

    kind: Literal["shown", "recommended", "simultaneous"] = "shown"
    ends: Interval | None = None

    @property
    def words(self) -> str:
        """The name of the interval, with its limits if given."""
        if self.kind == "shown":
            return "95 % interval"
        return f"{self.kind} 95 % interval{'' if self.ends is None else f' {interval_text(self.ends)}'}"


# How many clusters of a kind must bear on a difference, and what fewer of them do; informative clusters aside, whose
# number a quantity declares. An extension adds its own kinds.
TOO_FEW: dict[str, tuple[int, str]] = {"discordant_clusters": (FEW_DISCORDANT, "differ")}


@dataclass(frozen=True, slots=True)
class Doubt(Statement):
    """States why a difference that excludes 0 is unreliable: it is based on too few clusters."""

    noun: str
    condition: str

    @property
    def words(self) -> str:
        """The reason in words."""
        return f"too few {self.noun}s {self.condition}"


@dataclass(frozen=True, slots=True)
class Decision:
    """The system that a difference favours, or why it favours none; all empty where there is nothing to decide by.

    It favours none if its sides are `incomparable`, if there is an `obstacle` to every decision, or if the interval
    includes 0 (`undecided`).
    """

    winner: str | None = None
    incomparable: Incomparable | None = None
    obstacle: str = ""
    undecided: bool = False
    by: DecidingInterval = DecidingInterval()
    doubt: Doubt | None = None

    @property
    def comparable(self) -> bool:
        """Whether nothing forbids comparing the two sides, whatever the decision."""
        return self.incomparable is None and not self.obstacle

    @property
    def reason(self) -> str:
        """The reason why no system is favoured; empty if one is, or if there is nothing to decide by."""
        if self.undecided:
            return f"undecided, as the {self.by.words} includes 0"
        return self.obstacle if self.incomparable is None else self.incomparable.words


@dataclass(frozen=True, slots=True)
class Conclusion(Statement):
    """States what a difference decides; `names` are those of the systems in this place.

    `beyond` marks a coverage that a system does not reach, `named` asks for the name of the deciding interval, because
    another one is shown, and `otherwise` is said where there is nothing to decide.
    """

    decision: Decision
    names: Mapping[str, str]
    beyond: bool = False
    named: bool = False
    otherwise: str = ""

    @property
    def words(self) -> str:
        """The better system and any doubt, or the reason why none is; empty if there is nothing to decide by."""
        decision = self.decision
        if self.beyond:
            return "beyond Cmax"
        if decision.winner is None:
            return decision.reason or self.otherwise
        winner = self.names[decision.winner]
        better = (
            f"{winner} is better" if decision.doubt is None else f"{winner} looks better, but {decision.doubt.words}"
        )
        return f"{better}, by the {decision.by.words}" if self.named else better


def conclusion(results: Results, key: Key, names: Mapping[str, str]) -> Conclusion:
    """The conclusion from the difference with this key."""
    difference = results[key]
    at_coverage = Measure.of(key.quantity).quantity.parameter is COVERAGE
    beyond = at_coverage and math.isnan(difference.value)
    return Conclusion(decide(results, key), names, beyond, named=difference.requested is not None)


def decide(results: Results, key: Key) -> Decision:
    """The decision about two systems by the difference with this key.

    The level is 95 %, whatever other interval is shown. The difference that was named beforehand is decided by its
    recommended interval, all others by their simultaneous one.
    """
    quantity, contrast = Measure.of(key.quantity).quantity, results.get(key)
    if contrast is None or math.isnan(contrast.value) or key.minus is None:
        return Decision()
    incomparable = why_not_comparable(results, key)
    if incomparable is not None or not quantity.judged:
        return Decision(incomparable=incomparable)
    recommended, obstacle = contrast.recommended, results.why_nothing_decides
    if obstacle or recommended is None:
        return Decision(obstacle=obstacle)
    interval, by = deciding(contrast) or recommended, DecidingInterval()
    if contrast.requested is not None:
        by = DecidingInterval("recommended", recommended)
    if contrast.simultaneous is not None and not recommended.low <= 0 <= recommended.high:
        by = DecidingInterval("simultaneous")
    if interval.low <= 0 <= interval.high:
        return Decision(undecided=True, by=by)
    subtracted = str(key.minus.value)
    larger, smaller = (key.system, subtracted) if interval.low > 0 else (subtracted, key.system)
    return Decision(larger if quantity.better == "higher" else smaller, by=by, doubt=_doubt(results, key))


def _doubt(results: Results, key: Key) -> Doubt | None:
    """Why a difference that excludes 0 is not reliable: too few clusters differ, or bear on its sides."""
    noun = results.study.noun
    limits = {**TOO_FEW, "informative_clusters": (Measure.of(key.quantity).quantity.enough, "hold an error")}
    sides = [replace(key, system=name, minus=None) for name in (key.system, str(key.minus and key.minus.value))]
    for estimate in map(results.get, (key, *sides)):
        interval = None if estimate is None else estimate.recommended
        if estimate is not None and interval is None and _without_a_loss(results, estimate.key):
            return Doubt(noun, limits["informative_clusters"][1])
        if interval is not None and interval.count is not None and interval.decided_by in limits:
            limit, condition = limits[interval.decided_by]
            if interval.count < limit:
                return Doubt(noun, condition)
    return None


def _without_a_loss(results: Results, key: Key) -> bool:
    """Whether a number has no interval because no answer in its range has a loss."""
    codes = ("no_errors", "few_informative_clusters")
    return any(warning.code in codes and warning.about.matches(key) for warning in results.warnings)


def why_not_comparable(results: Results, key: Key) -> Incomparable | None:
    """The reason why the two sides of a difference are not comparable; None if they are."""
    comparable = Measure.of(key.quantity).quantity.comparable
    if not comparable or key.minus is None:
        return None
    pair = [system for system in results.systems if system in (key.system, key.minus.value)]
    curves = [results.curves[system, key.confidence] for system in pair]
    if not all(curve.defined for curve in curves):
        return Incomparable("one silent" if any(curve.defined for curve in curves) else "all silent")
    if comparable == "cmax":
        return None if curves[0].cmax == curves[1].cmax else Incomparable("cmax")
    first, second = (results[Key(system, key.quantity, key.confidence)].at for system in pair)
    if comparable == "range":
        return None if first == second else Incomparable("range")
    return None if first is None or second is None or first == second else Incomparable("coverage", (first, second))


def is_measured(results: Results, estimate: Estimate) -> bool:
    """Whether a number is based on answers; without any, areas are 0 by convention."""
    quantity, key = Measure.of(estimate.key.quantity).quantity, estimate.key
    if math.isnan(estimate.value) or quantity.loss_free:
        return not math.isnan(estimate.value)
    silent = quantity.parameter is CUT and nothing_common(results, key.confidence)
    return results.curves[key.system, key.confidence].defined and not silent


def nothing_common(results: Results, confidence: str) -> bool:
    """Whether areas end at the common coverage, but fewer than two systems answer anything."""
    if results.selective.area_coverage is not None:
        return False
    return sum(results.curves[system, confidence].defined for system in results.systems) < _PAIR
