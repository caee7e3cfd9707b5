"""The risk at exactly a given coverage, by randomizing between two thresholds, to compare systems at equal coverage."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from demur.quantities.coverage import Coverage, RiskCoverage
from demur.quantities.curve import Curve
from demur.quantities.registry import POINT, Parameter, quantity
from demur.quantities.replicates import Replicates
from demur.quantities.slopes import Influence
from demur.types import Floats, Indices


def _at(text: str) -> Any:
    return POINT if text == POINT else Coverage.of(text)


def on_matched_risk(sample: Replicates, coverage: Coverage | Floats, moves: Influence | None = None) -> Floats:
    """Influences of the clusters on the risk at exactly a coverage; `moves` are their influences on the coverage.

    The slope of the summed loss is taken over √N units on either side: that of a single step is the loss of one unit,
    which made standard errors a fifth too large, and at an operating point the slopes on its two sides differ.
    """
    if not sample.plateaus:
        return np.zeros_like(sample.weights)
    plateau, position, share, lost = _interpolated(sample, coverage)
    ends = [np.clip(position + side * np.sqrt(sample.units), 0, sample.answered) for side in (-1, 1)]
    below, above = (_interpolated(sample, end)[3] for end in ends)
    slope = np.divide(above - below, ends[1] - ends[0], out=np.zeros_like(position), where=ends[1] > ends[0])
    step = np.arange(len(sample.count))[:, None]
    within = np.where(step < plateau, 1.0, np.where(step == plateau, share, 0.0))
    influence = sample.table.plateaus.by_cluster(-slope * within, within)
    shift = np.divide(position, sample.units) * sample.table.cluster_units[:, None]
    if moves is not None:
        shift = shift + sample.units * np.asarray(moves)
    influence += (slope - sample.ratio(lost, position)) * shift
    return sample.ratio(influence, np.broadcast_to(position * sample.table.divisor, influence.shape))


@quantity(
    "matched_risk@C",
    of="curve",
    key="matched_risk",
    parameter=Parameter("C", _at, "0.3"),
    title="risk at exactly@C",
    undefined="the coverage is beyond Cmax",
    intervals=("risk", "difference"),
    enough=20,
    influence=on_matched_risk,
    limits=lambda worst, _: (0.0, worst),
    reported=False,
    shown=(),
)
def matched_risk(curve: RiskCoverage, coverage: Coverage) -> Any:
    """Risk at exactly a coverage.

    The mean loss of the accepted answers if exactly the share C of the units is accepted, by randomizing between the
    two thresholds around it. Lower is better. At an operating point it is the risk there.

    Formula: [g_j + (C − coverage_j)/(coverage_{j+1} − coverage_j)·(g_{j+1} − g_j)] / C with g the generalized risk,
        from (0, 0) on.
    Ties: a plateau is accepted in part, at random.
    Abstentions: in the denominator of the coverage, not of the risk.
    Reference: none; the generalized risk is linear in what is accepted at random.

    >>> from demur import Coverage, risk_coverage
    >>> curve = risk_coverage([9, 9, 8, 7, 7, 6, 0, 0], loss=[0, 1, 0, 0, 1, 0, None, None])
    >>> matched_risk(curve, Coverage.of("1/2")), matched_risk(curve, Coverage.of("5/8"))
    (0.375, 0.4)
    """
    return _exact(curve, coverage) if isinstance(curve, Curve) else _of_replicates(curve, coverage)


def _exact(curve: Curve, coverage: Coverage) -> Fraction | float:
    end = coverage.position(curve.units)
    if not 0 < end <= curve.answered:
        return math.nan
    count, sums = curve.points.count, curve.points.loss_sum
    plateau = int(np.searchsorted(count, math.ceil(end)))
    before, lost = (int(count[plateau - 1]), Fraction(sums[plateau - 1].item())) if plateau else (0, Fraction(0))
    share = (end - before) / (int(count[plateau]) - before)
    return (lost + share * (Fraction(sums[plateau].item()) - lost)) / (end * curve.divisor)


def _of_replicates(sample: Any, coverage: Coverage | Floats) -> Floats:
    if not sample.plateaus:
        return np.full(len(sample.units), math.nan)
    _, position, _, lost = _interpolated(sample, coverage)
    reached = (position > 0) & (position <= sample.answered)
    return np.where(reached, sample.ratio(lost, position) / sample.table.divisor, math.nan)


def _interpolated(sample: Replicates, coverage: Coverage | Floats) -> tuple[Indices, Floats, Floats, Floats]:
    """The plateau that reaches a coverage, the coverage in units, the share of the plateau, and the summed loss."""
    position = coverage if isinstance(coverage, np.ndarray) else sample.position(coverage)
    plateau = np.minimum(sample.plateaus_below(position), len(sample.count) - 1)
    column = np.arange(len(sample.units))
    start, lost = (np.where(plateau > 0, values[plateau - 1, column], 0) for values in (sample.count, sample.loss_sum))
    width, rise = sample.count[plateau, column] - start, sample.loss_sum[plateau, column] - lost
    share = np.divide(position - start, width, out=np.zeros_like(rise), where=width > 0)
    return plateau, position, share, lost + share * rise
