"""Metrics of selective prediction: each is a number of a risk–coverage curve."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from demur.errors import UserError, literal
from demur.exact import sum_of_quotients
from demur.metrics.registry import metric

if TYPE_CHECKING:
    from demur.coverage import Coverage
    from demur.curve import Curve


@metric("cmax", key="cmax", better="higher")
def cmax(curve: Curve) -> float:
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
    return curve.cmax


@metric("mae", key="mae", undefined="no unit is answered")
def mae(curve: Curve) -> float:
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
    return float(curve.points.risk(-1) / curve.divisor) if curve.defined else math.nan


@metric("aurc", key="aurc_full")
def aurc(curve: Curve) -> float:
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
    return float(curve.selective_area)


@metric("augrc", key="augrc_full")
def augrc(curve: Curve) -> float:
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
    return float(curve.generalized_area)


@metric("aurc@C", key="aurc_at_c")
def aurc_at(curve: Curve, coverage: Coverage) -> float:
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
    return float(curve.selective_area_upto(coverage))


@metric("augrc@C", key="augrc_at_c")
def augrc_at(curve: Curve, coverage: Coverage) -> float:
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
    return float(curve.generalized_area_upto(coverage))


@metric("mae@C", key="mae_at_coverage", undefined="no working point reaches this coverage")
def mae_at(curve: Curve, coverage: Coverage) -> float:
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
    return curve.at(coverage).value


@metric("naurc", key="naurc", undefined="Cmax is 0")
def naurc(curve: Curve) -> float:
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
    return float(curve.selective_area / _coverage_reached(curve)) if curve.defined else math.nan


@metric("naugrc", key="naugrc", undefined="Cmax is 0")
def naugrc(curve: Curve) -> float:
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
    return float(curve.generalized_area / _coverage_reached(curve)) if curve.defined else math.nan


@metric("aurc_optimal", key="aurc_optimal")
def aurc_optimal(curve: Curve) -> float:
    """AURC of the best ranking.

    What AURC would be if confidence sorted these very losses. A floor for rankings without ties; lower means better
    answers, whatever the confidence.

    Formula: the AURC of the answered losses in ascending order, each with a confidence of its own.
    Ties: broken, every unit is a working point. A curve with plateaus can therefore lie below it.
    Abstentions: in the denominator of every coverage, as in the AURC.
    Undefined: never; 0 when nothing is answered.
    Reference: Geifman, Uziel & El-Yaniv (2019), Bias-reduced uncertainty estimation for deep neural classifiers, ICLR.

    >>> from demur import risk_coverage
    >>> aurc_optimal(risk_coverage([2, 2, 1, 0], loss=[0, 2, 0, None])) == 1 / 12
    True
    """
    return float(curve.optimal_selective_area)


@metric("augrc_optimal", key="augrc_optimal")
def augrc_optimal(curve: Curve) -> float:
    """AUGRC of the best ranking.

    What AUGRC would be if confidence sorted these very losses: a floor for every ranking, with ties or without.

    Formula: the AUGRC of the answered losses in ascending order, each with a confidence of its own.
    Ties: broken, every unit is a working point.
    Abstentions: in the denominator of every coverage and risk, as in the AUGRC.
    Undefined: never; 0 when nothing is answered.
    Reference: Traub et al. (2024), arXiv:2407.01032.

    >>> from demur import risk_coverage
    >>> augrc_optimal(risk_coverage([2, 2, 1, 0], loss=[0, 2, 0, None])) == 1 / 16
    True
    """
    return float(curve.optimal_generalized_area)


@metric("eaurc", key="eaurc")
def eaurc(curve: Curve) -> float:
    """Excess AURC.

    How much of the AURC the ranking costs, beside what the answers cost. Lower is better; 0 is a perfect ranking
    without ties.

    Formula: eAURC = AURC − AURC of the best ranking.
    Ties: plateaus can make it slightly negative. It is never clamped.
    Abstentions: in the denominator of every coverage.
    Undefined: never; 0 when nothing is answered.
    Reference: Geifman, Uziel & El-Yaniv (2019), Bias-reduced uncertainty estimation for deep neural classifiers, ICLR.

    >>> from demur import risk_coverage
    >>> eaurc(risk_coverage([1, 0, 0], loss=[0, 1, 1])) == -1 / 18
    True
    """
    return float(curve.selective_area - curve.optimal_selective_area)


@metric("eaugrc", key="eaugrc")
def eaugrc(curve: Curve) -> float:
    """Excess AUGRC.

    How much of the AUGRC the ranking costs. Lower is better; 0 is a perfect ranking. Never negative, and with
    repeated units better behaved than eAURC.

    Formula: eAUGRC = AUGRC − AUGRC of the best ranking.
    Ties: count half, as in the AUGRC.
    Abstentions: in the denominator of every coverage and risk.
    Undefined: never; 0 when nothing is answered.
    Reference: Traub et al. (2024), arXiv:2407.01032.

    >>> from demur import risk_coverage
    >>> eaugrc(risk_coverage([2, 2, 1, 0], loss=[0, 2, 0, None])) == 3 / 16
    True
    """
    return float(curve.generalized_area - curve.optimal_generalized_area)


@metric("aurc_achievable", key="aurc_achievable")
def aurc_achievable(curve: Curve) -> float:
    """AURC of the dominant working points.

    The AURC when only thresholds worth choosing are kept: the vertices of the lower convex hull. Lower is better;
    never above the AURC.

    Formula: the AURC of the vertices of the lower convex hull of (coverage_j, selective_risk_j), which include the
        first and the last point; the first risk repeated at coverage 0.
    Ties: equal confidences are one working point. Which points are vertices is decided in integers.
    Abstentions: in the denominator of every coverage.
    Undefined: never; 0 when nothing is answered.
    Reference: Traub et al. (2024), arXiv:2407.01032, and their fd-shifts code, for the idea of dominant points.

    >>> from demur import risk_coverage
    >>> aurc_achievable(risk_coverage([4, 3, 2, 1], loss=[0, 1, 0, 0])) == 3 / 32
    True
    """
    return float(curve.achievable_selective_area)


@metric("aurc_gap_pct", key="aurc_gap_pct", undefined="the optimal AURC is 0")
def aurc_gap_pct(curve: Curve) -> float:
    """Room for a better ranking, by AURC.

    The excess as a percentage of the best possible. Lower is better.

    Formula: 100 · eAURC / AURC_optimal.
    Ties: can make it negative, as they can the eAURC.
    Abstentions: cancel, both areas have the same denominator.
    Undefined: when the optimal AURC is 0.
    Reference: Geifman, Uziel & El-Yaniv (2019), for the excess.

    >>> from demur import risk_coverage
    >>> aurc_gap_pct(risk_coverage([1, 0, 0], loss=[0, 1, 1]))
    -20.0
    """
    return _percent(curve.selective_area - curve.optimal_selective_area, curve.optimal_selective_area)


@metric("augrc_gap_pct", key="augrc_gap_pct", undefined="the optimal AUGRC is 0")
def augrc_gap_pct(curve: Curve) -> float:
    """Room for a better ranking, by AUGRC.

    The excess as a percentage of the best possible. Lower is better.

    Formula: 100 · eAUGRC / AUGRC_optimal.
    Ties: count half, as in the AUGRC.
    Abstentions: cancel, both areas have the same denominator.
    Undefined: when the optimal AUGRC is 0.
    Reference: Traub et al. (2024), arXiv:2407.01032, for the excess.

    >>> from demur import risk_coverage
    >>> augrc_gap_pct(risk_coverage([2, 2, 1, 0], loss=[0, 2, 0, None]))
    300.0
    """
    return _percent(curve.generalized_area - curve.optimal_generalized_area, curve.optimal_generalized_area)


@metric("achievable_gain_pct", key="achievable_gain_pct", better="neither", undefined="the AURC is 0")
def achievable_gain_pct(curve: Curve) -> float:
    """What choosing thresholds well would save.

    The part of the AURC that lies above the lower convex hull, as a percentage. Large means that some thresholds
    should not be used.

    Formula: 100 · (AURC − AURC_achievable) / AURC.
    Ties: equal confidences are one working point.
    Abstentions: cancel, both areas have the same denominator.
    Undefined: when the AURC is 0.
    Reference: Traub et al. (2024), arXiv:2407.01032, for the idea of dominant points.

    >>> from demur import risk_coverage
    >>> achievable_gain_pct(risk_coverage([4, 3, 2, 1], loss=[0, 1, 0, 0])) == 1400 / 23
    True
    """
    return _percent(curve.selective_area - curve.achievable_selective_area, curve.selective_area)


@metric("aurc_random", key="aurc_random")
def aurc_random(curve: Curve) -> float:
    """AURC of a random ranking.

    What to expect of a confidence that knows nothing: the risk is the same at every coverage. An AURC above it means
    a ranking worse than chance.

    Formula: Cmax · (risk of everything answered).
    Ties: none, confidences are not looked at.
    Abstentions: in the denominator of Cmax.
    Undefined: never; 0 when nothing is answered.
    Reference: Ding et al. (2020), Revisiting the evaluation of uncertainty estimation and its application to explore
        model complexity–uncertainty trade-off, CVPR workshops.

    >>> from demur import risk_coverage
    >>> aurc_random(risk_coverage([2, 2, 1, 0], loss=[0, 2, 0, None]))
    0.5
    """
    return float(_coverage_reached(curve) * _overall_risk(curve))


@metric("augrc_random", key="augrc_random")
def augrc_random(curve: Curve) -> float:
    """AUGRC of a random ranking.

    What to expect of a confidence that knows nothing. An AUGRC above it means a ranking worse than chance.

    Formula: ½ · Cmax² · (risk of everything answered).
    Ties: none, confidences are not looked at.
    Abstentions: in the denominator of Cmax.
    Undefined: never; 0 when nothing is answered.
    Reference: Traub et al. (2024), arXiv:2407.01032.

    >>> from demur import risk_coverage
    >>> augrc_random(risk_coverage([2, 2, 1, 0], loss=[0, 2, 0, None]))
    0.1875
    """
    return float(_coverage_reached(curve) ** 2 * _overall_risk(curve) / 2)


@metric("aurc_harmonic", key="aurc_harmonic")
def aurc_harmonic(curve: Curve) -> float:
    """Harmonic-weight estimate of the population AURC.

    A finite-sample estimator of the AURC of the population, by the weight each rank has on average. Lower is better.
    It is a mean over ranks where `aurc` is a trapezoidal area, so the two differ by little and are not to be mixed.

    Formula: N⁻¹ Σ_i loss_(i) · (H_K − H_{i−1}), ranks i from the surest; H_n = 1 + 1/2 + … + 1/n.
    Ties: the mean over all orders inside a plateau.
    Abstentions: in the denominator; the estimate is over [0, Cmax], as the AURC is.
    Undefined: never; 0 when nothing is answered.
    Reference: Zhou et al. (2024), A novel characterization of the population area under the risk coverage curve and
        rates of finite sample estimators, arXiv:2410.15361.

    >>> from demur import risk_coverage
    >>> aurc_harmonic(risk_coverage([2, 1], loss=[0, 1]))
    0.25
    """
    if not curve.defined:
        return 0.0
    # Summed the other way round: Σ_k (loss of the k surest)/k, with the loss of a plateau spread evenly over it.
    ranks = np.arange(1.0, curve.answered + 1)
    loss_sum = np.interp(ranks, np.append(0, curve.points.count), np.append(0, curve.points.loss_sum))
    return float(sum_of_quotients(loss_sum, ranks) / (curve.units * curve.divisor))


@metric("aurc_sele", key="aurc_sele")
def aurc_sele(curve: Curve) -> float:
    """SELE score.

    A pairwise surrogate of the AURC that can be learned from. Lower is better; without ties it is never above
    `aurc_harmonic`.

    Formula: (N·K)⁻¹ Σ_i loss_i · #{answered j: c_j ≤ c_i}.
    Ties: count in full, where the AUGRC counts half.
    Abstentions: scale it as they scale the AURC, whose stand-in it is; with everything answered, N = K, it is the
        published score.
    Undefined: never; 0 when nothing is answered.
    Reference: Franc, Prusa & Voracek (2023), Optimal strategies for reject option classifiers, JMLR 24.

    >>> from demur import risk_coverage
    >>> aurc_sele(risk_coverage([2, 1], loss=[0, 1]))
    0.25
    """
    if not curve.defined:
        return 0.0
    plateau_loss = np.diff(curve.points.loss_sum, prepend=0)
    no_surer = curve.answered - np.append(0, curve.points.count[:-1])
    total = Fraction((plateau_loss * no_surer).sum().item())
    return float(total / (curve.units * curve.answered * curve.divisor))


def aurc_optimal_zero_one(error_rate: float) -> float:
    """The AURC of the best ranking of infinitely many fully answered units with 0/1 loss.

    Formula: e + (1 − e)·ln(1 − e), and 1 when e = 1. An asymptotic check: at any finite size the optimum of the
    units themselves (`aurc_optimal`) differs from it.

    >>> round(aurc_optimal_zero_one(0.5), 6)
    0.153426
    """
    error = _checked_rate(error_rate)
    return error + (1 - error) * math.log1p(-error) if error < 1 else 1.0


def augrc_optimal_zero_one(error_rate: float) -> float:
    """The AUGRC of the best ranking of infinitely many fully answered units with 0/1 loss: e²/2.

    >>> augrc_optimal_zero_one(0.5)
    0.125
    """
    return _checked_rate(error_rate) ** 2 / 2


def _checked_rate(rate: float) -> float:
    if isinstance(rate, bool) or not isinstance(rate, (int, float)) or not 0 <= rate <= 1:
        raise UserError(f"error rate {literal(rate)}, expected a number from 0 to 1")
    return float(rate)


def _coverage_reached(curve: Curve) -> Fraction:
    return Fraction(curve.answered, max(curve.units, 1))


def _overall_risk(curve: Curve) -> Fraction:
    return curve.points.risk(-1) / curve.divisor if curve.defined else Fraction(0)


def _percent(part: Fraction, whole: Fraction) -> float:
    return float(100 * part / whole) if whole else math.nan
