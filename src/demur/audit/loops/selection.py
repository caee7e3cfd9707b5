"""What is shown of a list, by plain loops.

A row is (gold, shown, hits): how many ids there are to find, how many are shown, and how many of those are gold.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from demur.audit.loops.registry import loop, mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from demur.audit.loops.registry import Number

    Rows = Sequence["Shown"]


class Shown(NamedTuple):
    """One query: how many ids there are to find, how many are shown, and how many of those are gold."""

    gold: int
    shown: int
    hits: int


class Bounds(NamedTuple):
    """How few and how many ids may be shown."""

    k_min: int = 2
    hard_cap: int = 10
    k_max_ratio: float = 0.5

    def of(self, candidates: int) -> tuple[int, int]:
        """The fewest and the most of so many candidates; the minimum wins, and the candidates bound everything."""
        low = min(self.k_min, candidates)
        share = Fraction(repr(float(self.k_max_ratio)))  # 0.29 of 100 is 29, and not the 28.999… of the double
        return low, max(low, min(self.hard_cap, math.floor(candidates * share)))


@loop("evidence_recall")
def evidence_recall(rows: Rows) -> Number | None:
    """How much of the gold is shown, per query; with no gold, whether nothing is shown."""
    return mean(Fraction(hits, gold) if gold else Fraction(shown == 0) for gold, shown, hits in rows)


@loop("evidence_precision")
def evidence_precision(rows: Rows) -> Number | None:
    """How much of what is shown is gold, per query; with nothing shown, whether there is no gold."""
    return mean(Fraction(hits, shown) if shown else Fraction(gold == 0) for gold, shown, hits in rows)


@loop("evidence_f1")
def evidence_f1(rows: Rows) -> Number | None:
    """The harmonic mean of the two, per query; 1 where there is nothing to find and nothing shown."""
    return mean(Fraction(2 * hits, gold + shown) if gold + shown else Fraction(1) for gold, shown, hits in rows)


@loop("average_k")
def average_k(rows: Rows) -> Number | None:
    """How many ids are shown per query."""
    return mean(Fraction(shown) for _, shown, _ in rows)


@loop("empty_precision")
def empty_precision(rows: Rows) -> Number | None:
    """Of the queries with nothing shown, the share without gold."""
    return mean(Fraction(gold == 0) for gold, shown, _ in rows if shown == 0)


@loop("empty_recall")
def empty_recall(rows: Rows) -> Number | None:
    """Of the queries without gold, the share with nothing shown."""
    return mean(Fraction(shown == 0) for gold, shown, _ in rows if gold == 0)


@loop("empty_f1")
def empty_f1(rows: Rows) -> Number | None:
    """Twice the queries without gold and with nothing shown, over those without gold plus those with nothing shown."""
    right = sum(gold == 0 and shown == 0 for gold, shown, _ in rows)
    either = sum((gold == 0) + (shown == 0) for gold, shown, _ in rows)
    return Fraction(2 * right, either) if either else None


@loop("false_evidence_rate")
def false_evidence_rate(rows: Rows) -> Number | None:
    """Of the queries without gold, the share with something shown."""
    return mean(Fraction(shown > 0) for gold, shown, _ in rows if gold == 0)


def shown_by(policy: str, scores: Sequence[float], bounds: Bounds) -> int:
    """How many ids a policy shows of a list with these scores: fixed:k, threshold:s, gap or elbow."""
    kind, _, parameter = policy.partition(":")
    low, high = bounds.of(len(scores))
    if kind == "fixed":
        chosen = int(parameter)
    elif kind == "threshold":
        chosen = sum(score >= float(parameter) for score in scores)
        low = low if chosen else 0
    elif kind == "gap":
        chosen = _before_largest_gap(scores, low)
    elif kind == "elbow":
        chosen = _before_elbow(scores)
    else:
        raise KeyError(policy)
    return min(max(chosen, low), high)


def _before_largest_gap(scores: Sequence[float], low: int) -> int:
    """How many come before the largest drop, no fewer than `low`; all where there is no such drop."""
    drops = [(scores[k - 1] - scores[k], -k) for k in range(max(low, 1), len(scores))]
    return -max(drops)[1] if drops else len(scores)


def _before_elbow(scores: Sequence[float]) -> int:
    """How many come before the score furthest below the straight line from the first to the last."""
    if not scores:
        return 0
    last = max(len(scores) - 1, 1)
    first, final = scores[0], scores[-1]
    below = [first + (final - first) * rank / last - score for rank, score in enumerate(scores)]
    return below.index(max(below))
