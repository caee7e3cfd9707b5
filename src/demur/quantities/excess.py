"""Areas compared with references: the oracle ranking, the best thresholds, a random ranking and the population."""

import math
from functools import partial
from numbers import Real

import numpy as np

from demur.errors import UserError, literal
from demur.quantities.areas import augrc, aurc, cmax
from demur.quantities.registry import quantity
from demur.sampling.numbers import Number
from demur.sampling.sample import Sample

_percentage = partial(quantity, of="curve", under="interpretation", point_only=True, shown=())


@quantity("aurc_optimal", of="curve", title="optimal AURC", point_only=True, shown=())
def aurc_optimal(s: Sample) -> Number:
    """AURC of the oracle ranking.

    What AURC would be if confidence sorted these very losses. A floor for rankings without ties; lower means better
    answers, whatever the confidence.

    Formula: the AURC of the answered losses in ascending order, each with a confidence of its own.
    Ties: broken, every unit is an operating point. A curve with plateaus can therefore lie below it.
    Abstentions: in the denominator of every coverage, as in the AURC.
    Reference: Geifman, Uziel & El-Yaniv (2019), Bias-reduced uncertainty estimation for deep neural classifiers, ICLR.

    >>> from demur import risk_coverage
    >>> aurc_optimal(risk_coverage([2, 2, 1, 0], loss=[0, 2, 0, None])) == 1 / 12
    True
    """
    return s.centred(s.oracle.area_by_unit(s.table.level_loss) / (s.units * s.table.divisor))


@quantity("augrc_optimal", of="curve", title="optimal AUGRC", point_only=True, shown=())
def augrc_optimal(s: Sample) -> Number:
    """AUGRC of the oracle ranking.

    What AUGRC would be if confidence sorted these very losses: a floor for every ranking, with ties or without.

    Formula: the AUGRC of the answered losses in ascending order, each with a confidence of its own.
    Ties: broken, every unit is an operating point.
    Abstentions: in the denominator of every coverage and risk, as in the AUGRC.
    Reference: Traub et al. (2024), arXiv:2407.01032.

    >>> from demur import risk_coverage
    >>> augrc_optimal(risk_coverage([2, 2, 1, 0], loss=[0, 2, 0, None])) == 1 / 16
    True
    """
    return s.oracle.area(s.answered, selective=False) / (s.units * s.units * s.table.divisor)


@quantity(
    "eaurc",
    of="curve",
    title="eAURC",
    intervals=("excess", "difference"),
    enough=20,
    comparable="cmax",
    limits=lambda worst, _: (-worst / 2, worst),
    shown=("csv", "definitions"),
)
def eaurc(s: Sample) -> Number:
    """Excess AURC.

    How much of the AURC the ranking costs, beside what the answers cost. Lower is better; 0 is a perfect ranking
    without ties.

    Formula: eAURC = AURC − AURC of the oracle ranking.
    Ties: plateaus can make it slightly negative. It is never clamped.
    Abstentions: in the denominator of every coverage.
    Reference: Geifman, Uziel & El-Yaniv (2019), Bias-reduced uncertainty estimation for deep neural classifiers, ICLR.

    >>> from demur import risk_coverage
    >>> eaurc(risk_coverage([1, 0, 0], loss=[0, 1, 1])) == -1 / 18
    True
    """
    return aurc(s) - aurc_optimal(s)


@quantity(
    "eaugrc",
    of="curve",
    title="eAUGRC",
    intervals=("excess", "difference"),
    enough=20,
    comparable="cmax",
    limits=lambda worst, _: (0.0, worst / 4),
    shown=("table", "csv", "definitions"),
)
def eaugrc(s: Sample) -> Number:
    """Excess AUGRC.

    How much of the AUGRC the ranking costs. Lower is better; 0 is a perfect ranking. Never negative (for losses that
    are not whole: beyond rounding), and with repeated units better behaved than eAURC.

    Formula: eAUGRC = AUGRC − AUGRC of the oracle ranking.
    Ties: count half, as in the AUGRC.
    Abstentions: in the denominator of every coverage and risk.
    Reference: Traub et al. (2024), arXiv:2407.01032.

    >>> from demur import risk_coverage
    >>> eaugrc(risk_coverage([2, 2, 1, 0], loss=[0, 2, 0, None])) == 3 / 16
    True
    """
    return augrc(s) - augrc_optimal(s)


