"""The risk at exactly a given coverage, by randomizing between two thresholds, to compare systems at equal coverage."""

from typing import Any

import numpy as np

from demur.quantities.registry import POINT, Parameter, quantity
from demur.sampling.coverage import Coverage
from demur.sampling.numbers import Number, Term
from demur.sampling.sample import Sample
from demur.types import Floats


def _at(text: str) -> Any:
    return POINT if text == POINT else Coverage.of(text)


@quantity(
    "matched_risk@C",
    of="curve",
    key="matched_risk",
    parameter=Parameter("C", _at, "0.3"),
    title="risk at exactly@C",
    undefined="the coverage is beyond Cmax",
    intervals=("risk", "difference"),
    enough=20,
    limits=lambda worst, _: (0.0, worst),
    reported=False,
    shown=(),
)
def matched_risk(s: Sample, coverage: Coverage | Number) -> Number:
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
    end = s.position(coverage) if isinstance(coverage, Coverage) else coverage
    position = end.value.astype(np.float64)
    (lost, shares), slope = s.curve.interpolated(position), _slope(s, position)
    by_points = Term(lambda: s.table.plateaus.by_cluster(-slope * shares(), shares()))
    loss = Number(lost, {by_points: 1.0}) + end.moving * slope
    return (loss / (end * s.table.divisor)).where(end.value <= s.answered.value, np.nan)


def _slope(s: Sample, position: Floats) -> Floats:
    """The loss that one more unit adds.

    It is taken over √N units on either side: that of a single step is the loss of one unit, which made standard errors
    a fifth too large, and at an operating point the slopes on its two sides differ.
    """
    low, high = (np.clip(position + side * np.sqrt(s.sizes), 0, s.curve.ends[0]) for side in (-1, 1))
    (below, _), (above, _) = s.curve.interpolated(low), s.curve.interpolated(high)
    return np.asarray(np.divide(above - below, high - low, out=np.zeros_like(low), where=high > low))
