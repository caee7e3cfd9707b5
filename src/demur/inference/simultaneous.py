"""Simultaneous intervals, which hold for a whole family of differences at once."""

from collections.abc import Hashable, Mapping
from typing import TypeVar

import numpy as np

from demur.inference.evidence import Evidence
from demur.inference.intervals import Interval, quantiles
from demur.inference.rules import Counted
from demur.inference.student import t_quantile
from demur.types import Floats

_FEW_CLUSTERS = 20
_ROUNDING = 1e-9
Name = TypeVar("Name", bound=Hashable)


def at_once(
    family: Mapping[Name, tuple[Evidence, Counted]], level: float = 0.95, *, number: int = 0
) -> dict[Name, Interval]:
    """Intervals that hold for all of a family of differences at once: each is the number ± c standard errors.

    c is the quantile of the largest studentised deviation of the family over the replicates (max-t). With few clusters
    each number has a t interval at the Bonferroni level instead. For a family that was fixed before the data were seen,
    `number` is its size, including members that turn out not to vary.
    """
    varying = {name: member for name, member in family.items() if _std_error(member[0]) > 0}
    largest = np.zeros(0)
    for evidence, _ in varying.values():
        deviations = _deviations(evidence)
        largest = np.maximum(largest, deviations) if len(largest) else deviations
    critical, size = quantiles(largest, level)[0], max(number, len(varying), 1)
    intervals = {}
    for name, (evidence, counted) in family.items():
        if evidence.clusters < _FEW_CLUSTERS and evidence.clusters > 1:
            degrees = evidence.clusters - 1.0 if evidence.std_error is None else evidence.degrees
            critical = t_quantile(1 - (1 - level) / (2 * size), degrees)
        error = _std_error(evidence)
        reach = critical * error if error > 0 else 0.0
        low, high = max(evidence.point - reach, counted.low), min(evidence.point + reach, counted.high)
        intervals[name] = Interval("simultaneous", low, high, count=max(number, len(varying)))
    return intervals


def _std_error(evidence: Evidence) -> float:
    by_influence = evidence.std_error is not None and evidence.replicate_std_error is not None
    return evidence.std_error if by_influence and evidence.std_error is not None else evidence.bootstrap_std_error


def _deviations(evidence: Evidence) -> Floats:
    """The deviation of each replicate in standard errors; 0 where the replicate or its error is undefined."""
    away = np.abs(evidence.values - evidence.point)
    errors = evidence.replicate_std_error
    if evidence.std_error is None or errors is None:
        return np.nan_to_num(away / evidence.bootstrap_std_error)
    usable = errors > _ROUNDING * evidence.std_error
    return np.nan_to_num(np.divide(away, errors, out=np.zeros_like(away), where=usable))
