"""Rows: the plain tuples from which figures of rankings are computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from demur.extensions.audit.retrieval_figures.ranking import Ranked
from demur.extensions.audit.retrieval_figures.selection import Shown

if TYPE_CHECKING:
    from demur.extensions.retrieval.rankings import Query


def ranking_row(query: Query, level: int = 1) -> Ranked:
    """The row of a query's ranking: number of gold ids, which ranks have one, and the grades."""
    gold, judged = set(query.relevant(level)), {name: grade for name, grade in query.graded().items() if grade > 0}
    hits, grades = (tuple(name in gold for name in query.ranked), tuple(judged.get(name, 0) for name in query.ranked))
    return Ranked(len(gold), hits, grades, tuple(judged.values()))


class QueryRow(NamedTuple):
    """One query with the rows that figures are computed from; probability, selection and fold may be missing."""

    post: str
    criterion: str
    fold: str | None
    ranking: Ranked
    prob: tuple[float, int] | None
    selected: Shown | None

    @property
    def gold(self) -> int:
        """The number of gold ids."""
        return self.ranking.gold


def query_row(query: Query, level: int = 1) -> QueryRow:
    """All rows that figures need of a query; the probability is paired with whether there is gold."""
    gold, selected = set(query.relevant(level)), query.selected
    hits = sum(candidate in gold for candidate in selected or ())
    return QueryRow(
        post=str(query.post),
        criterion=str(query.criterion),
        fold=None if query.fold is None else str(query.fold),
        ranking=ranking_row(query, level),
        prob=None if query.prob is None else (float(query.prob), int(bool(gold))),
        selected=None if selected is None else Shown(len(gold), len(selected), hits),
    )
