"""Detection quantities: how well a probability separates queries with evidence, the positives, from the others."""

import math
from typing import Any

import numpy as np

from demur.errors import UserError, literal
from demur.quantities.forecasts import Forecasts, over
from demur.quantities.registry import Measure, Parameter, Quantity, default_measures, quantities, quantity
from demur.types import Floats

DETECTION = ("ece", "auroc", "auprc", "tpr@fpr=F")
_ONE_CLASS = "all queries have evidence, or none has: one class"


def detection_quantities() -> list[Quantity]:
    """The quantities of forecasts by which the detection of evidence is judged."""
    return [entry for entry in quantities("forecasts") if entry.name in DETECTION]


def detection_measures() -> list[Measure]:
    """Every detection quantity, at its default false positive rates; calibration comes last."""
    measures = [measure for measure in default_measures("forecasts") if measure.quantity.name in DETECTION]
    return sorted(measures, key=lambda measure: measure.quantity.convention is None)


def by_convention(measure: Measure, forecasts: Forecasts) -> Floats:
    """The number in every sample, by convention in samples of one class; nan in empty samples.

    The convention applies to samples of one class in the data and in every draw; calibration needs none.
    """
    number, convention = measure(forecasts), measure.quantity.convention
    completed = number if convention is None else np.where(np.isnan(number), convention(forecasts), number)
    return np.where(forecasts.total > 0, completed, np.nan)


def checked_rate(rate: Any) -> float:
    """A false positive rate to stay within, from 0 to 1."""
    try:
        value = math.nan if isinstance(rate, bool) else float(rate)
    except (TypeError, ValueError):
        value = math.nan
    if not 0 <= value <= 1:
        raise UserError(f"false positive rate {literal(rate)}, expected a number from 0 to 1")
    return value


def single_class(forecasts: Forecasts) -> bool:
    """Whether all outcomes of the data are the same."""
    return bool(forecasts.came_true[0] in (0, forecasts.total[0]))


RATE = Parameter("fpr=F", checked_rate, "fpr=0.05", spoken=lambda text: f"{float(text.removeprefix('fpr=')):.0%} FPR")


@quantity(
    "auprc",
    of="forecasts",
    title="AUPRC",
    better="higher",
    undefined=_ONE_CLASS,
    convention=lambda forecasts: forecasts.mean(forecasts.came_true),
    limits=lambda _, __: (0.0, 1.0),
    shown=(),
)
def auprc(forecasts: Forecasts) -> Floats:
    """Area under the precision–recall curve, as average precision.

    How pure the queries called likely are, over all ways to draw the line. Higher is better; the share of queries with
    evidence is chance.

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
    area = over(np.sum(gained * over(true, accepted, 0.0), axis=0), forecasts.came_true)
    return np.where(forecasts.came_true == forecasts.total, np.nan, area)


@quantity(
    "tpr@fpr=F",
    of="forecasts",
    title="TPR@fpr=F",
    parameter=RATE,
    defaults=("fpr=0.03", "fpr=0.05", "fpr=0.10"),
    better="higher",
    undefined=_ONE_CLASS,
    convention=lambda _: 0.0,
    limits=lambda _, __: (0.0, 1.0),
    shown=(),
)
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
    """The lowest threshold whose false positive rate is at most `rate`, and both rates there; None if there is none."""
    true, accepted = (column[:, 0] for column in _accepted(forecasts))
    negatives = float(forecasts.total[0] - forecasts.came_true[0])
    within = np.flatnonzero(over(accepted - true, np.full_like(true, negatives)) <= rate)
    if single_class(forecasts) or not len(within):
        return None, 0.0, 0.0
    last = int(within[-1])
    false = float(accepted[last] - true[last])
    return float(forecasts.probability[::-1][last]), float(true[last] / forecasts.came_true[0]), false / negatives


def _accepted(forecasts: Forecasts) -> tuple[Floats, Floats]:
    """From the highest probability down: the number of accepted queries with evidence, and of all accepted."""
    true = np.cumsum(forecasts.outcome[::-1], axis=0)
    return true, np.cumsum(forecasts.count[::-1], axis=0)
