"""Bands: how far the whole risk–coverage curve may be off, point by point and everywhere at once."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np

from demur.inference.evidence import Evidence
from demur.inference.intervals import MOST_DROPPED, expansion, interval, quantiles
from demur.inference.views import CurveView
from demur.quantities.curve import Curve
from demur.quantities.replicates import Replicates
from demur.types import Flags, Floats, Indices, Json

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
    """Which operating points get a band: all of them, or so many spread evenly, the first and the last among them.

    >>> points_kept(3).tolist(), points_kept(79)[[0, 1, 2, -1]].tolist()
    ([0, 1, 2], [0, 2, 4, 78])
    """
    kept = min(points, MOST_POINTS)
    return np.arange(kept) * (points - 1) // max(kept - 1, 1)


def drawn_risks(curve: Curve, sample: Replicates) -> dict[str, Floats]:
    """Both risks of every replicate (a row) at the coverages of the curve (a column each); nan where not reached.

    The risk at a coverage is that of the first operating point that reaches it, in a replicate as in the sample itself.
    """
    if not curve.defined:
        return {}
    count, divisor = curve.points.count[points_kept(len(curve))][:, None], sample.table.divisor
    # k of n is reached by ⌈k·m/n⌉ of m, exactly
    needed = sample.per_size(lambda units: -(-count * units // curve.units))
    selective, generalized = sample.sweep.risks(needed, divisor, sample.units * divisor)
    return {"selective": selective.T, "generalized": generalized.T}


def bands_of(view: CurveView, drawn: Mapping[str, Floats]) -> BandEnds | None:
    """The bands from the risks of the replicates, at the coverages that at least half of them reach.

    None where there is no such coverage. Where few clusters have shown a loss yet, how far the risk may be off is not
    in the data, and there is no simultaneous band (nan).
    """
    curve, table = view.curve, view.table
    kept = points_kept(len(curve))
    lacking = np.isnan(drawn["selective"])
    there = (lacking.mean(axis=0) <= MOST_DROPPED) & ((~lacking).sum(axis=0) > 1)
    if not there.any():
        return None
    worst = np.inf if table.largest_loss is None else table.largest_loss / table.divisor
    limits = (0.0 if table.level_loss[0] >= 0 else -np.inf, worst)
    shown = np.searchsorted(view.first_losses, kept[there], side="right") >= ENOUGH_LOSSES
    selective, generalized = (
        _band(risk[kept][there], drawn[name][:, there], table.clusters, shown, limits)
        for name, risk in (("selective", curve.selective_risk), ("generalized", curve.generalized_risk))
    )
    return BandEnds(curve.coverage[kept][there], selective, generalized)


def _band(risk: Floats, drawn: Floats, clusters: int, shown: Flags, limits: tuple[float, float]) -> BandColumns:
    evidence = [Evidence(float(point), values, clusters) for point, values in zip(risk, drawn.T, strict=True)]
    ends = [interval("expanded_percentile", each, LEVEL) for each in evidence]
    low, high = (np.array([getattr(each, end) for each in ends if each]) for end in ("low", "high"))
    spread = np.array([each.bootstrap_std_error for each in evidence])
    # How many standard errors hold the largest deviation along the curve in 95 % of the replicates (sup-t), made larger
    # for few clusters as a percentile interval is. A replicate counts where it reaches.
    varies = shown & (spread > _ROUNDING * np.abs(risk))
    away = np.abs(drawn[:, varies] - risk[varies]) / spread[varies]
    largest = np.max(away, axis=1, initial=0.0, where=~np.isnan(away))
    times = quantiles(largest, LEVEL)[0] * (expansion(clusters, LEVEL) if clusters > 1 else 1.0)
    reach = np.where(varies, times * spread, 0.0)
    low_at_once, high_at_once = np.minimum(risk - reach, low), np.maximum(risk + reach, high)
    return BandColumns(
        low=low,
        high=high,
        low_simultaneous=np.where(shown, np.clip(low_at_once, *limits), np.nan),
        high_simultaneous=np.where(shown, np.clip(high_at_once, *limits), np.nan),
    )
