"""Bands: how far the whole risk–coverage curve may be off, point by point and everywhere at once."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np

from demur.inference.intervals import MANY_CLUSTERS, MOST_DROPPED, Evidence, interval
from demur.quantities.curve import Curve
from demur.quantities.replicates import Replicates
from demur.quantities.table import Table
from demur.types import Floats, Indices, Json

LEVEL = 0.95
MOST_POINTS = 40
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
            content[name] = {end: ends.tolist() for end, ends in asdict(getattr(self, name)).items()}
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
    count = curve.points.count[points_kept(len(curve))]
    units = sample.units.astype(np.int64)[:, None]
    needed = -(-count * units // curve.units)  # k of n is reached by ⌈k·m/n⌉ of m, exactly
    place = sample.plateaus_below(needed.astype(np.float64))
    reached = place < len(sample.count)
    there = np.minimum(place, len(sample.count) - 1), np.arange(len(units))[:, None]
    loss, accepted = np.where(reached, sample.loss_sum[there], np.nan), sample.count[there]
    divisor = sample.table.divisor
    return {"selective": loss / (np.where(reached, accepted, 1) * divisor), "generalized": loss / (units * divisor)}


def bands_of(curve: Curve, table: Table, drawn: Mapping[str, Floats]) -> BandEnds | None:
    """The bands from the risks of the replicates, at the coverages that at least half of them reach.

    None where there is no such coverage.
    """
    kept = points_kept(len(curve))
    lacking = np.isnan(drawn["selective"])
    there = (lacking.mean(axis=0) <= MOST_DROPPED) & ((~lacking).sum(axis=0) > 1)
    if not there.any():
        return None
    floor = 0.0 if table.level_loss[0] >= 0 else -np.inf
    selective, generalized = (
        _band(risk[kept][there], drawn[name][:, there], table.clusters, floor)
        for name, risk in (("selective", curve.selective_risk), ("generalized", curve.generalized_risk))
    )
    return BandEnds(curve.coverage[kept][there], selective, generalized)


def _band(risk: Floats, drawn: Floats, clusters: int, floor: float) -> BandColumns:
    method = "percentile" if clusters >= MANY_CLUSTERS else "expanded_percentile"
    evidence = [Evidence(float(point), values, clusters) for point, values in zip(risk, drawn.T, strict=True)]
    ends = [interval(method, one, LEVEL) for one in evidence]
    spread = np.array([one.bootstrap_std_error for one in evidence])
    spread[spread <= _ROUNDING * np.abs(risk)] = 0
    # How many standard errors hold the largest deviation along the curve in 95 % of the replicates (sup-t). A replicate
    # counts where it reaches; a risk that never varies is known, and has no part in it.
    varies = spread > 0
    away = np.abs(drawn[:, varies] - risk[varies]) / spread[varies]
    largest = np.max(away, axis=1, initial=0.0, where=~np.isnan(away))
    reach = float(np.quantile(largest, LEVEL)) * spread
    return BandColumns(
        low=np.array([end.low for end in ends if end]),
        high=np.array([end.high for end in ends if end]),
        low_simultaneous=np.maximum(risk - reach, floor),
        high_simultaneous=risk + reach,
    )
