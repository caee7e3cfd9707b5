"""Commands from start to finish: beside an interpreter that only imports numpy, and beside an earlier version."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from timing import Ratio, by_turns, run

DEMUR = (sys.executable, "-m", "demur")
EVALUATE = (*DEMUR, "evaluate", "run.json", "--seed", "7", "--output", "m.json", "--mode", "few_shot")
PAIR = (*EVALUATE, "--mode", "zero_shot", "--input", "run.json", "--confidence", "all")
STUDY = (*DEMUR, "study", "intervals", "--datasets", "100", "--seed", "1")
NUMPY, BEFORE = "import numpy", "demur before"
# What is timed, and how much longer importing numpy, or the version before the kernel, is to take.
TIMED: tuple[tuple[str, Sequence[str], str, str], ...] = (
    ("import demur", (sys.executable, "-c", "import demur"), "≥ 1", ""),
    ("demur --help", (*DEMUR, "--help"), "≥ 0.4", ""),
    ("demur evaluate, one run, defaults", EVALUATE, "≥ 0.333", ""),
    ("demur evaluate, two runs, all variants", PAIR, "", "≥ 3.5"),
    ("demur study intervals, 100 data sets", STUDY, "", ""),
)


def ratios(before: Path | None) -> Iterator[Ratio]:
    here = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory() as folder:
        here["PYTHONPYCACHEPREFIX"] = f"{folder}/compiled"  # as an installed package has it
        made = (*DEMUR, "simulate", "runs", "--output", "run.json", "--seed", "1")
        subprocess.run(made, cwd=folder, check=True, capture_output=True, env=here)
        for what, command, by_numpy, by_before in TIMED:
            jobs = {
                what: run(*command, cwd=folder, env=here),
                NUMPY: run(sys.executable, "-c", NUMPY, cwd=folder, env=here),
            }
            if before:
                there = {"PYTHONPATH": str(before.resolve() / "src"), "PYTHONPYCACHEPREFIX": f"{folder}/earlier"}
                jobs[BEFORE] = run(*command, cwd=folder, env=here | there)
            by_turns(jobs, rounds=1)  # which compiles
            took, *others = by_turns(jobs).values()
            for peer, seconds in zip([*jobs][1:], others, strict=True):
                asked = by_numpy if peer == NUMPY else by_before
                yield Ratio(what, f"{took:.2f} s", peer, seconds / took, asked)
