"""Selection quantities by plain loops.

A row is (gold, shown, hits): how many ids there are to find, how many are shown, and how many of those are gold.
"""

import math
import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import NamedTuple

from demur.audit.loops.registry import Loop, Number, mean, register

Rows = Sequence["Shown"]


class Shown(NamedTuple):
    """One query: how many ids there are to find, how many are shown, and how many of those are gold."""

    gold: int
    shown: int
    hits: int


class PlainBounds(NamedTuple):
    """The bounds on how many ids may be shown."""

    k_min: int = 2
    hard_cap: int = 10
    k_max_ratio: float = 0.5

    def of(self, candidates: int) -> tuple[int, int]:
        """The fewest and the most of so many candidates; the minimum wins, and the candidates bound everything."""
        low = min(self.k_min, candidates)
        share = Fraction(repr(float(self.k_max_ratio)))  # 0.29 of 100 is 29, and not the 28.999… of the double
        return low, max(low, min(self.hard_cap, math.floor(candidates * share)))


# With nothing to find, showing nothing is right: 1 each. With something to find, showing nothing is 0 each.
MEANS: dict[str, Callable[[Shown], Fraction | None]] = {
    "evidence_recall": lambda row: Fraction(row.hits, row.gold) if row.gold else Fraction(row.shown == 0),
    "evidence_precision": lambda row: Fraction(row.hits, row.shown) if row.shown else Fraction(row.gold == 0),
    "evidence_f1": lambda row: Fraction(2 * row.hits, row.gold + row.shown) if row.gold + row.shown else Fraction(1),
    "average_k": lambda row: Fraction(row.shown),
    "empty_precision": lambda row: None if row.shown else Fraction(row.gold == 0),
    "empty_recall": lambda row: None if row.gold else Fraction(row.shown == 0),
    "false_evidence_rate": lambda row: None if row.gold else Fraction(row.shown > 0),
}


def _mean_of(worth: Callable[[Shown], Fraction | None]) -> Loop:
    def mean_worth(rows: Rows) -> Number | None:
        worths = [worth(Shown(*row)) for row in rows]
        return mean(value for value in worths if value is not None)

    return mean_worth


def _empty_f1(rows: Rows) -> Number | None:
    """Twice the queries without gold and with nothing shown, over those without gold plus those with nothing shown."""
    right = sum(gold == 0 and shown == 0 for gold, shown, _ in rows)
    either = sum((gold == 0) + (shown == 0) for gold, shown, _ in rows)
    return Fraction(2 * right, either) if either else None


register({name: _mean_of(worth) for name, worth in MEANS.items()} | {"empty_f1": _empty_f1})


def shown_by(policy: str, scores: Sequence[float], bounds: PlainBounds) -> int:
    """How many ids a policy shows of a list with these scores: fixed:k, threshold:s, gap, elbow or mass:p."""
    kind, _, parameter = policy.partition(":")
    low, high = bounds.of(len(scores))
    if kind not in _POLICIES:
        raise KeyError(policy)
    chosen = _POLICIES[kind](scores, low, parameter)
    return 0 if kind == "threshold" and not chosen else min(max(chosen, low), high)


def _before_largest_gap(scores: Sequence[float], low: int) -> int:
    """The number of scores before the largest drop, at least `low`; all where there is no drop."""
    first = max(low, 1)
    drops = [scores[k - 1] - scores[k] for k in range(first, len(scores))]
    return first + _first_largest(drops, max(drops), scores) if drops else len(scores)


def _before_elbow(scores: Sequence[float]) -> int:
    """The number of scores before the one farthest below the straight line from first to last."""
    last = max(len(scores) - 1, 1)
    below = [scores[0] + (scores[-1] - scores[0]) * rank / last - score for rank, score in enumerate(scores)]
    return _first_largest(below, scores[0] - scores[-1], scores) if below else 0


def _first_largest(values: Sequence[float], unit: float, scores: Sequence[float]) -> int:
    """The index of the first value that is the largest, within 1e-9 of a unit and the rounding of the scores."""
    least = max(values) - 1e-9 * unit - 8 * sys.float_info.epsilon * max(map(abs, scores))
    return next(index for index, value in enumerate(values) if value >= least)


def _holding(scores: Sequence[float], share: float) -> int:
    """The smallest number of top scores that hold this share of the softmax."""
    cumulative = [*accumulate(math.exp(score - scores[0]) for score in scores)]
    return next((k for k, part in enumerate(cumulative, 1) if part / cumulative[-1] >= share), 0)


_POLICIES: dict[str, Callable[[Sequence[float], int, str], int]] = {
    "fixed": lambda _, _low, k: int(k),
    "threshold": lambda scores, _, least: sum(score >= float(least) for score in scores),
    "gap": lambda scores, low, _: _before_largest_gap(scores, low),
    "elbow": lambda scores, _low, _: _before_elbow(scores),
    "mass": lambda scores, _low, share: _holding(scores, float(share)),
}
