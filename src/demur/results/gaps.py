"""Gaps: what the risk of a rater less that of a system says, at the coverage of the rater."""

from demur.inference.estimates import Estimate

BELOW, ABOVE, UNDECIDED = "below the rater's risk", "above the rater's risk", "not distinguishable"


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
