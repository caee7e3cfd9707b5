"""Numbers of a retrieval artifact with their uncertainty: what the draws give for the members beside a value."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from demur.audit.figures import Expected
from demur.audit.plain_intervals import MANY_CLUSTERS, Evidence, ends, rate, std_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from demur.audit.own_queries import Path
    from demur.audit.plain_draws import Draws

    Floats = NDArray[np.float64]

_ROUNDING = 1e-12
_OTHERWISE = "expanded_percentile"
_OF_DELTAS = "bootstrap_t"
_INTERVALS = ("ci95", "ci95_recommended")


@dataclass(frozen=True, slots=True, eq=False)
class Number:
    """A number of one system by the data as they are, nan where there is none, and in every draw of posts.

    `made_of` is the column of the queries it follows from. `whole`: it is one division of whole numbers, so that equal
    replicates of two systems are equal to the last bit wherever they are computed. A number given `by_convention` has
    no interval.
    """

    point: float
    values: Floats
    made_of: Floats
    whole: bool = False
    by_convention: bool = False

    def minus(self, other: Number) -> Number:
        """The difference from another system's number, on the same draws."""
        same = np.array_equal(self.made_of, other.made_of)
        values, whole = self.values - other.values, same or (self.whole and other.whole)
        return Number(self.point - other.point, values, self.made_of, whole=whole)

    def evidence(self, clusters: int, draws: Draws) -> Evidence:
        """All that is known about it."""
        two_sided = not (draws.repeated and self.is_flat(clusters))
        point = None if math.isnan(self.point) else self.point
        return Evidence(point, self.values, clusters, draws, two_sided=two_sided and not self.by_convention)

    def is_flat(self, clusters: int) -> bool:
        """Whether its replicates are equal but for rounding, which leaves no interval unless there is one post only."""
        reached = self.values[~np.isnan(self.values)]
        return clusters > 1 and (not len(reached) or bool(np.ptp(reached) <= _ROUNDING))


def estimated(number: Number, clusters: int, draws: Draws | None) -> dict[Path, Expected]:
    """The members of a number with its uncertainty."""
    found: dict[Path, Expected] = {("value",): _point(number)}
    if draws is None:
        return found | _undrawn(clusters, "drop_rate")
    evidence = number.evidence(clusters, draws)
    return found | uncertain(evidence, _OTHERWISE, flat=number.is_flat(clusters))


def difference(number: Number, clusters: int, draws: Draws | None) -> dict[Path, Expected]:
    """The members of a difference."""
    found: dict[Path, Expected] = {("delta",): _point(number)}
    if draws is None:
        return found | _undrawn(clusters, "share_above")
    evidence, flat = number.evidence(clusters, draws), number.is_flat(clusters)
    found |= uncertain(evidence, _OF_DELTAS, flat=flat)
    return found | {("share_above",): _share_above(evidence, whole=number.whole)}


def _point(number: Number) -> Expected:
    return Expected(None if math.isnan(number.point) else number.point)


def _undrawn(clusters: int, share: str) -> dict[Path, Expected]:
    """Without draws there is no interval; one post alone has no spread all the same."""
    nothing: dict[Path, Expected] = dict.fromkeys([(member,) for member in (*_INTERVALS, share)], Expected(None))
    return nothing | {("std_error",): Expected(0.0 if clusters == 1 else None)}


def uncertain(evidence: Evidence, recommended: str, *, flat: bool = False) -> dict[Path, Expected]:
    """Intervals, standard error and share of draws without a number; what our draws are too few for is left out."""
    found: dict[Path, Expected] = {("drop_rate",): rate(evidence.drop_rate, evidence.draws)}
    nowhere = not len(evidence.reached) and evidence.clusters > 1
    error = Expected(None) if nowhere else std_error(evidence)
    if error is not None:
        found["std_error",] = error
    many = evidence.clusters >= MANY_CLUSTERS
    methods = ("percentile", "percentile" if many else recommended)
    for member, method in zip(_INTERVALS, methods, strict=True):
        pair = ends(evidence, method)
        if pair is not None:
            may_be_null = evidence.undecided or flat
            whole = Expected(None) if may_be_null else replace(pair[0], otherwise={})
            found |= {(member,): whole, (member, "0"): pair[0], (member, "1"): pair[1]}
            found |= {(member, "low"): pair[0], (member, "high"): pair[1]}
    return found


def _share_above(evidence: Evidence, *, whole: bool) -> Expected:
    """The share of draws in which a difference is above 0, ties as half.

    Sums of fractions may miss a tie by their last bits: the share may then be anything between no tie and all ties.
    """
    reached = evidence.reached
    if not len(reached):
        return Expected(None)
    tied = 0.0 if whole else _ROUNDING
    above, below = float(np.mean(reached > tied)), float(np.mean(reached < -tied))
    level = 1 - above - below
    ways = {"ties not counted": above, "ties counted in full": 1 - below, "the share below 0": below + level / 2}
    share = rate(above + level / 2, evidence.reaching, ways)
    if whole or not level:
        return share
    low, high = share.band or (above + level / 2, above + level / 2)
    return replace(share, band=(max(low - level / 2, 0.0), min(high + level / 2, 1.0)))
