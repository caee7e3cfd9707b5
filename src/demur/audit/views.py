"""Views: the queries a figure is over, and how the figures of folds and criteria are put together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from demur.audit.measures import measure_of
from demur.audit.ranked_loops import Judged, Loop, mean

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from demur.audit.names import Asked, Averaging, Spread
    from demur.audit.sections import Population
    from demur.rankings import Rankings


@dataclass(frozen=True, slots=True)
class View:
    """One system's queries: all or those with gold, of all criteria and folds or of one, pooled or averaged."""

    system: str
    population: Population = "all"
    averaging: Averaging = "micro"
    spread: Spread | None = None
    spread_over: Literal["folds", "queries"] = "folds"
    ddof: int = 0
    criterion: str | None = None
    fold: str | None = None


class Queries:
    """The queries of every system, judged once."""

    def __init__(self, rankings: Mapping[str, Rankings]) -> None:
        self._judged = {system: [Judged.of(query) for query in facts.queries()] for system, facts in rankings.items()}
        self._figures: dict[tuple[Asked, View], float | None] = {}
        self.systems = tuple(self._judged)
        self.criteria = frozenset(query.criterion for query in self.all())
        self.folds = frozenset(query.fold for query in self.all() if query.fold is not None)

    def all(self, system: str | None = None) -> Sequence[Judged]:
        """Every query, by default as the first system answers it: what is not ranked is the same for all."""
        return self._judged[self.systems[0] if system is None else system]

    def missing(self, column: str) -> int:
        """How many queries have nothing in a column."""
        return sum(getattr(query, column) is None for query in self.all())

    def longest(self, system: str) -> int:
        """How many candidates the longest list of a system has."""
        return max((len(query.hits) for query in self.all(system)), default=0)

    def figure(self, asked: Asked, view: View) -> float | None:
        """What a figure is in a view, by its definition."""
        if (asked, view) not in self._figures:
            self._figures[asked, view] = self.value(measure_of(asked).loop, view)
        return self._figures[asked, view]

    def value(self, loop: Loop, view: View) -> float | None:
        """What a loop gives in a view; a criterion or a fold without queries of the population has no part in it."""
        seen = [
            query
            for query in self.all(view.system)
            if (view.population == "all" or query.gold)
            and view.criterion in (None, query.criterion)
            and view.fold in (None, query.fold)
        ]
        if view.spread is None:
            return _averaged(loop, seen, view)
        groups = [[query] for query in seen] if view.spread_over == "queries" else _groups(seen, lambda q: q.fold)
        values = [_averaged(loop, group, view) for group in groups]
        defined = [value for value in values if value is not None]
        if len(defined) < len(values):
            return None
        return mean(defined) if view.spread == "mean" else _deviation(defined, view.ddof)


def _averaged(loop: Loop, queries: Sequence[Judged], view: View) -> float | None:
    if view.averaging == "micro":
        return loop(queries)
    values = [loop(group) for group in _groups(queries, lambda query: query.criterion)]
    defined = [value for value in values if value is not None]
    return mean(defined) if len(defined) == len(values) else None


def _groups(queries: Sequence[Judged], by: Callable[[Judged], Hashable]) -> list[list[Judged]]:
    groups: dict[Hashable, list[Judged]] = {}
    for query in queries:
        groups.setdefault(by(query), []).append(query)
    return [*groups.values()]


def _deviation(values: Sequence[float], ddof: int) -> float | None:
    middle = mean(values)
    if middle is None or len(values) <= ddof:
        return None
    return math.sqrt(math.fsum((value - middle) ** 2 for value in values) / (len(values) - ddof))
