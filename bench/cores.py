"""What a second core brings to work of some ten seconds, in wall time: on a busy machine, nothing.

With an earlier version, also how long it takes from start to finish for a study of 1 000 data sets.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from replicates import CONTINUOUS, graded_of, whole_job
from timing import Ratio, by_turns, run

PEOPLE, REPLICATES, DATA_SETS = 12_500, 8_000, 500


def a_study(before: Path) -> Iterator[Ratio]:
    words = (sys.executable, "-m", "demur", "study", "intervals", "--datasets", "1000", "--seed", "1")
    there = os.environ | {"PYTHONPATH": str(before.resolve() / "src")}
    with tempfile.TemporaryDirectory() as folder:
        jobs = {"now": run(*words, cwd=folder), "before": run(*words, cwd=folder, env=there)}
        now, earlier = by_turns(jobs, rounds=1, clock=time.perf_counter).values()
    yield Ratio(
        "demur study intervals, 1000 data sets, wall time", f"{now:.1f} s", "demur before", earlier / now, "≥ 5"
    )


def ratios(before: Path | None) -> Iterator[Ratio]:
    if before:
        yield from a_study(before)
    graded = graded_of(CONTINUOUS, PEOPLE)
    study = (sys.executable, "-m", "demur", "study", "intervals", "--datasets", str(DATA_SETS), "--seed", "1")
    with tempfile.TemporaryDirectory() as folder:
        works = {
            f"the whole job, {PEOPLE * 8} units, {REPLICATES} replicates": lambda threads: whole_job(
                graded, REPLICATES, threads
            ),
            f"demur study intervals, {DATA_SETS} data sets": lambda threads: run(
                *study, "--threads", str(threads), cwd=folder
            ),
        }
        for job, on in works.items():
            pair = {str(threads): on(threads) for threads in (2, 1)}
            two, one = by_turns(pair, rounds=2, clock=time.perf_counter).values()
            busy = f"one thread, wall time, load {os.getloadavg()[0]:.1f}"
            yield Ratio(f"{job}, two threads", f"{two:.1f} s", busy, one / two, "≥ 1.6")
