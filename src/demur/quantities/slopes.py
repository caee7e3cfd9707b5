"""Slopes: derivatives of an area by what a cluster adds to, from which its influence function follows.

An area is a smooth function of three sums a cluster takes part in: units N, answers k_j and losses L_j at or above
point j. Differentiating the trapezoids gives a coefficient for each sum. The anchor at coverage 0 moves with the first
risk for the AURC and stays at 0 for the AUGRC, whose coefficients are those of its form as a mean over pairs.
"""

from dataclasses import dataclass

import numpy as np

from demur.quantities.replicates import Replicates
from demur.quantities.table import running_sum
from demur.types import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Slopes:
    """Derivatives of a number by the answers and losses at or above each plateau, and by the units.

    What they give is to be divided by `divisor`, which is done at the end and not for every plateau.
    """

    by_count: Floats
    by_loss: Floats
    by_units: Floats
    divisor: int


def selective_area_slopes(replicates: Replicates) -> Slopes:
    """Of the AURC."""
    count, risk, units, begin = replicates.count, replicates.risk, replicates.units, replicates.begin()
    by_risk = _two_steps(count, last=0)
    by_risk[begin] += count[begin]
    by_risk /= 2 * units
    np.divide(by_risk, count, out=by_risk, where=count > 0)  # before the first plateau held no cluster has a share
    by_count = _two_steps(risk, last=-2)
    by_count[begin] -= risk[begin]
    by_count /= -2 * units
    by_units = running_sum(by_count * count)[-1] / -units
    by_count -= by_risk * risk
    return Slopes(by_count, by_risk, by_units, replicates.table.divisor)


def generalized_area_slopes(replicates: Replicates) -> Slopes:
    """Of the AUGRC."""
    doubled = 2 * replicates.units**2
    area = replicates.generalized_area * replicates.table.divisor
    return Slopes(
        by_count=_two_steps(replicates.loss_sum, last=-2) / -doubled,
        by_loss=_two_steps(replicates.count, last=0) / doubled,
        by_units=-2 * area / replicates.units,
        divisor=replicates.table.divisor,
    )


def coverage_slopes(replicates: Replicates) -> Slopes:
    """Of Cmax."""
    by_count = np.zeros_like(replicates.count)
    by_count[-1:] = 1 / replicates.units
    return Slopes(by_count, np.zeros_like(by_count), -replicates.answered / replicates.units**2, 1)


def _two_steps(values: Floats, last: int) -> Floats:
    """The value one step on less the one a step back: 0 before the first, and (1 + last) times the last after it."""
    steps = np.empty_like(values)
    steps[:-1] = values[1:]
    steps[-1:] = (1 + last) * values[-1:]
    steps[1:] -= values[:-1]
    return steps
