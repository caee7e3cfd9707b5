"""Groups in result files: the models of their members, and the levels of each grouping from the rows and back."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar

from demur.features.groups.options import Groups
from demur.features.groups.rows import COUNTS, OF_ACCEPTED, REST, SERVED, WITHIN
from demur.features.groups.study import GroupingRecord, GroupsRecord, groups_of
from demur.files.strict_model import SPARSE, Count, Declared, Part, Placed, Share
from demur.inference.estimates import Estimate
from demur.inference.key import Group, Key, Minus
from demur.quantities import Measure
from demur.quantities.registry import COMMON
from demur.quantities.thresholds import THRESHOLD, threshold_text
from demur.results.feature_files import FileMembers
from demur.results.file_models import Many, Number, Pair
from demur.results.json_table import RENAMED
from demur.results.json_v1_cells import AT_ONCE, INTERVALS, Ends, estimate_of, written
from demur.results.table import Results
from demur.types import Json

INSIDE = {name.replace(f"@{COMMON}", "_at_c"): name for name in WITHIN}
_PLAIN = ("std_error", "drop_rate", "upper_bound", "p_value", "above", "below", "no_interval", "not_requested")
MEMBERS = INTERVALS | AT_ONCE | {RENAMED.get(name, name): name for name in _PLAIN}
_HELD: Any = Declared(default_factory=dict, exclude_if=lambda value: not value)  # a member left out where it is empty


class GroupNumbers(Part):
    """What is known of the uncertainty of the numbers beside it, by their names."""

    std_error: Annotated[Mapping[str, float], _HELD]
    drop_rate: Annotated[Mapping[str, Share], _HELD]
    upper_bound95: Annotated[Mapping[str, float], _HELD]
    p_value: Annotated[Mapping[str, Share], _HELD]
    share_above: Annotated[Mapping[str, Share], _HELD]
    share_below: Annotated[Mapping[str, Share], _HELD]
    ci95: Annotated[Mapping[str, Pair], _HELD]
    ci95_recommended: Annotated[Mapping[str, Ends], _HELD]
    ci95_simultaneous: Annotated[Mapping[str, Ends], _HELD]
    ci: Annotated[Mapping[str, Ends], _HELD]
    no_interval: Annotated[Mapping[str, str], _HELD]
    not_requested: Annotated[Mapping[str, str], _HELD]


class AtThreshold(GroupNumbers):
    """Coverage and risk at the threshold that all groups share, or by how much they differ."""

    coverage: Number
    risk: Number


class AllAtThreshold(AtThreshold):
    """The threshold, and what it does to all units."""

    value: float


class WithinGroup(GroupNumbers):
    """A group by its own curve; areas at_c are cut at c_common, which all groups reach that answer anything."""

    cmax: Share
    aurc: float
    augrc: float
    eaurc: float
    aurc_at_c: float
    augrc_at_c: float


class GroupLevel(AtThreshold):
    """One group; one that is `small` is too small to be judged by its risk."""

    level: str
    clusters: Count
    units: Count
    answered: Count
    accepted: Count
    errors: Count
    loss_sum: float
    small: bool
    vs_rest: AtThreshold
    within: WithinGroup


class WorstGroup(Part):
    """The group with the highest risk of those that are judged."""

    level: str | None
    risk: Number
    ci95: Ends | None
    no_interval: str | None


class GroupGap(Part):
    """The highest risk minus the lowest, and whose they are."""

    levels: Annotated[tuple[str, str], Declared(strict=False)] | None
    value: Number
    ci95: Ends | None
    no_interval: str | None


class GroupedNumbers(Part):
    """One grouping of the units, of one run under one confidence."""

    kind: str
    threshold: AllAtThreshold
    levels: Many[GroupLevel]
    worst: WorstGroup
    gap: GroupGap
    c_common: Share


class GroupMembers(FileMembers):
    """The record of groups in a study, and the groupings of a run."""

    study: ClassVar = {"groups": Placed(Annotated[GroupsRecord | None, SPARSE], before="failed")}
    nested: ClassVar = {"groups": Placed(Annotated[GroupsRecord | None, SPARSE], before="probabilities")}
    run: ClassVar = {"groups": Placed(Annotated[Mapping[str, GroupedNumbers] | None, SPARSE], order=10)}

    def recorded(self, study: Any) -> Groups | None:
        """The groups that were asked for."""
        return None if study.groups is None else Groups.recorded(study.groups)

    def encoded(self, results: Results, system: str, confidence: str) -> Json:
        """The groupings of one run."""
        record, key = groups_of(results), Key(system, "", confidence)
        if record is None:
            return {}
        threshold = record.threshold_of(system, confidence)
        return {"groups": {each.name: _grouping(results, key, threshold, each) for each in record.groupings}}

    def decoded(self, system: str, confidence: str, run: Any) -> Iterator[Estimate]:
        """The rows of every grouping of a run."""
        return _rows(Key(system, "", confidence), run.groups or {})

    def holds(self, results: Results, key: Key) -> bool:
        """Whether the member `groups` holds a number: of a group, or of all units at the shared threshold."""
        record = groups_of(results)
        if record is None or key.convention:
            return False
        measure = Measure.of(key.quantity)
        at_threshold = measure.quantity.parameter is THRESHOLD
        if key.group is None:
            return at_threshold
        named = key.group.name in {grouping.name for grouping in record.groupings}
        return named and (at_threshold or str(measure) in WITHIN or str(measure) in COUNTS)

    def warned(self, results: Results) -> tuple[Sequence[Json], Iterable[str]]:
        """The groups of every system, and their risks at the thresholds."""
        record = groups_of(results)
        if record is None:
            return (), ()
        groups = [Group(grouping.name, level) for grouping in record.groupings for level in grouping.levels]
        subjects = [{"system": system, "group": group} for system in results.systems for group in groups]
        return subjects, {f"risk@{threshold_text(shared.threshold)}" for shared in record.thresholds}


def _grouping(results: Results, key: Key, threshold: float, grouping: GroupingRecord) -> Json:
    overall = {stem: results[_key(key, stem, threshold)] for stem in SERVED}
    levels = [_level(results, key, threshold, Group(grouping.name, level)) for level in grouping.levels]
    judged = [level for level in levels if not level["small"] and level["risk"] is not None]
    ordered = sorted(judged, key=lambda level: level["risk"])
    worst, gap = (
        results[_key(key, stem, threshold, Group(grouping.name))] for stem in ("worst_risk", "worst_minus_best")
    )
    highest = next((level["level"] for level in judged if level["risk"] == ordered[-1]["risk"]), None)
    cut = results[replace(key, quantity=WITHIN[-1], group=Group(grouping.name, grouping.levels[0]))]
    return {
        "kind": grouping.kind,
        "threshold": {"value": threshold, **_numbers(overall)},
        "levels": levels,
        "worst": {"level": highest, "risk": written(worst, "value"), **_extreme(worst)},
        "gap": {
            "levels": (highest, ordered[0]["level"]) if len(ordered) > 1 else None,
            "value": written(gap, "value"),
            **_extreme(gap),
        },
        "c_common": cut.at,
    }


def _level(results: Results, key: Key, threshold: float, group: Group) -> Json:
    rows: dict[str, dict[str, Estimate]] = {}
    for part, name, own in _members(key, threshold, group):
        rows.setdefault(part, {})[name] = results[own]
    served = rows.pop("")
    counts = {name: results[_count_key(key, name, threshold, group)].value for name in COUNTS}
    return {
        "level": group.level,
        **{name: value if name == "loss_sum" else int(value) for name, value in counts.items()},
        **_numbers(served),
        "small": served["risk"].too_small,
        **{part: _numbers(numbers) for part, numbers in rows.items()},
    }


def _members(key: Key, threshold: float, group: Group) -> Iterator[tuple[str, str, Key]]:
    """The numbers of a group with intervals: the part of its level that holds each, if any, its name there, its key."""
    minus = Minus("group", Group(group.name, REST))
    for stem in SERVED:
        yield "", stem, _key(key, stem, threshold, group)
        yield "vs_rest", stem, _key(key, stem, threshold, group, minus)
    for member, quantity in INSIDE.items():
        yield "within", member, replace(key, quantity=quantity, group=group)


def _key(key: Key, stem: str, threshold: float, group: Group | None = None, minus: Minus | None = None) -> Key:
    return Key(key.system, f"{stem}@{threshold_text(threshold)}", key.confidence, group=group, minus=minus)


def _count_key(key: Key, name: str, threshold: float, group: Group) -> Key:
    return _key(key, name, threshold, group) if name in OF_ACCEPTED else replace(key, quantity=name, group=group)


def _numbers(rows: Mapping[str, Estimate]) -> Json:
    content: Json = {name: written(row, "value") for name, row in rows.items()}
    for member, field in MEMBERS.items():
        members = {name: written(row, field) for name, row in rows.items()}
        content[member] = {name: value for name, value in members.items() if value is not None}
    return content


def _extreme(row: Estimate) -> Json:
    return {"ci95": written(row, "simultaneous"), "no_interval": row.no_interval or None}


def _rows(key: Key, groups: Mapping[str, GroupedNumbers]) -> Iterator[Estimate]:
    for index, (name, grouping) in enumerate(groups.items()):
        threshold = grouping.threshold.value
        if index == 0:
            for stem in SERVED:
                yield _estimate(_key(key, stem, threshold), stem, grouping.threshold)
        for level in grouping.levels:
            yield from _level_rows(key, threshold, Group(name, level.level), level, grouping.c_common)
        for stem, value, part in (
            ("worst_risk", grouping.worst.risk, grouping.worst),
            ("worst_minus_best", grouping.gap.value, grouping.gap),
        ):
            members = {"value": value, "simultaneous": part.ci95, "no_interval": part.no_interval}
            yield estimate_of(_key(key, stem, threshold, Group(name)), members)


def _level_rows(key: Key, threshold: float, group: Group, level: GroupLevel, common: float) -> Iterator[Estimate]:
    for part, name, own in _members(key, threshold, group):
        at = common if own.quantity.endswith(COMMON) else None
        yield _estimate(own, name, getattr(level, part) if part else level, at)
    for name in COUNTS:
        yield Estimate(_count_key(key, name, threshold, group), float(getattr(level, name)))


def _estimate(key: Key, member: str, numbers: GroupNumbers, at: float | None = None) -> Estimate:
    members = {field: getattr(numbers, name).get(member) for name, field in MEMBERS.items()}
    return estimate_of(key, {"value": getattr(numbers, member), "at": at, **members})
