"""Risk gaps between a rater or point and a system: their keys, and the verdict they support."""

from demur.features.raters import FEATURE
from demur.inference.estimates import Estimate, deciding
from demur.inference.key import Group, Key, Minus
from demur.quantities.registry import POINT

COVERAGE_OF, ANSWERED_BY, HANDED_TO = FEATURE.groupings
RISK = f"matched_risk@{POINT}"
BELOW, ABOVE, UNDECIDED = "below the rater's risk", "above the rater's risk", "not distinguishable"


def gap_key(point: str, system: str, confidence: str) -> Key:
    """The risk of a point minus that of a system at the same coverage."""
    return Key(point, RISK, confidence, group=Group(COVERAGE_OF, point), minus=Minus("system", system))


def system_key(point: str, system: str, confidence: str) -> Key:
    """The risk of a system at the coverage of a point."""
    return Key(system, RISK, confidence, group=Group(COVERAGE_OF, point))


def both_key(answerer: str, other: str, *, minus: str | None = None) -> Key:
    """The risk of one answerer on the units that another answers too, or the difference of the two."""
    return Key(answerer, "risk", group=Group(ANSWERED_BY, other), minus=Minus("system", minus) if minus else None)


def handed_key(point: str, system: str, confidence: str, *, minus: bool = False) -> Key:
    """The risk of a system that hands over to a rater at a fixed threshold, or that minus the rater's own."""
    subtracted = Minus("system", point) if minus else None
    return Key(system, "risk", confidence, group=Group(HANDED_TO, point), minus=subtracted)


def gap_verdict(gap: Estimate, margin: float | None = None) -> str:
    """Whether the system's risk is below or above the rater's; with a margin, also whether it is within it.

    The simultaneous interval decides if there is one. Empty without an interval.
    """
    ends = deciding(gap)
    if ends is None:
        return ""
    side = BELOW if ends.low > 0 else ABOVE if ends.high < 0 else UNDECIDED
    within = margin is not None and ends.low > -margin
    return f"{side}, no worse by more than {margin:g}" if within else side
