"""Groups at the threshold they share: which are too small to judge, and which has the highest risk."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from demur.drawing.labels import isolated, shortened
from demur.features.groups.rows import REST, SERVED, WITHIN
from demur.features.groups.study import GroupCurve, GroupingRecord, GroupsRecord, groups_of
from demur.inference.estimates import Estimate
from demur.inference.key import Group, Key, Minus
from demur.quantities.thresholds import threshold_text
from demur.results.table import Results
from demur.show.names import NamedSystem, systems_of
from demur.show.statements.statement import Statement, counted
from demur.show.text import UNDEFINED, four, interval_text

_IN_FULL = 2  # tables, and statements on each, in the answer to a question


@dataclass(frozen=True, slots=True)
class GroupLine:
    """One group: its size, accepted units, coverage, risk, difference from the rest, and curve."""

    label: str
    clusters: int
    units: int
    accepted: int
    coverage: Estimate
    risk: Estimate
    rest: Estimate
    within: tuple[Estimate, ...]
    curve: GroupCurve

    @property
    def small(self) -> bool:
        """Whether it is too small to judge."""
        return self.risk.too_small

    @property
    def cells(self) -> tuple[str, ...]:
        """The cells of the group in a table, at the threshold."""
        numbers = map(row_text, (self.coverage, self.risk, self.rest))
        return str(self.clusters), f"{self.accepted} of {self.units}", *numbers


@dataclass(frozen=True, slots=True)
class SharedThreshold(Statement):
    """The threshold that all groups share, and the coverage and risk of all units at it."""

    threshold: float
    overall: dict[str, Estimate]

    @property
    def words(self) -> str:
        """The threshold and the numbers."""
        numbers = ", ".join(f"{stem} {four(row.value)}" for stem, row in self.overall.items())
        return f"at the threshold {self.threshold:.6g}, with simultaneous 95 % intervals; of all items {numbers}"


@dataclass(frozen=True, slots=True)
class TooSmall(Statement):
    """The groups that are too small to judge."""

    noun: str
    groups: tuple[GroupLine, ...]

    @property
    def words(self) -> str:
        """Each group with its size."""
        listed = (
            f"{group.label} ({counted(group.clusters, self.noun)}, {group.accepted} of {group.units} accepted)"
            for group in self.groups
        )
        return f"too small to judge: {', '.join(listed)}"


@dataclass(frozen=True, slots=True)
class HighestRisk(Statement):
    """The judged group with the highest risk; `of_some` where other groups are too small to judge."""

    group: str
    risk: Estimate
    of_some: bool

    @property
    def words(self) -> str:
        """The group and its risk; the interval is that of the highest risk, whichever group has it."""
        among = "among the others the" if self.of_some else "the"
        whose = " (for the highest risk of any group, whichever has it)" if self.risk.simultaneous else ""
        return f"{among} risk is highest for {self.group}: {row_text(self.risk, ', ')}{whose}"


@dataclass(frozen=True, slots=True)
class RiskSpread(Statement):
    """The highest risk of a judged group minus the lowest."""

    difference: Estimate

    @property
    def words(self) -> str:
        """The difference."""
        return f"highest minus lowest: {row_text(self.difference, ', ')}"


@dataclass(frozen=True, slots=True)
class WithinStrata(Statement):
    """Clusters were drawn within the levels of a grouping."""

    grouping: str

    @property
    def words(self) -> str:
        """The grouping."""
        return f"within {isolated(self.grouping)}"


@dataclass(frozen=True, slots=True)
class ByGroup(Statement):
    """Combines the statements on one grouping of one system; a single system has no name."""

    grouping: str
    system: str
    said: tuple[Statement, ...]

    @property
    def words(self) -> str:
        """The grouping, followed by the statements on it."""
        head = f"by {isolated(self.grouping)}{self.system and f', {self.system}'}"
        return f"{head}: {'; '.join(statement.words for statement in self.said)}"


@dataclass(frozen=True)
class GroupTable:
    """The groups of one grouping, of one system under one confidence."""

    results: Results
    record: GroupsRecord
    grouping: GroupingRecord
    system: NamedSystem
    confidence: str

    @property
    def name(self) -> str:
        """The name of the grouping."""
        return self.grouping.name

    @property
    def noun(self) -> str:
        """The noun for a cluster."""
        return self.results.selective.noun

    def at(self, stem: str, level: str | None = None, minus: Minus | None = None) -> Estimate:
        """A number of a group at the threshold; without a level, over all of them."""
        return self._own(f"{stem}@{threshold_text(self._threshold)}", Group(self.name, level), minus)

    @property
    def _threshold(self) -> float:
        return self.record.threshold_of(self.system.system, self.confidence)

    def _own(self, name: str, group: Group | None, minus: Minus | None = None) -> Estimate:
        return self.results[Key(self.system.system, name, self.confidence, group=group, minus=minus)]

    @property
    def shared(self) -> SharedThreshold:
        """The threshold that all groups share."""
        overall = {stem: self._own(f"{stem}@{threshold_text(self._threshold)}", None) for stem in SERVED}
        return SharedThreshold(self._threshold, overall)

    @cached_property
    def lines(self) -> list[GroupLine]:
        """The groups: first those too small to judge, then the others by descending risk."""
        labels = zip(self.grouping.levels, shortened(self.grouping.levels), strict=True)
        return sorted((self._line(level, isolated(label)) for level, label in labels), key=_by_risk)

    def _line(self, level: str, label: str) -> GroupLine:
        group = Group(self.name, level)
        return GroupLine(
            label=label,
            clusters=int(self._own("clusters", group).value),
            units=int(self._own("units", group).value),
            accepted=int(self.at("accepted", level).value),
            coverage=self.at("coverage", level),
            risk=self.at("risk", level),
            rest=self.at("risk", level, Minus("group", Group(self.name, REST))),
            within=tuple(self._own(name, group) for name in WITHIN),
            curve=self.record.curve_of(self.system.system, self.confidence, group),
        )

    @property
    def statements(self) -> Iterator[Statement]:
        """The groups too small to judge, and the highest risk of the others."""
        small, judged = ([line for line in self.lines if line.small is flag] for flag in (True, False))
        worst, spread = self.at("worst_risk"), self.at("worst_minus_best")
        if small:
            yield TooSmall(self.noun, tuple(small))
        if judged and not math.isnan(worst.value):
            yield HighestRisk(judged[0].label, worst, of_some=bool(small))
        if not math.isnan(spread.value):
            yield RiskSpread(spread)


def row_text(row: Estimate, between: str = " ") -> str:
    """A number with the interval that holds for all groups at once."""
    ends = f"{between}{interval_text(row.simultaneous)}" if row.simultaneous else ""
    return UNDEFINED if math.isnan(row.value) else f"{four(row.value)}{ends}"


def group_tables(results: Results, confidence: str) -> list[GroupTable]:
    """The tables of every grouping under one confidence, for each system; none without groups."""
    record = groups_of(results)
    if record is None:
        return []
    return [
        GroupTable(results, record, grouping, system, confidence)
        for grouping in record.groupings
        for system in systems_of(results)
    ]


def statements_on(results: Results, topic: str) -> Iterator[Statement]:
    """What is said of groups on a topic of the core: the strata of the draws, or for whom the risk is highest."""
    record = groups_of(results)
    if record is not None and record.stratified_by is not None and topic == "resampling":
        yield WithinStrata(record.stratified_by)
    if topic == "for_whom":
        several = len(results.systems) > 1
        for group in group_tables(results, results.selective.confidences[0])[:_IN_FULL]:
            yield ByGroup(group.name, group.system.name if several else "", tuple(islice(group.statements, _IN_FULL)))


def _by_risk(line: GroupLine) -> tuple[bool, float]:
    """The sort key: groups too small to judge first, then by descending risk."""
    return not line.small, math.inf if math.isnan(line.risk.value) else -line.risk.value
