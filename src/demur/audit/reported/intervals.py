"""How far intervals and standard errors of other draws may lie from ours: 4 standard errors of Monte-Carlo error."""

import math
from collections.abc import Sequence

from demur.audit.figures import Expected
from demur.audit.loops.draws import percentile, standard_error

_SIGMAS = 4.0
_NORMAL_KURTOSIS = 3.0
_FEW = 100


def expected_end(values: Sequence[float], share: float, recorded: int | None) -> Expected:
    """The end of a percentile interval, between the quantiles that other draws may have at its share.

    Where that is below the least or above the largest of our draws, it may lie beyond them by their whole width.
    """
    ordered = sorted(values)
    low, high = _shares(share, _worth(len(values), recorded))
    width = ordered[-1] - ordered[0]
    band = (
        percentile(ordered, max(low, 0)) - (width if low <= 0 else 0),
        percentile(ordered, min(high, 1)) + (width if high >= 1 else 0),
    )
    return Expected(percentile(ordered, share), band)


def expected_share(share: float, draws: int, recorded: int | None) -> Expected:
    """A share of the draws, between those that as many other draws may have."""
    low, high = _shares(share, _worth(draws, recorded))
    return Expected(share, (max(low, 0.0), min(high, 1.0)))


def _shares(share: float, n: float) -> tuple[float, float]:
    """The shares of n draws that are no surprise, by Wilson's interval or the plain one, whichever is wider."""
    extra = _SIGMAS**2 / n
    middle, away = (share + extra / 2) / (1 + extra), _SIGMAS * math.sqrt((share * (1 - share) + extra / 4) / n)
    plain = _SIGMAS * math.sqrt(share * (1 - share) / n)
    return min(middle - away / (1 + extra), share - plain), max(middle + away / (1 + extra), share + plain)


def expected_error(values: Sequence[float], recorded: int | None) -> Expected:
    """The standard error, within what its own sampling error allows; anything of very few draws."""
    error = standard_error(values)
    if error is None:
        return Expected(None)
    n = _worth(len(values), recorded)
    if n < _FEW:
        return Expected(error, (0.0, math.inf))
    middle = math.fsum(values) / len(values)
    fourth = math.fsum((value - middle) ** 4 for value in values) / len(values)
    kurtosis = max(fourth / error**4, _NORMAL_KURTOSIS) if error else _NORMAL_KURTOSIS
    away = _SIGMAS * math.sqrt((kurtosis - 1) / (4 * n)) * error
    return Expected(error, (error - away, error + away))


def _worth(own: int, recorded: int | None) -> float:
    """As how many draws both sets are worth when they are held against each other."""
    return 1 / (1 / own + 1 / max(recorded or own, 1))
