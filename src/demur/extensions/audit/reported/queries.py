"""The audit of figures of rankings, from the queries they were computed from.

A figure under `positives_only` is over the queries with gold, one under `all_queries` over all. Elsewhere the nearest
`skip_no_positives` says which, or else a `queries_evaluated` that is one of the two counts; where nothing does, a
figure is over all queries, because nothing says that any were left out.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean, pstdev, stdev
from typing import TYPE_CHECKING, Any

from demur.errors import UserError, shown
from demur.extensions.audit.figures import Expected, Explanation, Finding, Printed, not_recognised
from demur.extensions.audit.reported.audit import Audit
from demur.extensions.audit.reported.contexts import Context, Figure, Known, Path, Population
from demur.extensions.audit.reported.conventions import COUNTS, OF_SECTION, column_of, conventions_of, is_of_queries
from demur.extensions.audit.reported.names import AT_DEPTH, ReportedQuantity
from demur.extensions.audit.retrieval_figures.rows import QueryRow, query_row
from demur.facts.frames import TableOf

if TYPE_CHECKING:
    from demur.extensions.retrieval.rankings import Query

_POPULATIONS: dict[Population, str] = {"positives": "queries with gold only", "all": "all queries"}
_USUAL_DEPTHS = (1, 3, 5, 10, 20, 50, 100)
_FLAG = "skip_no_positives"
_DDOF_1, _OVER_QUERIES = "ddof 1: divided by one fold less", "spread over queries, not folds"


def audited_retrieval(queries: Mapping[str, Sequence[Query]], content: Any) -> TableOf[Finding]:
    """Audit every figure of a reported file from the queries of each system.

    `content` is the file parsed by `strict_json.loads(text, number=Printed.of)`.
    """
    if not queries:
        raise UserError("the data have no ranked column to audit; name one with --system NAME=COLUMN")
    return QueryAudit(queries, content).findings()


def _of_population(name: str) -> bool:
    return name in OF_SECTION or column_of(name) in ("ranking", "selected")


class QueryAudit(Audit):
    """The audit of a reported file from the queries of every system."""

    section_of = "system"
    counts = frozenset(COUNTS)
    unbounded = frozenset(("average_k", "threshold@fpr=F", "candidates@P"))
    advice = "; say which column it is with --system *=COLUMN"

    def __init__(self, queries: Mapping[str, Sequence[Query]], content: Any) -> None:
        self._rows = {system: [*map(query_row, rows)] for system, rows in queries.items()}
        everything = [row for rows in self._rows.values() for row in rows]
        folds = sorted({row.fold for row in everything if row.fold is not None}, key=lambda fold: (len(fold), fold))
        criteria = frozenset(row.criterion for row in everything)
        super().__init__(Known({name: name for name in queries}, criteria=criteria, folds=tuple(folds)), content)

    def computed(self, context: Context) -> float | None:
        """Compute the value of a figure over its queries; means leave out criteria and folds without any."""
        rows = [
            row
            for row in self._rows[str(context.system)]
            if (context.population != "positives" or row.gold)
            and context.criterion in (None, row.criterion)
            and context.fold in (None, row.fold)
        ]
        if context.spread is None:
            value = _averaged(context, rows)
            return int(value) if context.quantity.name in COUNTS and value is not None else value
        by_query = context.convention == _OVER_QUERIES
        values = [_averaged(context, group) for group in ([[row] for row in rows] if by_query else _by("fold", rows))]
        numbers, ddof = [value for value in values if value is not None], int(context.convention == _DDOF_1)
        if len(numbers) < len(values) or len(values) <= ddof:
            return None
        return fmean(numbers) if context.spread == "mean" else (stdev if ddof else pstdev)(numbers)

    def why_not(self, figure: Figure) -> str | None:
        """The reason why a figure cannot be recomputed; None if it can."""
        context = figure.context
        if not is_of_queries(context.quantity.name):
            return f"{context.quantity} is a figure of a run: give the run as --data"
        if context.draws is not None:
            return "it is made of draws, which are not repeated for rankings"
        is_flag = context.quantity.name == _FLAG
        if is_flag and not isinstance(figure.value, bool):
            return "expected true or false"
        averaged = {"fold": context.spread, "criterion": context.averaging}
        if context.stranger is not None or (context.group is not None and averaged[context.group] is None):
            return self._unplaced(context)
        return None if is_flag else self._missing(context)

    def _missing(self, context: Context) -> str | None:
        """What a figure needs that neither the data nor the file provide."""
        candidates = [*self._rows] if context.system is None else [context.system]
        needs_folds = context.spread == "std" or context.quantity.name == "folds"
        for column in (column_of(context.quantity.name), "fold" if needs_folds else None):
            lacking = [self._lacking(column, system) for system in candidates] if column else []
            if lacking and all(lacking):
                return lacking[0]
        if context.spread == "std" and context.fold is not None:
            return "a fold alone has no spread over folds"
        if self._system(context) is None:
            return f"it does not say which system it is of: {', '.join(map(shown, candidates))}"
        return None

    def _lacking(self, column: str, system: str) -> str | None:
        """What a column of a system lacks, in words, or None."""
        rows = self._rows[system]
        missing = sum(getattr(row, column) is None for row in rows)
        if missing == len(rows):
            return f"it needs a column {column}, and the data have none"
        return f"{missing} of {len(rows)} queries have no {column}" if missing else None

    def _system(self, context: Context) -> str | None:
        """The system of a figure: as named, the only one with the column it needs, or the first of identical ones."""
        column = "fold" if context.quantity.name == "folds" else column_of(context.quantity.name)
        if context.system is not None or column is None:
            return context.system or next(iter(self._rows))
        having = [system for system in self._rows if self._lacking(column, system) is None]
        contents = {tuple(getattr(row, column) for row in self._rows[system]) for system in having}
        return having[0] if len(contents) == 1 else None

    def _unplaced(self, context: Context) -> str:
        if context.stranger is None:
            return f"it does not say which {context.group} it is of"
        name = shown(context.stranger)
        if context.group is not None:
            return f"no {context.group} of the data is called {name}"
        if context.system is not None:
            return f"nothing known is called {name}"
        systems = ", ".join(map(shown, self._rows))
        return f"no system of the data is called {name} (there are: {systems}){self.advice.replace('*', name)}"

    def completed(self, figure: Figure) -> Context:
        """The context of a figure with its system, population and averaging completed."""
        context = figure.context
        is_count = context.quantity.name in COUNTS
        spread = context.spread or ("mean" if context.aggregated and not is_count else None)
        context = replace(
            context,
            system=self._system(context) or next(iter(self._rows)),
            averaging="micro" if is_count else context.averaging or "micro",
            spread=spread if self.known.folds and context.fold is None else None,
            population="all",
        )
        return (
            replace(context, population=self._population(figure, context))
            if _of_population(context.quantity.name)
            else context
        )

    def _population(self, figure: Figure, context: Context) -> Population:
        """All queries or those with gold: by the name of the section, a flag, or the number evaluated."""
        if figure.context.population is not None or figure.context.quantity.name == "queries":
            return figure.context.population or "all"  # a bare number of queries counts all
        skips, evaluated = figure.beside.get("skips"), figure.beside.get("evaluated")
        if skips is None and evaluated is not None:
            pooled = replace(context, spread=None, averaging="micro")
            with_gold, total = (
                self.value(replace(pooled, quantity=ReportedQuantity(name)))
                for name in ("queries_with_positives", "queries_total")
            )
            skips = evaluated.value == with_gold != total
        return "positives" if skips else "all"

    def finding(self, figure: Figure) -> Finding:
        """The finding about one figure, or about the flag for leaving out queries without gold."""
        is_flag = figure.context.quantity.name == _FLAG and self.unread(figure) is None
        return self._flag_finding(figure) if is_flag else super().finding(figure)

    def _flag_finding(self, figure: Figure) -> Finding:
        """Check the flag by the section's name or the figures beside it."""
        key, flag = ".".join(figure.path), figure.value
        if figure.context.population is not None:
            truth, cause = figure.context.population == "positives", "the section's name says otherwise"
        else:
            votes = self._votes(figure.path[:-1])
            if not any(votes.values()):
                return not_recognised(key, flag, "no figure beside it tells which queries were left out")
            truth = flag if votes["positives"] == votes["all"] else votes["positives"] > votes["all"]
            cause = f"the figures beside it are over {_POPULATIONS['positives' if truth else 'all']}"
        text = "true" if flag else "false"
        return (
            Finding(key, "match", text, truth) if flag == truth else Finding(key, "differs", text, truth, cause=cause)
        )

    def _votes(self, section: Path) -> dict[Population, int]:
        """How many figures of a section agree with the data over each population."""
        votes: dict[Population, int] = {"positives": 0, "all": 0}
        for figure in self.figures:
            inside, name = figure.path[: len(section)] == section, figure.context.quantity.name
            undecided = figure.context.population is None and name != "queries" and _of_population(name)
            if inside and undecided and isinstance(figure.value, Printed) and self.why_not(figure) is None:
                context = self.completed(figure)
                for population in _POPULATIONS:
                    expected = Expected(self.value(replace(context, population=population)))
                    votes[population] += expected.agrees(figure.value)
        return votes

    def others(self, context: Context) -> Iterator[tuple[Explanation | str, Context]]:
        """Other numbers that a figure may be: another population, convention, average, system or depth."""
        name = context.quantity.name
        for population, title in _POPULATIONS.items():
            if _of_population(context.quantity.name) and population != context.population:
                yield f"other population: {title}", replace(context, population=population)
        for convention in filter(None, conventions_of(context.quantity)):
            yield convention, replace(context, convention=convention)
        yield from self._other_averages(context)
        for system in self._rows:
            if (column_of(name) or name == "folds") and system != context.system:
                yield f"it is the figure of {shown(system)}", replace(context, system=system)
        if name in AT_DEPTH:
            yield from ((f"it is {other}", replace(context, quantity=other)) for other in _neighbours(context.quantity))

    def _other_averages(self, context: Context) -> Iterator[tuple[str, Context]]:
        is_count = context.quantity.name in COUNTS
        if context.spread == "std":
            yield _DDOF_1, replace(context, convention=_DDOF_1)
            if _of_population(context.quantity.name):
                yield _OVER_QUERIES, replace(context, convention=_OVER_QUERIES)
        elif context.spread == "mean":
            yield "all queries pooled, not the mean over folds", replace(context, spread=None)
        elif self.known.folds and context.fold is None and not is_count:
            yield "it is the mean over folds, not all queries pooled", replace(context, spread="mean")
        if context.averaging == "macro":
            yield "micro: pairs pooled, not the mean over criteria", replace(context, averaging="micro")
        elif context.criterion is None and not is_count:
            yield "macro: the mean over criteria, not pairs pooled", replace(context, averaging="macro")

    def last_resort(self, context: Context, reported: Any) -> str | None:  # noqa: ARG002
        """The remark that all lists of the data are shorter than the depth of a figure, if so."""
        longest = max((len(row.ranking.hits) for row in self._rows[str(context.system)]), default=0)
        too_short = context.quantity.name in AT_DEPTH and longest < context.quantity.depth
        return f"the lists in the data end at {longest}" if too_short else None