@quantity("aurc_achievable", of="curve", title="achievable AURC", point_only=True, shown=())
def aurc_achievable(s: Sample) -> Number:
    """AURC of the dominant operating points.

    The AURC when only thresholds worth choosing are kept: the vertices of the lower convex hull. Lower is better;
    never above the AURC (for losses that are not whole: beyond rounding).

    Formula: the AURC of the vertices of the lower convex hull of (coverage_j, selective_risk_j), which include the
        first and the last point; the first risk repeated at coverage 0.
    Ties: equal confidences are one operating point. Which points are vertices is decided in integers.
    Abstentions: in the denominator of every coverage.
    Reference: Traub et al. (2024), arXiv:2407.01032, and their fd-shifts code, for the idea of dominant points.

    >>> from demur import risk_coverage
    >>> aurc_achievable(risk_coverage([4, 3, 2, 1], loss=[0, 1, 0, 0])) == 3 / 32
    True
    """
    return Number(s.curve.hull_area(), None) / (s.units * s.table.divisor)


@_percentage("aurc_gap_pct", title="aurc gap pct", undefined="the optimal AURC is 0")
def aurc_gap_pct(s: Sample) -> Number:
    """Room for a better ranking, by AURC.

    The excess as a percentage of the best possible. Lower is better.

    Formula: 100 · eAURC / AURC_optimal.
    Ties: can make it negative, as they can the eAURC.
    Abstentions: cancel, both areas have the same denominator.
    Reference: Geifman, Uziel & El-Yaniv (2019), for the excess.

    >>> from demur import risk_coverage
    >>> aurc_gap_pct(risk_coverage([1, 0, 0], loss=[0, 1, 1]))
    -20.0
    """
    return 100 * eaurc(s) / aurc_optimal(s)


@_percentage("augrc_gap_pct", title="augrc gap pct", undefined="the optimal AUGRC is 0")
def augrc_gap_pct(s: Sample) -> Number:
    """Room for a better ranking, by AUGRC.

    The excess as a percentage of the best possible. Lower is better.

    Formula: 100 · eAUGRC / AUGRC_optimal.
    Ties: count half, as in the AUGRC.
    Abstentions: cancel, both areas have the same denominator.
    Reference: Traub et al. (2024), arXiv:2407.01032, for the excess.

    >>> from demur import risk_coverage
    >>> augrc_gap_pct(risk_coverage([2, 2, 1, 0], loss=[0, 2, 0, None]))
    300.0
    """
    return 100 * eaugrc(s) / augrc_optimal(s)


@_percentage("achievable_gain_pct", title="achievable gain pct", undefined="the AURC is 0", better="neither")
def achievable_gain_pct(s: Sample) -> Number:
    """What choosing thresholds well would save.

    The part of the AURC that lies above the lower convex hull, as a percentage. Large means that some thresholds
    should not be used.

    Formula: 100 · (AURC − AURC_achievable) / AURC.
    Abstentions: cancel, both areas have the same denominator.
    Reference: Traub et al. (2024), arXiv:2407.01032, for the idea of dominant points.

    >>> from demur import risk_coverage
    >>> achievable_gain_pct(risk_coverage([4, 3, 2, 1], loss=[0, 1, 0, 0])) == 1400 / 23
    True
    """
    return 100 * (aurc(s) - aurc_achievable(s)) / aurc(s)


@quantity("aurc_random", of="curve", title="AURC of a random order", point_only=True, shown=())
def aurc_random(s: Sample) -> Number:
    """AURC of a random ranking.

    What to expect of a confidence that knows nothing: the risk is the same at every coverage. An AURC above it means
    a ranking worse than chance.

    Formula: Cmax · (risk of everything answered).
    Ties: none, confidences are not looked at.
    Abstentions: in the denominator of Cmax.
    Reference: Ding et al. (2020), Revisiting the evaluation of uncertainty estimation and its application to explore
        model complexity–uncertainty trade-off, CVPR workshops.

    >>> from demur import risk_coverage
    >>> aurc_random(risk_coverage([2, 2, 1, 0], loss=[0, 2, 0, None]))
    0.5
    """
    return s.loss / (s.units * s.table.divisor)


