"""Certifiers: tests, at a level fixed beforehand, that the risk of what a threshold accepts is within a limit.

For a limit α, Z_g = L_g − α·A_g is the loss of participant g beyond the limit; the risk is within the limit if the mean
of Z is below 0. Every method is based on participants, never on single units, and all sums are exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from demur.decide.accepted import Accepted
from demur.decide.needed import Enough, enough_for_betting, enough_for_control, enough_for_guarded_t
from demur.decide.terms import BETS, Terms
from demur.inference.student import t_tails

_LARGE = Fraction(10**300)
_FIXED = "the grid, the limit and the method were fixed before these data were seen"
_ALIKE = "tomorrow's participants are like these"


@dataclass(frozen=True, slots=True)
class Passing:
    """Whether a threshold passes, the test statistic, and the p-value if the method has one."""

    passed: bool
    statistic: float
    p: float | None = None


@dataclass(frozen=True, slots=True)
class Certifier:
    """A method: its test of one threshold, how many participants would be enough, and what it assumes.

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
    """Register a method of certification."""

    def register(test: _Test) -> _Test:
        CERTIFIERS[name] = Certifier(name, test, enough, (_ALIKE, _FIXED, *assumes), per_unit)
        return test

    return register


@certifier("guarded_t", "Student's t holds with one more participant imagined", enough=enough_for_guarded_t)
def guarded_t(accepted: Accepted, terms: Terms) -> Passing:
    """Student's t test over the participants and an imagined one, with their mean of accepted units, all wrong.

    Without the imagined participant a run without errors would have standard deviation 0 and look certain.
    T = √(P+1)·mean/sd with P degrees of freedom; if sd is 0, p = 1.
    """
    size = accepted.clusters
    extra = (terms.largest - terms.alpha) * Fraction(int(accepted.count.sum()), size)
    beyond = [(loss - terms.alpha * count, times) for (count, loss), times in accepted.pairs.items()]
    total = extra + sum(z * times for z, times in beyond)
    squares = extra**2 + sum(z * z * times for z, times in beyond)
    variance = (squares - total**2 / (size + 1)) / size
    if not variance:
        return Passing(passed=False, statistic=math.nan, p=1.0)
    statistic = math.copysign(math.sqrt(total**2 / (size + 1) / variance), total)
    tail = t_tails(statistic, size) / 2
    p = tail if statistic < 0 else 1 - tail
    return Passing(p <= terms.delta, statistic, p)


@certifier("betting", "no participant has more units than declared", enough=enough_for_betting)
def betting(accepted: Accepted, terms: Terms, bets: tuple[Fraction, ...] = BETS) -> Passing:
    """An exact test by betting: the wealth of bets that the risk is within the limit has mean ≤ 1 if it is not.

    The wealth E is the mean over bets λ of Π_g (1 − λ·Z_g), with λ as a fraction of 1/((M − α)·n_max);
    p = min(1, 1/E).
    """
    most = (terms.largest - terms.alpha) * terms.max_units
    beyond = [((loss - terms.alpha * count) / most, times) for (count, loss), times in accepted.pairs.items()]
    products = [math.prod(((1 - bet * z) ** times for z, times in beyond), start=Fraction(1)) for bet in bets]
    wealth = sum(products, Fraction(0)) / len(bets)
    p = float(min(Fraction(1), 1 / wealth))
    return Passing(wealth * terms.delta >= 1, float(min(wealth, _LARGE)), p)


@certifier("crc", "no participant has more units than declared", enough=enough_for_control, per_unit=True)
def crc(accepted: Accepted, terms: Terms) -> Passing:
    """Conformal risk control over participants: Σ_g (L_g − α·n_g) + (M − α)·n_max ≤ 0.

    It bounds the mean generalized risk over studies (Angelopoulos et al. 2024), from about 20 participants on.
    """
    allowed = terms.alpha * int(accepted.units.sum())
    total = accepted.loss_sum - allowed + (terms.largest - terms.alpha) * terms.max_units
    return Passing(total <= 0, float(total))
