"""Calibration quantities: whether forecasts of 80 % come true 80 % of the time, and how well forecasts rank."""

from typing import Any, Literal

import numpy as np

from demur.errors import UserError, literal
from demur.quantities.forecasts import BINS, Forecasts, over
from demur.quantities.registry import quantity
from demur.types import Floats, Indices

LEAST_LIKELY = 1e-6


@quantity(
    "nll", of="forecasts", title="NLL", undefined="the outcomes are not all 0 or 1", shown=("calibration", "validation")
)
def nll(forecasts: Forecasts) -> Floats:
    """Negative log-likelihood, per forecast.

    How surprising the outcomes were, in nats: it punishes confident mistakes hardest. Lower is better.

    Formula: mean of −log max(q, 1e-6), where q is the probability given to what happened: p or 1 − p.
    Ties: forecasts of one probability are counted together.
    Reference: Good (1952), Rational decisions. The floor keeps one certain mistake from making it infinite.

    >>> round(float(nll(Forecasts.of([0.5, 0.5, 1.0], [1, 0, 1]))[0]), 6)
    0.462098
    """
    if not forecasts.binary:
        return np.full_like(forecasts.total, np.nan)
    positive_loss = -np.log(np.maximum(forecasts.probability, LEAST_LIKELY))[:, None]
    negative_loss = -np.log(np.maximum(1 - forecasts.probability, LEAST_LIKELY))[:, None]
    misses = forecasts.count - forecasts.outcome
    return forecasts.mean(np.sum(positive_loss * forecasts.outcome + negative_loss * misses, axis=0))


@quantity("brier", of="forecasts", title="Brier", shown=("calibration", "validation"))
def brier(forecasts: Forecasts) -> Floats:
    """Brier score: mean squared difference.

    Rewards being both calibrated and informative. Lower is better.

    Formula: mean of (p − y)².
    Ties: forecasts of one probability are counted together.
    Reference: Brier (1950), Verification of forecasts expressed in terms of probability.

    >>> brier(Forecasts.of([1.0, 0.5], [1, 0])).tolist()
    [0.125]
    """
    crossed = np.sum(forecasts.probability[:, None] * (forecasts.given - 2 * forecasts.outcome), axis=0)
    return forecasts.mean(np.maximum(crossed + forecasts.squares, 0))  # rounding may make it slightly negative


@quantity("brier_reliability", of="forecasts", title="brier reliability", shown=("calibration",))
def brier_reliability(forecasts: Forecasts) -> Floats:
    """The part of the Brier score that recalibration could remove.

    How far the bins are from the diagonal of the reliability diagram, squared. Lower is better.

    Formula: Σ_b n_b·(mean y − mean p)² / N over the equal-width bins b.
    Ties: a probability is in one bin.
    Reference: Murphy (1973), A new vector partition of the probability score.

    >>> brier_reliability(Forecasts.of([1.0, 0.5], [1, 0])).tolist()
    [0.125]
    """
    count, given, came = forecasts.bins
    return forecasts.mean(np.sum(over(came - given, count, 0.0) ** 2 * count, axis=0))


@quantity("brier_resolution", of="forecasts", title="brier resolution", better="higher", shown=("calibration",))
def brier_resolution(forecasts: Forecasts) -> Floats:
    """How far the bins' outcomes are from the overall one.

    What the forecasts know about which cases come true. Higher is better.

    Formula: Σ_b n_b·(mean y in b − mean y)² / N over the equal-width bins b.
    Ties: a probability is in one bin.
    Reference: Murphy (1973), A new vector partition of the probability score.

    >>> brier_resolution(Forecasts.of([1.0, 0.5], [1, 0])).tolist()
    [0.25]
    """
    count, _, came = forecasts.bins
    rate = forecasts.mean(forecasts.came_true)
    return forecasts.mean(np.sum((over(came, count, 0.0) - rate) ** 2 * count, axis=0))


@quantity("brier_uncertainty", of="forecasts", title="brier uncertainty", better="neither", shown=("calibration",))
def brier_uncertainty(forecasts: Forecasts) -> Floats:
    """Variance of the outcomes.

    The Brier score of always predicting the overall rate: a property of the task. Neither direction is better.

    Formula: mean y² − (mean y)², which is ȳ·(1 − ȳ) for outcomes that are 0 or 1.
    Ties: none to speak of.
    Reference: Murphy (1973), A new vector partition of the probability score.

    >>> brier_uncertainty(Forecasts.of([1.0, 0.5], [1, 0])).tolist()
    [0.25]
    """
    variance = forecasts.mean(forecasts.squares) - forecasts.mean(forecasts.came_true) ** 2
    return np.maximum(variance, 0)


