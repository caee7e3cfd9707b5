"""Cross-fitting: what a way of choosing a threshold does to clusters it has not seen."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from demur.decide.accepted import Accepted
from demur.decide.targets import DecisionTarget
from demur.inference.draws import folds as fold_of_clusters
from demur.inference.evidence import Evidence
from demur.inference.intervals import Interval, interval
from demur.inference.ratios import Ratio
from demur.quantities.curve import Curve
from demur.quantities.graded import Graded

FOLDS = 10


@dataclass(frozen=True, slots=True, eq=False)
class Crossfit:
    """What held-out clusters accept, each by the threshold chosen without its fold.

    `without_threshold` counts the folds in which no threshold met the target, so that nothing was accepted.
    """

    accepted: Accepted
    folds: int
    without_threshold: int


def crossfit(graded: Graded, target: DecisionTarget, seed: int, folds: int = FOLDS) -> Crossfit | None:
    """Choose without each fold of clusters, accept in it; None with one cluster.

    A threshold is the confidence of the operating point that was chosen. There are as many folds as clusters, if these
    are fewer.
    """
    size = len(graded.grouped.ids)
    number = min(folds, size)
    if number == 1:
        return None
    fold = fold_of_clusters(seed, size, number)
    thresholds = np.full(number, np.inf)
    for held_out in range(number):
        curve = Curve.of(graded.of_clusters(fold != held_out))
        if (point := target.point(curve)) is not None:
            thresholds[held_out] = curve.scale * curve.threshold[point]
    return Crossfit(Accepted.of(graded, thresholds[fold]), number, int(np.isinf(thresholds).sum()))


def procedure_interval(ratio: Ratio, clusters: int) -> tuple[Interval | None, str]:
    """The 95 % interval of a ratio of held-out clusters: the ratio ± t standard errors, every cluster counted.

    Where no accepted unit has a loss it ends at the cluster bound, as no variation is what is to be expected.
    """
    if math.isnan(ratio.point):
        return None, "nothing is accepted on held-out clusters"
    if ratio.clusters == 1 or not ratio.numerator.any():  # ± 0 would claim certainty
        return ratio.interval()
    influence = np.zeros(clusters)
    influence[ratio.held] = ratio.influence
    made = interval("analytic", Evidence(ratio.point, np.array([ratio.point]), clusters, influence))
    return (made.within(ratio.counted.low, ratio.counted.high) if made else None), ""
