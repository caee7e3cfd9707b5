"""Selection: how many of the ranked ids to show; its bounds, their breaches, and policies."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from demur.errors import UserError, literal, registered
from demur.types import Floats, Integers

if TYPE_CHECKING:
    from demur.extensions.retrieval.rankings import Rankings

_MOST = 10**8


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds on how many ids may be shown of n candidates.

    At most `hard_cap`, at most `k_max_ratio` of the candidates rounded down, and at least `k_min`, which wins over the
    other two; never more than the candidates. Showing nothing at all is an abstention, and breaks no bound.

    >>> bounds = Bounds()
    >>> [bounds.of(n) for n in (0, 1, 3, 10, 40)]
    [(0, 0), (1, 1), (2, 2), (2, 5), (2, 10)]
    """

    k_min: int = 2
    hard_cap: int = 10
    k_max_ratio: float = 0.5

    def __post_init__(self) -> None:
        for name in ("k_min", "hard_cap"):
            value = getattr(self, name)
            if type(value) is not int or not 1 <= value <= _MOST:
                raise UserError(f"{name} {literal(value)}, expected an integer, 1 or more (and at most {_MOST})")
        if self.k_min > self.hard_cap:
            raise UserError(f"k_min {self.k_min} is above hard_cap {self.hard_cap}")
        ratio = self.k_max_ratio
        if isinstance(ratio, bool) or not isinstance(ratio, (int, float)) or not 0 < ratio <= 1:
            raise UserError(f"k_max_ratio {literal(ratio)}, expected a number above 0 and at most 1")

    def of(self, candidates: int) -> tuple[int, int]:
        """The fewest and the most ids that may be shown."""
        low, high = self.of_all(np.array([candidates]))
        return int(low[0]), int(high[0])

    def of_all(self, candidates: Integers) -> tuple[Integers, Integers]:
        """The fewest and the most ids that may be shown of each number of candidates."""
        share = Fraction(repr(float(self.k_max_ratio)))  # 0.29 of 100 is 29, and not the 28.999… of the double
        sizes, inverse = np.unique(candidates, return_inverse=True)
        most = np.array([min(self.hard_cap, math.floor(size * share)) for size in sizes.tolist()], np.int64)[inverse]
        low = np.minimum(self.k_min, candidates)
        return low, np.maximum(most, low)


def breaches(rankings: Rankings, bounds: Bounds) -> Iterator[tuple[int, int, int, int]]:
    """Selections that break the bounds: query, ids shown, and both bounds. An empty one, an abstention, breaks none."""
    if rankings.selected_count is None:
        return
    low, high = bounds.of_all(rankings.candidates)
    shown = rankings.selected_count
    for query in np.flatnonzero((shown > 0) & ((shown < low) | (shown > high))).tolist():
        yield query, int(shown[query]), int(low[query]), int(high[query])


Chooser = Callable[[Floats, Integers, Integers, float], Integers]


@dataclass(frozen=True, slots=True)
class PolicyKind:
    """A registered kind of policy; `parameter` is what follows the colon in its name, if anything."""

    name: str
    meaning: str
    parameter: str
    needs_scores: bool
    may_abstain: bool
    choose: Chooser


POLICIES: dict[str, PolicyKind] = {}


def policy(
    name: str, *, parameter: str = "", needs_scores: bool = True, may_abstain: bool = False
) -> Callable[[Chooser], Chooser]:
    """Register a policy: a function of padded scores, candidates, the least number to show and a parameter."""

    def register(function: Chooser) -> Chooser:
        meaning = (function.__doc__ or "").partition("\n")[0].rstrip(".")
        POLICIES[name] = PolicyKind(name, meaning, parameter, needs_scores, may_abstain, function)
        return function

    return register


@policy("fixed", parameter="k", needs_scores=False)
def fixed(scores: Floats, _candidates: Integers, _low: Integers, parameter: float) -> Integers:
    """The first k."""
    return np.full(len(scores), int(parameter))


@policy("threshold", parameter="score", may_abstain=True)
def threshold(scores: Floats, _candidates: Integers, _low: Integers, parameter: float) -> Integers:
    """All with at least a score, and none if none has it."""
    return np.asarray(np.sum(scores >= parameter, axis=1))


@policy("gap")
def gap(scores: Floats, candidates: Integers, low: Integers, _parameter: float) -> Integers:
    """Up to the largest drop from one score to the next, no earlier than the fewest to show; of equals, the first."""
    with np.errstate(invalid="ignore"):  # differences past the end of a list
        drops = scores[:, :-1] - scores[:, 1:]
    after = np.arange(1, scores.shape[1])
    allowed = (after >= low[:, None]) & (after < candidates[:, None])
    drops = np.where(allowed, drops, -np.inf)
    largest = _first_largest(drops, np.maximum(drops.max(axis=1), 0), scores) + 1
    return np.where(allowed.any(axis=1), largest, candidates)