@quantity("brier_within_bins", of="forecasts", title="brier within bins", better="neither", shown=("calibration",))
def brier_within_bins(forecasts: Forecasts) -> Floats:
    """What binning leaves out of the decomposition.

    With it the parts add up: brier = reliability − resolution + uncertainty + within_bins. It is 0 when no bin holds
    two different probabilities. Neither way is better.

    Formula: brier − brier_reliability + brier_resolution − brier_uncertainty.
    Ties: a probability is in one bin.
    Reference: Stephenson, Coelho, Jolliffe (2008), Two extra components in the Brier score decomposition.

    >>> brier_within_bins(Forecasts.of([1.0, 0.5], [1, 0])).tolist()
    [0.0]
    """
    binned = brier_reliability(forecasts) - brier_resolution(forecasts) + brier_uncertainty(forecasts)
    return np.asarray(brier(forecasts) - binned)


@quantity(
    "ece",
    of="forecasts",
    intervals=("biased", "biased"),
    title="ECE",
    shown=("calibration", "validation"),
)
def ece(forecasts: Forecasts) -> Floats:
    """Expected calibration error over bins of equal width.

    How far, on average, the fraction correct is from the mean predicted. Lower is better. It depends on the bins and is
    biased upwards in small samples: compare it at equal n and equal bins, and read the reliability table beside it.

    Formula: Σ_b (n_b/N)·|mean y − mean p| = (1/N)·Σ_b |Σ y − Σ p| over bins [k/n, (k+1)/n); the last includes 1.
    Ties: a probability is in one bin; an edge belongs to the bin above it.
    Reference: Naeini, Cooper, Hauskrecht (2015), Obtaining well calibrated probabilities using Bayesian binning.

    >>> ece(Forecasts.of([1.0, 1.0, 0.5], [0, 0, 1])).tolist()
    [0.8333333333333334]
    """
    return forecasts.mean(np.abs(forecasts.in_bins(forecasts.outcome - forecasts.given)).sum(axis=0))


@quantity("ece_open", of="forecasts", intervals=("biased", "biased"), title="ece open", shown=("calibration",))
def ece_open(forecasts: Forecasts) -> Floats:
    """Expected calibration error with a last bin that does not include 1.

    A common slip: forecasts of exactly 1 are in no bin, though they still count in N, and the error looks smaller. It
    reproduces numbers computed that way, and should not be reported. Lower looks better.

    Formula: as ece, without the forecasts p = 1 in the sums, and with the edges numpy.linspace(0, 1, n + 1) gives.
    Ties: a probability is in one bin; such an edge may be a bit above the decimal, so that 0.3 falls below 0.3.
    Reference: none; it is what half-open bins over [0, 1] do.

    >>> ece_open(Forecasts.of([1.0, 1.0, 0.5], [0, 0, 1])).tolist()
    [0.16666666666666666]
    """
    gaps = np.where(forecasts.probability[:, None] < 1, forecasts.outcome - forecasts.given, 0.0)
    edges = np.linspace(0, 1, forecasts.n_bins + 1)[1:-1]
    bin_of = np.searchsorted(edges, forecasts.probability, side="right")
    return forecasts.mean(np.abs(forecasts.in_bins(gaps, bin_of)).sum(axis=0))


