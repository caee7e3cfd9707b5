"""Groups: coverage and risk at the shared threshold, groups too small to judge first, and a curve of each."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from demur.drawing.forest import bar_strip, scale_strip, value_strip
from demur.drawing.labels import isolated, shortened
from demur.drawing.picture import Frame
from demur.drawing.risk_coverage import RiskCurve, risk_coverage
from demur.facts.groups import REST
from demur.inference.estimates import Estimate
from demur.inference.groups import SERVED, WITHIN
from demur.inference.key import Group, Key, Minus
from demur.quantities.thresholds import threshold_text
from demur.report.names import NamedSystem, systems_of
from demur.report.sections import Content, section
from demur.report.text import UNDEFINED, four, interval_row, interval_text, table, title_of
from demur.results.groups import GroupCurve, GroupingRecord, GroupsRecord
from demur.results.table import Results

_SMALL = (320, 230)


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

    @property
    def threshold(self) -> float:
        """The threshold all groups share."""
        return self.record.threshold_of(self.system.system, self.confidence)

    def at(self, stem: str, level: str | None = None, minus: Minus | None = None) -> Estimate:
        """A number of a group at the threshold; without a level, over all of them."""
        return self._own(f"{stem}@{threshold_text(self.threshold)}", Group(self.name, level), minus)

    def _own(self, name: str, group: Group | None, minus: Minus | None = None) -> Estimate:
        return self.results[Key(self.system.system, name, self.confidence, group=group, minus=minus)]

    @cached_property
    def overall(self) -> dict[str, Estimate]:
        """Coverage and risk of all units at the threshold."""
        return {stem: self._own(f"{stem}@{threshold_text(self.threshold)}", None) for stem in SERVED}

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
    def heading(self) -> str:
        """The heading: the grouping, the shared threshold, and the numbers of all units."""
        numbers = ", ".join(f"{stem} {four(row.value)}" for stem, row in self.overall.items())
        return f"by {isolated(self.name)}, at the threshold {self.threshold:.6g}; of all {numbers}"

    @property
    def sentences(self) -> list[str]:
        """Sentences on the groups too small to judge, and on the highest risk of the others."""
        small, judged = ([line for line in self.lines if line.small is flag] for flag in (True, False))
        worst, gap, texts = self.at("worst_risk"), self.at("worst_minus_best"), []
        if small:
            groups = ", ".join(
                f"{line.label} ({line.clusters} {self.noun}{'s' if line.clusters != 1 else ''}, "
                f"{line.accepted} of {line.units} accepted)"
                for line in small
            )
            texts.append(f"Too small to judge: {groups}.")
        if judged and not math.isnan(worst.value):
            among = "Among the others the" if small else "The"
            whose = " (for the highest risk of any group, whichever has it)" if worst.simultaneous else ""
            texts.append(f"{among} risk is highest for {judged[0].label}: {row_text(worst, ', ')}{whose}.")
        if not math.isnan(gap.value):
            texts.append(f"Highest minus lowest: {row_text(gap, ', ')}.")
        return texts


def row_text(row: Estimate, between: str = " ") -> str:
    """A number with the interval that holds for all groups at once."""
    ends = f"{between}{interval_text(row.simultaneous)}" if row.simultaneous else ""
    return UNDEFINED if math.isnan(row.value) else f"{four(row.value)}{ends}"


def group_tables(results: Results, confidence: str) -> list[GroupTable]:
    """The tables of every grouping under one confidence, for each system; none without groups."""
    record = results.selective.groups
    if record is None:
        return []
    return [
        GroupTable(results, record, grouping, system, confidence)
        for grouping in record.groupings
        for system in systems_of(results)
    ]


def _by_risk(line: GroupLine) -> tuple[bool, float]:
    """The sort key: groups too small to judge first, then by descending risk."""
    return not line.small, math.inf if math.isnan(line.risk.value) else -line.risk.value


def groups_text(results: Results, confidence: str) -> Iterator[str]:
    """The groups as lines of a console, those too small to judge first."""
    tables = group_tables(results, confidence)
    for group in tables:
        prefix = f"{group.system.label} " if len(results.systems) > 1 else ""
        yield ""
        yield f"{prefix}{isolated(confidence)} {group.heading}"
        yield from (f"  {sentence}" for sentence in group.sentences)
        counts = (f"{group.noun}s", "items accepted")
        heads = (f"  {isolated(group.name)}", *counts, "coverage", "risk", "risk − the rest")
        yield from table([heads, *((f"  {line.label}", *line.cells) for line in group.lines)])


@section("groups", "Who is served", task="selective", order=40)
def groups(results: Results) -> Content | None:
    """The groups of every confidence; None if none were requested."""
    record = results.selective.groups
    if record is None:
        return None
    tables = [group_tables(results, confidence) for confidence in results.selective.confidences]
    return {
        "by_confidence": [[_content(table) for table in listed] for listed in tables],
        "min_clusters": record.min_clusters,
        "stratified_by": record.stratified_by,
        "unlabelled": {row.name: row.without_label for row in record.groupings if row.without_label},
    }


def _content(table: GroupTable) -> Content:
    drawn = {
        line.label: interval_row(
            line.label, "small" if line.small else table.system.style, line.risk.value, line.risk.simultaneous
        )
        for line in table.lines
    }
    numbers = [number for row in drawn.values() for number in (row.value, *(row.interval or ())) if number is not None]
    frame = Frame(xs=(min([*numbers, 0.0]), 1.04 * max([*numbers, 0.0]) or 1.0))
    top = max((max(line.curve.selective_risk, default=0.0) for line in table.lines), default=0.0)
    within = [title_of(row) for row in table.lines[0].within]
    return {
        "table": table,
        "scale": scale_strip(frame),
        "rows": [
            (line, value_strip(drawn[line.label], frame), bar_strip(line.coverage.value, drawn[line.label].style))
            for line in table.lines
        ],
        "curves": [(line, _curve(line.label, line.curve, table.system.style, top)) for line in table.lines],
        "headings": within,
        "within": [(line, [row_text(row) for row in line.within]) for line in table.lines],
    }


def _curve(label: str, curve: GroupCurve, style: str, top: float) -> str:
    end = curve.coverage[-1] if curve.coverage else 0.0
    drawn = RiskCurve(label, style, curve.coverage, curve.selective_risk, end)
    picture = risk_coverage([drawn], top=top, units="items of the group", size=_SMALL)
    return replace(picture, kind="multiple", data={}).svg
