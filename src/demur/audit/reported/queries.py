"""Figures of rankings, held against the queries they were computed from.

A figure under `positives_only` is over the queries with gold, one under `all_queries` over all. Elsewhere the nearest
`skip_no_positives` says which, or else a `queries_evaluated` that is one of the two counts; where nothing does, a
figure is over all queries, because nothing says that any were left out.
"""

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from demur.audit.figures import Expected, Finding, Printed, key_of, not_recognised
from demur.audit.loops.registry import mean
from demur.audit.reported.audit import Audit, Figure
from demur.audit.reported.contexts import Context, Known, Path, Population
from demur.audit.reported.measures import COUNTS, Judged, Loop, ReportedMeasure, is_of_queries, measure_of
from demur.audit.reported.names import AT_DEPTH, Averaging, ReportedQuantity, Spread, quantity_named
from demur.errors import UserError, shown
from demur.rankings import Query

_POPULATIONS: dict[Population, str] = {"positives": "queries with gold only", "all": "all queries"}
_USUAL_DEPTHS = (1, 3, 5, 10, 20, 50, 100)
_FLAG = "skip_no_positives"


def audited_retrieval(queries: Mapping[str, Sequence[Query]], content: Any) -> list[Finding]:
    """Every figure of a reported file, recomputed from the queries of each system.

    `content` is the file parsed by `strict_json.loads(text, number=Printed.of)`.
    """
    if not queries:
        raise UserError("the data have no ranked column to audit; name one with --system NAME=COLUMN")
    return OfQueries(queries, content).findings()


@dataclass(frozen=True, slots=True)
class QueryView:
    """One system's queries: all or those with gold, of all criteria and folds or of one, pooled or averaged."""

    system: str
    population: Population = "all"
    averaging: Averaging = "micro"
    spread: Spread | None = None
    spread_over: Literal["folds", "queries"] = "folds"
    ddof: int = 0
    criterion: str | None = None
    fold: str | None = None


