"""Making rankings: queries come in one by one or by column, are looked up and checked, and leave a few numbers each."""

from __future__ import annotations

import math
import re
from array import array
from dataclasses import dataclass
from functools import partial
from itertools import chain, count
from operator import and_, sub
from typing import TYPE_CHECKING, Any

import numpy as np

from demur.columns import check_lengths
from demur.errors import UserError, literal, repeated, shown
from demur.items import as_integers, checked_ids, sorted_ids
from demur.rankings import Query, Rankings, query_name

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from demur.items import ClusterId

    Integers = NDArray[np.int64]
    Floats = NDArray[np.float64]

OPTIONAL = ("scores", "prob", "selected", "fold")
_LARGEST = 1e300
_SELECTED = ("selected_count", "selected_hits", "selected_elsewhere")
_TOGETHER = 128  # few enough that what is made of them on the way does not set off the garbage collector


def rankings_of(
    gold: Sequence[Collection[Any]],
    ranked: Sequence[Sequence[Any]],
    *,
    posts: Sequence[ClusterId] | None = None,
    criteria: Sequence[str] | None = None,
    **optional: Sequence[Any],
) -> Rankings:
    """The facts of queries given as lists: for each, what there is to find and what was returned, best first.

    `posts` says which post each query is about: queries of one post are not independent, and are resampled together.
    Without it every query is a post of its own; without `criteria` all ask the same. `scores`, `prob`, `selected` and
    `fold`, one entry a query each, are optional.

    >>> rankings_of([{"a", "b"}, {"c"}, set()], [["a", "x", "b"], ["x"], []], posts=[1, 1, 2], criteria=list("qrq"))
    Rankings(3 queries of 2 posts and 2 criteria, 2 with gold, 1 abstained)
    """
    unknown = set(optional) - {*OPTIONAL}
    if unknown:
        raise UserError(f"rankings have no {min(unknown)}: give scores, prob, selected or fold")
    columns = {"gold": gold, "ranked": ranked, "posts": posts, "criteria": criteria, **optional}
    check_lengths({name: values for name, values in columns.items() if values is not None})
    gold, ranked = _as_lists(gold), _as_lists(ranked)
    optional = {name: _as_lists(values) for name, values in optional.items()}
    size = len(gold)
    whole = Columns(
        range(size) if posts is None else posts,
        ["all"] * size if criteria is None else criteria,
        gold,
        ranked,
        *map(optional.get, OPTIONAL),
    )
    made = RankingsBuilder()
    for start in range(0, size, _TOGETHER):  # what is made of a query on the way is gone before there is much of it
        made.extend(whole.part(slice(start, start + _TOGETHER)))
    return made.done()


def _as_lists(rows: Any) -> Any:
    """Rows of arrays, as a retriever gives them, as lists."""
    if isinstance(rows, np.ndarray):
        return rows.tolist()
    return [row.tolist() if isinstance(row, np.ndarray) else row for row in rows] if _has_arrays(rows) else rows


def _has_arrays(rows: Iterable[Any]) -> bool:
    return any(kind is np.ndarray for kind in {*map(type, rows)})


def rankings_from(queries: Iterable[Query]) -> Rankings:
    """The facts of queries, one after the other: nothing of a query is kept but a few numbers."""
    made = RankingsBuilder()
    for query in queries:
        made.add(query)
    return made.done()


@dataclass(frozen=True, slots=True)
class Columns:
    """Queries by column; an optional one is None if no query has it."""

    posts: Sequence[ClusterId]
    criteria: Sequence[str]
    gold: Sequence[Collection[Any]]
    ranked: Sequence[Sequence[Any]]
    scores: Sequence[Any] | None = None
    prob: Sequence[Any] | None = None
    selected: Sequence[Any] | None = None
    fold: Sequence[Any] | None = None

    @classmethod
    def of(cls, queries: Sequence[Query]) -> Columns:
        """From queries one by one."""
        needed = ([getattr(query, name) for query in queries] for name in ("post", "criterion", "gold", "ranked"))
        optional = ([getattr(query, name) for query in queries] for name in OPTIONAL)
        return cls(*needed, *(None if not any(one is not None for one in column) else column for column in optional))

    def part(self, of: slice) -> Columns:
        """Some of the queries."""
        optional = (getattr(self, name) for name in OPTIONAL)
        parts = (None if column is None else column[of] for column in optional)
        return Columns(self.posts[of], self.criteria[of], self.gold[of], self.ranked[of], *parts)

    def name_of(self, query: int) -> str:
        """How a message calls a query."""
        return query_name(self.posts[query], self.criteria[query])

    def sets(self, name: str) -> list[frozenset[Any]]:
        """The ids of every query as a set. An id that is there twice is a mistake, and so is a text in place of ids."""
        given = getattr(self, name)
        if {*map(type, given)} <= _LISTS[name]:
            try:
                found = [*map(frozenset, given)]
            except TypeError:
                raise UserError(f"{name} ids are texts or numbers: one of them is something else") from None
            if [*map(len, found)] == [*map(len, given)]:
                return found
        return self.each(partial(_distinct, what=name), given)

    def each(self, check: Callable[..., Any], *columns: Sequence[Any]) -> list[Any]:
        """What a check makes of every query; its complaint is told with the query it is about."""
        try:
            return [*map(check, *columns)]
        except UserError:
            pass
        for query, values in enumerate(zip(*columns, strict=True)):  # only a mistake pays for finding it
            try:
                check(*values)
            except UserError as error:
                raise UserError(f"{self.name_of(query)}: {error}") from None
        raise AssertionError


