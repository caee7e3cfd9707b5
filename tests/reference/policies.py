"""How many ids each policy of `demur retrieval` shows, by plain loops over the scores."""

import math
import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import NamedTuple


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