@quantity("augrc_random", of="curve", title="AUGRC of a random order", point_only=True, shown=())
def augrc_random(s: Sample) -> Number:
    """AUGRC of a random ranking.

    What to expect of a confidence that knows nothing. An AUGRC above it means a ranking worse than chance.

    Formula: ½ · Cmax² · (risk of everything answered).
    Ties: none, confidences are not looked at.
    Abstentions: in the denominator of Cmax.
    Reference: Traub et al. (2024), arXiv:2407.01032.

    >>> from demur import risk_coverage
    >>> augrc_random(risk_coverage([2, 2, 1, 0], loss=[0, 2, 0, None]))
    0.1875
    """
    return cmax(s) * aurc_random(s) / 2


@quantity("aurc_harmonic", of="curve", title="harmonic AURC", point_only=True, reported=False, shown=())
def aurc_harmonic(s: Sample) -> Number:
    """Harmonic-weight estimate of the population AURC.

    A finite-sample estimator of the AURC of the population, by the weight each rank has on average. Lower is better.
    It is a mean over ranks where `aurc` is a trapezoidal area, so the two differ by little and are not to be mixed.

    Formula: N⁻¹ Σ_i loss_(i) · (H_K − H_{i−1}), ranks i from the most confident; H_n = 1 + 1/2 + … + 1/n.
    Ties: the mean over all orders inside a plateau.
    Abstentions: in the denominator; the estimate is over [0, Cmax], as the AURC is.
    Reference: Zhou et al. (2024), A novel characterization of the population area under the risk coverage curve and
        rates of finite sample estimators, arXiv:2410.15361.

    >>> from demur import risk_coverage
    >>> aurc_harmonic(risk_coverage([2, 1], loss=[0, 1]))
    0.25
    """
    return Number(s.curve.rank_sum(), None) / (s.units * s.table.divisor)


@quantity("aurc_sele", of="curve", title="SELE", point_only=True, reported=False, shown=())
def aurc_sele(s: Sample) -> Number:
    """SELE score.

    A pairwise surrogate of the AURC that can be learned from. Lower is better; without ties it is never above
    `aurc_harmonic`, and for a ranking no better than chance it is about half of it: not an AURC to report as one.

    Formula: (N·K)⁻¹ Σ_i loss_i · #{answered j: c_j ≤ c_i}.
    Ties: count in full, where the AUGRC counts half.
    Abstentions: scale it as they scale the AURC, whose stand-in it is; with everything answered, N = K, it is the
        published score.
    Reference: Franc, Prusa & Voracek (2023), Optimal strategies for reject option classifiers, JMLR 24.

    >>> from demur import risk_coverage
    >>> aurc_sele(risk_coverage([2, 1], loss=[0, 1]))
    0.25
    """
    k, losses = s.curve.sums
    pairs = (np.diff(losses, axis=0) * (k[-1] - k[:-1])).sum(axis=0)
    return s.stepwise(pairs) / (s.units * s.stepwise(np.maximum(k[-1], 1)) * s.table.divisor)


_SMALL_RATE = 0.1


def aurc_optimal_zero_one(error_rate: float) -> float:
    """The AURC of the oracle ranking of infinitely many fully answered units with 0/1 loss.

    Formula: e + (1 − e)·ln(1 − e), and 1 when e = 1. An asymptotic check: at any finite size the optimum of the
    units themselves (`aurc_optimal`) differs from it.

    >>> round(aurc_optimal_zero_one(0.5), 6)
    0.153426
    """
    error = _checked_rate(error_rate)
    if error < _SMALL_RATE:  # the two terms cancel; their difference is Σ eⁿ/(n(n−1)) from n = 2
        return math.fsum(error**n / (n * (n - 1)) for n in range(2, 20))
    return error + (1 - error) * math.log1p(-error) if error < 1 else 1.0


def augrc_optimal_zero_one(error_rate: float) -> float:
    """The AUGRC of the oracle ranking of infinitely many fully answered units with 0/1 loss: e²/2.

    >>> augrc_optimal_zero_one(0.5)
    0.125
    """
    return _checked_rate(error_rate) ** 2 / 2


def _checked_rate(rate: object) -> float:
    if isinstance(rate, bool) or not isinstance(rate, Real) or not 0 <= float(rate) <= 1:
        raise UserError(f"error rate {literal(rate)}, expected a number from 0 to 1")
    return float(rate)
