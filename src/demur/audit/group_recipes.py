"""Numbers of groups by plain loops: at the threshold of the file, of their own curves, and minus the rest."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

from demur.audit.loops import LOOPS, family, number, parsed
from demur.audit.loops.groups import GroupUnit
from demur.audit.loops.selective import PlainCurve, Unit
from demur.facts.groups import grouping_of
from demur.facts.items import Items
from demur.inference.key import Group, Key
from demur.quantities.registry import COMMON
from demur.results.table import Results

Number = Fraction | float | None


class LabelledUnit(NamedTuple):
    """A unit with its group and its cluster."""

    level: str
    cluster: Any
    unit: Unit


def labelled(items: Items, name: str, units: Sequence[Unit]) -> list[LabelledUnit]:
    """Every unit with its level of a grouping."""
    grouping = grouping_of(items, name, len(items))
    columns = zip(grouping.index.tolist(), items.cluster.tolist(), units, strict=True)
    return [LabelledUnit(grouping.levels[level], cluster, unit) for level, cluster, unit in columns]


def group_loops(claimed: Results, system: str, confidence: str) -> Iterator[tuple[str, Key, Callable[..., Number]]]:
    """The loop of every number of a group of one system under one confidence, over the labelled units of a grouping."""
    record = claimed.selective.groups
    for grouping in record.groupings if record else ():
        rows = claimed.where(system=system, confidence=confidence)
        own = [row for row in rows if row.key.group and row.key.group.name == grouping.name]
        risks = [row for row in own if row.key.quantity.startswith("risk@")]
        small = {row.key.group for row in risks if row.no_interval.startswith("too small")}
        judged = [level for level in grouping.levels if Group(grouping.name, level) not in small]
        for row in own:
            yield grouping.name, row.key, _loop(as_ranked(claimed, row.key), grouping.levels, judged)


def as_ranked(claimed: Results, key: Key) -> Key:
    """A key with its threshold negated where lower values of the signal mean more confident."""
    stem, at, threshold = key.quantity.partition("@threshold=")
    if not at or key.confidence not in claimed.lower_is_surer:
        return key
    return replace(key, quantity=f"{stem}{at}{-float(threshold)!r}")


def _loop(key: Key, levels: Sequence[str], judged: Sequence[str]) -> Callable[..., Number]:
    level = key.group.level if key.group else None
    if level is None:
        registered, at = parsed(key.quantity)
        return lambda rows: LOOPS[registered]([_group_units(rows, name.__eq__) for name in judged], *at)
    if key.quantity.endswith(f"@{COMMON}"):
        return lambda rows: _at_common(key.quantity, rows, level, levels)
    if key.minus is not None:
        return lambda rows: _minus_rest(key.quantity, rows, level)
    return lambda rows: _of_part(key.quantity, rows, level.__eq__)


def _inside(rows: Sequence[LabelledUnit], among: Callable[[str], bool]) -> list[Unit]:
    return [row.unit for row in rows if among(row.level)]


def _group_units(rows: Sequence[LabelledUnit], among: Callable[[str], bool]) -> list[GroupUnit]:
    return [GroupUnit(row.cluster, *row.unit) for row in rows if among(row.level)]


def _of_part(quantity: str, rows: Sequence[LabelledUnit], among: Callable[[str], bool]) -> Number:
    """A number of some of the units; None where a draw holds none of them."""
    units, kind = _inside(rows, among), family(parsed(quantity)[0])
    if kind == "groups":
        return number(quantity, _group_units(rows, among))
    if kind == "units":
        return number(quantity, [(None, None if unit.loss is None else 0) for unit in units])
    return number(quantity, PlainCurve(units)) if units else None


def _minus_rest(quantity: str, rows: Sequence[LabelledUnit], level: str) -> Number:
    group, rest = (_of_part(quantity, rows, among) for among in (level.__eq__, level.__ne__))
    return None if group is None or rest is None else float(group) - float(rest)


def _at_common(quantity: str, rows: Sequence[LabelledUnit], level: str, levels: Sequence[str]) -> Number:
    """An area cut at the smallest Cmax of the groups that answer anything in this draw."""
    curves = {name: PlainCurve(_inside(rows, name.__eq__)) for name in levels}
    reached = [curve.cmax for curve in curves.values() if curve.losses]
    if not curves[level].rows:
        return None
    return LOOPS[quantity.replace(COMMON, "C")](curves[level], min(reached)) if reached else Fraction(0)
