"""Numbers criterion by criterion: a heat map of every system."""

import math
from dataclasses import replace

from demur.inference.key import Group, Key
from demur.report.retrieval.places import primary_depth, title
from demur.report.sections import Content, section
from demur.report.shading import FEW, ShadedCell, shade
from demur.report.text import UNDEFINED
from demur.results.study import CriterionCounts
from demur.results.table import Results

_MOST_CRITERIA = 200
_HEATED = ("recall", "mrr", "map", "ndcg")


@section("criteria", "By criterion", task="retrieval", order=40)
def criteria(results: Results) -> Content:
    """Pooled numbers at the depth of the verdict, and the AUROC where there is a probability."""
    listed, tables = results.retrieval.criteria[:_MOST_CRITERIA], []
    for system in results.systems:
        keys = [Key(system, f"{stem}@{primary_depth(results)}", among="with_gold") for stem in _HEATED]
        present = [key for key in (*keys, Key(system, "auroc", "prob")) if results.get(key) is not None]
        rows = [(criterion, [_cell(results, key, criterion) for key in present]) for criterion in listed]
        tables.append(([title(key) for key in present], rows))
    return {"tables": tables, "more": len(results.retrieval.criteria) - len(listed), "few": FEW}


def _cell(results: Results, key: Key, criterion: CriterionCounts) -> ShadedCell:
    estimate = results.get(replace(key, group=Group("criterion", criterion.name)))
    if estimate is None or math.isnan(estimate.value):
        return ShadedCell(UNDEFINED, "few")
    queries = criterion.with_gold if key.among == "with_gold" else criterion.queries
    few = estimate.by_convention or queries < FEW
    return ShadedCell(f"{estimate.value:.3f}", shade("coverage", estimate.value, few=few))
