"""Certifiers: statistical tests, at a level fixed in advance, that the risk at a threshold is within a limit.

For a limit α, Z_g = L_g − α·A_g is the loss of participant g beyond the limit; the risk is within the limit if the mean
of Z is below 0. Every method is based on participants, never on single units, and all sums are exact. Apart from its
test, a method estimates how many participants would be enough to pass it, if further ones were like these.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from demur.extensions.decide.accepted import Accepted
from demur.extensions.decide.terms import Terms
from demur.inference.student import t_tails

BETS = (Fraction(1, 2), Fraction(9, 10))  # as fractions of the largest bet that cannot lose everything
NO_NUMBER = "no number of participants would: the risk there is not below the limit"
NOTHING_ACCEPTED = "nothing is accepted there"
_LARGE = Fraction(10**300)
_MOST = 10**9
_FAR = 700.0
_FIXED = "the grid, the limit and the method were fixed before these data were seen"
_ALIKE = "tomorrow's participants are like these"


@dataclass(frozen=True, slots=True)
class Passing:
    """The outcome of a test: whether the threshold passes, the test statistic, and the p-value if there is one."""

    passed: bool
    statistic: float
    p: float | None = None


@dataclass(frozen=True, slots=True)
class Enough:
    """The number of participants that would be enough to pass a test, None if unknown or impossible, with a remark."""

    clusters: int | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Certifier:
    """A method of certification: its test, its estimate of how many participants are enough, and its assumptions.

    A method that is `per_unit` bounds the mean generalized risk over studies, and has no p-values.
    """

    name: str
    test: Callable[[Accepted, Terms], Passing]
    enough: Callable[[Accepted, Terms], Enough]
    assumes: tuple[str, ...]
    per_unit: bool


CERTIFIERS: dict[str, Certifier] = {}
_Test = Callable[[Accepted, Terms], Passing]


def certifier(
    name: str, *assumes: str, enough: Callable[[Accepted, Terms], Enough], per_unit: bool = False
) -> Callable[[_Test], _Test]:
    """Register the decorated test as a method of certification."""

    def register(test: _Test) -> _Test:
        CERTIFIERS[name] = Certifier(name, test, enough, (_ALIKE, _FIXED, *assumes), per_unit)
        return test

    return register


def _beyond(accepted: Accepted, terms: Terms) -> list[tuple[Fraction, int]]:
    return [(loss - terms.alpha * count, times) for (count, loss), times in accepted.pairs.items()]


def _imagined(accepted: Accepted, terms: Terms) -> Fraction:
    """The loss beyond the limit of a participant with the mean number of accepted units, all of them wrong."""
    return (terms.largest - terms.alpha) * Fraction(int(accepted.count.sum()), accepted.clusters)


def _p_below(statistic: float, degrees: int) -> float:
    tail = t_tails(statistic, degrees) / 2
    return tail if statistic < 0 else 1 - tail


def _smallest(passes: Callable[[int], bool], start: int) -> Enough:
    """The smallest number from `start` on that passes, if all larger numbers pass too."""
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


def enough_for_guarded_t(accepted: Accepted, terms: Terms) -> Enough:
    """The smallest larger number of participants with which guarded t would pass, mean and variance unchanged."""
    size = accepted.clusters
    if not accepted.count.any():
        return Enough(None, NOTHING_ACCEPTED)
    if size == 1:
        return Enough(None, "one participant does not say how they differ")
    beyond, extra = _beyond(accepted, terms), _imagined(accepted, terms)
    mean = sum((z * times for z, times in beyond), Fraction(0)) / size
    if mean >= 0:
        return Enough(None, NO_NUMBER)
    spread = sum((z - mean) ** 2 * times for z, times in beyond) / (size - 1)

    def passes(number: int) -> bool:
        return guarded_p(number, float(mean), float(spread), float(extra)) <= terms.delta

    return _smallest(passes, size + 1)


def guarded_p(number: int, mean: float, spread: float, extra: float) -> float:
    """The p-value of guarded t, from the number, mean and variance of participants and the imagined one's loss."""
    middle = (number * mean + extra) / (number + 1)
    variance = ((number - 1) * spread + number * (mean - extra) ** 2 / (number + 1)) / number
    statistic = math.sqrt((number + 1) / variance) * middle
    return _p_below(statistic, number)