class RankingsBuilder:
    """Facts in the making: columns that grow as queries come in, and are put in order at the end."""

    def __init__(self) -> None:
        self.posts: dict[ClusterId, int] = {}
        self.criteria: dict[str, int] = {}
        self.folds: dict[str, int] = {}
        whole = ("post", "criterion", "gold_count", "gold_key", "candidates", "hit_count", "hit_place", "fold")
        self.whole = {name: array("q") for name in (*whole, *_SELECTED)}
        self.real = {name: array("d") for name in ("scores", "prob")}
        self._given: set[str] = set()
        self._waiting: list[Query] = []

    def add(self, query: Query) -> None:
        """One more query."""
        self._waiting.append(query)
        if len(self._waiting) == _TOGETHER:
            self._settle()

    def _settle(self) -> None:
        if self._waiting:
            self.extend(Columns.of(self._waiting))
            self._waiting = []

    def extend(self, given: Columns) -> None:
        """More queries, by column."""
        whole, first = self.whole, not self.whole["post"]
        gold, ranked = given.sets("gold"), given.sets("ranked")
        places = _places([*map(and_, gold, ranked)], given.ranked)
        whole["post"].fromlist([*_coded(given.posts, self.posts)])
        whole["criterion"].fromlist([*_coded(given.criteria, self.criteria)])
        whole["gold_count"].fromlist([*map(len, gold)])
        whole["gold_key"].fromlist([*map(hash, gold)])
        whole["candidates"].fromlist([*map(len, given.ranked)])
        whole["hit_count"].fromlist([*map(len, places)])
        whole["hit_place"].fromlist([*chain.from_iterable(places)])
        for name in OPTIONAL:
            self._refuse_ragged(given, name, first=first)
        if given.scores is not None:
            self.real["scores"].extend(chain.from_iterable(given.each(_scores, given.scores, given.ranked)))
        if given.prob is not None:
            self.real["prob"].extend(given.each(_prob, given.prob))
        if given.selected is not None:
            chosen = given.sets("selected")
            whole["selected_count"].fromlist([*map(len, chosen)])
            whole["selected_hits"].extend(map(len, map(and_, chosen, gold)))
            whole["selected_elsewhere"].extend(map(len, map(sub, chosen, ranked)))
        if given.fold is not None:
            whole["fold"].fromlist([*_coded(given.each(_fold, given.fold), self.folds)])

    def _refuse_ragged(self, given: Columns, name: str, *, first: bool) -> None:
        """A column that some queries have and others lack cannot be used, and will not be filled."""
        column = getattr(given, name)
        if first and column is not None:
            self._given.add(name)
        lacks = None if column is None else next((place for place, one in enumerate(column) if one is None), None)
        if lacks is None and (column is not None) == (name in self._given):
            return
        has = column is not None and lacks is None
        said = f"has {name}, which others lack" if has else f"has no {name}, which others have"
        raise UserError(f"{given.name_of(lacks or 0)}: {said}: give it for every query or for none")

    def done(self, *, text_ids: bool = False) -> Rankings:
        """The facts, in order of post and criterion, whatever order the queries came in.

        With `text_ids` the posts came as texts, as they do in CSV, and are numbers if all of them read as such.
        """
        self._settle()
        self.posts = as_numbers(self.posts) if text_ids else self.posts
        columns = {name: np.frombuffer(values, np.int64) if values else None for name, values in self.whole.items()}
        post, criterion = columns["post"], columns["criterion"]
        if post is None or criterion is None:
            raise UserError("there are no queries: nothing can be evaluated")
        post_ids, names = (
            sorted_ids(checked_ids(self.posts, "post")),
            sorted_ids(checked_ids(self.criteria, "criterion")),
        )
        folds = tuple(sorted(self.folds, key=_by_number))
        post, criterion = _renumbered(post, self.posts, post_ids), _renumbered(criterion, self.criteria, names)
        order = np.lexsort((criterion, post))
        self._refuse_repeats(post[order], criterion[order], post_ids, names)
        per_query: dict[str, Any] = {
            name: values[order]
            for name in ("gold_count", "gold_key", "candidates", *_SELECTED)
            if (values := columns[name]) is not None
        }
        fold = columns["fold"]
        return Rankings(
            post_ids=post_ids,
            criteria=tuple(map(str, names)),
            post=post[order],
            criterion=criterion[order],
            **per_query,
            **self._hits(order),
            scores=self._scores(order) if "scores" in self._given else None,
            prob=np.frombuffer(self.real["prob"])[order] if "prob" in self._given else None,
            folds=folds,
            fold=None if fold is None else _renumbered(fold, self.folds, folds)[order],
        )

    def _hits(self, order: Integers) -> dict[str, Any]:
        counts = np.frombuffer(self.whole["hit_count"], np.int64)
        ranks = np.array(self.whole["hit_place"], np.int64) + 1
        places = _runs(counts, order)
        return {"hit_query": np.repeat(np.arange(len(order)), counts[order]), "hit_rank": ranks[places]}

    def _scores(self, order: Integers) -> Floats:
        return np.array(self.real["scores"])[_runs(np.frombuffer(self.whole["candidates"], np.int64), order)]

    @staticmethod
    def _refuse_repeats(post: Integers, criterion: Integers, posts: Sequence[Any], criteria: Sequence[Any]) -> None:
        same = (np.diff(post) == 0) & (np.diff(criterion) == 0)
        if same.any():
            place = int(np.argmax(same))
            name = query_name(posts[post[place]], criteria[criterion[place]])
            raise UserError(f"{name}: the query is there twice")


