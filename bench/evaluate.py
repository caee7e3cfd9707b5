"""`demur evaluate` from start to finish, 41 × 8 units and 10 000 resamples, beside a Python that only imports numpy."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from start import cpu_seconds

DEMUR = str(Path(sys.executable).with_name("demur"))
ONE = ("run.json", "--mode", "few_shot")
TWO = ("run.json", "run.json", "--mode", "zero_shot", "--mode", "few_shot", "--confidence", "all")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [DEMUR, "simulate", "runs", "--output", "run.json", "--seed", "1"],
            cwd=folder,
            check=True,
            capture_output=True,
        )
        start = cpu_seconds(sys.executable, "-c", "import numpy")
        print(f"python with numpy imported = 1 ({start:.2f} s of CPU here)")
        for label, flags, promised in (("one run, default flags", ONE, 2), ("two runs, --confidence all", TWO, 10)):
            took = cpu_seconds(DEMUR, "evaluate", "--seed", "7", "--output", "m.json", *flags, cwd=folder)
            print(f"  {label:28} {took / start:6.1f}   {took:.2f} s (promised: under {promised} s)")


if __name__ == "__main__":
    main()
