"""Rankings compared: every ranking number of every system, over the queries with gold and over all of them."""

import math
from dataclasses import replace

from demur.drawing.forest import DotGroup, IntervalRow, dot_plot
from demur.inference.key import Group, Key
from demur.quantities import Measure
from demur.report.names import NamedSystem
from demur.report.retrieval.places import (
    Place,
    at_depth,
    cell,
    pooled_places,
    primary_depth,
    range_place,
    short,
    systems_of,
    title,
)
from demur.report.sections import Content, section
from demur.results.study import PlacedFigure
from demur.results.table import Results

_NAMES = {"with_gold": "with gold", "all": "all"}


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
    ranges = {figure.metric: figure for figure in figures if figure.metric in {key.quantity for key in keys}}
    groups = [
        DotGroup(title(key), [_dot(results, system, key) for system in systems], _ranges(ranges.get(key.quantity)))
        for key in keys
        if at_depth(key, primary_depth(results))
    ]
    words = f"Ranking numbers of every system over the queries ({_NAMES[among]}), with intervals"
    return {
        "key": among,
        "name": _NAMES[among],
        "queries": queries,
        "svg": dot_plot(groups, f"{words}; the table holds them all.").svg,
        "ranges": [_range_in_words(figure) for figure in ranges.values()],
        "rows": [(title(key), [_cells(results, replace(key, system=one.system)) for one in systems]) for key in keys],
    }


def _cells(results: Results, key: Key) -> tuple[str, str, str]:
    over_criteria = results.get(replace(key, group=Group("criterion")))
    return cell(results, results.get(key)), cell(results, over_criteria), range_place(results, key)


def _ranges(figure: PlacedFigure | None) -> dict[str, tuple[float, float]]:
    return {"baseline": figure.baseline, "good": figure.good} if figure else {}


def _range_in_words(figure: PlacedFigure) -> str:
    baseline, good = (f"{low:g} to {high:g}" for low, high in (figure.baseline, figure.good))
    return f"{Measure.of(figure.metric).title}: a baseline reaches {baseline}, a good system {good}"


def _dot(results: Results, system: NamedSystem, key: Key) -> IntervalRow:
    estimate, name = results.get(replace(key, system=system.system)), short(system.name)
    if estimate is None or math.isnan(estimate.value):
        return IntervalRow(name, system.style, None, None, estimate.undefined if estimate else "")
    ends = estimate.recommended
    return IntervalRow(name, system.style, estimate.value, None if ends is None else (ends.low, ends.high))
