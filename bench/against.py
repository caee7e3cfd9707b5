"""`demur evaluate`, paired and with all variants, beside an older checkout: python bench/against.py OLD_CHECKOUT.

The two alternate, so that whatever else the machine does falls on both. Prints medians of CPU time and their ratio.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

ROUNDS = 5
HERE = Path(__file__).parents[1]
DEMUR = (sys.executable, "-c", "import sys; from demur.cli import main; main(sys.argv[1:])")
PAIRED = ("--input", "run.json", "--mode", "zero_shot", "--input", "run.json", "--mode", "few_shot")
EVALUATE = ("evaluate", *PAIRED, "--confidence", "all", "--seed", "7", "--output", "m.json")


def cpu_seconds(checkout: Path, folder: str, *words: str) -> float:
    """User and system time of one command of a checkout."""
    environment = os.environ | {"PYTHONPATH": str(checkout.resolve() / "src")}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*DEMUR, *words], cwd=folder, env=environment, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(old: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        cpu_seconds(old, folder, "simulate", "--output", "run.json", "--participants", "41", "--seed", "1")
        for label, more in (("two runs, --confidence all", ()), ("the same with --report", ("--report", "m.html"))):
            rounds = [[cpu_seconds(one, folder, *EVALUATE, *more) for one in (old, HERE)] for _ in range(ROUNDS)]
            before, now = map(median, zip(*rounds, strict=True))
            print(f"  {label:28} old {before:.2f} s, new {now:.2f} s of CPU: {now / before:.2f} × the old")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
