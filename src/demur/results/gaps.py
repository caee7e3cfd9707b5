"""Gaps: which numbers stand between a point and a system, and what the risk of one less that of the other says."""

from demur.inference.estimates import Estimate
from demur.inference.key import Group, Key, Minus
from demur.quantities.registry import POINT

COVERAGE_OF, ANSWERED_BY, HANDED_TO = OF_POINTS = "coverage_of", "answered_by", "handed_to"
RISK = f"matched_risk@{POINT}"
BELOW, ABOVE, UNDECIDED = "below the rater's risk", "above the rater's risk", "not distinguishable"


def gap_key(point: str, system: str, confidence: str) -> Key:
    """The risk of a point less that of a system at the same coverage."""
    return Key(point, RISK, confidence, group=Group(COVERAGE_OF, point), minus=Minus("system", system))


def system_key(point: str, system: str, confidence: str) -> Key:
    """The risk of a system at the coverage of a point."""
    return Key(system, RISK, confidence, group=Group(COVERAGE_OF, point))


def both_key(whose: str, other: str, *, minus: str | None = None) -> Key:
    """The risk on the units that another answers too, or its difference."""
    return Key(whose, "risk", group=Group(ANSWERED_BY, other), minus=Minus("system", minus) if minus else None)


def handed_key(point: str, system: str, confidence: str, *, minus: bool = False) -> Key:
    """The risk of a system that hands over to a rater at a fixed threshold, or less that of the rater alone."""
    less = Minus("system", point) if minus else None
    return Key(system, "risk", confidence, group=Group(HANDED_TO, point), minus=less)


def gap_verdict(gap: Estimate, margin: float | None = None) -> str:
    """Which side of the rater's risk the system's is on; with a margin, whether it is no worse by more than that.

    The interval that holds for all points at once decides where there is one; empty without an interval.
    """
    ends = gap.simultaneous or gap.recommended
    if ends is None:
        return ""
    side = BELOW if ends.low > 0 else ABOVE if ends.high < 0 else UNDECIDED
    within = margin is not None and ends.low > -margin
    return f"{side}, no worse by more than {margin:g}" if within else side