class OfQueries(Audit[QueryView]):
    """A reported file, and the queries of every system, judged once."""

    of_the_data = "system"
    counts = frozenset(COUNTS)
    unbounded = frozenset(("average_k", "threshold@fpr=F"))

    def __init__(self, queries: Mapping[str, Sequence[Query]], content: Any) -> None:
        self._judged = {system: [*map(Judged.of, rows)] for system, rows in queries.items()}
        self._values: dict[tuple[ReportedQuantity, QueryView], float | None] = {}
        self.systems = tuple(self._judged)
        everything = [query for judged in self._judged.values() for query in judged]
        criteria = frozenset(query.criterion for query in everything)
        folds = frozenset(query.fold for query in everything if query.fold is not None)
        super().__init__(Known({name: name for name in queries}, criteria=criteria, folds=folds), content)

    def way_out(self, name: str) -> str:
        """The option that names a system."""
        return f"; say which column it is with --system {name}=COLUMN"

    def value(self, quantity: ReportedQuantity, view: QueryView) -> float | None:
        """What a figure is in a view, by its definition."""
        if (quantity, view) not in self._values:
            measure = measure_of(quantity)
            value = self._over(measure, measure.loop, view)
            is_count = quantity.name in COUNTS and view.spread is None and value is not None
            self._values[quantity, view] = int(value or 0) if is_count else value
        return self._values[quantity, view]

    def _over(self, measure: ReportedMeasure, loop: Loop, view: QueryView) -> float | None:
        """What a loop gives in a view; a criterion or a fold without queries of the population has no part in it."""
        seen = [
            query
            for query in self._judged[view.system]
            if (view.population == "all" or query.gold)
            and view.criterion in (None, query.criterion)
            and view.fold in (None, query.fold)
        ]
        if view.spread is None:
            return _averaged(measure, loop, seen, view)
        groups = [[query] for query in seen] if view.spread_over == "queries" else _groups(seen, lambda q: q.fold)
        values = [_averaged(measure, loop, group, view) for group in groups]
        return _mean(values) if view.spread == "mean" else _deviation(values, view.ddof)

    def why_not(self, figure: Figure, quantity: ReportedQuantity) -> str | None:
        """Why a figure cannot be recomputed, or None."""
        context = figure.context
        if not is_of_queries(quantity):
            return f"{quantity} is a figure of a run: give the run as --data"
        if context.draws is not None:
            return "it is made of draws, which are not repeated for rankings"
        if quantity.name == _FLAG and not isinstance(figure.value, bool):
            return "expected true or false"
        over_folds = context.group == "fold" and context.spread is not None
        if context.stranger is not None or (context.group is not None and not over_folds):
            return self._unplaced(context)
        return None if quantity.name == _FLAG else self._missing(context, measure_of(quantity))

    def _missing(self, context: Context, measure: ReportedMeasure) -> str | None:
        """What a figure needs and the data or the file do not say."""
        candidates = self.systems if context.system is None else (context.system,)
        for column in (measure.column, "fold" if context.spread == "std" else None):
            lacking = [self._lacking(column, system) for system in candidates] if column else []
            if lacking and all(lacking):
                return lacking[0]
        if context.spread == "std" and context.fold is not None:
            return "a fold alone has no spread over folds"
        if self._system(context, measure) is None:
            return f"it does not say which system it is of: {', '.join(map(shown, candidates))}"
        return None

    def _lacking(self, column: str, system: str) -> str | None:
        """What is missing in a column of a system, in words, or None."""
        judged = self._judged[system]
        missing = sum(getattr(query, column) is None for query in judged)
        if missing == len(judged):
            return f"it needs a column {column}, and the data have none"
        return f"{missing} of {len(judged)} queries have no {column}" if missing else None

    def _system(self, context: Context, measure: ReportedMeasure) -> str | None:
        """The system of a figure; where none is named, the only one with such a column, or the first of equals."""
        column = measure.column
        if context.system is not None or column is None:
            return context.system or self.systems[0]
        having = [system for system in self.systems if self._lacking(column, system) is None]
        contents = {tuple(getattr(query, column) for query in self._judged[system]) for system in having}
        return having[0] if len(contents) == 1 else None

    def _unplaced(self, context: Context) -> str:
        if context.stranger is None:
            return f"it does not say which {context.group} it is of"
        if context.group is not None:
            return f"no {context.group} of the data is called {shown(context.stranger)}"
        if context.system is not None:
            return f"nothing known is called {shown(context.stranger)}"
        systems, name = ", ".join(map(shown, self.systems)), shown(context.stranger)
        return f"no system of the data is called {name} (there are: {systems}){self.way_out(name)}"

    def view(self, figure: Figure, quantity: ReportedQuantity) -> QueryView:
        """The queries a figure is over; a mean of what is one lot of queries is the figure itself."""
        context, measure = figure.context, measure_of(quantity)
        view = QueryView(
            self._system(context, measure) or self.systems[0],
            averaging="micro" if quantity.name in COUNTS else context.averaging or "micro",
            spread=context.spread if self.known.folds and context.fold is None else None,
            criterion=context.criterion,
            fold=context.fold,
        )
        return replace(view, population=self._population(figure, view)) if measure.of_population else view

    def _population(self, figure: Figure, view: QueryView) -> Population:
        """All queries or those with gold: by the name of a section, a flag, or how many were evaluated."""
        if figure.context.population is not None or figure.context.quantity == ReportedQuantity("queries"):
            return figure.context.population or "all"  # a bare number of queries is not said to be of those evaluated
        skips = self.holders.nearest(figure.path, _FLAG, _flag)
        if skips is None:
            evaluated = self.holders.nearest(figure.path, "evaluated", _evaluated)
            one_lot = replace(view, spread=None, averaging="micro")
            with_gold = self.value(ReportedQuantity("queries_with_positives"), one_lot)
            skips = evaluated == with_gold != self.value(ReportedQuantity("queries_total"), one_lot)
        return "positives" if skips else "all"

    def flag(self, figure: Figure) -> Finding | None:
        """Whether queries without gold were left out: the section's name says so, or else the figures beside it."""
        key, flag, text = key_of(figure.path), figure.value, "true" if figure.value else "false"
        if figure.context.quantity != ReportedQuantity(_FLAG):
            return None
        if figure.context.population is not None:
            truth, cause = figure.context.population == "positives", "the section's name says otherwise"
        else:
            votes = self._votes(figure.path[:-1])
            if not any(votes.values()):
                return not_recognised(key, flag, "no figure beside it tells which queries were left out")
            truth = flag if votes["positives"] == votes["all"] else votes["positives"] > votes["all"]
            cause = f"the figures beside it are over {_POPULATIONS['positives' if truth else 'all']}"
        return Finding(
            key, "match" if flag == truth else "differs", text, truth, cause=None if flag == truth else cause
        )

    def _votes(self, section: Path) -> dict[Population, int]:
        """How many figures of a section agree with the data over each population."""
        votes: dict[Population, int] = {"positives": 0, "all": 0}
        for figure in self.figures:
            quantity = figure.context.quantity
            inside = figure.path[: len(section)] == section and figure.context.population is None
            if inside and quantity is not None and self._tells_populations_apart(figure, quantity):
                view = self.view(figure, quantity)
                for population in _POPULATIONS:
                    expected = Expected(self.value(quantity, replace(view, population=population)))
                    votes[population] += expected.agrees(figure.value)
        return votes

    def _tells_populations_apart(self, figure: Figure, quantity: ReportedQuantity) -> bool:
        known = isinstance(figure.value, Printed) and self.why_not(figure, quantity) is None
        return known and quantity.name not in (_FLAG, "queries") and measure_of(quantity).of_population

    def other_ways(self, quantity: ReportedQuantity, view: QueryView) -> Iterator[tuple[str, float | None]]:
        """What known other ways would give, by what they are, the likelier first."""
        measure = measure_of(quantity)
        for population, named in _POPULATIONS.items():
            if measure.of_population and population != view.population:
                yield f"other population: {named}", self.value(quantity, replace(view, population=population))
        for way, loop in measure.otherwise.items():
            yield way, self._over(measure, loop, view)
        for way, other in self._other_averages(quantity, measure, view):
            yield way, self.value(quantity, other)
        for system in self.systems:
            if measure.column and system != view.system:
                yield f"it is the figure of {shown(system)}", self.value(quantity, replace(view, system=system))
        if quantity.name in AT_DEPTH:
            yield from self._neighbours(quantity, view)

    def _other_averages(
        self, quantity: ReportedQuantity, measure: ReportedMeasure, view: QueryView
    ) -> Iterator[tuple[str, QueryView]]:
        if view.spread == "std":
            yield "ddof 1: divided by one fold less", replace(view, ddof=1)
            if measure.of_population:
                yield "spread over queries, not folds", replace(view, spread_over="queries")
        elif view.spread == "mean":
            yield "all queries pooled, not the mean over folds", replace(view, spread=None)
        elif self.known.folds and view.fold is None and quantity.name not in COUNTS:
            yield "the mean over folds, not all queries pooled", replace(view, spread="mean")
        if view.averaging == "macro":
            yield "micro: pairs pooled, not the mean over criteria", replace(view, averaging="micro")
        elif view.criterion is None and quantity.name not in COUNTS:
            yield "macro: the mean over criteria, not pairs pooled", replace(view, averaging="macro")

    def _neighbours(self, quantity: ReportedQuantity, view: QueryView) -> Iterator[tuple[str, float | None]]:
        """The same figure at another depth, from the nearest, and the others at the same one."""
        depths = {*_USUAL_DEPTHS, *(quantity.depth + step for step in range(-3, 4))}
        nearest = sorted(depths, key=lambda depth: (abs(depth - quantity.depth), depth))
        others = [quantity.at(depth) for depth in nearest if depth > 0]
        for other in (*others, *(replace(quantity, name=name) for name in AT_DEPTH)):
            if other != quantity:
                yield f"it is {other}", self.value(other, view)

    def last_resort(self, quantity: ReportedQuantity, view: QueryView, reported: Any) -> str | None:  # noqa: ARG002
        """Where no list of the data reaches as deep as a figure looks."""
        longest = max((len(query.ranking.hits) for query in self._judged[view.system]), default=0)
        too_short = quantity.name in AT_DEPTH and longest < quantity.depth
        return f"the lists in the data end at {longest}" if too_short else None


