"""Rules: which interval is recommended for a number. The coverage of each was measured (docs/coverage.md).

A rule depends on counts in the data and on the value of the number, never on the replicates, so that more resamples
cannot change the method. The count is recorded with the interval.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from demur.errors import unknown
from demur.inference.evidence import Evidence
from demur.inference.intervals import Interval, interval

ENOUGH_TO_STUDENTISE = 10


@dataclass(frozen=True, slots=True)
class Counted:
    """What a rule depends on: the `number` of clusters of a kind (`what`) that bear on a number, and its range.

    `varies` is False where no answer has a loss. Intervals are clipped to `low` and `high`, the possible range of the
    number; a number whose `low` is 0 has a log scale.
    """

    what: str = "clusters"
    number: int = 0
    varies: bool = True
    low: float = -float("inf")
    high: float = float("inf")


@dataclass(frozen=True, slots=True)
class Choice:
    """A method, or why there is no interval."""

    method: str = ""
    why_none: str = ""


Rule = Callable[[Counted, float], Choice]
RULES: dict[str, Rule] = {}
NO_LOSS = "no answer in its range has a loss"
ONE_HOLDS_ALL = "one cluster holds all of it"
PERFECT_ORDER = "perfect_order: the order cannot be better, and an interval would need two sides"


def rule(name: str) -> Callable[[Rule], Rule]:
    """Register a rule, a function of the counts and the number that chooses a method."""

    def register(function: Rule) -> Rule:
        RULES[name] = function
        return function

    return register


def _by_losses(counted: Counted, enough: str, few: str, signed: str) -> Choice:
    """By how many clusters hold a loss in the number's own range; with few, by whether it can be negative."""
    if not counted.number:
        return Choice(why_none=NO_LOSS)
    return Choice(enough if counted.number >= ENOUGH_TO_STUDENTISE else few if counted.low >= 0 else signed)


@rule("area")
def area(counted: Counted, _: float) -> Choice:
    """Studentised while enough clusters hold a loss in the number's own range, else on the log scale."""
    return _by_losses(counted, "studentised", "analytic_log", "analytic")


@rule("excess")
def excess(counted: Counted, number: float) -> Choice:
    """As for an area; none at 0 where the excess cannot be negative, as an interval would have one side only."""
    if number == 0 and counted.low >= 0 and counted.number:
        return Choice(why_none=PERFECT_ORDER)
    return area(counted, number)


@rule("risk")
def risk(counted: Counted, _: float) -> Choice:
    """Expanded percentile, as a risk at a coverage has no influence function; with few losses on the log scale."""
    return _by_losses(counted, "expanded_percentile", "bootstrap_log", "t_interval")


@rule("share_of_units")
def share_of_units(_: Counted, __: float) -> Choice:
    """On the logit scale; at 0 and 1 by the cluster bound."""
    return Choice("logit")


@rule("ranked_pairs")
def ranked_pairs(_: Counted, __: float) -> Choice:
    """On the logit scale, with data-dependent degrees of freedom."""
    return Choice("analytic_logit")


@rule("ratio")
def ratio(counted: Counted, number: float) -> Choice:
    """A ratio of sums over clusters: as a share of its maximum, or on the log scale where that is not known."""
    if not counted.varies:
        return Choice(why_none=ONE_HOLDS_ALL)
    if counted.low < 0:
        return Choice("analytic")
    if math.isinf(counted.high):
        return Choice("analytic_log") if number else Choice(why_none=NO_LOSS)
    return Choice("analytic_logit")


@rule("mean")
def mean(_: Counted, __: float) -> Choice:
    """Number ± t standard errors of the influence function."""
    return Choice("analytic")


@rule("difference")
def difference(counted: Counted, _: float) -> Choice:
    """Number ± t standard errors of the influence function; none between two systems without a loss."""
    return Choice("analytic") if counted.varies else Choice(why_none=NO_LOSS)


@rule("resampled")
def resampled(counted: Counted, _: float) -> Choice:
    """Expanded percentile, for a number without an influence function."""
    return Choice("expanded_percentile") if counted.varies else Choice(why_none=NO_LOSS)


@rule("resampled_difference")
def resampled_difference(counted: Counted, _: float) -> Choice:
    """Number ± t bootstrap standard errors, for a difference without an influence function."""
    return Choice("t_interval") if counted.varies else Choice(why_none=NO_LOSS)


@rule("biased")
def biased(_: Counted, __: float) -> Choice:
    """None: resampling biases the number upwards, as sampling does."""
    return Choice(why_none="resampling makes it larger still: compare it with what a calibrated system would show")


def recommended(name: str, evidence: Evidence, counted: Counted, level: float = 0.95) -> tuple[Interval | None, str]:
    """The interval that a rule recommends, clipped to the possible range; or None and the reason."""
    if name not in RULES:
        raise unknown("interval rule", name, RULES)
    choice = RULES[name](counted, evidence.point)
    if evidence.clusters == 1 and not choice.method:
        choice = Choice("percentile", choice.why_none)
    computed = interval(choice.method, evidence, level) if choice.method else None
    if computed is None:
        return None, choice.why_none
    return replace(computed, decided_by=counted.what, count=counted.number).within(counted.low, counted.high), ""
