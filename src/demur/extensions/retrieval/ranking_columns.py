"""Builds rankings from queries, one by one or by column: each is checked, and reduced to a few numbers."""

from array import array
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import replace
from itertools import chain, count
from operator import and_, sub
from typing import Any

import numpy as np

from demur.errors import UserError, literal, repeated, shown
from demur.extensions.retrieval.rankings import (
    MOST_DIGITS,
    Grades,
    Query,
    Rankings,
    by_number,
    check_kinds,
    checked_prob,
    checked_scores,
    fold_name,
    query_name,
    relevant_grades,
)
from demur.facts.codes import GrowingCodes
from demur.facts.columns import check_lengths, plain
from demur.facts.ids import ClusterId, as_integers, checked_ids, sorted_ids
from demur.types import Integers

Columns = Mapping[str, Sequence[Any]]  # by field of Query, without the optional fields that no query has

NEEDED = ("post", "criterion", "gold", "ranked")
OPTIONAL = ("scores", "prob", "selected", "fold", "grades")
_SELECTED = ("selected_count", "selected_hits", "selected_elsewhere")
_PER_QUERY = ("gold_count", "candidates", *_SELECTED)
_BATCH = 128  # few enough that temporary objects do not start the garbage collector
_FEW = 5
_GRADED = {"gold": "gold_count", "hit": "hit_count", "selected": "selected_hits"}  # lists of grades, and their lengths


def rankings_of(
    gold: Sequence[Collection[Any] | Mapping[Any, int]],
    ranked: Sequence[Sequence[Any]],
    *,
    posts: Sequence[ClusterId] | None = None,
    criteria: Sequence[str] | None = None,
    **optional: Sequence[Any],
) -> Rankings:
    """The facts of queries given as lists: the gold ids of each query, and the returned ids, best first.

    `posts` has the post of each query: queries of one post are not independent, and are resampled together. Without it
    every query is a post of its own; without `criteria` all have the same criterion. `scores`, `prob`, `selected` and
    `fold`, with one entry per query, are optional. Judgments may be graded, with a grade for each gold id: either
    `grades` has a list per query, or `gold` has a dict per query.

    >>> rankings_of([{"a", "b"}, {"c"}, set()], [["a", "x", "b"], ["x"], []], posts=[1, 1, 2], criteria=list("qrq"))
    Rankings(3 queries of 2 posts and 2 criteria, 2 with gold, 1 abstained)
    """
    if unknown := set(optional) - {*OPTIONAL}:
        raise UserError(f"rankings have no {min(unknown)}: give scores, prob, selected, fold or grades")
    if any(isinstance(judged, Mapping) for judged in gold):
        gold, optional = _split_grades(gold, optional)
    columns = {"gold": gold, "ranked": ranked, "posts": posts, "criteria": criteria, **optional}
    check_lengths({name: values for name, values in columns.items() if values is not None})
    size = len(gold)
    queries = {
        "post": range(size) if posts is None else posts,
        "criterion": ["all"] * size if criteria is None else criteria,
        **{
            name: [row.tolist() if isinstance(row, (np.ndarray, np.generic)) else row for row in rows]
            for name, rows in {"gold": gold, "ranked": ranked, **optional}.items()
        },
    }
    builder = RankingsBuilder()
    for start in range(0, size, _BATCH):
        builder.extend({name: values[start : start + _BATCH] for name, values in queries.items()})
    return builder.done()


def _split_grades(gold: Sequence[Any], optional: Mapping[str, Sequence[Any]]) -> tuple[list[Any], dict[str, Any]]:
    """Split dicts of gold ids and grades into lists of both."""
    if "grades" in optional or not all(isinstance(judged, Mapping) for judged in gold):
        raise UserError("give grades either as dicts in gold, for every query, or as lists in grades, not both")
    return [[*judged] for judged in gold], {**optional, "grades": [[*judged.values()] for judged in gold]}


def rankings_from(queries: Iterable[Query]) -> Rankings:
    """The facts of queries; they are taken one by one, so that they need not be in memory together."""
    builder = RankingsBuilder()
    for query in queries:
        builder.add(query)
    return builder.done()


