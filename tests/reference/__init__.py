"""Plain loops: every quantity once more, slow and obvious, sharing no code with what they check."""

from reference import costs, forecasts, groups, selective, units
from reference.registry import LOOPS, family, number, parsed

__all__ = ["LOOPS", "costs", "family", "forecasts", "groups", "number", "parsed", "selective", "units"]
