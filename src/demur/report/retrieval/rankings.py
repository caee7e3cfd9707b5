"""Rankings compared: over the queries with gold and over all of them, criterion by criterion, and over folds."""

import math
from collections.abc import Iterator
from dataclasses import replace

from demur.drawing.forest import DotGroup, IntervalRow, dot_plot
from demur.inference.estimates import Estimate
from demur.inference.key import Group, Key
from demur.report.names import NamedSystem
from demur.report.parts import FEW, ShadedCell, shade
from demur.report.retrieval.places import (
    Place,
    at_depth,
    by_place,
    cell,
    pooled_and_mean,
    pooled_places,
    primary_depth,
    short,
    systems_of,
    title,
)
from demur.report.sections import Content, section
from demur.report.text import UNDEFINED, decimals
from demur.results.study import CriterionCounts
from demur.results.table import Results

_NAMES = {"with_gold": "with gold", "all": "all"}
_MOST_CRITERIA = 200
_MOST_FOLDS = 12
_HEATED = ("recall", "mrr", "map", "ndcg")


@section("rankings", "Rankings", task="retrieval", order=30)
def rankings_compared(results: Results) -> list[Content]:
    """Both populations; the reference ranges are about the queries with gold."""
    study = results.retrieval
    return [_population(results, "with_gold", study.with_gold), _population(results, "all", study.queries)]


def ranking_keys(results: Results, among: str) -> list[Key]:
    """Every ranking number of the first system, pooled."""
    return [row.key for row in pooled_places(results, results.systems[0]).get(Place("ranking", among), [])]


def _population(results: Results, among: str, queries: int) -> Content:
    """The numbers over some of the queries, drawn and listed."""
    keys, systems = ranking_keys(results, among), systems_of(results)
    figures = results.retrieval.reference_ranges if among == "with_gold" else ()
    ranges = {figure.metric: {"baseline": figure.baseline, "good": figure.good} for figure in figures}
    titles = {key.quantity: title(key) for key in keys}
    groups = [
        DotGroup(title(key), [_dot(results, system, key) for system in systems], ranges.get(key.quantity, {}))
        for key in keys
        if at_depth(key, primary_depth(results))
    ]
    words = f"Ranking numbers of every system over the queries ({_NAMES[among]}), with intervals"
    reached = "{}: a baseline reaches {:g} to {:g}, a good system {:g} to {:g}"
    return {
        "key": among,
        "name": _NAMES[among],
        "queries": queries,
        "svg": dot_plot(groups, f"{words}; the table holds them all.").svg,
        "ranges": [
            reached.format(titles[metric], *limits["baseline"], *limits["good"])
            for metric, limits in ranges.items()
            if metric in titles
        ],
        "rows": [
            (title(key), [pooled_and_mean(results, replace(key, system=system)) for system in results.systems])
            for key in keys
        ],
    }


def _dot(results: Results, system: NamedSystem, key: Key) -> IntervalRow:
    estimate, name = results.get(replace(key, system=system.system)), short(system.name)
    if estimate is None or math.isnan(estimate.value):
        return IntervalRow(name, system.style, None, None, estimate.undefined if estimate else "")
    ends = estimate.recommended
    return IntervalRow(name, system.style, estimate.value, None if ends is None else (ends.low, ends.high))


@section("criteria", "By criterion", task="retrieval", order=40)
def criteria(results: Results) -> Content:
    """Pooled numbers at the depth of the verdict, and the AUROC where there is a probability, as heat maps."""
    listed, tables = results.retrieval.criteria[:_MOST_CRITERIA], []
    for system in results.systems:
        keys = [Key(system, f"{stem}@{primary_depth(results)}", among="with_gold") for stem in _HEATED]
        present = [key for key in (*keys, Key(system, "auroc", "prob")) if results.get(key) is not None]
        rows = [(criterion, [_shaded(results, key, criterion) for key in present]) for criterion in listed]
        tables.append(([title(key) for key in present], rows))
    return {"tables": tables, "more": len(results.retrieval.criteria) - len(listed), "few": FEW}


def _shaded(results: Results, key: Key, criterion: CriterionCounts) -> ShadedCell:
    estimate = results.get(replace(key, group=Group("criterion", criterion.name)))
    if estimate is None or math.isnan(estimate.value):
        return UNDEFINED, "few"
    queries = criterion.with_gold if key.among == "with_gold" else criterion.queries
    few = estimate.by_convention or queries < FEW
    return f"{estimate.value:.3f}", shade("coverage", estimate.value, few=few)


@section("folds", "Folds", task="retrieval", order=80)
def folds(results: Results) -> Content | None:
    """The numbers over folds at the depth of the verdict, or nothing where there are none."""
    names, depth = results.retrieval.folds, primary_depth(results)
    if not names:
        return None
    listed = names if len(names) <= _MOST_FOLDS else ()

    def row(place: Place, mean: Estimate) -> tuple[str, str, str, str, list[str]]:
        pooled = cell(results, results.get(replace(mean.key, group=None)))
        by_fold = [results.get(replace(mean.key, group=Group("fold", name))) for name in listed]
        values = [decimals(each.value if each else None) for each in by_fold]
        return place.title, title(mean.key), pooled, mean_and_spread(mean), values

    rows = [
        [row(place, mean) for place, mean in means_over_folds(results, system) if at_depth(mean.key, depth)]
        for system in results.systems
    ]
    return {"count": len(names), "names": listed, "rows": rows} if any(rows) else None


def means_over_folds(results: Results, system: str) -> Iterator[tuple[Place, Estimate]]:
    """Every mean over folds of a system, and where it is listed."""
    for place, means in by_place(results.where(system=system, group=Group("fold"), minus=None)).items():
        yield from ((place, mean) for mean in means)


def mean_and_spread(mean: Estimate) -> str:
    """The mean over folds and their standard deviation."""
    return UNDEFINED if mean.spread is None else f"{decimals(mean.value)} ± {mean.spread:.4f}"
