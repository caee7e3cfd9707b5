"""Plain loops: every quantity once more, slow and obvious, sharing no code with what they check."""

from demur.audit.loops import confidence, draws, forecasts, ranking, rows, selection, selective, units
from demur.audit.loops.registry import LOOPS, family, loop, number, parsed

__all__ = [
    "LOOPS",
    "confidence",
    "draws",
    "family",
    "forecasts",
    "loop",
    "number",
    "parsed",
    "ranking",
    "rows",
    "selection",
    "selective",
    "units",
]
