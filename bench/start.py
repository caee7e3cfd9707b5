"""CPU time to start, beside that of an interpreter that only imports numpy; with --clone also of `make demo`."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

ROUNDS = 5
ROOT = Path(__file__).parents[1]


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


def main() -> None:
    numpy_alone = cpu_seconds(sys.executable, "-c", "import numpy")
    ours = cpu_seconds(sys.executable, "-c", "import demur")
    help_page = cpu_seconds(str(Path(sys.executable).with_name("demur")), "--help")
    measured = [("import demur", ours, 0.3), ("demur --help", help_page, 0.5)]
    if "--clone" in sys.argv[1:]:
        measured.append(("make demo, in a clean clone", set_up(), 31))
    print(f"python with numpy imported = 1 ({numpy_alone:.2f} s of CPU here)")
    for what, took, promised in measured:
        print(f"  {what:40} {took / numpy_alone:6.2f}   {took:.2f} s (promised: under {promised} s)")


if __name__ == "__main__":
    main()
