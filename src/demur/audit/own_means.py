"""The means of one system, and what follows from means, by the data as they are and in every draw of posts."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from demur.audit import ranked_loops as ranked
from demur.audit.own_selection import needs_scores, shown_by
from demur.audit.ranked_loops import Selection

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from demur.audit.own_queries import Asked, Facts, Path
    from demur.audit.ranked_loops import Judged

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

_SHOWN: dict[str, Callable[[Judged], float]] = {
    "evidence_recall": ranked.evidence_recall,
    "evidence_precision": ranked.evidence_precision,
    "evidence_f1": ranked.evidence_f1,
    "average_k": lambda query: float(ranked.selected_size(query)),
}
_F1 = "empty_decision", "f1"
_RIGHT, _EMPTY, _NONE_THERE = ("of f1", "right"), ("of f1", "empty"), ("of f1", "none there")


@dataclass(frozen=True, slots=True, eq=False)
class Lot:
    """Some of the queries, and numbers of each that are averaged over them."""

    among: Bools
    values: Mapping[Path, Floats]


class Means:
    """Every mean of one system by its path."""

    def __init__(self, facts: Facts, asked: Asked, policies: Sequence[str]) -> None:
        self._facts = facts
        self.per_query = _per_query(facts, asked)
        lots = [*self._ranking_lots(), *_shown_lots(facts, asked, policies), *_empty_lots(facts, asked)]
        self._lots = [(lot, _by_post(facts, lot)) for lot in lots]
        self._has_empty = any(_RIGHT in lot.values for lot in lots)

    def _ranking_lots(self) -> list[Lot]:
        found = []
        for population, among in self._facts.populations.items():
            groups: dict[Path, Bools] = {("micro",): among}
            for criterion, here in self._facts.criteria.items():
                groups["per_criterion", criterion, "metrics"] = among & here
            for group, inside in groups.items():
                values: dict[Path, Floats] = {
                    (population, *group, name): column for name, column in self.per_query.items()
                }
                found.append(Lot(inside, values))
        return found

    @property
    def points(self) -> dict[Path, float]:
        """By the data as they are; nan among no query."""
        return self.within(np.ones(len(self._facts.rows), bool))

    def within(self, here: Bools) -> dict[Path, float]:
        """By some of the queries only."""
        found = {}
        for lot, _ in self._lots:
            inside = lot.among & here
            size = int(inside.sum())
            for path, column in lot.values.items():
                found[path] = math.fsum(column[inside].tolist()) / size if size else math.nan
        return {path: float(value[0]) for path, value in self._followed({k: np.array([v]) for k, v in found.items()})}

    def drawn(self, weights: Floats) -> dict[Path, Floats]:
        """In every draw: the weighted sum over the weighted number of queries; nan where a draw holds none."""
        found: dict[Path, Floats] = {}
        for lot, (sums, counts) in self._lots:
            found |= zip(lot.values, _over(weights @ sums, (weights @ counts)[:, None]).T, strict=True)
        return dict(self._followed(found))

    @property
    def whole(self) -> set[Path]:
        """The means of whole numbers, halves and quarters, which add up without rounding however they are added."""
        return {
            path
            for lot, (sums, _) in self._lots
            for path, column in zip(lot.values, sums.T, strict=True)
            if (4 * column == np.rint(4 * column)).all()
        }

    @property
    def made_of(self) -> dict[Path, Floats]:
        """The column of the queries each of the numbers follows from."""
        found = {path: column for lot, _ in self._lots for path, column in lot.values.items()}
        for population in self._facts.populations:
            found |= {(population, "macro", name): column for name, column in self.per_query.items()}
        if self._has_empty:
            decision = ("precision", "recall", "false_evidence_rate", "f1")
            found |= {("empty_decision", name): found[_EMPTY] for name in decision}
        return found

    def _followed(self, found: Mapping[Path, Floats]) -> list[tuple[Path, Floats]]:
        """Means, the mean over the criteria that have one, and the F1 of the empty decision."""
        made = {path: values for path, values in found.items() if path[0] != "of f1"}
        for population in self._facts.populations:
            for name in self.per_query:
                each = [made[population, "per_criterion", one, "metrics", name] for one in self._facts.criteria]
                made[population, "macro", name] = mean_of_those_there(each)
        if self._has_empty:
            made[_F1] = _over(2 * found[_RIGHT], found[_EMPTY] + found[_NONE_THERE])
        return [*made.items()]


def mean_of_those_there(columns: Sequence[Floats]) -> Floats:
    """The mean of several numbers in each draw, of those that are not nan."""
    stacked = np.stack(columns)
    there = ~np.isnan(stacked)
    return _over(np.where(there, stacked, 0.0).sum(axis=0), there.sum(axis=0))


def _over(above: Floats, below: NDArray[Any]) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(below == 0, np.nan, above / below), np.float64)


def _per_query(facts: Facts, asked: Asked) -> dict[str, Floats]:
    definitions = ranked.EFFECTIVE if asked.effective_k else ranked.DEFINITIONS
    return {
        f"{figure}@{k}": np.array([worth(query, k) for query in facts.judged])
        for figure, worth in definitions.items()
        for k in asked.depths
    }


def _by_post(facts: Facts, lot: Lot) -> tuple[Floats, Floats]:
    """What the queries of each post (a row) add up to, number by number, and how many there are."""
    post, size = facts.post[lot.among], len(facts.posts)
    sums = [np.bincount(post, column[lot.among], minlength=size) for column in lot.values.values()]
    return np.stack(sums, axis=1), np.bincount(post, minlength=size).astype(np.float64)


def _shown_lots(facts: Facts, asked: Asked, policies: Sequence[str]) -> list[Lot]:
    """What is shown of each list: the selection of the data, and that of each policy."""
    found: dict[Path, list[Judged]] = {}
    if facts.having("selected"):
        found["dynamic_k", "metrics"] = [*facts.judged]
    for policy in policies:
        chosen = _chosen(facts, asked, policy)
        if chosen is not None:
            found["policies", policy] = chosen
    everyone = np.ones(len(facts.rows), bool)
    return [
        Lot(everyone, {(*place, name): np.array([*map(worth, queries)]) for name, worth in _SHOWN.items()})
        for place, queries in found.items()
    ]


def _chosen(facts: Facts, asked: Asked, policy: str) -> list[Judged] | None:
    """The queries as they would be if a policy selected; None where it cannot."""
    if needs_scores(policy) and not facts.having("scores"):
        return None
    found = []
    for row, query in zip(facts.rows, facts.judged, strict=True):
        shown = shown_by(policy, row.scores if row.scores is not None else [0.0] * len(row.ranked), asked.bounds)
        if shown is None:
            return None
        found.append(replace(query, selected=Selection(shown, sum(query.hits[:shown]))))
    return found


def _empty_lots(facts: Facts, asked: Asked) -> list[Lot]:
    """The decision that there is nothing: by the gate's threshold or an empty list, the selection, or the list."""
    if asked.threshold is not None and not facts.having("prob"):
        return []
    empty, none_there = np.array([_is_empty(query, asked) for query in facts.judged]), ~facts.has_gold
    right = (empty & none_there).astype(np.float64)
    parts: dict[Path, Floats] = {
        _RIGHT: right,
        _EMPTY: empty.astype(np.float64),
        _NONE_THERE: none_there.astype(np.float64),
    }
    return [
        Lot(empty, {("empty_decision", "precision"): right}),
        Lot(none_there, {("empty_decision", "recall"): right, ("empty_decision", "false_evidence_rate"): 1 - right}),
        Lot(np.ones(len(facts.rows), bool), parts),
    ]


def _is_empty(query: Judged, asked: Asked) -> bool:
    if asked.threshold is not None and query.prob is not None:
        return query.prob < asked.threshold or not query.hits
    return len(query.hits) == 0 if query.selected is None else query.selected.size == 0
