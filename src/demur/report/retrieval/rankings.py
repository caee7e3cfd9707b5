"""Rankings compared: every ranking number of every system, over the queries with gold and over all of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from demur.drawing.forest import DotGroup, IntervalRow, dot_plot
from demur.inference.key import Group
from demur.quantities import Measure
from demur.report.retrieval.places import at_depth, cell, placed_figures, primary_depth, short, systems_of, title
from demur.report.sections import section

if TYPE_CHECKING:
    from demur.inference.estimates import Estimate
    from demur.inference.key import Key
    from demur.report.names import NamedSystem
    from demur.results.study import PlacedFigure
    from demur.results.table import Results

_NAMES = {"with_gold": "with gold", "all": "all"}


@dataclass(frozen=True, slots=True)
class RankingRow:
    """One number: of each system pooled, averaged over criteria, and where it falls among the reference ranges."""

    title: str
    cells: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class QueryPopulation:
    """The numbers over some of the queries, drawn and listed."""

    key: str
    name: str
    queries: int
    svg: str
    ranges: tuple[str, ...]
    rows: tuple[RankingRow, ...]


@section("rankings", "Rankings", task="retrieval", order=30)
def rankings_compared(results: Results) -> list[QueryPopulation]:
    """Both populations; the reference ranges are about the queries with gold."""
    study = results.retrieval
    return [_population(results, "with_gold", study.with_gold), _population(results, "all", study.queries)]


def ranking_keys(results: Results, among: str) -> list[Key]:
    """Every ranking number of the first system, pooled."""
    rows = results.where(system=results.systems[0], among=among, group=None, minus=None)
    return [row.key for row in rows if Measure.of(row.key.quantity).quantity.of == "ranking"]


def _population(results: Results, among: str, queries: int) -> QueryPopulation:
    keys, systems = ranking_keys(results, among), systems_of(results)
    judged = systems if among == "with_gold" else ()
    placed = {system.system: placed_figures(results, system.system) for system in judged}
    names = {key.quantity for key in keys}
    ranges = {name: figure for figures in placed.values() for name, figure in figures.items() if name in names}
    groups = [
        DotGroup(title(key), [_row(results, system, key) for system in systems], _ranges(ranges.get(key.quantity)))
        for key in keys
        if at_depth(key, primary_depth(results))
    ]
    words = f"Ranking numbers of every system over the queries ({_NAMES[among]}), with intervals"
    return QueryPopulation(
        key=among,
        name=_NAMES[among],
        queries=queries,
        svg=dot_plot(groups, f"{words}; the table holds them all.").svg,
        ranges=tuple(map(_range_in_words, ranges.values())),
        rows=tuple(
            RankingRow(title(key), tuple(_cells(results, system.system, key, placed) for system in systems))
            for key in keys
        ),
    )


def _cells(results: Results, system: str, key: Key, placed: dict[str, dict[str, PlacedFigure]]) -> tuple[str, str, str]:
    own = replace(key, system=system)
    figure = placed.get(system, {}).get(key.quantity)
    over_criteria = results.get(replace(own, group=Group("criterion")))
    return cell(results, results.get(own)), cell(results, over_criteria), figure.place if figure else ""


def _ranges(figure: PlacedFigure | None) -> dict[str, tuple[float, float]]:
    return {"baseline": figure.baseline, "good": figure.good} if figure else {}


def _range_in_words(figure: PlacedFigure) -> str:
    baseline, good = (f"{low:g} to {high:g}" for low, high in (figure.baseline, figure.good))
    return f"{Measure.of(figure.metric).title}: a baseline reaches {baseline}, a good system {good}"


def _row(results: Results, system: NamedSystem, key: Key) -> IntervalRow:
    estimate: Estimate | None = results.get(replace(key, system=system.system))
    if estimate is None or math.isnan(estimate.value):
        return IntervalRow(short(system.name), system.style, None, None, estimate.undefined if estimate else "")
    ends = estimate.recommended
    interval = None if ends is None else (ends.low, ends.high)
    return IntervalRow(short(system.name), system.style, estimate.value, interval)
