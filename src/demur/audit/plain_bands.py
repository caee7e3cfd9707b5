"""Bands of the risk–coverage curve from our own draws: at each coverage by itself, and at all of them at once.

A point of a curve is `reached` in a replicate by the first threshold that accepts as large a share of its units. Where
draws are not repeated, an end at one coverage is allowed the Monte-Carlo error of any interval's end. A simultaneous
end lies crit·se from the curve: crit must lie between our quantiles at the shares its level allows, se within the band
of any standard error, and so crit·se between the products of the smaller and of the larger ones.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from demur.audit.figures import Expected
from demur.audit.plain_intervals import MANY_CLUSTERS, MOST_DROPPED, ends, quantile, std_error

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
    lacking = np.isnan(drawn).mean(axis=0).tolist()
    if draws.repeated:
        least = _LEAST_DRAWS / draws.own
        must = sum(share <= MOST_DROPPED and 1 - share >= least for share in lacking)
        return must, must
    between = [draws.between(share) for share in lacking]
    return sum(high <= MOST_DROPPED for _, high in between), sum(low <= MOST_DROPPED for low, _ in between)


def band(risks: Sequence[Evidence], level: float) -> dict[str, list[Expected]]:
    """The ends of one risk at each coverage, by their names."""
    if not risks:
        return {name: [] for name in ("low", "high", "low_simultaneous", "high_simultaneous")}
    method = "percentile" if risks[0].clusters >= MANY_CLUSTERS else "expanded_percentile"
    pairs = [pair for one in risks if (pair := ends(one, method, level)) is not None]
    around = [_around(one.point or 0.0, reach) for one, reach in zip(risks, _reaches(risks, level), strict=True)]
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


def _reaches(risks: Sequence[Evidence], level: float) -> list[Expected]:
    """So many standard errors at each coverage as hold the largest deviation along the curve at a level."""
    draws = risks[0].draws
    largest = np.zeros(draws.own)
    for one in risks:
        spread = _spread(one)
        if spread > 0:  # a risk that never varies is known
            largest = np.fmax(largest, np.abs(one.values - (one.point or 0.0)) / spread)
    critical = quantile(largest, level, draws)
    return [_reach(one, critical) for one in risks]


def _reach(one: Evidence, critical: Expected) -> Expected:
    value = (critical.value or 0.0) * _spread(one)
    if one.draws.repeated:
        return Expected(value)
    error = std_error(one)
    if error is None or critical.band is None:
        return Expected(value, band=(0.0, math.inf))
    least, most = error.band or (0.0, 0.0)
    return Expected(value, band=(critical.band[0] * least, critical.band[1] * most if most else 0.0))


def _spread(one: Evidence) -> float:
    """The standard deviation of the replicates, 0 where they are all the same."""
    reached = one.reached
    varies = one.clusters > 1 and len(reached) > 1 and reached.min() < reached.max()
    return float(np.std(reached, ddof=1)) if varies else 0.0
