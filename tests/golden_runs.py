"""The golden run, evaluated under settings of a test's choice."""

from pathlib import Path

from demur import read_run
from demur.evaluation import Settings, evaluate
from demur.resample import Plan
from demur.results import metrics_artifact

GOLDEN = Path(__file__).parent / "golden"
RUN = GOLDEN / "run.json"
PLAN = Plan(50, seed=1)


def evaluated(*modes, **settings):
    runs = [read_run(RUN, mode=mode) for mode in modes]
    plan = settings.pop("plan", PLAN)
    return metrics_artifact(
        evaluate(*runs, settings=Settings(**settings), plan=plan), created_at="2026-01-31T12:00:00Z"
    )
