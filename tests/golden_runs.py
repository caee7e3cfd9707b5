"""The golden run, evaluated under settings of a test's choice."""

from functools import cache
from pathlib import Path

from demur import Plan, Settings, evaluate, read_run

GOLDEN = Path(__file__).parent / "golden"
RUN = GOLDEN / "run.json"
PLAN = Plan(50, seed=1)
WHEN = "2026-01-31T12:00:00Z"


@cache
def _run(mode):
    return read_run(RUN, mode=mode)


def evaluated_anew(*modes, plan=PLAN, names=None, **settings):
    """Modes of the golden run, by the names they are given, if any."""
    runs = [_run(mode) for mode in modes]
    systems = runs if names is None else dict(zip(names, runs, strict=True))
    return evaluate(systems, settings=Settings(**settings, created_at=WHEN), plan=plan)


evaluated = cache(evaluated_anew)  # for all tests that leave the registries as they are
