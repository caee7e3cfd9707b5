"""The number of participants that would be enough to certify a threshold, if further ones were like these."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from demur.decide.accepted import Accepted
from demur.decide.terms import BETS, Terms
from demur.inference.student import t_tails

NO_NUMBER = "no number of participants would: the risk there is not below the limit"
NOTHING_ACCEPTED = "nothing is accepted there"
_MOST = 10**9
_FAR = 700.0


@dataclass(frozen=True, slots=True)
class Enough:
    """A number of participants, or why there is none."""

    clusters: int | None
    reason: str = ""


def enough_for_guarded_t(accepted: Accepted, terms: Terms) -> Enough:
    """The smallest larger number of participants with which guarded t would pass, for the same mean and variance."""
    size = accepted.clusters
    if not accepted.count.any():
        return Enough(None, NOTHING_ACCEPTED)
    if size == 1:
        return Enough(None, "one participant does not say how they differ")
    beyond = [(loss - terms.alpha * count, times) for (count, loss), times in accepted.pairs.items()]
    mean = sum((z * times for z, times in beyond), Fraction(0)) / size
    if mean >= 0:
        return Enough(None, NO_NUMBER)
    spread = sum((z - mean) ** 2 * times for z, times in beyond) / (size - 1)
    extra = (terms.largest - terms.alpha) * Fraction(int(accepted.count.sum()), size)

    def passes(number: int) -> bool:
        return guarded_p(number, float(mean), float(spread), float(extra)) <= terms.delta

    return _smallest(passes, size + 1)


def guarded_p(number: int, mean: float, spread: float, extra: float) -> float:
    """The p-value of guarded t for a number of participants with this mean and variance, and the imagined one."""
    middle = (number * mean + extra) / (number + 1)
    variance = ((number - 1) * spread + number * (mean - extra) ** 2 / (number + 1)) / number
    statistic = math.sqrt((number + 1) / variance) * middle
    tail = t_tails(statistic, number) / 2
    return tail if statistic < 0 else 1 - tail


def enough_for_betting(accepted: Accepted, terms: Terms) -> Enough:
    """The smallest larger number of participants with which betting would pass, for the same mean growth of wealth."""
    most = (terms.largest - terms.alpha) * terms.max_units
    beyond = [((loss - terms.alpha * count) / most, times) for (count, loss), times in accepted.pairs.items()]
    size = accepted.clusters
    growth = [sum(times * math.log1p(float(-bet * z)) for z, times in beyond) / size for bet in BETS]
    if max(growth) <= 0:
        return Enough(None, NO_NUMBER if accepted.count.any() else NOTHING_ACCEPTED)

    def passes(number: int) -> bool:
        return sum(math.exp(min(number * rate, _FAR)) for rate in growth) / len(growth) >= 1 / terms.delta

    return _smallest(passes, size + 1)


def enough_for_control(accepted: Accepted, terms: Terms) -> Enough:
    """The smallest number of participants with which conformal risk control would pass, with the same means.

    Without any loss it is (M/α − 1)·n_max/n̄; with fewer participants nothing can pass.
    """
    spare = terms.alpha * int(accepted.units.sum()) - accepted.loss_sum
    if spare <= 0:
        return Enough(None, NO_NUMBER)
    return Enough(math.ceil((terms.largest - terms.alpha) * terms.max_units * accepted.clusters / spare))


def feasible_from(accepted: Accepted, terms: Terms) -> int:
    """The smallest number of participants with which conformal risk control can pass without any loss."""
    per_cluster = Fraction(int(accepted.units.sum()), accepted.clusters)
    return math.ceil((terms.largest / terms.alpha - 1) * terms.max_units / per_cluster)


def _smallest(passes: Callable[[int], bool], start: int) -> Enough:
    high = start
    while not passes(high):
        high *= 2
        if high > _MOST:
            return Enough(None, f"more than {_MOST} participants would be needed")
    low = max(start - 1, high // 2)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if passes(middle) else (middle, high)
    return Enough(high)
