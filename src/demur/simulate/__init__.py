"""Simulate: made-up runs and queries, the coverage study, and the demonstration."""

from demur.simulate.queries import simulated_queries
from demur.simulate.runs import FEW_SHOT, ZERO_SHOT, People, System, make_people, run_system, simulated_run

__all__ = [
    "FEW_SHOT",
    "ZERO_SHOT",
    "People",
    "System",
    "make_people",
    "run_system",
    "simulated_queries",
    "simulated_run",
]
