"""Cross-fitting: how a threshold, chosen for a target, does on clusters it was not chosen on."""

from __future__ import annotations

import math

import numpy as np

from demur.decide.accepted import Accepted
from demur.decide.rule import Measured, Procedure
from demur.decide.targets import DecisionTarget
from demur.inference.draws import folds as fold_of_clusters
from demur.inference.evidence import Evidence
from demur.inference.intervals import Interval, interval
from demur.inference.ratios import Ratio
from demur.quantities.curve import Curve
from demur.quantities.graded import Graded

FOLDS = 10


def crossfit(graded: Graded, target: DecisionTarget, seed: int) -> Procedure | None:
    """For each fold of clusters, choose a threshold on the others and apply it; None if there is one cluster.

    A threshold is the confidence of the chosen operating point. There are at most as many folds as clusters.
    """
    size = len(graded.grouped.ids)
    number = min(FOLDS, size)
    if number == 1:
        return None
    fold = fold_of_clusters(seed, size, number)
    thresholds = np.full(number, np.inf)
    for held_out in range(number):
        curve = Curve.of(graded.of_clusters(fold != held_out))
        if (point := target.point(curve)) is not None:
            thresholds[held_out] = curve.scale * curve.threshold[point]
    accepted = Accepted.of(graded, thresholds[fold])
    risk, per_unit, coverage = accepted.risk, accepted.generalized_risk, accepted.coverage
    return Procedure(
        folds=number,
        seed=seed,
        without_threshold=int(np.isinf(thresholds).sum()),
        accepted=int(accepted.count.sum()),
        risk=Measured.of(risk.point, *_interval(risk, accepted.clusters)),
        generalized_risk=Measured.of(per_unit.point, *_interval(per_unit, accepted.clusters)),
        coverage=Measured.of(coverage.point, *coverage.interval()),
    )


def _interval(ratio: Ratio, clusters: int) -> tuple[Interval | None, str]:
    """The 95 % interval of a ratio over held-out clusters: the ratio ± t standard errors, over all clusters.

    If no accepted unit has a loss, the standard error would be 0, and the interval ends at the bound for clusters.
    """
    if math.isnan(ratio.point):
        return None, "nothing is accepted on held-out clusters"
    if ratio.clusters == 1 or not ratio.numerator.any():  # ± 0 would claim certainty
        return ratio.interval()
    influence = np.zeros(clusters)
    influence[ratio.held] = ratio.influence
    analytic = interval("analytic", Evidence(ratio.point, np.array([ratio.point]), clusters, influence))
    return (analytic.within(ratio.counted.low, ratio.counted.high) if analytic else None), ""
