"""How many ids of each list are shown, by plain loops: the bounds, and the policies a name stands for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fractions import Fraction

Scores = Sequence[float]
Choice = Callable[[Scores, int], int]  # the scores of a list, and the fewest that may be shown


@dataclass(frozen=True, slots=True)
class Bounds:
    """How few and how many ids may be shown; the minimum wins over the maximum, and the list bounds both."""

    k_min: int
    hard_cap: int
    k_max_ratio: Fraction

    def of(self, candidates: int) -> tuple[int, int]:
        """The fewest and the most of so many candidates."""
        low = min(self.k_min, candidates)
        return low, max(low, min(self.hard_cap, int(candidates * self.k_max_ratio)))

    def broken_by(self, shown: int, candidates: int) -> bool:
        """Whether showing so many is not allowed; to show none is to abstain."""
        low, high = self.of(candidates)
        return shown > 0 and not low <= shown <= high


def needs_scores(policy: str) -> bool:
    """Whether a policy looks at scores."""
    return not policy.startswith("fixed:")


def shown_by(policy: str, scores: Scores, bounds: Bounds) -> int | None:
    """How many of a list a policy shows, brought within the bounds; None where nobody knows the policy.

    A threshold that no score reaches shows nothing, whatever the fewest to show.
    Where scores are not looked at, any list of the same length will do.
    """
    stem, _, parameter = policy.partition(":")
    choose = _fixed_or_threshold(stem, parameter) if parameter else {"gap": _gap, "elbow": _elbow}.get(stem)
    if choose is None:
        return None
    low, high = bounds.of(len(scores))
    chosen = choose(scores, low)
    return 0 if stem == "threshold" and not chosen else min(max(chosen, low), high)


def _fixed_or_threshold(stem: str, parameter: str) -> Choice | None:
    try:
        number = float(parameter)
    except ValueError:
        return None
    if stem == "fixed" and number.is_integer():
        return lambda _scores, _low: int(number)
    return (lambda scores, _low: sum(score >= number for score in scores)) if stem == "threshold" else None


def _gap(scores: Scores, low: int) -> int:
    """Up to the largest drop, the first of equal ones, after the fewest that may be shown."""
    best, found = None, len(scores)
    for after in range(max(low, 1), len(scores)):
        drop = scores[after - 1] - scores[after]
        if best is None or drop > best:
            best, found = drop, after
    return found


def _elbow(scores: Scores, _low: int) -> int:
    """All before the score furthest below the line from the first to the last, the first of equal ones."""
    best, found, last = None, 0, max(len(scores) - 1, 1)
    for rank, score in enumerate(scores):
        below = scores[0] + (scores[-1] - scores[0]) * rank / last - score
        if best is None or below > best:
            best, found = below, rank
    return found