@policy("elbow")
def elbow(scores: Floats, candidates: Integers, _low: Integers, _parameter: float) -> Integers:
    """All before the score furthest below the straight line from the first score to the last; of equals, the first."""
    rank = np.arange(scores.shape[1])
    ranked = rank < candidates[:, None]
    filled = np.where(ranked, scores, 0.0)
    last = np.maximum(candidates - 1, 0)
    first, final = filled[:, :1], np.take_along_axis(filled, last[:, None], axis=1)
    line = first + (final - first) * rank / np.maximum(last, 1)[:, None]
    return _first_largest(np.where(ranked, line - filled, -np.inf), (first - final)[:, 0], scores)


def _first_largest(values: Floats, unit: Floats, scores: Floats) -> Integers:
    """The first column whose value is the largest, or within 1e-9 of a unit or the rounding of the scores of it.

    Without the tolerance, [0.9, 0.8, 0.7] and [90, 80, 70] would be cut at different places.
    """
    rounding = 8 * np.finfo(float).eps * np.abs(np.where(np.isfinite(scores), scores, 0)).max(axis=1)
    least = values.max(axis=1) - 1e-9 * unit - rounding
    return np.asarray(np.argmax(values >= least[:, None], axis=1))


@policy("mass", parameter="share")
def mass(scores: Floats, candidates: Integers, _low: Integers, parameter: float) -> Integers:
    """The fewest from the top whose softmaxed scores sum to at least a share.

    Of n candidates, the smallest k with Σ_{i≤k} exp(s_i) ≥ share · Σ_{i≤n} exp(s_i); 0 without candidates. Equal scores
    may be split: k of n equal ones hold exactly k/n. Exponentials are taken of the distance to the highest score, so
    that they cannot overflow, and added from the top; terms that do not change the rounded sum are not needed.
    """
    with np.errstate(invalid="ignore"):  # an empty list has no highest score
        weights = np.exp(scores - scores[:, :1])
    cumulative = np.cumsum(weights, axis=1)
    enough = np.argmax(cumulative / cumulative[:, -1:] >= parameter, axis=1) + 1
    return np.where(candidates > 0, enough, 0)


_PARAMETERS = {
    "k": (r"[1-9][0-9]{0,8}", "an integer, 1 or more"),
    "score": (r"[+-]?[0-9]*\.?[0-9]+([eE][+-]?[0-9]+)?", "a number"),
    "share": (r"0?\.[0-9]*[1-9][0-9]*|1(\.0*)?", "a number above 0 and at most 1, as 0.8,"),
}


@dataclass(frozen=True, slots=True)
class Policy:
    """A policy with its parameter. Except for a threshold, it shows nothing only where there are no candidates.

    >>> str(Policy.of("fixed:5")), str(Policy.of("gap"))
    ('fixed:5', 'gap')
    """

    kind: PolicyKind
    parameter: float = math.nan
    text: str = ""

    @classmethod
    def of(cls, name: str) -> Policy:
        """Parse a name such as fixed:5, threshold:0.3, gap, elbow or mass:0.8."""
        stem, colon, text = name.partition(":")
        kind = registered("selection policy", stem, POLICIES)
        if bool(colon) != bool(kind.parameter):
            expected = f"{stem}:{kind.parameter}" if kind.parameter else stem
            raise UserError(f"selection policy {literal(name)}, expected {expected}")
        if not kind.parameter:
            return cls(kind)
        pattern, expected_value = _PARAMETERS[kind.parameter]
        if not re.fullmatch(pattern, text):
            raise UserError(f"selection policy {literal(name)}, expected {expected_value} after the colon")
        return cls(kind, float(text), text)

    def __str__(self) -> str:
        return f"{self.kind.name}:{self.text}" if self.kind.parameter else self.kind.name

    def chosen(self, rankings: Rankings, bounds: Bounds) -> Integers:
        """The number of ids to show of each query: the choice of the policy, clipped to the bounds."""
        low, high = bounds.of_all(rankings.candidates)
        scores = _padded(rankings) if self.kind.needs_scores else np.zeros((len(rankings), 1))
        chosen = self.kind.choose(scores, rankings.candidates, low, self.parameter)
        bounded = np.clip(chosen, low, high)
        return np.where(chosen == 0, 0, bounded) if self.kind.may_abstain else bounded


def _padded(rankings: Rankings) -> Floats:
    """Scores as a matrix with one row per query, padded with −∞."""
    if rankings.scores is None:
        advice = "give a column of them, or a policy that needs none, as fixed:5"
        raise UserError(f"a selection policy needs scores: {advice}")
    widest = max(int(rankings.candidates.max()), 2)  # a drop needs two columns
    scores = np.full((len(rankings), widest), -np.inf)
    scores[np.arange(widest) < rankings.candidates[:, None]] = rankings.scores
    rises = (scores[:, 1:] > scores[:, :-1]).any(axis=1)
    if rises.any():
        query = rankings.name_of(int(np.argmax(rises)))
        raise UserError(f"{query}: the scores rise along the list, so it was not ranked by them")
    return scores


def shown_hits(rankings: Rankings, shown: Integers) -> Integers:
    """The number of gold ids among those shown, for each query."""
    within = rankings.hit_rank <= shown[rankings.hit_query]
    return np.bincount(rankings.hit_query[within], minlength=len(rankings))