def _places(found: Sequence[Collection[Any]], ranked: Sequence[Sequence[Any]]) -> list[Sequence[int]]:
    """Where, from 0, the ids that were found stand in their lists, in order."""
    return [
        sorted(map(ids.index, some)) if 0 < len(some) < _FEW else _many_places(some, ids) if some else ()
        for some, ids in zip(found, ranked, strict=True)
    ]


def _many_places(found: Collection[Any], ids: Sequence[Any]) -> list[int]:
    """As many searches through one long list would take their time: a table of all places is for many."""
    return sorted(map(dict(zip(ids, count(), strict=False)).__getitem__, found))


_FEW = 5


def as_numbers(posts: Mapping[ClusterId, int]) -> dict[ClusterId, int]:
    """Posts as integers if every one is written as one, as they are otherwise."""
    integers = as_integers(posts, _MOST_DIGITS)
    return dict(posts if integers is None else zip(integers, posts.values(), strict=True))


_MOST_DIGITS = 18


def _renumbered(codes: Integers, found: Mapping[Any, int], names: Sequence[Any]) -> Integers:
    """Codes in order of appearance, as places among the sorted names."""
    place = {name: index for index, name in enumerate(names)}
    return np.array([place[name] for name in found], np.int64)[codes]


def _runs(lengths: Integers, order: Integers) -> Integers:
    """Where the parts of a flat column are once the queries they belong to are put in order."""
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])[order]
    taken = lengths[order]
    within = np.arange(int(taken.sum())) - np.repeat(np.cumsum(taken) - taken, taken)
    return np.asarray(np.repeat(starts, taken) + within)


def _coded(names: Sequence[Any], known: dict[Any, int]) -> Iterator[int]:
    """Names as numbers; new ones become known."""
    for name in dict.fromkeys(names):
        known.setdefault(name, len(known))
    return map(known.__getitem__, names)


_LISTS: dict[str, set[type]] = {name: {list, tuple} for name in ("ranked", "selected")}
_LISTS["gold"] = {list, tuple, set, frozenset}


def _distinct(ids: Collection[Any], what: str) -> frozenset[Any]:
    if type(ids) not in _LISTS[what]:
        expected = "a list or a set" if what == "gold" else "a list"
        raise UserError(f"{what} ids {literal(ids)}, expected {expected} of ids")
    found = frozenset(ids)
    if len(found) < len(ids):
        raise UserError(f"the {what} id {shown(repeated(ids)[0])} is there twice")
    return found


def _is_moderate(score: Any) -> bool:
    return bool(abs(score) <= _LARGEST)


def _by_number(fold: str) -> tuple[float, str]:
    """Folds 2 and 10 in this order; others by their names."""
    return (float(fold), "") if re.fullmatch("[0-9]{1,15}", fold) else (math.inf, fold)


def _fold(fold: Any) -> str:
    if isinstance(fold, float) and not fold.is_integer():
        raise UserError(f"fold {literal(fold)}, expected a name or an integer")
    return str(int(fold)) if isinstance(fold, float) else str(fold)


def _scores(scores: Sequence[float], ranked: Sequence[Any]) -> Sequence[float]:
    if not isinstance(scores, (list, tuple)):
        raise UserError(f"scores {literal(scores)}, expected a list of numbers")
    if len(scores) != len(ranked):
        raise UserError(f"{len(scores)} scores for {len(ranked)} ranked ids, expected one each")
    for score in scores:
        if isinstance(score, bool) or not isinstance(score, (int, float, np.number)) or not _is_moderate(score):
            raise UserError(f"score {literal(score)}, expected a finite number")
    return scores


def _prob(prob: Any) -> float:
    number = isinstance(prob, (int, float, np.number)) and not isinstance(prob, bool)
    if not number or not 0 <= prob <= 1:
        raise UserError(f"prob {literal(prob)}, expected a number from 0 to 1")
    return float(prob)
