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
    from demur.rankings import Query


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

    def __init__(self, queries: Mapping[str, Sequence[Query]]) -> None:
        self._judged = {system: [*map(Judged.of, rows)] for system, rows in queries.items()}
        self._figures: dict[tuple[Asked, View], float | None] = {}
        self.systems = tuple(self._judged)
        everything = [query for judged in self._judged.values() for query in judged]
        self.criteria = frozenset(query.criterion for query in everything)
        self.folds = frozenset(query.fold for query in everything if query.fold is not None)

    def lacking(self, column: str, system: str) -> str | None:
        """What is missing in a column of a system, in words, or None."""
        judged = self._judged[system]
        missing = sum(getattr(query, column) is None for query in judged)
        if missing == len(judged):
            return f"it needs a column {column}, and the data have none"
        return f"{missing} of {len(judged)} queries have no {column}" if missing else None

    def speaking_for_all(self, column: str) -> str | None:
        """The system to ask where none is named: the only one with such a column, or the first of equals."""
        having = [system for system in self.systems if self.lacking(column, system) is None]
        contents = {tuple(getattr(query, column) for query in self._judged[system]) for system in having}
        return having[0] if len(contents) == 1 else None

    def longest(self, system: str) -> int:
        """How many candidates the longest list of a system has."""
        return max((len(query.hits) for query in self._judged[system]), default=0)

    def figure(self, asked: Asked, view: View) -> float | None:
        """What a figure is in a view, by its definition."""
        if (asked, view) not in self._figures:
            self._figures[asked, view] = self.value(measure_of(asked).loop, view)
        return self._figures[asked, view]

    def value(self, loop: Loop, view: View) -> float | None:
        """What a loop gives in a view; a criterion or a fold without queries of the population has no part in it."""
        seen = [
            query
            for query in self._judged[view.system]
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
