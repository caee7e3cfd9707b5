"""Numbers criterion by criterion: a heat map of every system."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from demur.inference.key import Group, Key
from demur.quantities import Measure
from demur.report.retrieval.places import primary_depth
from demur.report.sections import section
from demur.report.shading import FEW, ShadedCell, shade
from demur.report.text import UNDEFINED

if TYPE_CHECKING:
    from demur.results.study import CriterionCounts
    from demur.results.table import Results

_MOST_CRITERIA = 200
_HEATED = ("recall", "mrr", "map", "ndcg")


@dataclass(frozen=True, slots=True)
class CriterionRow:
    """One criterion: how many queries with gold, of how many, and its numbers."""

    counts: CriterionCounts
    cells: tuple[ShadedCell, ...]


@dataclass(frozen=True, slots=True)
class CriterionTable:
    """The heat map of one system."""

    columns: tuple[str, ...]
    rows: tuple[CriterionRow, ...]


@dataclass(frozen=True, slots=True)
class Criteria:
    """The heat map of every system, and how many criteria are left out."""

    few: int
    tables: tuple[CriterionTable, ...]
    more: int


@section("criteria", "By criterion", task="retrieval", order=40)
def criteria(results: Results) -> Criteria:
    """Every criterion under every system."""
    all_criteria = results.retrieval.criteria
    listed = all_criteria[:_MOST_CRITERIA]
    tables = tuple(_table(results, system, listed) for system in results.systems)
    return Criteria(FEW, tables, len(all_criteria) - len(listed))


def _table(results: Results, system: str, listed: tuple[CriterionCounts, ...]) -> CriterionTable:
    """Pooled numbers at the depth of the verdict, and the AUROC where there is a probability."""
    keys = [Key(system, f"{stem}@{primary_depth(results)}", among="with_gold") for stem in _HEATED]
    keys.append(Key(system, "auroc", "prob"))
    present = [key for key in keys if results.get(key) is not None]
    return CriterionTable(
        columns=tuple(Measure.of(key.quantity).title for key in present),
        rows=tuple(CriterionRow(one, tuple(_cell(results, key, one) for key in present)) for one in listed),
    )


def _cell(results: Results, key: Key, counts: CriterionCounts) -> ShadedCell:
    estimate = results.get(replace(key, group=Group("criterion", counts.name)))
    if estimate is None or math.isnan(estimate.value):
        return ShadedCell(UNDEFINED, "few")
    behind = counts.with_gold if key.among == "with_gold" else counts.queries
    return ShadedCell(
        f"{estimate.value:.3f}", shade("coverage", estimate.value, few=estimate.by_convention or behind < FEW)
    )
