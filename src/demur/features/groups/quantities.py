"""Quantities of groups: what a shared threshold accepts of each, and how unequal their risks are."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from demur.quantities.registry import family, quantity
from demur.quantities.thresholds import THRESHOLD

family(
    "groups",
    "evaluate(…, group=…) computes it",
    {"Ties": "equal risks are one.", "Abstentions": "left out of the risk of a group."},
)
_at_threshold = partial(quantity, parameter=THRESHOLD, reported=False, shown=())
_count = partial(_at_threshold, of="units", better="neither", point_only=True)


@dataclass(frozen=True, slots=True)
class AcceptedSums:
    """Counts of a set of units at a threshold: clusters, accepted units, accepted errors, and their summed loss."""

    clusters: int
    accepted: int
    errors: int
    loss: float


@quantity("clusters", of="units", better="neither", point_only=True, shown=())
def clusters(sums: AcceptedSums) -> float:
    """Number of clusters.

    How many clusters hold a unit of a group: what can be judged rests on it. Neither way is better.

    Formula: #{clusters with a unit}.
    Abstentions: counted.
    Reference: none; it is a count.

    >>> clusters(AcceptedSums(2, 4, 1, 1.0))
    2.0
    """
    return float(sums.clusters)


@_count("accepted@threshold=T", key="accepted_at_threshold")
def accepted_at_threshold(sums: AcceptedSums, threshold: float) -> float:  # noqa: ARG001  (the sums are at it)
    """Number of accepted units.

    How many answers have at least this confidence. Neither way is better by itself.

    Formula: #{answered with confidence ≥ T}.
    Abstentions: not counted.
    Reference: none; it is a count.

    >>> accepted_at_threshold(AcceptedSums(2, 4, 1, 1.0), 0.7)
    4.0
    """
    return float(sums.accepted)


@_count("errors@threshold=T", key="errors_at_threshold")
def errors_at_threshold(sums: AcceptedSums, threshold: float) -> float:  # noqa: ARG001
    """Number of accepted errors.

    How many of the accepted answers have a loss. Neither way is better by itself.

    Formula: #{accepted with loss ≠ 0}.
    Abstentions: not counted.
    Reference: none; it is a count.

    >>> errors_at_threshold(AcceptedSums(2, 4, 1, 1.0), 0.7)
    1.0
    """
    return float(sums.errors)


@_count("loss_sum@threshold=T", key="loss_sum_at_threshold")
def loss_sum_at_threshold(sums: AcceptedSums, threshold: float) -> float:  # noqa: ARG001
    """Summed loss of the accepted units.

    What the risk divides by the number of accepted units. Neither way is better by itself.

    Formula: Σ loss of the accepted.
    Abstentions: not counted.
    Reference: none; it is a sum.

    >>> loss_sum_at_threshold(AcceptedSums(2, 4, 1, 1.0), 0.7)
    1.0
    """
    return sums.loss


@_at_threshold(
    "worst_risk@threshold=T",
    of="groups",
    key="worst_risk",
    title="highest risk at T",
    undefined="no group is large enough to be judged",
)
def worst_risk(risks: Sequence[float], threshold: float) -> float:  # noqa: ARG001  (the risks are at it)
    """Highest risk of any group at a threshold.

    For whom the accepted answers are worst, among the groups large enough to be judged. Lower is better.

    Formula: max_g risk_g; its interval is [max_g low_g, max_g high_g] of the simultaneous intervals.
    Reference: none known to us; the bootstrap percentile of a maximum is biased upward.

    >>> worst_risk([0.25, 0.5], 0.7)
    0.5
    """
    return max(risks, default=float("nan"))


@_at_threshold(
    "worst_minus_best@threshold=T",
    of="groups",
    key="worst_minus_best",
    title="highest − lowest risk at T",
    undefined="fewer than two groups are large enough to be judged",
)
def worst_minus_best(risks: Sequence[float], threshold: float) -> float:  # noqa: ARG001
    """Highest minus lowest risk of the groups at a threshold.

    How unequal the accepted answers are, among the groups large enough to be judged. Lower is better.

    Formula: max_g risk_g − min_g risk_g; its interval is the largest ends over the differences of two groups, from 0.
    Reference: none known to us.

    >>> worst_minus_best([0.25, 0.5], 0.7)
    0.25
    """
    return max(risks) - min(risks) if len(risks) > 1 else float("nan")
