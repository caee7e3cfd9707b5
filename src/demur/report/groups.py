"""Groups as tables: who is served at the threshold all share, those too small to judge first, and the sentence."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from demur.drawing.labels import isolated, shortened
from demur.facts.groups import REST
from demur.inference.estimates import Estimate
from demur.inference.groups import WITHIN
from demur.inference.key import Group, Key, Minus
from demur.quantities.thresholds import threshold_text
from demur.report.names import NamedSystem, systems_of
from demur.report.text import UNDEFINED, four, interval_text, table
from demur.results.group_parts import GroupCurve, GroupingRecord, GroupsRecord
from demur.results.table import Results


@dataclass(frozen=True, slots=True)
class GroupLine:
    """One group: how much of it is there and accepted, at which risk, and by how much that differs from the rest."""

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
        return self.risk.no_interval.startswith("too small")

    @property
    def cells(self) -> tuple[str, ...]:
        """What a table shows of it at the threshold."""
        numbers = map(row_text, (self.coverage, self.risk, self.rest))
        return str(self.clusters), f"{self.accepted} of {self.units}", *numbers


@dataclass(frozen=True, slots=True)
class GroupTable:
    """The groups of one grouping, of one system under one confidence: the small ones, then by their risk."""

    system: NamedSystem
    confidence: str
    name: str
    noun: str
    threshold: float
    coverage: Estimate
    risk: Estimate
    lines: tuple[GroupLine, ...]
    worst: Estimate
    gap: Estimate

    @property
    def heading(self) -> str:
        """What is shared by all groups."""
        numbers = f"coverage {four(self.coverage.value)}, risk {four(self.risk.value)}"
        return f"by {isolated(self.name)}, at the threshold {self.threshold:.6g}; of all {numbers}"

    @property
    def sentences(self) -> list[str]:
        """Who is too small to judge, and for whom of the others the risk is highest."""
        small, judged = ([line for line in self.lines if line.small is flag] for flag in (True, False))
        said = []
        if small:
            each = ", ".join(
                f"{line.label} ({line.clusters} {self.noun}{'s' if line.clusters != 1 else ''}, "
                f"{line.accepted} of {line.units} accepted)"
                for line in small
            )
            said.append(f"Too small to judge: {each}.")
        if judged and not math.isnan(self.worst.value):
            highest = next(line for line in judged if line.risk.value == self.worst.value)
            among = "Among the others the" if small else "The"
            ends = f", {interval_text(self.worst.simultaneous)}" if self.worst.simultaneous else ""
            said.append(f"{among} risk is highest for {highest.label}: {four(self.worst.value)}{ends}.")
        if not math.isnan(self.gap.value):
            ends = f", {interval_text(self.gap.simultaneous)}" if self.gap.simultaneous else ""
            said.append(f"Highest minus lowest: {four(self.gap.value)}{ends}.")
        return said


def row_text(row: Estimate) -> str:
    """A number with the interval that holds for all groups at once."""
    ends = f" {interval_text(row.simultaneous)}" if row.simultaneous else ""
    return UNDEFINED if math.isnan(row.value) else f"{four(row.value)}{ends}"


def group_tables(results: Results, confidence: str) -> list[GroupTable]:
    """The tables of every grouping under one confidence, system by system; none where no groups were asked for."""
    record = results.selective.groups
    if record is None:
        return []
    return [
        _table(_Numbers(results, system.system, confidence, record), system, grouping)
        for grouping in record.groupings
        for system in systems_of(results)
    ]


@dataclass(frozen=True, slots=True)
class _Numbers:
    """The numbers of one system under one confidence, and the curves of its groups."""

    results: Results
    system: str
    confidence: str
    record: GroupsRecord

    @property
    def threshold(self) -> float:
        return self.record.threshold_of(self.system, self.confidence)

    def at(self, stem: str, group: Group | None = None, minus: Minus | None = None) -> Estimate:
        """A number at the threshold."""
        return self.own(f"{stem}@{threshold_text(self.threshold)}", group, minus)

    def own(self, name: str, group: Group | None, minus: Minus | None = None) -> Estimate:
        """A number by its name."""
        return self.results[Key(self.system, name, self.confidence, group=group, minus=minus)]

    def line(self, group: Group, label: str) -> GroupLine:
        """One group."""
        return GroupLine(
            label=isolated(label),
            clusters=int(self.own("clusters", group).value),
            units=int(self.own("units", group).value),
            accepted=int(self.at("accepted", group).value),
            coverage=self.at("coverage", group),
            risk=self.at("risk", group),
            rest=self.at("risk", group, Minus("group", Group(group.name, REST))),
            within=tuple(self.own(name, group) for name in WITHIN),
            curve=next(
                each
                for each in self.record.curves
                if (each.system, each.confidence, *each.group) == (self.system, self.confidence, *group)
            ),
        )


def _table(numbers: _Numbers, system: NamedSystem, grouping: GroupingRecord) -> GroupTable:
    labels = zip(grouping.levels, shortened(grouping.levels), strict=True)
    lines = [numbers.line(Group(grouping.name, level), label) for level, label in labels]
    return GroupTable(
        system=system,
        confidence=numbers.confidence,
        name=grouping.name,
        noun=numbers.results.selective.noun,
        threshold=numbers.threshold,
        coverage=numbers.at("coverage"),
        risk=numbers.at("risk"),
        lines=tuple(sorted(lines, key=_by_risk)),
        worst=numbers.at("worst_risk", Group(grouping.name)),
        gap=numbers.at("worst_minus_best", Group(grouping.name)),
    )


def _by_risk(line: GroupLine) -> tuple[bool, float]:
    """Those too small to judge first, then the highest risk."""
    return not line.small, math.inf if math.isnan(line.risk.value) else -line.risk.value


def groups_text(results: Results, confidence: str) -> Iterator[str]:
    """The groups as lines of a console, those too small to judge first."""
    tables = group_tables(results, confidence)
    for each in tables:
        whose = f"{each.system.label} " if len(results.systems) > 1 else ""
        yield ""
        yield f"{whose}{isolated(confidence)} {each.heading}"
        yield from (f"  {sentence}" for sentence in each.sentences)
        heads = (f"  {isolated(each.name)}", f"{each.noun}s", "items accepted", "coverage", "risk", "risk − the rest")
        yield from table([heads, *((f"  {line.label}", *line.cells) for line in each.lines)])
