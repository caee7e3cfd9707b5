"""Rankings: the facts of retrieval. The gold ids of each query, and the ranks at which they were returned.

Ids matter only for whether they are equal. So each query's ids are matched once, when the facts are built, and only the
ranks of the returned gold ids are stored: a few numbers per query, however long the lists are. If judgments are graded,
the grades of the gold ids are stored as well, and the grade from which on an id is relevant can be chosen later.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice
from operator import ne
from typing import Any, ClassVar

import numpy as np

from demur.errors import UserError, literal, shown
from demur.facts.columns import plain, wrong_value
from demur.facts.ids import ClusterId
from demur.facts.items import Source
from demur.types import Flags, Floats, Integers, Objects

MOST_DIGITS = 18
_LARGEST = 1e300
_HIGHEST = 10**MOST_DIGITS


@dataclass(frozen=True, slots=True)
class Query:
    """One (post, criterion) pair as in a file: the gold ids, and the ids that one system returned.

    An empty `ranked` is an abstention: no evidence here. `selected` are the ids that the system finally showed,
    `grades` the relevance of each gold id: 1 if not given, and 0 or less for an id that was judged not relevant.
    """

    post: ClusterId
    criterion: ClusterId
    gold: Sequence[str]
    ranked: Sequence[str]
    scores: Sequence[float] | None = None
    prob: float | None = None
    selected: Sequence[str] | None = None
    fold: str | None = None
    grades: Sequence[int] | None = None

    def relevant(self, level: int) -> list[str]:
        """The gold ids with a grade of `level` or more."""
        return [name for name, grade in self.graded().items() if grade >= level]

    def graded(self) -> dict[str, int]:
        """The grade of every gold id."""
        return dict(zip(self.gold, self.grades or [1] * len(self.gold), strict=True))


def checked_level(level: Any) -> int:
    """The lowest grade of a relevant id, checked to be an integer of at least 1."""
    if isinstance(level, bool) or not isinstance(level, (int, np.integer)) or level < 1:
        raise UserError(f"relevance level {literal(level)}, expected an integer, 1 or more")
    return int(level)


def query_name(post: ClusterId, criterion: ClusterId) -> str:
    """The name of a query in messages."""
    return f"post {shown(post)}, criterion {shown(criterion)}"


def check_kinds(gold: Collection[Any], ranked: Collection[Any]) -> None:
    """Refuse texts and numbers as ids of one query: the text '1' and the number 1 would not match."""
    text = next((value for value in chain(gold, ranked) if isinstance(value, str)), None)
    number = next((value for value in chain(gold, ranked) if isinstance(value, (int, float, np.number))), None)
    if text is not None and number is not None:
        raise UserError(f"ids are texts or numbers, not both as here {literal(text)} and {literal(plain(number))}")


def by_number(fold: str) -> tuple[float, str]:
    """The sort key of folds: 2 before 10, and names after numbers."""
    return (float(fold), "") if re.fullmatch("[0-9]{1,15}", fold) else (math.inf, fold)


def fold_name(fold: Any) -> str:
    """A fold as text; a float that is an integer, as frames store them, is written as one."""
    if isinstance(fold, float) and not fold.is_integer():
        raise UserError(f"fold {literal(fold)}, expected a name or an integer")
    return str(int(fold)) if isinstance(fold, float) else str(fold)


def _is_between(number: Any, low: float, high: float) -> bool:
    is_number = isinstance(number, (int, float, np.number)) and not isinstance(number, bool)
    return is_number and bool(low <= number <= high)


def relevant_grades(gold: Any, grades: Any) -> dict[Any, int]:
    """The grade of each gold id with a grade above 0; the others were judged not relevant."""
    if not isinstance(grades, (list, tuple)):
        raise UserError(f"grades {literal(grades)}, expected a list of integers")
    if not isinstance(gold, (list, tuple)):
        raise UserError("a set of gold ids has no order for grades to follow: give a list of ids, or a dict of grades")
    if len(grades) != len(gold):
        raise UserError(f"{len(grades)} grades for {len(gold)} gold ids, expected one each")
    for grade in grades:
        if not isinstance(grade, (int, np.integer)) or not _is_between(grade, -_HIGHEST, _HIGHEST):
            raise UserError(f"grade {literal(plain(grade))}, expected an integer of at most {MOST_DIGITS} digits")
    judged: dict[Any, int] = dict(zip(gold, grades, strict=True))
    return {name: int(grade) for name, grade in judged.items() if grade > 0}


def checked_scores(scores: Sequence[float], ranked: Sequence[Any]) -> Sequence[float]:
    """The scores, checked to be one finite number per ranked id."""
    if not isinstance(scores, (list, tuple)):
        raise UserError(f"scores {literal(scores)}, expected a list of numbers")
    if len(scores) != len(ranked):
        raise UserError(f"{len(scores)} scores for {len(ranked)} ranked ids, expected one each")
    numbers = {*map(type, scores)} <= {int, float} and all(map(_LARGEST.__ge__, map(abs, scores)))
    for score in () if numbers else scores:
        if not _is_between(score, -_LARGEST, _LARGEST):
            raise UserError(f"score {wrong_value(plain(score), 'a finite number')}")
    return scores


def checked_prob(prob: Any) -> float:
    """The probability, checked to be a number from 0 to 1."""
    if not _is_between(prob, 0, 1):
        raise UserError(f"prob {literal(prob)}, expected a number from 0 to 1")
    return float(prob)


@dataclass(frozen=True, eq=False)
class Grades:
    """The grades of all gold ids, of the returned ones (`hit`) and of the selected ones, listed by query.

    All grades are above 0. Those of returned ids are listed by query and then by rank.
    """

    gold_query: Integers
    gold: Integers
    hit_query: Integers
    hit_rank: Integers
    hit: Integers
    selected_query: Integers
    selected: Integers

    def __post_init__(self) -> None:
        for value in vars(self).values():
            value.flags.writeable = False


@dataclass(frozen=True, eq=False)
class Rankings:
    """Queries in order of post and criterion, and what one system returned for each.

    `gold_count` counts the relevant ids of each query; `hit_query` and `hit_rank` list those that were returned, by
    query and then by rank. `gold_ids` holds all gold ids by query, to check that two systems have the same, `scores`
    the scores of all returned ids. `selected_elsewhere` counts the selected ids that are not in the list, `unjudged`
    the queries of a run that have no judgments. `grades` is None if every gold id has grade 1; an id is relevant if its
    grade is `relevance_level` or more.
    """

    evaluated_by: ClassVar[str] = "evaluate_retrieval, by the names of the systems"

    post_ids: Sequence[ClusterId]
    criteria: Sequence[str]
    post: Integers
    criterion: Integers
    gold_count: Integers
    gold_ids: Objects
    candidates: Integers
    hit_query: Integers
    hit_rank: Integers
    scores: Floats | None = None
    prob: Floats | None = None
    selected_count: Integers | None = None
    selected_hits: Integers | None = None
    selected_elsewhere: Integers | None = None
    folds: Sequence[str] = ()
    fold: Integers | None = None
    sources: tuple[Source, ...] = ()
    unjudged: int = 0
    grades: Grades | None = None
    relevance_level: int = 1
    library: str = ""

    def __post_init__(self) -> None:
        self._check_shapes()
        for value in vars(self).values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False

    def _check_shapes(self) -> None:
        optional = (self.prob, self.selected_count, self.selected_hits, self.selected_elsewhere, self.fold)
        columns = (self.post, self.criterion, self.gold_count, self.candidates, *optional)
        if not len(self):
            raise UserError("there are no queries: nothing can be evaluated")
        if any(column is not None and len(column) != len(self) for column in columns):
            raise UserError("the columns of the rankings are of different lengths")
        if len(self.hit_query) != len(self.hit_rank) or (self.hit_rank > self.candidates[self.hit_query]).any():
            raise UserError("a hit of the rankings has a rank beyond the end of its list")
        if len(self.gold_ids) != int(self._gold_total.sum()):
            raise UserError("the rankings do not have as many gold ids as they count")
        if self.scores is not None and len(self.scores) != int(self.candidates.sum()):
            raise UserError("the rankings do not have one score for each candidate")

    def __len__(self) -> int:
        return len(self.post)

    def __repr__(self) -> str:
        return (
            f"Rankings({len(self)} queries of {len(self.post_ids)} posts and {len(self.criteria)} criteria, "
            f"{int(self.has_gold.sum())} with gold, {int((self.candidates == 0).sum())} abstained)"
        )

    @cached_property
    def has_gold(self) -> Flags:
        """Which queries have a relevant id."""
        return self.gold_count > 0

    @cached_property
    def hit_number(self) -> Integers:
        """For each returned gold id, the number of gold ids of its query at its rank or before."""
        first = np.searchsorted(self.hit_query, self.hit_query)
        return np.arange(len(self.hit_query)) - first + 1

    @property
    def _gold_total(self) -> Integers:
        """The number of gold ids of each query, of any grade."""
        return self.gold_count if self.grades is None else self._counts(self.grades.gold_query)

    def _counts(self, queries: Integers) -> Integers:
        return np.bincount(queries, minlength=len(self))

    def gold_sets(self) -> list[frozenset[Any]]:
        """The gold ids of every query, with their grades if they are graded."""
        listed = self.gold_ids.tolist()
        ids = iter(listed if self.grades is None else zip(listed, self.grades.gold.tolist(), strict=True))
        return [frozenset(islice(ids, count)) for count in self._gold_total.tolist()]

    def at_level(self, level: int) -> Rankings:
        """The facts, with an id relevant if its grade is `level` or more.

        >>> from demur.extensions.retrieval.ranking_columns import rankings_of
        >>> facts = rankings_of([{"a": 3, "b": 1, "c": 0}], [["b", "a"]])
        >>> [(leveled.gold_count.tolist(), leveled.hit_rank.tolist()) for leveled in map(facts.at_level, (1, 2))]
        [([2], [1, 2]), ([1], [2])]
        """
        checked_level(level)
        highest = int(self.grades.gold.max()) if self.grades else 1
        if level > max(highest, 1):
            raise UserError(f"relevance level {level}, and the highest judgment is {highest}: give {highest} at most")
        if level == self.relevance_level or self.grades is None:
            return self
        grades = self.grades
        hit, selected = grades.hit >= level, grades.selected_query[grades.selected >= level]
        return replace(
            self,
            relevance_level=int(level),
            gold_count=self._counts(grades.gold_query[grades.gold >= level]),
            hit_query=grades.hit_query[hit],
            hit_rank=grades.hit_rank[hit],
            selected_hits=None if self.selected_hits is None else self._counts(selected),
        )

    def name_of(self, query: int) -> str:
        """The name of a query in messages."""
        return query_name(self.post_ids[int(self.post[query])], self.criteria[int(self.criterion[query])])

    def with_sources(self, *sources: Source, unjudged: int = 0) -> Rankings:
        """The facts, with the files they came from."""
        return replace(self, sources=sources, unjudged=unjudged)


def check_same_queries(left: Rankings, right: Rankings, names: tuple[str, str]) -> None:
    """Check that two systems have the same queries with the same gold ids."""
    if left.post_ids != right.post_ids or left.criteria != right.criteria or len(left) != len(right):
        raise UserError(f"{shown(names[0])} and {shown(names[1])} answer different queries: they cannot be paired")
    differs = (left.post != right.post) | (left.criterion != right.criterion)
    differs |= [*map(ne, left.gold_sets(), right.gold_sets())]
    if differs.any():
        query = left.name_of(int(np.argmax(differs)))
        raise UserError(f"{query}: the gold of {shown(names[0])} is not that of {shown(names[1])}")
