"""Scores of probabilities by plain loops. A row is (probability, outcome), the outcome from 0 to 1."""

import math
from collections.abc import Callable

from demur.audit.retrieval_figures.detection import BINS, Rows, binned, ece, mean_outcome, open_ended
from demur.audit.retrieval_figures.numbers import Number, mean
from reference.registry import register

_LEAST_LIKELY = 1e-6


def _probability(rows: Rows) -> float:
    return math.fsum(p for p, _ in rows) / len(rows)


def _ece_adaptive(rows: Rows, bins: int = BINS) -> float | None:
    """The ECE over bins of equal mass: a probability is in the bin of its middle rank."""
    ps = [p for p, _ in rows]
    return ece(rows, bins, lambda p, n: (2 * sum(q < p for q in ps) + ps.count(p)) * n // (2 * len(ps)))


def _nll(rows: Rows) -> Number | None:
    """The mean of −log of the probability of the outcome, which is taken as 1e-6 at least."""
    losses = [-math.log(max(p if outcome else 1 - p, _LEAST_LIKELY)) for p, outcome in rows if outcome in (0, 1)]
    return mean(losses) if len(losses) == len(rows) else None


def _away_from(center: Callable[[Rows, Rows], float]) -> Callable[..., float | None]:
    """The squared distance of each bin's mean outcome from a center, averaged over the forecasts."""

    def averaged(rows: Rows, bins: int = BINS) -> float | None:
        gaps = [len(members) * (mean_outcome(members) - center(members, rows)) ** 2 for members in binned(rows, bins)]
        return math.fsum(gaps) / len(rows) if rows else None

    return averaged


def _within_bins(rows: Rows, bins: int = BINS) -> float | None:
    """The within-bin term: brier − reliability + resolution − uncertainty."""
    parts = [FORMULAS[f"brier{part}"] for part in ("", "_reliability", "_resolution", "_uncertainty")]
    values = [float(part(rows, bins) or 0) for part in parts]
    return values[0] - values[1] + values[2] - values[3] if rows else None


# A loop takes forecasts and, if it bins them, the number of bins.
FORMULAS: dict[str, Callable[..., Number | None]] = {
    "nll": _nll,
    "brier": lambda rows, _=BINS: mean(float(p - outcome) ** 2 for p, outcome in rows),
    "brier_reliability": _away_from(lambda members, _: _probability(members)),
    "brier_resolution": _away_from(lambda _, rows: mean_outcome(rows)),
    "brier_uncertainty": lambda rows, _=BINS: mean((outcome - mean_outcome(rows)) ** 2 for _, outcome in rows),
    "brier_within_bins": _within_bins,
    "ece_open": lambda rows, bins=BINS: ece(rows, bins, open_ended),
    "ece_adaptive": _ece_adaptive,
}
register(FORMULAS)