@certifier("guarded_t", "Student's t holds with one more participant imagined", enough=enough_for_guarded_t)
def guarded_t(accepted: Accepted, terms: Terms) -> Passing:
    """Student's t test over the participants and an imagined one, with their mean of accepted units, all wrong.

    Without the imagined participant a run without errors would have standard deviation 0 and look certain.
    T = √(P+1)·mean/sd with P degrees of freedom; if sd is 0, p = 1.
    """
    size = accepted.clusters
    beyond, extra = _beyond(accepted, terms), _imagined(accepted, terms)
    total = extra + sum(z * times for z, times in beyond)
    squares = extra**2 + sum(z * z * times for z, times in beyond)
    variance = (squares - total**2 / (size + 1)) / size
    if not variance:
        return Passing(passed=False, statistic=math.nan, p=1.0)
    statistic = math.copysign(math.sqrt(total**2 / (size + 1) / variance), total)
    p = _p_below(statistic, size)
    return Passing(p <= terms.delta, statistic, p)


def _shares_lost(accepted: Accepted, terms: Terms) -> list[tuple[Fraction, int]]:
    return [(z / terms.most_beyond, times) for z, times in _beyond(accepted, terms)]


def enough_for_betting(accepted: Accepted, terms: Terms) -> Enough:
    """The smallest larger number of participants with which betting would pass, growth of wealth unchanged."""
    beyond, size = _shares_lost(accepted, terms), accepted.clusters
    growth = [sum(times * math.log1p(float(-bet * z)) for z, times in beyond) / size for bet in BETS]
    if max(growth) <= 0:
        return Enough(None, NO_NUMBER if accepted.count.any() else NOTHING_ACCEPTED)

    def passes(number: int) -> bool:
        return sum(math.exp(min(number * rate, _FAR)) for rate in growth) / len(growth) >= 1 / terms.delta

    return _smallest(passes, size + 1)


@certifier("betting", "no participant has more units than declared", enough=enough_for_betting)
def betting(accepted: Accepted, terms: Terms, bets: tuple[Fraction, ...] = BETS) -> Passing:
    """An exact test by betting: the wealth of bets that the risk is within the limit has mean ≤ 1 if it is not.

    The wealth E is the mean over bets λ of Π_g (1 − λ·Z_g), with λ as a fraction of 1/((M − α)·n_max);
    p = min(1, 1/E).
    """
    beyond = _shares_lost(accepted, terms)
    products = [math.prod(((1 - bet * z) ** times for z, times in beyond), start=Fraction(1)) for bet in bets]
    wealth = sum(products, Fraction(0)) / len(bets)
    p = float(min(Fraction(1), 1 / wealth))
    return Passing(wealth * terms.delta >= 1, float(min(wealth, _LARGE)), p)


def enough_for_control(accepted: Accepted, terms: Terms) -> Enough:
    """The smallest number of participants with which conformal risk control would pass, with the same means.

    Without any loss it is (M/α − 1)·n_max/n̄; with fewer participants nothing can pass.
    """
    spare, least = terms.alpha * int(accepted.units.sum()) - accepted.loss_sum, feasible_from(accepted, terms)
    too_few = f"with fewer than {least} participants nothing can pass, even without a loss"
    reason = too_few if accepted.clusters < least else ""
    if spare <= 0:
        return Enough(None, reason or NO_NUMBER)
    return Enough(math.ceil(terms.most_beyond * accepted.clusters / spare), reason)


def feasible_from(accepted: Accepted, terms: Terms) -> int:
    """The smallest number of participants with which conformal risk control can pass without any loss."""
    per_cluster = Fraction(int(accepted.units.sum()), accepted.clusters)
    return math.ceil((terms.largest / terms.alpha - 1) * terms.max_units / per_cluster)


@certifier("crc", "no participant has more units than declared", enough=enough_for_control, per_unit=True)
def crc(accepted: Accepted, terms: Terms) -> Passing:
    """Conformal risk control over participants: Σ_g (L_g − α·n_g) + (M − α)·n_max ≤ 0.

    It bounds the mean generalized risk over studies (Angelopoulos et al. 2024), from about 20 participants on.
    """
    allowed = terms.alpha * int(accepted.units.sum())
    total = accepted.loss_sum - allowed + terms.most_beyond
    return Passing(total <= 0, float(total))
