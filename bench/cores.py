"""What a second core brings to work of some ten seconds, in wall time: on a busy machine, nothing."""

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


def ratios(_: Path | None) -> Iterator[Ratio]:
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
