"""Causes: what a figure would be if it had been computed in one of the ways people are known to compute it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from demur.audit.measures import Measure, measure_of
from demur.audit.names import CUT_FIGURES, Asked
from demur.errors import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from demur.audit.sections import Population
    from demur.audit.views import Queries, View

POPULATIONS: dict[Population, str] = {"positives": "queries with gold only", "all": "all queries"}
_USUAL_DEPTHS = (1, 3, 5, 10, 20, 50, 100)


def other_ways(queries: Queries, asked: Asked, view: View) -> Iterator[tuple[str, float | None]]:
    """What known other ways would give, by what they are, the likelier first."""
    measure = measure_of(asked)
    for way, other in _other_populations(measure, view):
        yield way, queries.figure(asked, other)
    for way, loop in measure.otherwise.items():
        yield way, queries.value(loop, view)
    for way, other in (*_other_spreads(queries, measure, view), *_other_averages(measure, view)):
        yield way, queries.figure(asked, other)
    for system in queries.systems:
        if measure.column and system != view.system:
            yield f"it is the figure of {shown(system)}", queries.figure(asked, replace(view, system=system))
    if measure.ranks:
        yield from _neighbours(queries, asked, view)


def _other_populations(measure: Measure, view: View) -> Iterator[tuple[str, View]]:
    for population, named in POPULATIONS.items():
        if measure.of_population and population != view.population:
            yield f"other population: {named}", replace(view, population=population)


def _other_spreads(queries: Queries, measure: Measure, view: View) -> Iterator[tuple[str, View]]:
    if view.spread == "std":
        yield "ddof 1: divided by one fold less", replace(view, ddof=1)
        if measure.of_population:
            yield "spread over queries, not folds", replace(view, spread_over="queries")
    elif view.spread == "mean":
        yield "all queries pooled, not the mean over folds", replace(view, spread=None)
    elif queries.folds and view.fold is None and not measure.exact:
        yield "the mean over folds, not all queries pooled", replace(view, spread="mean")


def _other_averages(measure: Measure, view: View) -> Iterator[tuple[str, View]]:
    if view.averaging == "macro":
        yield "micro: pairs pooled, not the mean over criteria", replace(view, averaging="micro")
    elif view.criterion is None and not measure.exact:
        yield "macro: the mean over criteria, not pairs pooled", replace(view, averaging="macro")


def _neighbours(queries: Queries, asked: Asked, view: View) -> Iterator[tuple[str, float | None]]:
    """The same figure at another depth, from the nearest, and the others at the same one."""
    depths = {*_USUAL_DEPTHS, *(asked.depth + step for step in range(-3, 4))}
    for depth in sorted(depths, key=lambda depth: (abs(depth - asked.depth), depth)):
        if depth > 0 and depth != asked.depth:
            yield f"it is {asked.figure}@{depth}", queries.figure(asked.at(depth), view)
    for figure in CUT_FIGURES:
        if figure != asked.figure:
            yield f"it is {figure}@{asked.depth}", queries.figure(replace(asked, figure=figure), view)


def ends_too_soon(queries: Queries, asked: Asked, view: View) -> str | None:
    """Why nothing else may explain a figure: no list of the data reaches as deep as it looks."""
    longest = queries.longest(view.system)
    if not measure_of(asked).ranks or longest >= asked.depth:
        return None
    return f"the lists in the data end at {longest}"
