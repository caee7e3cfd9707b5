"""No-evidence detection: what the probabilities of one system tell, in all queries and in each criterion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from demur.estimates import System
from demur.graded import Clusters, Graded
from demur.metrics.detection import (
    FALSE_POSITIVE_RATES,
    checked_rate,
    detection_measures,
    single_class,
    threshold_at_fpr,
)
from demur.metrics.forecasts import Forecasts
from demur.tallies import MACRO, MICRO, ForecastTable, mean_over

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from demur.rankings import Rankings

    Floats = NDArray[np.float64]

GATE_MEASURES = ("cmax", "mae", "aurc", "augrc", "eaurc", "eaugrc")


@dataclass(frozen=True, slots=True)
class Threshold:
    """From which probability on a gate keeps false alarms within a rate; None if no finite one does."""

    threshold: float | None
    tpr: float
    fpr: float


@dataclass(frozen=True, slots=True, eq=False)
class Detection:
    """The detection metrics of all queries together, of each criterion, and averaged over the criteria.

    A criterion of one class has its conventional values, in the data and in a draw, and they are in the average; one
    that a draw holds no query of is not.
    """

    groups: tuple[str, ...]
    points: Mapping[str, float]
    tables: tuple[ForecastTable, ...]
    one_class: tuple[str, ...]

    @classmethod
    def of(cls, rankings: Rankings) -> Detection:
        """Of a system with probabilities; a criterion is called by its number."""
        among = {MICRO: np.ones(len(rankings), bool)}
        among |= {str(place): rankings.criterion == place for place in range(len(rankings.criteria))}
        forecasts = {group: forecasts_of(rankings, inside) for group, inside in among.items()}
        points = _numbers(tuple(among), tuple(forecasts.values()))
        return cls(
            groups=tuple(among),
            points={path: float(value[0]) for path, value in points.items()},
            tables=tuple(_table(rankings, inside) for inside in among.values()),
            one_class=tuple(group for group, one in forecasts.items() if single_class(one)),
        )

    def numbers(self, *samples: Forecasts) -> dict[str, Floats]:
        """The same in every draw."""
        return _numbers(self.groups, samples)


def _numbers(groups: tuple[str, ...], samples: Sequence[Forecasts]) -> dict[str, Floats]:
    """Every metric of every group, the first of which is all queries, and its mean over the other groups."""
    found: dict[str, Floats] = {}
    for measure in detection_measures():
        columns = [measure(sample) for sample in samples]
        for group, column in zip((*groups, MACRO), (*columns, mean_over(columns[1:])), strict=True):
            found[f"detection/{group}/{measure}"] = column
    return found


def forecasts_of(rankings: Rankings, among: NDArray[np.bool_]) -> Forecasts:
    """The probabilities of some queries, and whether each has evidence."""
    assert rankings.prob is not None  # noqa: S101
    return Forecasts.of(rankings.prob[among], rankings.has_gold[among].astype(np.float64))


def _table(rankings: Rankings, among: NDArray[np.bool_]) -> ForecastTable:
    assert rankings.prob is not None  # noqa: S101
    outcome = rankings.has_gold[among].astype(np.float64)
    return ForecastTable.of(rankings.post_ids, rankings.post[among], rankings.prob[among], outcome)


def thresholds(rankings: Rankings) -> dict[str, Threshold]:
    """Where to draw the line for each of the usual false positive rates."""
    if rankings.prob is None:
        return {}
    forecasts = forecasts_of(rankings, np.ones(len(rankings), bool))
    return {rate: Threshold(*threshold_at_fpr(forecasts, checked_rate(rate))) for rate in FALSE_POSITIVE_RATES}


def gate_of(rankings: Rankings) -> System:
    """The gate as a selective predictor: it answers the likelier queries first, and is wrong where there is no gold.

    A query with an empty list is an abstention whatever its probability.
    """
    answered = rankings.candidates > 0
    assert rankings.prob is not None  # noqa: S101
    graded = Graded(
        units=len(rankings),
        loss=(~rankings.has_gold[answered]).astype(np.int64),
        confidence=rankings.prob[answered],
        loss_name="no evidence there",
        clusters=Clusters(rankings.post_ids, np.bincount(rankings.post), rankings.post[answered]),
        largest_loss=1,
    )
    return System.of(graded, GATE_MEASURES)