class RankingsBuilder:
    """Collects queries in columns, and sorts them at the end."""

    def __init__(self) -> None:
        self.codes = {name: GrowingCodes() for name in ("post", "criterion", "fold")}
        self.whole = {name: array("q") for name in (*_PER_QUERY, "hit_count", "hit_index")}
        self.real = {name: array("d") for name in ("scores", "prob")}
        self.grades = {name: array("q") for name in _GRADED}
        self.gold_ids: list[Any] = []
        self._optional: set[str] = set()
        self._waiting: list[Query] = []

    def add(self, query: Query) -> None:
        """Add one query."""
        self._waiting.append(query)
        if len(self._waiting) == _BATCH:
            self._settle()

    def _settle(self) -> None:
        waiting, self._waiting = self._waiting, []
        if waiting:
            columns = {name: [getattr(query, name) for query in waiting] for name in (*NEEDED, *OPTIONAL)}
            absent = {name for name in OPTIONAL if all(value is None for value in columns[name])}
            self.extend({name: values for name, values in columns.items() if name not in absent})

    def extend(self, given: Columns) -> None:
        """Add queries, given by column."""
        self._check_ragged(given)
        whole = self.whole
        gold: Sequence[AbstractSet[Any]] = _sets(given, "gold")
        ranked = _sets(given, "ranked")
        try:
            [*map("".join, chain(given["gold"], given["ranked"]))]  # the fastest test that all ids are texts
        except TypeError:
            _checked(given, check_kinds, "gold", "ranked")
        grades = _checked(given, relevant_grades, "gold", "grades") if "grades" in given else []
        gold = [judged.keys() for judged in grades] if grades else gold
        hits = _hit_indices([*map(and_, gold, ranked)], given["ranked"])
        for name in ("post", "criterion"):
            self.codes[name].add([*map(plain, given[name])])
        whole["gold_count"].extend(map(len, gold))
        self.gold_ids.extend(chain.from_iterable(gold))
        whole["candidates"].extend(map(len, given["ranked"]))
        whole["hit_count"].extend(map(len, hits))
        whole["hit_index"].extend(chain.from_iterable(hits))
        if "scores" in given:
            self.real["scores"].extend(chain.from_iterable(_checked(given, checked_scores, "scores", "ranked")))
        if "prob" in given:
            self.real["prob"].extend(_checked(given, checked_prob, "prob"))
        if "selected" in given:
            selected = _sets(given, "selected")
            whole["selected_count"].extend(map(len, selected))
            whole["selected_hits"].extend(map(len, map(and_, selected, gold)))
            whole["selected_elsewhere"].extend(map(len, map(sub, selected, ranked)))
        if grades:
            self._add_grades(grades, given, hits)
        if "fold" in given:
            self.codes["fold"].add(_checked(given, fold_name, "fold"))

    def _add_grades(self, grades: Sequence[Mapping[Any, int]], given: Columns, hits: Sequence[Sequence[int]]) -> None:
        selected = given.get("selected", [()] * len(hits))
        for judged, ids, indices, chosen in zip(grades, given["ranked"], hits, selected, strict=True):
            self.grades["gold"].extend(judged.values())
            self.grades["hit"].extend(judged[ids[index]] for index in indices)
            self.grades["selected"].extend(judged[name] for name in chosen if name in judged)

    def _check_ragged(self, given: Columns) -> None:
        """Refuse an optional field that some queries have and others lack."""
        if not self.whole["candidates"]:
            self._optional = {*OPTIONAL} & given.keys()
        for name in OPTIONAL:
            lacking = next((query for query, value in enumerate(given.get(name, ())) if value is None), None)
            has = name in given and lacking is None
            if lacking is not None or has != (name in self._optional):
                text = f"has {name}, which others lack" if has else f"has no {name}, which others have"
                query = query_name(given["post"][lacking or 0], given["criterion"][lacking or 0])
                raise UserError(f"{query}: {text}: give it for every query or for none")

    def done(self, *, text_ids: bool = False) -> Rankings:
        """The facts, sorted by post and criterion.

        With `text_ids` the posts are texts, as in CSV, and become numbers if all of them are integers.
        """
        self._settle()
        if not self.whole["candidates"]:
            raise UserError("there are no queries: nothing can be evaluated")
        names, columns = self._sorted_names(text_ids=text_ids)
        order = np.lexsort((columns["criterion"], columns["post"]))
        columns |= {name: np.frombuffer(values, np.int64) for name, values in self.whole.items() if values}
        lengths, golds = columns["candidates"], columns["gold_count"]
        ordered = {name: columns[name][order] for name in (*self.codes, *_PER_QUERY) if name in columns}
        same = (np.diff(ordered["post"]) == 0) & (np.diff(ordered["criterion"]) == 0)
        if same.any():
            query = int(np.argmax(same))
            name = query_name(*(names[name][ordered[name][query]] for name in ("post", "criterion")))
            raise UserError(f"{name}: the query appears twice")
        hit_rank = (np.array(self.whole["hit_index"], np.int64) + 1)[_runs(columns["hit_count"], order)]
        return Rankings(
            post_ids=names["post"],
            criteria=tuple(map(str, names["criterion"])),
            **ordered,
            gold_ids=np.fromiter(self.gold_ids, object, len(self.gold_ids))[_runs(golds, order)],
            hit_query=np.repeat(np.arange(len(order)), columns["hit_count"][order]),
            hit_rank=hit_rank,
            scores=np.array(self.real["scores"])[_runs(lengths, order)] if "scores" in self._optional else None,
            prob=np.array(self.real["prob"])[order] if "prob" in self._optional else None,
            folds=names["fold"],
            grades=self._graded(order, hit_rank),
        )

    def _sorted_names(self, *, text_ids: bool) -> tuple[dict[str, tuple[Any, ...]], dict[str, Any]]:
        """The posts, criteria and folds in their order, and the index of each query's own; no index without folds."""
        codes = {name: growing.column() for name, growing in self.codes.items()}
        if text_ids:
            codes["post"] = replace(codes["post"], values=as_numbers(codes["post"].values))
        names: dict[str, tuple[Any, ...]] = {
            name: sorted_ids(checked_ids(codes[name].values, name)) for name in ("post", "criterion")
        }
        names["fold"] = tuple(sorted(codes["fold"].values, key=by_number))
        columns = {}
        for name in (name for name, values in names.items() if values):
            index_of = {value: index for index, value in enumerate(names[name])}
            columns[name] = np.array([index_of[value] for value in codes[name].values])[codes[name].numbers]
        return names, columns

    def _graded(self, order: Integers, hit_rank: Integers) -> Grades | None:
        """The grades in the order of the queries; None if all of them are 1."""
        if not any(grade != 1 for grade in self.grades["gold"]):
            return None
        columns: dict[str, Integers] = {}
        for name, counted in _GRADED.items():
            counts = np.array(self.whole[counted] or [0] * len(order), np.int64)
            columns[name] = np.array(self.grades[name], np.int64)[_runs(counts, order)]
            columns[f"{name}_query"] = np.repeat(np.arange(len(order)), counts[order])
        return Grades(**columns, hit_rank=hit_rank)


