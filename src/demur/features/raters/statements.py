"""Raters and published points: their risk beside that of a system at the same coverage, and handing over to a rater."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from demur.features.raters.gaps import ANSWERED_BY, both_key, gap_key, gap_verdict, handed_key, system_key
from demur.features.raters.models import ExternalPoint
from demur.features.raters.published import NO_UNCERTAINTY, OTHER_PEOPLE
from demur.features.raters.recorded import margin_of, points_of
from demur.inference.estimates import Estimate, deciding
from demur.inference.intervals import Interval
from demur.inference.key import Group, Key
from demur.results.table import Results
from demur.show.names import NamedSystem, systems_of
from demur.show.statements.of_features import Topic
from demur.show.statements.statement import Statement, counted
from demur.show.text import UNDEFINED, interval_text, three


@dataclass(frozen=True, slots=True)
class RiskGap(Statement):
    """How much higher or lower one risk is than another."""

    higher: float
    ends: Interval | None
    other: str = ""

    @classmethod
    def of_system(cls, gap: Estimate) -> RiskGap:
        """How much higher the risk of a system is than that of a rater: the negated gap."""
        ends = deciding(gap)
        return cls(0.0 - gap.value, None if ends is None else ends.negated())

    @property
    def words(self) -> str:
        """The size of the difference with its interval."""
        turned = self.ends.negated() if self.ends is not None and self.higher < 0 else self.ends
        between = "" if turned is None else f" {interval_text(turned)}"
        if not self.higher:
            return f"the same{between}{self.other and f' as {self.other}'}"
        side = "higher" if self.higher > 0 else "lower"
        return f"{three(abs(self.higher))} {side}{between}{self.other and f' than {self.other}'}"


@dataclass(frozen=True, slots=True)
class PointMeasured(Statement):
    """What a rater or a published point answered, and its risk."""

    point: ExternalPoint

    @property
    def words(self) -> str:
        """The share and the risk; other people are said to be others."""
        point = self.point
        items = "the items" if point.kind in ("paired", "forced") else "their items"
        aside = f" ({OTHER_PEOPLE})" if OTHER_PEOPLE in point.note else ""
        return f"{point.name}{aside} answered {point.coverage:.1%} of {items} at a risk of {three(point.risk)}"


@dataclass(frozen=True, slots=True)
class BesideSystem(Statement):
    """A point beside a system at the same coverage; `system` is empty where there is one alone."""

    point: PointMeasured
    system: str
    risk: float
    gap: Estimate
    margin: float | None
    noun: str
    clusters: int
    starts_with_name: ClassVar[bool] = True

    @property
    def words(self) -> str:
        """Both risks, their difference, and what it decides."""
        reason = self.gap.no_interval
        unknown = "nothing is known of its uncertainty" if reason in ("", NO_UNCERTAINTY) else reason
        verdict = gap_verdict(self.gap, self.margin) or f"not tested: {unknown}"
        people = f" with {counted(self.clusters, self.noun)}" if deciding(self.gap) else ""
        own = f"that of {self.system}" if self.system else "the system's"
        gap = RiskGap.of_system(self.gap).words
        return f"{self.point.words}; at that coverage {own} is {three(self.risk)}: {gap}, {verdict}{people}"


@dataclass(frozen=True, slots=True)
class SharedUnits(Statement):
    """The risks of a rater and a system on the units that both answer."""

    rater: str
    system: str
    units: int
    rater_risk: float
    system_risk: float
    difference: Estimate

    @property
    def words(self) -> str:
        """Both risks and their difference."""
        risks = f"{self.rater} is {three(self.rater_risk)} and that of {self.system} {three(self.system_risk)}"
        gap = RiskGap.of_system(self.difference).words
        return f"of the {self.units} units both answered the risk of {risks}: {gap}"


@dataclass(frozen=True, slots=True)
class BeyondSystem(Statement):
    """A point at a coverage beyond a system's Cmax, with what can be compared instead."""

    point: PointMeasured
    system: str
    cmax: float
    risk: float | None
    alone: int | None
    shared: SharedUnits | None
    starts_with_name: ClassVar[bool] = True

    @property
    def words(self) -> str:
        """The largest coverage of the system and its risk there, and the units both answer if known."""
        risk = UNDEFINED if self.risk is None else three(self.risk)
        reached = f"at its largest coverage, {self.cmax:.1%}, the risk of {self.system} is {risk}"
        if self.shared is None:
            return f"{self.point.words}; {self.system} does not answer as much: {reached}"
        declined = f"it answered {self.alone} units that {self.system} declined"
        return f"{self.point.words}; {declined}; {reached}; {self.shared.words}"


@dataclass(frozen=True, slots=True)
class HandedOver(Statement):
    """The effect of a system handing over to a rater at a fixed threshold."""

    system: str
    rater: str
    together: Estimate
    difference: Estimate

    @property
    def words(self) -> str:
        """What both answer together, their risk, and that of the rater alone."""
        together, gap = (
            self.together,
            RiskGap(self.difference.value, self.difference.recommended, f"{self.rater} alone"),
        )
        who = f"if {self.system} answers from a confidence of {together.threshold:g} on and {self.rater} the rest"
        return f"{who}, they answer {together.at or 0.0:.1%} at a risk of {three(together.value)}: {gap.words}"


def point_statement(
    results: Results, point: ExternalPoint, system: NamedSystem, confidence: str
) -> BesideSystem | BeyondSystem:
    """What is said of a point and a system."""
    gap, own = (results[key(point.name, system.system, confidence)] for key in (gap_key, system_key))
    measured, study, several = PointMeasured(point), results.selective, len(results.systems) > 1
    if not math.isnan(gap.value):
        named, counts = system.name if several else "", (study.noun, study.clusters_included)
        return BesideSystem(measured, named, own.value, gap, margin_of(results), *counts)
    name = system.name if several else "the system"
    record = next(curve for (key, _), curve in results.curves.items() if key == system.system)
    risk = record.curve.selective_risk[-1] if record.defined else None
    both = results.get(both_key(point.name, system.system, minus=system.system))
    if both is None:
        return BeyondSystem(measured, name, record.cmax, risk, None, None)
    theirs, own = results[both_key(point.name, system.system)], results[both_key(system.system, point.name)]
    number = int(results[Key(point.name, "answered", group=Group(ANSWERED_BY, system.system))].value)
    shared = SharedUnits(point.name, name, number, theirs.value, own.value, both)
    return BeyondSystem(measured, name, record.cmax, risk, (point.n_answered or 0) - number, shared)


def handover_statement(
    results: Results, point: ExternalPoint, system: NamedSystem, confidence: str
) -> HandedOver | None:
    """The effect of handing over at the fixed threshold; None without one."""
    together = results.get(handed_key(point.name, system.system, confidence))
    difference = results.get(handed_key(point.name, system.system, confidence, minus=True))
    if together is None or difference is None or math.isnan(together.value):
        return None
    return HandedOver(system.name if len(results.systems) > 1 else "the system", point.name, together, difference)


def statements_on(results: Results, topic: Topic) -> Iterator[Statement]:
    """What is said on a topic: whom a system is compared with."""
    if topic == "compared_with":
        yield from point_statements(results, results.selective.confidences[0])


def point_statements(results: Results, confidence: str) -> Iterator[Statement]:
    """What is said of every point and every system."""
    for system in systems_of(results):
        for point in points_of(results):
            yield point_statement(results, point, system, confidence)
            if (handed := handover_statement(results, point, system, confidence)) is not None:
                yield handed
