"""Intervals and standard errors from our own draws, with the Monte-Carlo error a reported one is allowed.

Where the reported draws can be repeated (our generator, its seed recorded, no more of them than we take), a figure must
agree to 1e-9. Elsewhere both sides drew at random, and B reported and B' own draws are as good as n, 1/n = 1/B + 1/B':

- a share of the draws must lie within 4 binomial standard errors of ours, taken at ours or (Wilson) at the other one,
- an end of an interval, a quantile at p, must lie between our quantiles at the shares that p allows; where draws are
  so few that it may well lie beyond all of ours, it may be anything on that side,
- a standard error must lie within 4·√((κ − 1)/(4n)) of ours, relative to it, with κ ≥ 3 the kurtosis of our draws.

B and B' count the draws in which there is a number. Of fewer than 100 of them nothing is said about a standard error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from demur.audit.figures import Expected
from demur.audit.plain_draws import SIGMAS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from demur.audit.plain_draws import Draws

    Floats = NDArray[np.float64]
    Ends = tuple[Expected, Expected]

RESAMPLES = 2000
MANY_CLUSTERS = 200
MOST_DROPPED = 0.5
FEW_DRAWS = 100
_NORMAL_KURTOSIS = 3.0
_NO_ERROR = 1e-9
_RARE = 1e-4
_NO_DIFFERENCE = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """One number and its replicates; nan among them where it was not reached."""

    point: float | None
    values: Floats
    clusters: int
    draws: Draws
    two_sided: bool = True
    error: float | None = None
    errors: Floats | None = None
    left_out: Floats = field(default_factory=lambda: np.zeros(0))

    @property
    def reached(self) -> Floats:
        """The replicates in which there is a number."""
        return self.values[~np.isnan(self.values)]

    @property
    def reaching(self) -> Draws:
        """The draws in which there is a number."""
        return self.draws.among(1 - self.drop_rate)

    @property
    def drop_rate(self) -> float:
        """Share of the replicates without a number."""
        return float(np.isnan(self.values).mean())

    @property
    def has_interval(self) -> bool:
        """Whether the number is defined, varies at all, and enough replicates have it."""
        return self.point is not None and self.two_sided and self.drop_rate <= MOST_DROPPED

    @property
    def undecided(self) -> bool:
        """Whether other draws could have left out more than half, or less."""
        low, high = self.draws.between(self.drop_rate)
        near = not self.draws.repeated and low <= MOST_DROPPED <= high
        return near and self.two_sided and self.point is not None


def rate(share: float, draws: Draws, otherwise: Mapping[str, float | None] | None = None) -> Expected:
    """A share of the draws."""
    return Expected(share, band=None if draws.repeated else draws.between(share), otherwise=otherwise or {})


def std_error(evidence: Evidence) -> Expected | None:
    """The standard deviation of the replicates, ddof 1; None where other draws are too few to be held against ours."""
    reached = evidence.reached
    if not evidence.draws.repeated and len(reached) < FEW_DRAWS and evidence.clusters > 1:
        return None
    if evidence.clusters == 1:
        return Expected(0.0)
    if len(reached) < 2:  # noqa: PLR2004
        return Expected(None)
    spread = float(np.std(reached, ddof=1))
    otherwise = {"standard deviation with ddof 0": float(np.std(reached))}
    if evidence.draws.repeated:
        return Expected(spread, otherwise=otherwise)
    away = spread * _relative_error(evidence)
    return Expected(spread, band=(max(spread - away, 0.0), spread + away), otherwise=otherwise)


def _relative_error(evidence: Evidence) -> float:
    reached = evidence.reached
    centred = reached - reached.mean()
    variance = float(np.mean(centred**2))
    kurtosis = float(np.mean(centred**4)) / variance**2 if variance > 0 else _NORMAL_KURTOSIS
    return SIGMAS * math.sqrt((max(kurtosis, _NORMAL_KURTOSIS) - 1) / (4 * evidence.reaching.worth))


def ends(evidence: Evidence, method: str, level: float = 0.95) -> Ends | None:
    """Both ends of the interval by a method; None where nobody knows the method."""
    if method not in _METHODS:
        return None
    if not (evidence.has_interval or evidence.undecided):
        return Expected(None), Expected(None)
    if evidence.clusters == 1:
        return Expected(evidence.point), Expected(evidence.point)
    if not len(evidence.reached):
        anything = Expected(evidence.point, band=(-math.inf, math.inf))
        return anything, anything
    found = _METHODS[method](evidence, level)
    if found is None or method == "percentile":
        return found
    low, high = _METHODS["percentile"](evidence, level) or (Expected(None), Expected(None))
    name = "the plain percentile"
    return _also(found[0], name, low.value), _also(found[1], name, high.value)


def _also(expected: Expected, way: str, value: float | None) -> Expected:
    return replace(expected, otherwise={**expected.otherwise, way: value})


def _quantiles(values: Floats, tails: tuple[float, float], draws: Draws) -> Ends:
    low, high = (_quantile(values, tail, draws) for tail in tails)
    return low, high


def _quantile(values: Floats, share: float, draws: Draws) -> Expected:
    value = float(np.quantile(values, share))
    if draws.repeated:
        return Expected(value)
    low, high = np.quantile(values, draws.between(share)).tolist()
    low = -math.inf if draws.may_lie_beyond(share) else low
    return Expected(value, band=(low, math.inf if draws.may_lie_beyond(1 - share) else high))


def _percentile(evidence: Evidence, level: float) -> Ends:
    tail = _tail(level)
    return _quantiles(evidence.reached, (tail, 1 - tail), evidence.reaching)


def _expanded_percentile(evidence: Evidence, level: float) -> Ends:
    from scipy.special import ndtr  # noqa: PLC0415  (slow to import)

    clusters = evidence.clusters
    tail = float(ndtr(-math.sqrt(clusters / (clusters - 1)) * _t(clusters, level)))
    return _quantiles(evidence.reached, (tail, 1 - tail), evidence.reaching)


def _bootstrap_t(evidence: Evidence, level: float) -> Ends | None:
    error = std_error(evidence)
    if error is None or error.value is None or evidence.point is None:
        return None
    factor = _t(evidence.clusters, level)
    return affine(error, -factor, evidence.point), affine(error, factor, evidence.point)


def _studentised(evidence: Evidence, level: float) -> Ends | None:
    if evidence.error is None or evidence.errors is None or evidence.point is None:
        return None
    good = evidence.errors > _NO_ERROR * evidence.error
    if evidence.draws.repeated and not good.all():
        return _analytic_log(evidence, level)
    tail = _tail(level)
    scaled = (evidence.values[good] - evidence.point) / evidence.errors[good]
    lower, upper = _quantiles(scaled, (tail, 1 - tail), evidence.draws)
    return affine(upper, -evidence.error, evidence.point), affine(lower, -evidence.error, evidence.point)


def affine(expected: Expected, factor: float, shift: float = 0.0) -> Expected:
    """What is expected of a number times a factor, and so much more."""
    low, high = sorted(shift + factor * end for end in expected.band or (0.0, 0.0))
    return Expected(
        None if expected.value is None else shift + factor * expected.value,
        band=(low, high) if expected.band else None,
        otherwise={way: None if v is None else shift + factor * v for way, v in expected.otherwise.items()},
    )


def _analytic(evidence: Evidence, level: float) -> Ends | None:
    if evidence.error is None or evidence.point is None:
        return None
    reach = _t(evidence.clusters, level) * evidence.error
    return Expected(evidence.point - reach), Expected(evidence.point + reach)


def _analytic_log(evidence: Evidence, level: float) -> Ends | None:
    if evidence.error is None or evidence.point is None or evidence.point <= 0:
        return None
    factor = math.exp(_t(evidence.clusters, level) * evidence.error / evidence.point)
    return Expected(evidence.point / factor), Expected(evidence.point * factor)


def _jackknife(evidence: Evidence, level: float) -> Ends | None:
    values = evidence.left_out
    if evidence.point is None or not len(values) or np.isnan(values).any():
        return None
    squares = float(np.sum((values - values.mean()) ** 2))
    reach = _t(evidence.clusters, level) * math.sqrt((len(values) - 1) / len(values) * squares)
    return Expected(evidence.point - reach), Expected(evidence.point + reach)


def _bca(evidence: Evidence, level: float) -> Ends | None:
    """Quantiles moved by the share of replicates below the number, and by the skewness of leaving clusters out.

    Replicates equal to the number count half; as they may miss it by their last bits, the ends may lie wherever
    counting all or none of those would put them.
    """
    values, point = evidence.reached, evidence.point or 0.0
    below, upto = (float(np.mean(values < edge)) for edge in (point - _NO_DIFFERENCE, point + _NO_DIFFERENCE))
    places = [_bca_places(evidence, share, level) for share in ((below + upto) / 2, below, upto)]
    if places[0] is None:
        return None
    found = _quantiles(values, places[0], evidence.reaching)
    if not evidence.draws.repeated or below == upto:
        return found
    at = [pair for pair in places if pair is not None]
    low, high = (np.quantile(values, [min(column), max(column)]).tolist() for column in zip(*at, strict=True))
    return replace(found[0], band=(low[0], low[1])), replace(found[1], band=(high[0], high[1]))


def _bca_places(evidence: Evidence, below: float, level: float) -> tuple[float, float] | None:
    """The shares of the replicates the ends lie at."""
    from scipy.special import ndtr, ndtri  # noqa: PLC0415  (slow to import)

    alone, tail = evidence.left_out, _tail(level)
    if not len(alone) or np.isnan(alone).any() or not 0 < below < 1:
        return None
    away = alone.mean() - alone
    squares = float(np.sum(away**2))
    skewness = float(np.sum(away**3)) / (6 * squares**1.5) if squares else 0.0
    bias = float(ndtri(below))
    low, high = (
        float(ndtr(bias + moved / (1 - skewness * moved)))
        for moved in (bias + float(ndtri(tail)), bias - float(ndtri(tail)))
    )
    return low, high


_METHODS = {
    "percentile": _percentile,
    "expanded_percentile": _expanded_percentile,
    "bootstrap_t": _bootstrap_t,
    "studentised": _studentised,
    "analytic": _analytic,
    "analytic_log": _analytic_log,
    "jackknife": _jackknife,
    "bca": _bca,
}


def _tail(level: float) -> float:
    """Half of what a level leaves out; rounded, since 1 − 0.95 in doubles is not quite 0.05."""
    return round((1 - level) / 2, 15)


def _t(clusters: int, level: float) -> float:
    from scipy.special import stdtrit  # noqa: PLC0415  (slow to import)

    return float(stdtrit(clusters - 1, (1 + level) / 2))
