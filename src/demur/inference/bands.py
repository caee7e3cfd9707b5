"""Confidence bands of the risk–coverage curve: pointwise and simultaneous."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np

from demur.inference.evidence import Evidence
from demur.inference.intervals import MOST_DROPPED, expansion, interval, quantiles
from demur.inference.views import CurveView
from demur.quantities.curve import Curve
from demur.sampling.sample import Sample
from demur.types import Flags, Floats, Indices, Integers, Json

LEVEL = 0.95
MOST_POINTS = 40
ENOUGH_LOSSES = 5
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class BandColumns:
    """Low and high ends at each coverage: of an interval there, and of a band that holds at all of them at once."""

    low: Floats
    high: Floats
    low_simultaneous: Floats
    high_simultaneous: Floats


@dataclass(frozen=True, slots=True, eq=False)
class BandEnds:
    """The bands of both risks over the same coverages, each that of an operating point."""

    coverage: Floats
    selective_risk: BandColumns
    generalized_risk: BandColumns
    level: float = LEVEL

    def to_json(self) -> Json:
        """The bands as an artifact holds them."""
        content: Json = {"level": self.level, "coverage": self.coverage.tolist()}
        for name in ("selective_risk", "generalized_risk"):
            ends = asdict(getattr(self, name))
            content[name] = {end: [None if np.isnan(x) else x for x in column.tolist()] for end, column in ends.items()}
        return content


def points_kept(points: int) -> Indices:
    """The operating points that get a band: all, or `MOST_POINTS` spread evenly with the first and the last.

    >>> points_kept(3).tolist(), points_kept(79)[[0, 1, 2, -1]].tolist()
    ([0, 1, 2], [0, 2, 4, 78])
    """
    number = min(points, MOST_POINTS)
    return np.arange(number) * (points - 1) // max(number - 1, 1)


@dataclass(frozen=True, slots=True, eq=False)
class RiskColumns:
    """Both risks of every replicate (a row) at the coverages of a curve (a column each); nan where not reached.

    The risk at a coverage is that of the first operating point that reaches it, in a replicate as in the sample itself.
    The coverages are numbers of answers over the number of units.
    """

    answers: Integers
    units: int

    @classmethod
    def of(cls, curve: Curve) -> RiskColumns:
        """At the operating points of a curve that get a band; none if nothing is answered."""
        return cls(curve.points.count[points_kept(len(curve))], curve.units)

    def __call__(self, sample: Sample) -> dict[str, Floats]:
        """The columns by name."""
        if not len(self.answers):
            return {}
        count, divisor = self.answers[:, None], sample.table.divisor
        # k of n is reached by ⌈k·m/n⌉ of m, exactly
        index = sample.curve.reach(sample.per_size(lambda units: -(-count * units // self.units)))
        accepted, loss = sample.curve.points(index)
        loss = np.where(index <= len(sample.table.plateaus), loss, np.nan)
        selective, generalized = loss / (np.maximum(accepted, 1) * divisor), loss / (sample.units.value * divisor)
        return {"selective": selective.T, "generalized": generalized.T}


def bands_of(view: CurveView, drawn: Mapping[str, Floats]) -> BandEnds | None:
    """The bands from the risks of the replicates, at the coverages that at least half of them reach.

    None where there is no such coverage. The simultaneous band is nan where fewer than `ENOUGH_LOSSES` clusters have a
    loss up to the coverage.
    """
    curve, table = view.curve, view.table
    points = points_kept(len(curve))
    risks = {name: np.ascontiguousarray(by_replicate.T) for name, by_replicate in drawn.items()}  # a row per coverage
    replicates = risks["selective"].shape[1]
    missing = np.count_nonzero(np.isnan(risks["selective"]), axis=1)
    reached = (missing / replicates <= MOST_DROPPED) & (replicates - missing > 1)
    if not reached.any():
        return None
    worst = np.inf if table.largest_loss is None else table.largest_loss / table.divisor
    limits = (0.0 if table.level_loss[0] >= 0 else -np.inf, worst)
    enough = np.searchsorted(view.first_losses, points[reached], side="right") >= ENOUGH_LOSSES
    selective, generalized = (
        _band(risk[points][reached], risks[name][reached], table.clusters, enough, limits)
        for name, risk in (("selective", curve.selective_risk), ("generalized", curve.generalized_risk))
    )
    return BandEnds(curve.coverage[points][reached], selective, generalized)


def _band(risk: Floats, drawn: Floats, clusters: int, enough: Flags, limits: tuple[float, float]) -> BandColumns:
    evidence = [Evidence(float(point), values, clusters) for point, values in zip(risk, drawn, strict=True)]
    ends = [interval("expanded_percentile", sample, LEVEL) for sample in evidence]
    low, high = (np.array([getattr(row, end) for row in ends if row]) for end in ("low", "high"))
    spread = np.array([sample.bootstrap_std_error for sample in evidence])
    # The sup-t critical value: the largest deviation along the curve, in standard errors, in 95 % of the replicates,
    # expanded for few clusters like a percentile interval. A replicate counts at the coverages it reaches.
    varies = enough & (spread > _ROUNDING * np.abs(risk))
    away = np.abs(drawn[varies] - risk[varies, None]) / spread[varies, None]
    largest = np.fmax.reduce(away, axis=0, initial=0.0)
    times = quantiles(largest, LEVEL)[0] * (expansion(clusters, LEVEL) if clusters > 1 else 1.0)
    reach = np.where(varies, times * spread, 0.0)
    low_at_once, high_at_once = np.minimum(risk - reach, low), np.maximum(risk + reach, high)
    return BandColumns(
        low=low,
        high=high,
        low_simultaneous=np.where(enough, np.clip(low_at_once, *limits), np.nan),
        high_simultaneous=np.where(enough, np.clip(high_at_once, *limits), np.nan),
    )