def as_numbers(posts: Collection[ClusterId]) -> list[ClusterId]:
    """Posts as integers if all of them are canonical integers, and otherwise unchanged."""
    integers = as_integers(posts, MOST_DIGITS)
    return [*posts] if integers is None else [*integers]


def _checked(given: Columns, check: Callable[..., Any], *names: str) -> list[Any]:
    """The results of a check of every query; an error gets the name of its query."""
    checked: list[Any] = []
    try:
        for values in zip(*(given[name] for name in names), strict=True):
            checked.append(check(*values))  # noqa: PERF401  (their number says which query is wrong)
    except UserError as error:
        query = len(checked)
        raise UserError(f"{query_name(given['post'][query], given['criterion'][query])}: {error}") from None
    return checked


def _hit_indices(hits: Sequence[Collection[Any]], ranked: Sequence[Sequence[Any]]) -> list[Sequence[int]]:
    """The indices of the hits in their lists, in order; many hits are looked up in a dict, few by searching."""
    indices: list[Sequence[int]] = []
    for own, ids in zip(hits, ranked, strict=True):
        index = ids.index if len(own) < _FEW else dict(zip(ids, count(), strict=False)).__getitem__
        indices.append(sorted(map(index, own)) if own else ())
    return indices


def _runs(lengths: Integers, order: Integers) -> Integers:
    """The indices that reorder a flat column whose parts, of these lengths, belong to the queries in this order."""
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])[order]
    taken = lengths[order]
    within = np.arange(int(taken.sum())) - np.repeat(np.cumsum(taken) - taken, taken)
    return np.asarray(np.repeat(starts, taken) + within)


_LISTS: dict[str, set[type]] = {name: {list, tuple} for name in ("ranked", "selected")}
_LISTS["gold"] = {list, tuple, set, frozenset}


def _sets(given: Columns, name: str) -> list[frozenset[Any]]:
    """The ids of every query as a set; an id that appears twice is an error, and so is a text in place of ids."""

    def distinct(ids: Collection[Any]) -> frozenset[Any]:
        if type(ids) not in _LISTS[name]:
            expected = "a list or a set" if name == "gold" else "a list"
            raise UserError(f"{name} ids {literal(ids)}, expected {expected} of ids")
        try:
            twice = repeated(ids)
        except TypeError:
            raise UserError(f"{name} ids are texts or numbers: one of them is something else") from None
        if twice:
            raise UserError(f"the {name} id {shown(twice[0])} appears twice")
        return frozenset(ids)

    if {*map(type, given[name])} <= _LISTS[name]:
        with suppress(TypeError):
            sets = [*map(frozenset, given[name])]
            if [*map(len, sets)] == [*map(len, given[name])]:
                return sets
    return _checked(given, distinct, name)
