"""Student's t distribution for any degrees of freedom, by the incomplete beta function."""

import math
from functools import lru_cache
from typing import TypeVar

import numpy as np

from demur.types import Floats

_Degrees = TypeVar("_Degrees", float, Floats)

_TINY = 1e-300
_SAME = 1e-15
_HALF = 0.5
_LARGE = 100.0
_CLOSE = 1e-13
_MOST_TURNS = 9_999.0
_FEW = 100  # up to here one after the other takes less time than all at once


def t_tails(t: float, degrees: float) -> float:
    """The probability of a value at least as far from 0 as t, on either side.

    >>> round(t_tails(2.0, 10), 9), t_tails(0.0, 3.5)
    (0.073388035, 1.0)
    """
    if t == 0:
        return 1.0
    ratio = t * t / degrees
    inside = 1 / (1 + ratio)
    # x^a·(1 − x)^b for x = 1/(1 + ratio), a = degrees/2, b = ½; log1p keeps its digits where x is nearly 1.
    log_power = (math.log(ratio) - (degrees + 1) * math.log1p(ratio)) / 2
    scale = math.exp(_log_gamma_ratio(degrees / 2) - math.log(math.pi) / 2 + log_power)
    if inside > (degrees / 2 + 1) / (degrees / 2 + _HALF + 2):  # only the complement converges fast
        return 1.0 - scale * _beta_fraction(_HALF, degrees / 2, ratio / (1 + ratio))
    return scale * _beta_fraction(degrees / 2, _HALF, inside)


@lru_cache(maxsize=4096)
def t_quantile(probability: float, degrees: float) -> float:
    """The quantile for a probability of at least one half.

    Beyond 0 the tail is convex, so that Newton's method from a smaller value cannot overshoot. It begins at the first
    terms of the expansion about the normal quantile (Fisher & Cornish 1960), which are smaller, and close.

    >>> round(t_quantile(0.975, 40), 6), round(t_quantile(0.975, 2.5), 6)
    (2.021075, 3.574655)
    """
    tails, log_scale = 2 * (1 - probability), _log_gamma_ratio(degrees / 2) - math.log(degrees * math.pi) / 2
    t = _expansion(normal_quantile(probability), degrees)
    for _ in range(200):
        density = math.exp(log_scale - (degrees + 1) / 2 * math.log1p(t * t / degrees))
        step = (t_tails(t, degrees) - tails) / (2 * density)
        t += step
        if abs(step) <= _CLOSE * t:
            break
    return t


def _expansion(z: float, degrees: _Degrees) -> _Degrees:
    return z + (z**3 + z) / (4 * degrees) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2)


def t_quantiles(probability: float, degrees: Floats) -> Floats:
    """Quantiles for many degrees of freedom at once, each at least 1, to about 13 digits.

    >>> t_quantiles(0.975, np.array([2.5, 40.0])).round(6).tolist()
    [3.574655, 2.021075]
    """
    if len(degrees) <= _FEW:
        return np.array([t_quantile(probability, each) for each in degrees.tolist()])
    tails, half = 2 * (1 - probability), degrees / 2
    log_ratio = np.array([_log_gamma_ratio(a) for a in half.tolist()])
    t = _expansion(normal_quantile(probability), degrees)
    for _ in range(200):
        ratio = t * t / degrees
        scale = np.exp(log_ratio - math.log(math.pi) / 2 + (np.log(ratio) - (degrees + 1) * np.log1p(ratio)) / 2)
        far = 1 / (1 + ratio) <= (half + 1) / (half + _HALF + 2)
        fraction = np.empty(len(t))
        fraction[far] = _beta_fractions(half[far], np.full(far.sum(), _HALF), 1 / (1 + ratio[far]))
        near = ratio[~far] / (1 + ratio[~far])
        fraction[~far] = _beta_fractions(np.full(len(near), _HALF), half[~far], near)
        excess = np.where(far, scale * fraction, 1 - scale * fraction) - tails
        log_density = log_ratio - np.log(degrees * math.pi) / 2 - (degrees + 1) / 2 * np.log1p(ratio)
        step = excess / (2 * np.exp(log_density))
        t = t + step
        if (np.abs(step) <= _CLOSE * t).all():
            break
    return t


@lru_cache
def normal_quantile(probability: float) -> float:
    """The quantile of the normal distribution for a probability of at least one half, by Newton's method.

    >>> round(normal_quantile(0.975), 9)
    1.959963985
    """
    z = 0.0
    for _ in range(100):
        step = (math.erfc(z / math.sqrt(2)) / 2 - (1 - probability)) * math.sqrt(2 * math.pi) * math.exp(z * z / 2)
        z += step
        if abs(step) <= _SAME * max(z, _SAME):
            break
    return z


def _beta_fraction(a: float, b: float, x: float) -> float:
    """The incomplete beta function over x^a·(1 − x)^b: its continued fraction, by Lentz's method."""
    # Both steps of a turn are unrolled and all numbers are floats: a loop over integers takes twice as long.
    tiny, both, m = _TINY, a + b, 0.0
    c, d = 1.0, 1.0 / _away_from_0(1.0 - both * x / (a + 1.0))
    fraction = d
    while m < _MOST_TURNS:
        m += 1.0
        even = a + 2.0 * m
        term = m * (b - m) * x / ((even - 1.0) * even)
        d, c = 1.0 + term * d, 1.0 + term / c
        d = 1.0 / (tiny if d <= tiny and d >= -tiny else d)
        c = tiny if c <= tiny and c >= -tiny else c
        fraction *= c * d
        term = -(a + m) * (both + m) * x / (even * (even + 1.0))
        d, c = 1.0 + term * d, 1.0 + term / c
        d = 1.0 / (tiny if d <= tiny and d >= -tiny else d)
        c = tiny if c <= tiny and c >= -tiny else c
        change = c * d
        fraction *= change
        if -_SAME <= change - 1.0 <= _SAME:
            break
    return fraction / a


def _beta_fractions(a: Floats, b: Floats, x: Floats) -> Floats:
    """`_beta_fraction` for arrays."""
    c, d = np.ones(len(x)), 1 / (1 - (a + b) * x / (a + 1))
    fraction = d
    for m in range(1, 10_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        change = c
        for term in (even, odd):
            d, c = 1 / (1 + term * d), 1 + term / c
            change = c * d
            fraction = fraction * change
        if (np.abs(change - 1) <= _CLOSE).all():
            break
    return np.asarray(fraction / a)


@lru_cache
def _log_gamma_ratio(a: float) -> float:
    """The logarithm of Γ(a + ½)/Γ(a), by its series where the difference of two large logarithms would lose digits."""
    if a < _LARGE:
        return math.lgamma(a + _HALF) - math.lgamma(a)
    return math.log(a) / 2 - (1 - (1 - 0.3 / a**2) / (24 * a**2)) / (8 * a)


def _away_from_0(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
