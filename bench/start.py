"""What commands cost from start to finish, beside an interpreter that only imports numpy: one table of ratios.

Run by turns and by CPU time, the quickest of a few rounds: other work on the machine counts little. With --before
FOLDER, the source of an earlier version, also how much sooner this one is done; with --clone, what `make demo` takes.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from pathlib import Path

ROUNDS = 5
ROOT = Path(__file__).parents[1]
DEMUR = (sys.executable, "-m", "demur")
EVALUATE = (*DEMUR, "evaluate", "run.json", "--seed", "7", "--output", "m.json", "--mode", "few_shot")
PAIR = (*EVALUATE, "--mode", "zero_shot", "--input", "run.json", "--confidence", "all")
STUDY = (*DEMUR, "study", "intervals", "--datasets", "50", "--seed", "1")
# What is timed, the largest ratio that is promised, and how many times sooner than before it is to be done.
TIMED: tuple[tuple[str, Sequence[str], float | None, float | None], ...] = (
    ("import demur", (sys.executable, "-c", "import demur"), 1.0, None),
    ("demur --help", (*DEMUR, "--help"), 2.5, None),
    ("demur evaluate, one run, defaults", EVALUATE, 3.0, None),
    ("demur evaluate, two runs, all variants", PAIR, None, 3.5),
    ("demur study intervals, 50 data sets", STUDY, None, 5.0),
)


def cpu_seconds(
    *command: str, rounds: int = ROUNDS, cwd: str | None = None, env: Mapping[str, str] | None = None
) -> float:
    """User and system time of the quickest of a few runs."""
    times = []
    for _ in range(rounds):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, cwd=cwd, env=env, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)


def set_up() -> float:
    """What a newcomer pays for `make demo`: in a clone of what is committed, without an environment or a cache."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["git", "clone", "--quiet", ROOT, f"{folder}/clone"], check=True)  # noqa: S607
        bare = {name: value for name, value in os.environ.items() if name not in {"VIRTUAL_ENV", "PYTHONPATH"}}
        return cpu_seconds("make", "demo", rounds=1, cwd=f"{folder}/clone", env=bare | {"PIP_NO_CACHE_DIR": "1"})


def by_turns(commands: Sequence[tuple[Sequence[str], Mapping[str, str]]], folder: str, rounds: int) -> list[float]:
    """The quickest of a few runs of each command, one after another in every round, after one that warms caches."""
    for command, env in commands:
        cpu_seconds(*command, rounds=1, cwd=folder, env=env)
    turns = [[cpu_seconds(*command, rounds=1, cwd=folder, env=env) for command, env in commands] for _ in range(rounds)]
    return [min(times) for times in zip(*turns, strict=True)]


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--before", type=Path, help="the source folder of an earlier version")
    parser.add_argument("--clone", action="store_true", help="time make demo in a clean clone as well")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    given = parser.parse_args()
    here = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    there = here | {"PYTHONPATH": str(given.before.resolve())} if given.before else None
    with tempfile.TemporaryDirectory() as folder:
        here["PYTHONPYCACHEPREFIX"] = f"{folder}/compiled"  # as an installed package has it
        made = (*DEMUR, "simulate", "runs", "--output", "run.json", "--seed", "1")
        subprocess.run(made, cwd=folder, check=True, capture_output=True, env=here)
        print(f"{'CPU time':40} {'seconds':>8} {'× numpy':>8} {'promised':>9} {'× sooner':>9} {'promised':>9}")
        numpy_alone = (sys.executable, "-c", "import numpy")
        for what, command, most, sooner in TIMED:
            turns = [(numpy_alone, here), (command, here)]
            if there is not None:
                turns.append((command, there | {"PYTHONPYCACHEPREFIX": f"{folder}/earlier"}))
            start, took, *earlier = by_turns(turns, folder, given.rounds)
            cells = [f"{took:.2f}", f"{took / start:.2f}", f"≤ {most}" if most else ""]
            cells += [f"{earlier[0] / took:.2f}" if earlier else "", f"≥ {sooner}" if sooner and earlier else ""]
            print(f"{what:40} {cells[0]:>8} {cells[1]:>8} {cells[2]:>9} {cells[3]:>9} {cells[4]:>9}", flush=True)
    if given.clone:
        print(f"{'make demo, in a clean clone':40} {set_up():8.2f}")


if __name__ == "__main__":
    main()
