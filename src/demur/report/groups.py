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
from demur.results.group_parts import GroupCurve, GroupingRecord
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
        _table(results, system, confidence, grouping) for grouping in record.groupings for system in systems_of(results)
    ]


def _table(results: Results, system: NamedSystem, confidence: str, grouping: GroupingRecord) -> GroupTable:
    record = results.selective.groups
    assert record is not None  # noqa: S101  (there is a grouping)
    threshold = record.threshold_of(system.system, confidence)

    def row(stem: str, group: Group | None = None, minus: Minus | None = None) -> Estimate:
        name = f"{stem}@{threshold_text(threshold)}"
        return results[Key(system.system, name, confidence, group=group, minus=minus)]

    whose = (system.system, confidence)
    curves = {tuple(each.group): each for each in record.curves if (each.system, each.confidence) == whose}

    def line(level: str, label: str) -> GroupLine:
        group = Group(grouping.name, level)
        names = ("clusters", "units", *WITHIN)
        own = {name: results[Key(system.system, name, confidence, group=group)] for name in names}
        return GroupLine(
            label=isolated(label),
            clusters=int(own["clusters"].value),
            units=int(own["units"].value),
            accepted=int(row("accepted", group).value),
            coverage=row("coverage", group),
            risk=row("risk", group),
            rest=row("risk", group, Minus("group", Group(grouping.name, REST))),
            within=tuple(own[name] for name in WITHIN),
            curve=curves[grouping.name, level],
        )

    lines = [line(*each) for each in zip(grouping.levels, shortened(grouping.levels), strict=True)]
    return GroupTable(
        system=system,
        confidence=confidence,
        name=grouping.name,
        noun=results.selective.noun,
        threshold=threshold,
        coverage=row("coverage"),
        risk=row("risk"),
        lines=tuple(sorted(lines, key=_by_risk)),
        worst=row("worst_risk", Group(grouping.name)),
        gap=row("worst_minus_best", Group(grouping.name)),
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
        heads = (f"  {isolated(each.name)}", f"{each.noun}s", "accepted", "coverage", "risk", "risk − the rest")
        yield from table([heads, *((f"  {line.label}", *line.cells) for line in each.lines)])