def _flag(name: str, value: Any) -> bool | None:
    return value if isinstance(value, bool) and quantity_named(name) == ReportedQuantity(_FLAG) else None


def _evaluated(name: str, value: Any) -> float | None:
    return (
        value.value
        if isinstance(value, Printed) and quantity_named(name) == ReportedQuantity("queries_evaluated")
        else None
    )


def _averaged(measure: ReportedMeasure, loop: Loop, queries: Sequence[Judged], view: QueryView) -> float | None:
    macro = view.averaging == "macro"
    groups = _groups(queries, lambda query: query.criterion) if macro else [queries]
    values = [None if None in (rows := measure.rows(group)) else loop(rows) for group in groups]
    return _mean([None if value is None else float(value) for value in values])


def _groups(queries: Sequence[Judged], by: Callable[[Judged], Hashable]) -> list[list[Judged]]:
    groups: dict[Hashable, list[Judged]] = {}
    for query in queries:
        groups.setdefault(by(query), []).append(query)
    return [*groups.values()]


def _mean(values: Sequence[float | None]) -> float | None:
    """The mean of values of which none is undefined."""
    defined = [value for value in values if value is not None]
    middle = mean(defined) if len(defined) == len(values) else None
    return None if middle is None else float(middle)


def _deviation(values: Sequence[float | None], ddof: int) -> float | None:
    middle = _mean(values)
    if middle is None or len(values) <= ddof:
        return None
    return math.sqrt(math.fsum((value - middle) ** 2 for value in values if value is not None) / (len(values) - ddof))
