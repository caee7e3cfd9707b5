"""Plain loops: every quantity once more, slow and obvious, sharing no code with what they check."""

from demur.audit.loops import costs, forecasts, groups, ranking, selection, selective, units
from demur.audit.loops.registry import LOOPS, family, number, parsed

__all__ = [
    "LOOPS",
    "costs",
    "family",
    "forecasts",
    "groups",
    "number",
    "parsed",
    "ranking",
    "selection",
    "selective",
    "units",
]
