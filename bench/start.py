"""CPU time to start, beside that of an interpreter that only imports numpy."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

ROUNDS = 5


def cpu_seconds(*command: str, cwd: str | None = None) -> float:
    """User and system time of the quickest of a few runs."""
    times = []
    for _ in range(ROUNDS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, cwd=cwd, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)


def main() -> None:
    numpy_alone = cpu_seconds(sys.executable, "-c", "import numpy")
    ours = cpu_seconds(sys.executable, "-c", "import demur")
    help_page = cpu_seconds(str(Path(sys.executable).with_name("demur")), "--help")
    print(f"python with numpy imported = 1 ({numpy_alone:.2f} s of CPU here)")
    for what, took, promised in (("import demur", ours, 0.3), ("demur --help", help_page, 0.5)):
        print(f"  {what:40} {took / numpy_alone:6.2f}   {took:.2f} s (promised: under {promised} s)")


if __name__ == "__main__":
    main()
