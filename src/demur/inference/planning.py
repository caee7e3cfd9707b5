"""Sample size planning: how many clusters a comparison needs, from the spread in a pilot."""

from __future__ import annotations

import math
from dataclasses import dataclass

from demur.errors import UserError, literal
from demur.inference.estimates import Estimate
from demur.inference.student import normal_quantile, t_quantile
from demur.options import as_blank

LEVEL, POWER = 0.95, 0.8
_LEAST_POWER = 0.5
_ROUGH = (0.1, 0.9)
_MOST = 10**9


@dataclass(frozen=True, slots=True)
class Pilot:
    """A difference between two systems on some clusters, and its standard deviation per cluster.

    `spread` is √P standard errors, and `degrees` are the degrees of freedom it is known with.
    """

    difference: float
    spread: float
    degrees: float
    clusters: int

    @classmethod
    def of(cls, estimate: Estimate, clusters: int) -> Pilot:
        """From a difference just computed, or read from a file: there from its interval, number ± t standard errors."""
        evidence, interval = estimate.evidence, estimate.recommended
        if evidence is not None and evidence.std_error is not None:
            return cls(estimate.value, math.sqrt(clusters) * evidence.std_error, evidence.degrees, clusters)
        if interval is None or interval.method != "analytic":
            raise UserError("the pilot's difference has no interval by its influence function, so no spread is known")
        low, high = interval.unclipped or interval.ends
        degrees = interval.degrees or clusters - 1.0
        error = (high - low) / 2 / t_quantile((1 + LEVEL) / 2, degrees)
        return cls(estimate.value, math.sqrt(clusters) * error, degrees, clusters)

    def spread_at(self, point: float) -> float:
        """A bound on the true spread, from the chi-squared distribution of the pilot's variance at this probability."""
        from scipy.special import chdtri  # noqa: PLC0415  (slow to import, and only planning needs it)

        return self.spread * math.sqrt(self.degrees / float(chdtri(self.degrees, point)))


@dataclass(frozen=True, slots=True)
class NeededClusters:
    """How many clusters are needed at the pilot's spread, and at the 10 % and 90 % points of it."""

    clusters: int
    low: int
    high: int


def needed(pilot: Pilot, difference: float | None = None, power: float = POWER) -> NeededClusters:
    """The smallest numbers of clusters that show a difference, that of the pilot if none is given, with this power."""
    effect = pilot.difference if difference is None else difference
    if not _LEAST_POWER <= power < 1:
        raise UserError(f"power {literal(power)}, expected a number from {_LEAST_POWER} to below 1, such as 0.8")
    if not math.isfinite(effect) or effect == 0:
        raise UserError(
            f"no study shows a difference of {effect:g}: give the smallest one that matters, {as_blank('difference')}"
        )
    if not pilot.spread > 0:
        raise UserError("the two systems of the pilot differ by the same in every cluster: no spread to plan with")
    low, high = (clusters_needed(effect, pilot.spread_at(point), power) for point in _ROUGH)
    return NeededClusters(clusters_needed(effect, pilot.spread, power), low, high)


def clusters_needed(difference: float, spread: float, power: float = POWER) -> int:
    """The smallest P at which a t test at 5 % finds a difference with this power.

    >>> clusters_needed(0.5, 1.0), clusters_needed(-0.2, 1.0), clusters_needed(0.8, 1.0)
    (34, 199, 15)
    """
    effect = abs(difference) / spread
    guess = ((normal_quantile((1 + LEVEL) / 2) + normal_quantile(power)) / effect) ** 2
    if guess > _MOST:
        raise UserError(f"more than {_MOST} clusters would be needed: the difference {difference:g} is too small")
    clusters = max(2, math.ceil(guess))
    while clusters > 2 and power_of(clusters - 1, effect) >= power:  # noqa: PLR2004  (one cluster has no spread)
        clusters -= 1
    while power_of(clusters, effect) < power:
        clusters += 1
    return clusters


def power_of(clusters: int, effect: float) -> float:
    """P(|T| > t) for T with P − 1 degrees of freedom, noncentral by √P times the difference over its spread.

    >>> round(power_of(34, 0.5), 3)
    0.808
    """
    from scipy.special import nctdtr  # noqa: PLC0415  (slow to import, and only planning needs it)

    degrees, shift = clusters - 1, math.sqrt(clusters) * effect
    critical = t_quantile((1 + LEVEL) / 2, degrees)
    above, below = (float(nctdtr(degrees, shift, end)) for end in (critical, -critical))
    # scipy returns nan for a very thin tail.
    return 1 - (0.0 if math.isnan(above) else above) + (0.0 if math.isnan(below) else below)
