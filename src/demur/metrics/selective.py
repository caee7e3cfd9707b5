"""How much is answered and how wrong it is: risks and areas of a risk–coverage curve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from demur.metrics.registry import metric

if TYPE_CHECKING:
    from demur.coverage import Coverage
    from demur.metrics.registry import RiskCoverage


@metric("cmax", key="cmax", better="higher", intervals=("bootstrap_t", "bootstrap_t"))
def cmax(curve: RiskCoverage) -> Any:
    """Largest coverage.

    The share of all units that the system answers. Higher means fewer abstentions, not better answers.

    Formula: Cmax = K / N, with K answered units among N units.
    Ties: none, confidences are not looked at.
    Abstentions: in the denominator.
    Undefined: never; 0 when nothing is answered.
    Reference: El-Yaniv & Wiener (2010), On the foundations of noise-free selective classification, JMLR 11.

    >>> from demur import risk_coverage
    >>> cmax(risk_coverage([2, 2, 1, 0], loss=[0, 2, 0, None]))
    0.75
    """
    return curve.coverage_reached


@metric("mae", key="mae", undefined="no unit is answered")
def mae(curve: RiskCoverage) -> Any:
    """Risk of everything answered.

    The mean loss over the answered units. Lower is better, but only between systems that answer the same units: a
    system that abstains on hard ones lowers it.

    Formula: MAE = (Σ loss of the answered) / K.
    Ties: none, confidences are not looked at.
    Abstentions: left out, which is why two values at different Cmax cannot be compared.
    Undefined: when no unit is answered.
    Reference: Geifman & El-Yaniv (2017), Selective classification for deep neural networks, NeurIPS.

    >>> from demur import risk_coverage
    >>> mae(risk_coverage([2, 2, 1, 0], loss=[0, 2, 0, None]))
    0.6666666666666666
    """
    return curve.overall_risk


@metric("aurc", key="aurc_full", intervals=("studentised", "bootstrap_t"))
def aurc(curve: RiskCoverage) -> Any:
    """Area under the risk–coverage curve.

    The selective risk accumulated over every coverage the system reaches. Lower is better, at equal Cmax: a smaller
    Cmax makes the area smaller too.

    Formula: trapezoids through (coverage_j, selective_risk_j), with the first risk repeated at coverage 0.
    Ties: equal confidences are one working point.
    Abstentions: in the denominator of every coverage; the area ends at Cmax.
    Undefined: never; 0 by convention when nothing is answered, and such a system is not ranked.
    Reference: Geifman, Uziel & El-Yaniv (2019), Bias-reduced uncertainty estimation for deep neural classifiers, ICLR.

    >>> from demur import risk_coverage
    >>> aurc(risk_coverage([2, 2, 1, 0], loss=[0, 2, 0, None])) == 17 / 24
    True
    """
    return curve.selective_area


@metric("augrc", key="augrc_full", intervals=("studentised", "bootstrap_t"))
def augrc(curve: RiskCoverage) -> Any:
    """Area under the generalized risk–coverage curve.

    The risk of an accepted error, accumulated over every coverage: the mean joint probability, or loss, of "accepted
    and wrong". Lower is better, at equal Cmax.

    Formula: trapezoids through (coverage_j, generalized_risk_j), from 0 at coverage 0;
        equals N⁻² Σ loss_i · (#{j: c_j < c_i} + ½ #{j: c_j = c_i}) over the answered units.
    Ties: equal confidences are one working point.
    Abstentions: in the denominator of every coverage and risk; the area ends at Cmax.
    Undefined: never; 0 by convention when nothing is answered, and such a system is not ranked.
    Reference: Traub et al. (2024), Overcoming common flaws in the evaluation of selective classification systems,
        NeurIPS, arXiv:2407.01032.

    >>> from demur import risk_coverage
    >>> augrc(risk_coverage([2, 2, 1, 0], loss=[0, 2, 0, None]))
    0.25
    """
    return curve.generalized_area


@metric("aurc@C", key="aurc_at_c")
def aurc_at(curve: RiskCoverage, coverage: Coverage) -> Any:
    """Area under the risk–coverage curve up to a coverage.

    What two systems of different Cmax can be compared by, at a coverage both reach. Lower is better.

    Formula: the AURC of the curve cut at C' = min(C, Cmax), the risk at C' interpolated linearly.
    Ties: equal confidences are one working point.
    Abstentions: in the denominator of every coverage.
    Undefined: never; it is C'·(first risk) below the first working point, 0 when nothing is answered.
    Reference: Geifman, Uziel & El-Yaniv (2019), for the area; the cut at a common coverage is ours.

    >>> from demur import Coverage, risk_coverage
    >>> aurc_at(risk_coverage([2, 2, 1, 0], loss=[0, 2, 0, None]), Coverage.of("0.6")) == 89 / 150
    True
    """
    return curve.selective_area_upto(coverage)


@metric("augrc@C", key="augrc_at_c")
def augrc_at(curve: RiskCoverage, coverage: Coverage) -> Any:
    """Area under the generalized risk–coverage curve up to a coverage.

    What two systems of different Cmax can be compared by, at a coverage both reach. Lower is better.

    Formula: the AUGRC of the curve cut at C' = min(C, Cmax), the risk at C' interpolated linearly.
    Ties: equal confidences are one working point.
    Abstentions: in the denominator of every coverage and risk.
    Undefined: never; 0 when nothing is answered.
    Reference: Traub et al. (2024), arXiv:2407.01032, for the area; the cut at a common coverage is ours.

    >>> from demur import Coverage, risk_coverage
    >>> augrc_at(risk_coverage([2, 2, 1, 0], loss=[0, 2, 0, None]), Coverage.of("0.6")) == 7 / 40
    True
    """
    return curve.generalized_area_upto(coverage)


@metric("mae@C", key="mae_at_coverage", undefined="no working point reaches this coverage")
def mae_at(curve: RiskCoverage, coverage: Coverage) -> Any:
    """Risk at a coverage.

    The mean loss of what is accepted when the threshold is set so that the coverage is reached. Lower is better, and
    two systems may be compared by it, if both reach the coverage.

    Formula: selective_risk_j of the first working point with coverage_j ≥ C.
    Ties: a plateau is accepted whole, so the coverage achieved may be larger than the one asked for.
    Abstentions: in the denominator of the coverage, not of the risk.
    Undefined: when C is larger than Cmax.
    Reference: Geifman & El-Yaniv (2017), Selective classification for deep neural networks, NeurIPS.

    >>> from demur import Coverage, risk_coverage
    >>> mae_at(risk_coverage([2, 2, 1, 0], loss=[0, 2, 0, None]), Coverage.of("0.6"))
    0.6666666666666666
    """
    return curve.risk_at(coverage)


@metric("naurc", key="naurc", undefined="Cmax is 0")
def naurc(curve: RiskCoverage) -> Any:
    """Mean selective risk over the coverages reached.

    The AURC per unit of coverage. Lower is better. Abstaining at random leaves it alone; abstaining on hard units
    still lowers it.

    Formula: nAURC = AURC / Cmax.
    Ties: equal confidences are one working point.
    Abstentions: extra abstentions change neither the curve's shape nor this number.
    Undefined: when Cmax is 0.
    Reference: Geifman, Uziel & El-Yaniv (2019), for the AURC.

    >>> from demur import risk_coverage
    >>> naurc(risk_coverage([2, 2, 1, 0], loss=[0, 2, 0, None])) == 17 / 18
    True
    """
    return curve.ratio(curve.selective_area, curve.coverage_reached)


@metric("naugrc", key="naugrc", undefined="Cmax is 0")
def naugrc(curve: RiskCoverage) -> Any:
    """Mean generalized risk over the coverages reached.

    The AUGRC per unit of coverage. Lower is better. Unlike nAURC it still shrinks when a system abstains more, even
    at random; AUGRC / Cmax² would not.

    Formula: nAUGRC = AUGRC / Cmax.
    Ties: equal confidences are one working point.
    Abstentions: m extra ones among N multiply it by N / (N + m).
    Undefined: when Cmax is 0.
    Reference: Traub et al. (2024), arXiv:2407.01032, for the AUGRC.

    >>> from demur import risk_coverage
    >>> naugrc(risk_coverage([2, 2, 1, 0], loss=[0, 2, 0, None])) == 1 / 3
    True
    """
    return curve.ratio(curve.generalized_area, curve.coverage_reached)
