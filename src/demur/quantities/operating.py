"""Risk and coverage at operating points, areas up to a coverage, and counts and bias of the units."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from demur.quantities.registry import COVERAGE, CUT, Parameter, quantity
from demur.sampling.coverage import Coverage, risk_of
from demur.sampling.numbers import Number
from demur.sampling.sample import Sample

_cut_area = partial(
    quantity,
    of="curve",
    parameter=CUT,
    defaults=("0.5",),
    intervals=("area", "difference"),
    enough=20,
    comparable="range",
    watched={"ends_before": lambda sample, coverage: ~sample.reaches(coverage)},
    shown=("console", "table", "csv", "definitions"),
)
_count = partial(quantity, of="units", better="neither", point_only=True)


@quantity(
    "risk",
    of="curve",
    key="mae",
    aliases=("mae",),
    undefined="no unit is answered",
    better="neither",
    comparable="cmax",
    intervals=("ratio", "difference"),
    sums=lambda table, _: (table.cluster_loss, table.cluster_answers, table.divisor),
    limits=lambda worst, _: (0.0, worst),
    shown=("console", "table", "csv", "definitions"),
)
def risk(s: Sample) -> Number:
    """Risk of everything answered.

    The mean loss over the answered units: the plain error rate where a loss is 0 or 1. Neither way is better by itself,
    as a system that abstains on hard units lowers it.

    Formula: (Σ loss of the answered) / K; with the absolute error as loss, the MAE.
    Ties: none, confidences are not looked at.
    Abstentions: left out, which is why two values at different Cmax cannot be compared.
    Reference: Geifman & El-Yaniv (2017), Selective classification for deep neural networks, NeurIPS.

    >>> from demur import risk_coverage
    >>> risk(risk_coverage([2, 2, 1, 0], loss=[0, 2, 0, None]))
    0.6666666666666666
    """
    return s.loss / (s.answered * s.table.divisor)


@_cut_area(
    "aurc@C",
    key="aurc_at_c",
    title="AURC",
    limits=lambda worst, coverage: (0.0, worst * coverage),
)
def aurc_at(s: Sample, coverage: Coverage | Number) -> Number:
    """Area under the risk–coverage curve up to a coverage.

    What two systems of different Cmax can be compared by, at a coverage both reach. Lower is better.

    Formula: the AURC of the curve cut at C' = min(C, Cmax), the risk at C' interpolated linearly.
    Abstentions: in the denominator of every coverage.
    Undefined: never; it is C'·(first risk) below the first operating point, 0 when nothing is answered.
    Reference: Geifman, Uziel & El-Yaniv (2019), for the area; the cut at a common coverage is ours.

    >>> from demur import Coverage, risk_coverage
    >>> aurc_at(risk_coverage([2, 2, 1, 0], loss=[0, 2, 0, None]), Coverage.of("0.6")) == 89 / 150
    True
    """
    return s.curve.area(s.end(coverage), selective=True) / (s.units * s.table.divisor)


@_cut_area(
    "augrc@C",
    key="augrc_at_c",
    title="AUGRC",
    limits=lambda worst, coverage: (0.0, worst * coverage**2 / 2),
)
def augrc_at(s: Sample, coverage: Coverage | Number) -> Number:
    """Area under the generalized risk–coverage curve up to a coverage.

    What two systems of different Cmax can be compared by, at a coverage both reach. Lower is better.

    Formula: the AUGRC of the curve cut at C' = min(C, Cmax), the risk at C' interpolated linearly.
    Abstentions: in the denominator of every coverage and risk.
    Reference: Traub et al. (2024), arXiv:2407.01032, for the area; the cut at a common coverage is ours.

    >>> from demur import Coverage, risk_coverage
    >>> augrc_at(risk_coverage([2, 2, 1, 0], loss=[0, 2, 0, None]), Coverage.of("0.6")) == 7 / 40
    True
    """
    return s.curve.area(s.end(coverage), selective=False) / (s.units * s.units * s.table.divisor)


@quantity(
    "risk@C",
    of="curve",
    key="mae_at_coverage",
    title="risk",
    parameter=COVERAGE,
    defaults=tuple(f"0.{tenth}" for tenth in range(1, 10)),
    undefined="no operating point reaches this coverage",
    intervals=("risk", "resampled_difference"),
    enough=20,
    limits=lambda worst, _: (0.0, worst),
    comparable="coverage",
    watched={"operating_point": lambda sample, coverage: sample.point_at(coverage)},
    shown=("definitions",),
)
def risk_at(s: Sample, coverage: Coverage) -> Number:
    """Risk at a coverage.

    The mean loss of what is accepted when the threshold is set so that the coverage is reached. Lower is better, and
    two systems may be compared by it, if both reach the coverage.

    Formula: selective_risk_j of the first operating point with coverage_j ≥ C.
    Ties: a plateau is accepted whole, so the coverage achieved may be larger than the one asked for.
    Abstentions: in the denominator of the coverage, not of the risk.
    Undefined: when C is larger than Cmax.
    Reference: Geifman & El-Yaniv (2017), Selective classification for deep neural networks, NeurIPS.

    >>> from demur import Coverage, risk_coverage
    >>> risk_at(risk_coverage([2, 2, 1, 0], loss=[0, 2, 0, None]), Coverage.of("0.6"))
    0.6666666666666666
    """
    count, loss = s.curve.points(s.point_at(coverage) + 1)
    return s.stepwise(loss) / (s.stepwise(np.where(s.reaches(coverage), count, np.nan)) * s.table.divisor)


@quantity(
    "coverage@risk=R",
    of="curve",
    key="coverage_at_risk",
    parameter=Parameter("risk=R", risk_of, "risk=0.1", spoken=lambda text: text.replace("=", " ≤ ")),
    better="higher",
    comparable="risk",
    loss_free=True,
    limits=lambda _, __: (0.0, 1.0),
    reported=False,
    shown=(),
)
def coverage_at_risk(s: Sample, risk: Fraction) -> Number:
    """Coverage at a risk.

    How much the system can answer if the mean loss of its answers must not exceed R. Higher is better. The threshold is
    chosen on the units it is judged by, so it flatters: a guarantee needs other units, or a bound.

    Formula: the largest coverage_j of an operating point with selective_risk_j ≤ R; 0 if there is none.
    Ties: a plateau is accepted whole. The risk need not rise with the coverage: points in between may be above R.
    Abstentions: in the denominator of the coverage, not of the risk.
    Undefined: never; 0 when no operating point is within the risk.
    Reference: Geifman & El-Yaniv (2017), Selective classification for deep neural networks, NeurIPS.

    >>> from fractions import Fraction
    >>> from demur import risk_coverage
    >>> coverage_at_risk(risk_coverage([4, 3, 2, 1], loss=[1, 0, 0, 1]), Fraction("0.4"))
    0.75
    """
    k = s.curve.sums[0]
    return s.stepwise(np.where(s.within(risk), k, 0.0).max(axis=0)) / s.units


@dataclass(frozen=True, slots=True)
class UnitSums:
    """The number of units, the number answered, and the sum of answer − truth over the answered; nan without scores."""

    units: int
    answered: int
    errors: float


@_count("units", shown=("items",))
def units(sums: UnitSums) -> float:
    """Number of units.

    How many units a number is over. Neither way is better.

    Formula: N.
    Abstentions: counted.
    Reference: none; it is a count.

    >>> units(UnitSums(10, 4, 2))
    10.0
    """
    return float(sums.units)


@_count("answered", shown=("items",))
def answered(sums: UnitSums) -> float:
    """Number of answered units.

    How many units a risk is over. Neither way is better by itself.

    Formula: K.
    Abstentions: not counted.
    Reference: none; it is a count.

    >>> answered(UnitSums(10, 4, 2))
    4.0
    """
    return float(sums.answered)


@_count("bias", undefined="no unit is answered", shown=("items",))
def bias(sums: UnitSums) -> float:
    """Mean signed error.

    Whether answers are too high or too low on average: 0 is neither.

    Formula: Σ (answer − truth) / K.
    Abstentions: left out.
    Reference: none; it is a mean.

    >>> bias(UnitSums(10, 4, 2))
    0.5
    """
    return sums.errors / sums.answered if sums.answered else math.nan