@quantity("ece_adaptive", of="forecasts", intervals=("biased", "biased"), title="ece adaptive", shown=("calibration",))
def ece_adaptive(forecasts: Forecasts) -> Floats:
    """Expected calibration error over bins of equal mass.

    The same average, with bins that hold about equally many forecasts: no bin rests on a handful. Lower is better.

    Formula: as ece; with r the number of smaller forecasts plus half of the equal ones, p is in bin ⌊n·r/N⌋.
    Ties: forecasts of one probability are in one bin, so bins are equal only as far as ties allow.
    Reference: Nixon et al. (2019), Measuring calibration in deep learning.

    >>> ece_adaptive(Forecasts.of([0.1, 0.2, 0.3, 0.4], [0, 0, 1, 1], n_bins=2)).round(12).tolist()
    [0.4]
    """
    rank = np.cumsum(forecasts.count, axis=0) - forecasts.count / 2
    bin_of = (rank * forecasts.n_bins // np.maximum(forecasts.total, 1)).astype(np.intp)
    samples = len(forecasts.total)
    gaps = (forecasts.outcome - forecasts.given).ravel()
    cells = (bin_of * samples + np.arange(samples)).ravel()
    sums = np.bincount(cells, gaps, forecasts.n_bins * samples).reshape(forecasts.n_bins, samples)
    return forecasts.mean(np.abs(sums).sum(axis=0))


def _auroc_influence(step: Indices, cluster: Indices, positive: Floats, negative: Floats, clusters: int) -> Floats:
    """Influences of the clusters on the AUROC, from their positives and negatives at each step of probability.

    The influence of a positive is the share of negatives below it, that of a negative the share of positives above it.
    """
    positives, negatives = (np.bincount(step, weights) for weights in (positive, negative))
    above = np.cumsum(negatives) - negatives / 2
    below = positives.sum() - np.cumsum(positives) + positives / 2
    pairs = positives.sum() * negatives.sum()
    if not pairs:
        return np.zeros(clusters)
    area = positives @ above / pairs
    moved = positive * (above[step] / negatives.sum() - area) / positives.sum()
    moved += negative * (below[step] / positives.sum() - area) / negatives.sum()
    return np.bincount(cluster, moved, minlength=clusters).astype(np.float64)


@quantity(
    "auroc",
    of="forecasts",
    title="AUROC",
    better="higher",
    intervals=("ranked_pairs", "difference"),
    influence=_auroc_influence,
    limits=lambda _, __: (0.0, 1.0),
    undefined="the outcomes are not all 0 or 1, or all the same",
    convention=lambda _: 0.5,
    shown=("calibration", "validation"),
)
def auroc(forecasts: Forecasts) -> Floats:
    """Probability that a positive outcome was given a higher probability than a negative one.

    How well the forecasts rank, whatever their scale: calibration cannot change it without merging or reversing. Higher
    is better; 0.5 is chance.

    Formula: share of the pairs (positive, negative) in which the positive has the higher p, ties as halves.
    Ties: count a half.
    Reference: Hanley, McNeil (1982), The meaning and use of the area under a ROC curve.

    >>> auroc(Forecasts.of([0.9, 0.7, 0.4, 0.2, 0.8], [1, 1, 0, 0, 1])).tolist()
    [1.0]
    """
    ranked, pairs = rank_sums(forecasts)
    return over(ranked, pairs if forecasts.binary else np.zeros_like(pairs))


def rank_sums(forecasts: Forecasts) -> tuple[Floats, Floats]:
    """The number of correctly ranked pairs (positive, negative), ties as halves, and the number of all such pairs."""
    misses = forecasts.count - forecasts.outcome
    below = np.cumsum(misses, axis=0) - misses / 2
    ranked = np.sum(forecasts.outcome * below, axis=0)
    return ranked, np.asarray(forecasts.came_true * misses.sum(axis=0))


def compute_ece(
    probs: Any, labels: Any, n_bins: int = BINS, *, last_bin: Literal["closed", "open"] = "closed"
) -> float:
    """Expected calibration error of probabilities and outcomes (`ece`; `ece_open` if the last bin is open).

    With an open last bin, probabilities of exactly 1 are in no bin: it reproduces numbers that were computed so.

    >>> compute_ece([0.3, 0.25], [1, 0])
    0.475
    >>> compute_ece([1, 1, 0.5], [0, 0, 1]), compute_ece([1, 1, 0.5], [0, 0, 1], last_bin="open")
    (0.8333333333333334, 0.16666666666666666)
    """
    if last_bin not in ("closed", "open"):
        raise UserError(f"last_bin {literal(last_bin)}, expected closed or open")
    return float((ece if last_bin == "closed" else ece_open)(Forecasts.of(probs, labels, n_bins))[0])


def compute_binary_nll(probs: Any, labels: Any) -> float:
    """Negative log-likelihood of outcomes that are 0 or 1 (`nll`).

    >>> compute_binary_nll([1.0, 0.0], [1, 0])
    0.0
    """
    forecasts = Forecasts.of(probs, labels)
    if not forecasts.binary:
        raise UserError("the outcomes are not all 0 or 1: a binary likelihood is not defined for them")
    return float(nll(forecasts)[0])
