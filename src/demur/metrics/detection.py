"""Detection metrics: whether a probability tells queries that have evidence from those that have none.

Each is a function of forecasts, written once for the data as they are and for a block of bootstrap replicates. The
positive class is "has evidence".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from demur.errors import UserError, literal, unknown
from demur.metrics.calibration import auroc
from demur.metrics.forecasts import Forecasts, over

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

FALSE_POSITIVE_RATES = ("0.03", "0.05", "0.10")
_ONE_CLASS = "all queries have evidence, or none has: one class"


@dataclass(frozen=True, slots=True)
class DetectionMetric:
    """A registered function of forecasts; nan where there is one class only, and then `by_convention` stands in.

    The convention is part of the number: it stands in for samples of one class in the data and in every draw alike.
    """

    name: str
    function: Callable[..., Floats]
    by_convention: Callable[[Forecasts], Floats | float]
    better: str = "higher"
    undefined: str = _ONE_CLASS

    @property
    def at_rate(self) -> bool:
        """Whether the metric is taken at a false positive rate."""
        return self.name.endswith("@fpr=F")


DETECTION_METRICS: dict[str, DetectionMetric] = {}


def detection_metric(
    name: str, by_convention: Callable[[Forecasts], Floats | float]
) -> Callable[[Callable[..., Floats]], Callable[..., Floats]]:
    """Register a function of forecasts (and, for a name that ends in @fpr=F, of a rate) as a detection metric."""

    def register(function: Callable[..., Floats]) -> Callable[..., Floats]:
        if name in DETECTION_METRICS:
            raise ValueError(f"the detection metric {name} is registered already")
        DETECTION_METRICS[name] = DetectionMetric(name, function, by_convention)
        return function

    return register


@dataclass(frozen=True, slots=True)
class DetectionMeasure:
    """A detection metric, at a rate where it has one.

    >>> str(DetectionMeasure.of("tpr@fpr=0.05"))
    'tpr@fpr=0.05'
    """

    metric: DetectionMetric
    rate: float | None = None
    text: str = ""

    @classmethod
    def of(cls, name: str) -> DetectionMeasure:
        """Parse a name."""
        stem, at, rate = name.partition("@fpr=")
        known = f"{stem}@fpr=F" if at else stem
        if known not in DETECTION_METRICS:
            raise unknown("detection metric", name, DETECTION_METRICS)
        return cls(DETECTION_METRICS[known], checked_rate(rate) if at else None, rate)

    def __str__(self) -> str:
        return self.metric.name if self.rate is None else f"{self.metric.name[:-1]}{self.text}"

    def __call__(self, forecasts: Forecasts) -> Floats:
        """The number in every sample, by convention in those of one class; nan in those that hold nothing."""
        found = self.metric.function(forecasts, *(() if self.rate is None else (self.rate,)))
        usual = np.where(np.isnan(found), self.metric.by_convention(forecasts), found)
        return np.where(forecasts.total > 0, usual, np.nan)


def detection_measures() -> list[DetectionMeasure]:
    """Every detection metric once, at the rates that are usually reported."""
    return [
        DetectionMeasure.of(f"{metric.name[:-1]}{rate}" if metric.at_rate else metric.name)
        for metric in DETECTION_METRICS.values()
        for rate in (FALSE_POSITIVE_RATES if metric.at_rate else ("",))
    ]


def checked_rate(rate: Any) -> float:
    """A false positive rate to stay within, from 0 to 1."""
    try:
        found = math.nan if isinstance(rate, bool) else float(rate)
    except (TypeError, ValueError):
        found = math.nan
    if not 0 <= found <= 1:
        raise UserError(f"false positive rate {literal(rate)}, expected a number from 0 to 1")
    return found


def single_class(forecasts: Forecasts) -> bool:
    """Whether all outcomes of the data as they are are the same."""
    return bool(forecasts.came_true[0] in (0, forecasts.total[0]))


detection_metric("auroc", lambda _: 0.5)(auroc)


@detection_metric("auprc", lambda forecasts: forecasts.mean(forecasts.came_true))
def auprc(forecasts: Forecasts) -> Floats:
    """Area under the precision–recall curve, as average precision.

    How pure the queries called likely are, over all ways to draw the line. Higher is better; the share of queries with
    evidence is no knowledge.

    Formula: Σ over thresholds of (recall − recall before)·precision, from the highest probability down.
    Ties: queries of one probability are accepted together.
    Abstentions: not looked at; the probability decides, not the list.
    Undefined: when all queries have evidence or none has; the share that has it is then reported, and flagged.
    Reference: scikit-learn, average_precision_score.

    >>> auprc(Forecasts.of([0.9, 0.8, 0.7], [1, 0, 1])).tolist()
    [0.8333333333333333]
    """
    true, accepted = _accepted(forecasts)
    gained = np.diff(true, axis=0, prepend=0)
    found = over(np.sum(gained * over(true, accepted, 0.0), axis=0), forecasts.came_true)
    return np.where(forecasts.came_true == forecasts.total, np.nan, found)


@detection_metric("tpr@fpr=F", lambda _: 0.0)
def tpr_at_fpr(forecasts: Forecasts, rate: float) -> Floats:
    """Share of the queries with evidence that are caught while false alarms stay within a rate.

    What a gate finds if it may be wrong about at most this share of the queries without evidence. Higher is better.

    Formula: the true positive rate at the last point of the ROC curve, of all its points, with a false positive rate
    of F at most; 0 if there is none.
    Ties: queries of one probability are accepted together.
    Abstentions: not looked at; the probability decides, not the list.
    Undefined: when all queries have evidence or none has; 0 is then reported, and flagged.
    Reference: scikit-learn, roc_curve with drop_intermediate=False.

    >>> tpr_at_fpr(Forecasts.of([0.1, 0, 0.3, 0.1, 0], [0, 1, 1, 1, 0]), 0.5).tolist()
    [0.6666666666666666]
    """
    true, accepted = _accepted(forecasts)
    false = accepted - true
    allowed = over(false, forecasts.total - forecasts.came_true) <= rate
    caught = np.max(np.where(allowed, true, 0.0), axis=0)
    one_class = (forecasts.came_true == 0) | (forecasts.came_true == forecasts.total)
    return np.where(one_class, np.nan, over(caught, forecasts.came_true))


def threshold_at_fpr(forecasts: Forecasts, rate: float) -> tuple[float | None, float, float]:
    """The lowest probability at which false alarms stay within a rate, and both rates there; none if there is none."""
    true, accepted = (column[:, 0] for column in _accepted(forecasts))
    negatives = float(forecasts.total[0] - forecasts.came_true[0])
    within = np.flatnonzero(over(accepted - true, np.full_like(true, negatives)) <= rate)
    if single_class(forecasts) or not len(within):
        return None, 0.0, 0.0
    last = int(within[-1])
    false = float(accepted[last] - true[last])
    return float(forecasts.probability[::-1][last]), float(true[last] / forecasts.came_true[0]), false / negatives


def _accepted(forecasts: Forecasts) -> tuple[Floats, Floats]:
    """From the highest probability down: how many with evidence, and how many in all, are accepted."""
    true = np.cumsum(forecasts.outcome[::-1], axis=0)
    return true, np.cumsum(forecasts.count[::-1], axis=0)