def _neighbours(quantity: ReportedQuantity) -> Iterator[ReportedQuantity]:
    depths = {*_USUAL_DEPTHS, *(quantity.depth + step for step in range(-3, 4))}
    nearest = sorted(depths, key=lambda depth: (abs(depth - quantity.depth), depth))
    others = [quantity.at(depth) for depth in nearest if depth > 0]
    yield from (other for other in (*others, *(replace(quantity, name=name) for name in AT_DEPTH)) if other != quantity)


def _averaged(context: Context, rows: Sequence[QueryRow]) -> float | None:
    """The value of a loop over queries, pooled or as the mean over the criteria."""
    loops, column = conventions_of(context.quantity), column_of(context.quantity.name)
    loop = loops.get(context.convention, loops[""])
    groups = _by("criterion", rows) if context.averaging == "macro" else [[*rows]]
    columns = [[getattr(row, column) for row in group] if column else group for group in groups]
    values = [None if None in group else loop(group) for group in columns]
    numbers = [float(value) for value in values if value is not None]
    return fmean(numbers) if numbers and len(numbers) == len(values) else None


def _by(column: str, rows: Sequence[QueryRow]) -> list[list[QueryRow]]:
    groups: dict[Hashable, list[QueryRow]] = {}
    for row in rows:
        groups.setdefault(getattr(row, column), []).append(row)
    return [*groups.values()]
