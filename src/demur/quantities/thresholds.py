"""Coverage, risk and counts at a fixed threshold, and the spread of the risk over groups."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal
from functools import partial

from demur.quantities.registry import Parameter, quantity
from demur.sampling.coverage import threshold_of
from demur.sampling.numbers import Number
from demur.sampling.sample import Sample

THRESHOLD = Parameter("threshold=T", threshold_of, "threshold=0.7", spoken=lambda text: text.replace("=", " "))
_MOST_DIGITS = 17
_at_threshold = partial(quantity, parameter=THRESHOLD, reported=False, shown=("groups",))
_count = partial(_at_threshold, of="units", better="neither", point_only=True)


def threshold_text(threshold: float) -> str:
    """A threshold as it is spelled in names of quantities.

    >>> threshold_text(0.7), threshold_text(2.0)
    ('threshold=0.7', 'threshold=2')
    """
    return f"threshold={threshold!r}".removesuffix(".0")


def typed_threshold(threshold: float, next_lower: float) -> str:
    """The shortest decimal above `next_lower` and at most `threshold`, which accepts the same answers.

    >>> typed_threshold(2 / 3, 0.5), typed_threshold(0.3, 0.0), typed_threshold(0.12345678, 0.12345671)
    ('0.6', '0.3', '0.12345678')
    >>> typed_threshold(123.0, 50.0), typed_threshold(-2 / 3, -1.0)
    ('100', '-0.7')
    """
    written = Decimal(repr(float(threshold)))  # the binary number is a little more or less than what was meant
    for digits in range(1, _MOST_DIGITS + 1):
        number = float(Context(prec=digits, rounding=ROUND_FLOOR).create_decimal(written))
        if next_lower < number <= threshold:
            return repr(number).removesuffix(".0")
    return repr(float(threshold))


@_at_threshold(
    "coverage@threshold=T",
    of="curve",
    key="coverage_at_threshold",
    title="coverage at T",
    better="higher",
    loss_free=True,
    intervals=("ratio", "difference"),
    sums=lambda table, threshold: (table.accepted(threshold)[0], table.cluster_units, 1),
    limits=lambda _, __: (0.0, 1.0),
)
def coverage_at_threshold(s: Sample, threshold: float) -> Number:
    """Coverage at a threshold.

    The share of the units whose answer is accepted when everything with at least this confidence is. Higher is better
    only at an equal risk.

    Formula: #{answered with confidence ≥ T} / N.
    Abstentions: in the denominator.
    Undefined: never; 0 when nothing is accepted.
    Reference: Geifman & El-Yaniv (2017), Selective classification for deep neural networks, NeurIPS.

    >>> from demur import risk_coverage
    >>> coverage_at_threshold(risk_coverage([2, 2, 1, 0], loss=[0, 2, 0, None]), 1.5)
    0.5
    """
    count, _ = s.accepted(s.table.points_within(threshold))
    return count / s.units


@_at_threshold(
    "risk@threshold=T",
    of="curve",
    key="risk_at_threshold",
    title="risk at T",
    undefined="nothing is accepted at this threshold",
    intervals=("ratio", "difference"),
    sums=lambda table, threshold: (*table.accepted(threshold)[::-1], table.divisor),
    limits=lambda worst, _: (0.0, worst),
)
def risk_at_threshold(s: Sample, threshold: float) -> Number:
    """Risk at a threshold.

    The mean loss of what is accepted when everything with at least this confidence is: what a deployed rule does. Lower
    is better only at an equal coverage.

    Formula: (Σ loss of the answered with confidence ≥ T) / #{answered with confidence ≥ T}.
    Abstentions: left out.
    Undefined: when nothing is accepted at this threshold.
    Reference: Geifman & El-Yaniv (2017), Selective classification for deep neural networks, NeurIPS.

    >>> from demur import risk_coverage
    >>> risk_at_threshold(risk_coverage([2, 2, 1, 0], loss=[0, 2, 0, None]), 1.5)
    1.0
    """
    count, loss = s.accepted(s.table.points_within(threshold))
    return loss / (count * s.table.divisor)


@dataclass(frozen=True, slots=True)
class AcceptedSums:
    """Counts of a set of units at a threshold: clusters, accepted units, accepted errors, and their summed loss."""

    clusters: int
    accepted: int
    errors: int
    loss: float


@quantity("clusters", of="units", better="neither", point_only=True, shown=("groups",))
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
