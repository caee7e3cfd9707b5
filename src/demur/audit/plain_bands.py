"""Bands of the risk–coverage curve from our own draws: at each coverage by itself, and at all of them at once.

A point of a curve is `reached` in a replicate by the first threshold that accepts as large a share of its units. Where
draws are not repeated, an end at one coverage is allowed the Monte-Carlo error of any interval's end. A simultaneous
end lies crit·se from the curve: se must lie within the band of any standard error, crit (the quantile of the largest
|risk − its own|/se along a replicate) between our quantiles at the shares its level allows, taken with the largest and
with the smallest such se, and crit·se between the products of the smaller and of the larger ones.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from demur.audit.figures import Expected
from demur.audit.plain_intervals import MANY_CLUSTERS, MOST_DROPPED, ends, std_error

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from demur.audit.plain_draws import Draws
    from demur.audit.plain_intervals import Evidence
    from demur.audit.plain_replicates import Pool

    Floats = NDArray[np.float64]

MOST_POINTS = 40
_LEAST_DRAWS = 2


def places_with_bands(points: int) -> list[int]:
    """Which of so many working points have a band: all of them, or 40 spread evenly from the first to the last."""
    if points <= MOST_POINTS:
        return list(range(points))
    return [place * (points - 1) // (MOST_POINTS - 1) for place in range(MOST_POINTS)]


def risks_drawn(pool: Pool, weights: Floats, coverages: Sequence[Fraction]) -> tuple[Floats, Floats]:
    """Selective and generalized risk of each replicate (a row) at each coverage; nan where it is not reached."""
    shape = len(weights), len(coverages)
    selective, generalized = np.full(shape, math.nan), np.full(shape, math.nan)
    sizes = weights @ pool.units
    needed = {total: [math.ceil(one * int(total)) for one in coverages] for total in set(sizes.tolist())}
    for row, (drawn, total) in enumerate(zip(weights, sizes.tolist(), strict=True)):
        count, loss = drawn @ pool.count, drawn @ pool.loss
        place = np.searchsorted(count, needed[total])
        reached = place < len(count)
        place = place[reached]
        selective[row, reached] = loss[place] / (count[place] * pool.divisor)
        generalized[row, reached] = loss[place] / (total * pool.divisor)
    return selective, generalized


def how_many_reached(drawn: Floats, draws: Draws) -> tuple[int, int]:
    """How many coverages, the smallest first, must have a band, and how many may: those that half the draws reach."""
    if (draws.own if draws.reported is None else draws.reported) < _LEAST_DRAWS:
        return 0, 0
    missing = np.isnan(drawn)
    if draws.repeated:
        enough = (missing.mean(axis=0) <= MOST_DROPPED) & ((~missing).sum(axis=0) >= _LEAST_DRAWS)
        return int(enough.sum()), int(enough.sum())
    between = [draws.between(share) for share in missing.mean(axis=0).tolist()]
    return sum(high <= MOST_DROPPED for _, high in between), sum(low <= MOST_DROPPED for low, _ in between)


def band(risks: Sequence[Evidence], level: float, largest: float | None) -> dict[str, list[Expected]]:
    """The ends of one risk at each coverage, by their names; no risk exceeds the largest loss, if there is one."""
    if not risks:
        return {name: [] for name in ("low", "high", "low_simultaneous", "high_simultaneous")}
    method = "percentile" if risks[0].clusters >= MANY_CLUSTERS else "expanded_percentile"
    pairs = [pair for one in risks if (pair := ends(one, method, level)) is not None]
    reaches = _reaches(risks, level, math.inf if largest is None else largest)
    around = [_around(one.point or 0.0, reach) for one, reach in zip(risks, reaches, strict=True)]
    return {
        "low": [low for low, _ in pairs],
        "high": [high for _, high in pairs],
        "low_simultaneous": [low for low, _ in around],
        "high_simultaneous": [high for _, high in around],
    }


def _around(risk: float, reach: Expected) -> tuple[Expected, Expected]:
    """The ends so far from a risk; no risk is negative."""
    value = reach.value or 0.0
    if reach.band is None:
        return Expected(max(risk - value, 0.0)), Expected(risk + value)
    least, most = reach.band
    low, high = (max(risk - most, 0.0), max(risk - least, 0.0)), (risk + least, risk + most)
    return Expected(max(risk - value, 0.0), band=low), Expected(risk + value, band=high)


def _reaches(risks: Sequence[Evidence], level: float, largest: float) -> list[Expected]:
    """So many standard errors at each coverage as hold the largest deviation along the curve at a level."""
    draws, spread = risks[0].draws, [_spread(one) for one in risks]
    critical = float(np.quantile(_largest(risks, spread), level))
    if draws.repeated:
        return [Expected(critical * one) for one in spread]
    errors = [_error_band(one, largest) for one in risks]
    low, high = draws.between(level)
    least = float(np.quantile(_largest(risks, [most for _, most in errors]), low, method="lower"))
    most = float(np.quantile(_largest(risks, [few for few, _ in errors]), high, method="higher"))
    most = math.inf if draws.may_lie_beyond(1 - level) else most
    reaches = [(least * few, many if many in (0.0, math.inf) else most * many) for few, many in errors]
    return [Expected(critical * one, band=reach) for one, reach in zip(spread, reaches, strict=True)]


def _error_band(one: Evidence, largest: float) -> tuple[float, float]:
    """Where the standard error of other draws may lie: anywhere if ours are too few.

    Where ours never vary, others may still hold what is too rare for ours, and be the largest loss off there.
    """
    error = std_error(one)
    if error is None:
        return 0.0, math.inf
    if one.clusters > 1 and not _spread(one):
        return 0.0, largest * math.sqrt(one.reaching.between(0.0)[1])
    return error.band or (0.0, 0.0)


def _largest(risks: Sequence[Evidence], errors: Sequence[float]) -> Floats:
    """How many standard errors each replicate is away from the curve where it is farthest."""
    largest = np.zeros(risks[0].draws.own)
    for one, error in zip(risks, errors, strict=True):
        if _spread(one):  # a risk that never varies is known
            with np.errstate(divide="ignore", invalid="ignore"):
                largest = np.fmax(largest, np.abs(one.values - (one.point or 0.0)) / error)
    return largest


def _spread(one: Evidence) -> float:
    """The standard deviation of the replicates, 0 where they are all the same."""
    reached = one.reached
    varies = one.clusters > 1 and len(reached) > 1 and reached.min() < reached.max()
    return float(np.std(reached, ddof=1)) if varies else 0.0
