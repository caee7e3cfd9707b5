"""What a fixed threshold accepts: how much, and how wrong."""

from decimal import ROUND_FLOOR, Context, Decimal
from functools import partial

from demur.quantities.registry import Parameter, quantity
from demur.sampling.coverage import threshold_of
from demur.sampling.numbers import Number
from demur.sampling.sample import Sample

THRESHOLD = Parameter("threshold=T", threshold_of, "threshold=0.7", spoken=lambda text: text.replace("=", " "))
_MOST_DIGITS = 17
_at_threshold = partial(quantity, of="curve", parameter=THRESHOLD, reported=False, shown=())


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
