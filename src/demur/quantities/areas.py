"""Largest coverage, and the areas under the risk–coverage curves (AURC, AUGRC and per unit of coverage)."""

import math
from functools import partial

from demur.quantities.registry import quantity
from demur.sampling.numbers import Number
from demur.sampling.sample import Sample

_headline = partial(quantity, of="curve", shown=("console", "table", "csv", "definitions"))
_area = partial(_headline, intervals=("area", "difference"), comparable="cmax")


@_headline(
    "cmax",
    title="Cmax",
    better="higher",
    intervals=("share_of_units", "difference"),
    loss_free=True,
    limits=lambda _, __: (0.0, 1.0),
)
def cmax(s: Sample) -> Number:
    """Largest coverage.

    The share of all units that the system answers. Higher means fewer abstentions, not better answers.

    Formula: Cmax = K / N, with K answered units among N units.
    Ties: none, confidences are not looked at.
    Abstentions: in the denominator.
    Reference: El-Yaniv & Wiener (2010), On the foundations of noise-free selective classification, JMLR 11.

    >>> from demur import risk_coverage
    >>> cmax(risk_coverage([2, 2, 1, 0], loss=[0, 2, 0, None]))
    0.75
    """
    return s.answered / s.units


@_area(
    "aurc",
    key="aurc_full",
    title="AURC",
    limits=lambda worst, _: (0.0, worst),
    bound=lambda worst, rare, cmax: worst * (rare * (1 + math.log(cmax / rare)) if rare < cmax else cmax),
)
def aurc(s: Sample) -> Number:
    """Area under the risk–coverage curve.

    The selective risk accumulated over every coverage the system reaches. Lower is better, at equal Cmax: a smaller
    Cmax makes the area smaller too.

    Formula: trapezoids through (coverage_j, selective_risk_j), with the first risk repeated at coverage 0.
    Abstentions: in the denominator of every coverage; the area ends at Cmax.
    Undefined: never; 0 by convention when nothing is answered, and such a system is not ranked.
    Reference: Geifman, Uziel & El-Yaniv (2019), Bias-reduced uncertainty estimation for deep neural classifiers, ICLR.

    >>> from demur import risk_coverage
    >>> aurc(risk_coverage([2, 2, 1, 0], loss=[0, 2, 0, None])) == 17 / 24
    True
    """
    return s.curve.area(s.answered, selective=True) / (s.units * s.table.divisor)


@_area(
    "augrc",
    key="augrc_full",
    title="AUGRC",
    limits=lambda worst, _: (0.0, worst / 2),
    bound=lambda worst, rare, cmax: worst * (rare * cmax - rare**2 / 2 if rare < cmax else cmax**2 / 2),
)
def augrc(s: Sample) -> Number:
    """Area under the generalized risk–coverage curve.

    The risk of an accepted error, accumulated over every coverage: the mean joint probability, or loss, of "accepted
    and wrong". Lower is better, at equal Cmax.

    Formula: trapezoids through (coverage_j, generalized_risk_j), from 0 at coverage 0;
        equals N⁻² Σ loss_i · (#{j: c_j < c_i} + ½ #{j: c_j = c_i}) over the answered units.
    Abstentions: in the denominator of every coverage and risk; the area ends at Cmax.
    Undefined: never; 0 by convention when nothing is answered, and such a system is not ranked.
    Reference: Traub et al. (2024), Overcoming common flaws in the evaluation of selective classification systems,
        NeurIPS, arXiv:2407.01032.

    >>> from demur import risk_coverage
    >>> augrc(risk_coverage([2, 2, 1, 0], loss=[0, 2, 0, None]))
    0.25
    """
    return s.curve.area(s.answered, selective=False) / (s.units * s.units * s.table.divisor)


@quantity(
    "naurc",
    of="curve",
    title="nAURC",
    undefined="Cmax is 0",
    intervals=("area", "difference"),
    limits=lambda worst, _: (0.0, worst),
    shown=("csv",),
)
def naurc(s: Sample) -> Number:
    """Mean selective risk over the coverages reached.

    The AURC per unit of coverage. Lower is better. Abstaining at random leaves it alone; abstaining on hard units
    still lowers it.

    Formula: nAURC = AURC / Cmax.
    Abstentions: extra abstentions change neither the curve's shape nor this number.
    Reference: Geifman, Uziel & El-Yaniv (2019), for the AURC.

    >>> from demur import risk_coverage
    >>> naurc(risk_coverage([2, 2, 1, 0], loss=[0, 2, 0, None])) == 17 / 18
    True
    """
    return aurc(s) / cmax(s)


@quantity(
    "naugrc",
    of="curve",
    title="nAUGRC",
    undefined="Cmax is 0",
    intervals=("area", "difference"),
    limits=lambda worst, _: (0.0, worst / 2),
    shown=("csv",),
)
def naugrc(s: Sample) -> Number:
    """Mean generalized risk over the coverages reached.

    The AUGRC per unit of coverage. Lower is better. Unlike nAURC it still shrinks when a system abstains more, even
    at random; AUGRC / Cmax² would not.

    Formula: nAUGRC = AUGRC / Cmax.
    Abstentions: m extra ones among N multiply it by N / (N + m).
    Reference: Traub et al. (2024), arXiv:2407.01032, for the AUGRC.

    >>> from demur import risk_coverage
    >>> naugrc(risk_coverage([2, 2, 1, 0], loss=[0, 2, 0, None])) == 1 / 3
    True
    """
    return augrc(s) / cmax(s)
