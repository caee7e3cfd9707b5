"""Reading a table of a million rows, as a multiple of what pyarrow alone takes for the same columns.

pyarrow alone is `read_table` of these columns and `to_numpy` of each. Each reader runs in a process of its own, which
measures its CPU time and by how much the largest memory it ever held is above what it held before.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from demur.read import read_systems

ROWS = 1_000_000
ROUNDS = 2
GIVEN = ("cluster", "item", "loss", "sure", "margin")
SCORED = ("cluster", "item", "truth", "prediction", "sure")
KINDS = {
    "losses": GIVEN,
    "truths and predictions": SCORED,
    "two systems": ("system", *GIVEN),
}


def table() -> pa.Table:
    """A hundred thousand documents of ten questions each, a tenth of them not answered, in no order."""
    rng = np.random.default_rng(0)
    unit = rng.permutation(ROWS)
    answered = rng.random(ROWS) > 0.1  # noqa: PLR2004
    return pa.table(
        {
            "system": np.where(unit % 2, "gpt", "claude"),
            "cluster": np.char.add("doc", (unit // 10).astype(str)),
            "item": np.char.add("q", (unit % 10).astype(str)),
            "loss": pa.array(np.round(rng.random(ROWS), 2), mask=~answered),
            "truth": rng.integers(0, 4, ROWS),
            "prediction": pa.array(rng.integers(0, 4, ROWS), mask=~answered),
            "sure": rng.random(ROWS),
            "margin": np.where(answered, rng.random(ROWS), np.nan),
        }
    )


def plain(path: Path) -> None:
    """Pyarrow alone."""
    read = pq.read_table(path)
    for name in read.column_names:
        read[name].to_numpy()


def ours(path: Path) -> None:
    """The facts."""
    read_systems(path, instrument=None)


def measure(reader: str, path: Path) -> None:
    """The least time of some rounds and the memory of the first."""
    read = {"plain": plain, "ours": ours}[reader]
    small = path.with_name(f"small{path.suffix}")
    if small.exists():
        read(small)  # modules that are imported when they are needed are not what is measured
    before = memory("VmRSS")
    seconds, peaks = list[float](), list[float]()
    for _ in range(ROUNDS):
        start = time.process_time()
        read(path)
        seconds.append(time.process_time() - start)
        peaks.append((memory("VmHWM") - before) / ROWS)
    print(min(seconds), peaks[0])


def memory(kind: str) -> int:
    """Bytes of this process that are in memory now (VmRSS), or were at most (VmHWM)."""
    return next(int(line.split()[1]) << 10 for line in Path("/proc/self/status").open() if line.startswith(kind))


def measured(reader: str, path: Path) -> tuple[float, float]:
    """Seconds and bytes per row, measured in a process of its own."""
    told = subprocess.run(
        [sys.executable, __file__, reader, str(path)], check=True, capture_output=True, text=True
    ).stdout.split()
    return float(told[0]), float(told[1])


def main() -> None:
    everything = table()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kind, columns in KINDS.items():
            chosen = everything.select(columns)
            for rows, stem in ((ROWS, "t"), (10, "small")):
                pq.write_table(chosen.slice(0, rows), folder / f"{stem}.parquet")
                pa.csv.write_csv(chosen.slice(0, rows), folder / f"{stem}.csv")
            seconds, size = measured("plain", folder / "t.parquet")
            print(f"{kind}: {ROWS} rows; pyarrow alone = 1 ({seconds:.2f} s and {size:.0f} bytes per row here)")
            took, held = measured("ours", folder / "t.parquet")
            print(f"  Parquet  {took / seconds:6.2f}   (promised: at most 3), {held:.0f} bytes per row (at most 200)")
            took, held = measured("ours", folder / "t.csv")
            print(f"  CSV      {took / seconds:6.2f}, {held:.0f} bytes per row")


if __name__ == "__main__":
    measure(sys.argv[1], Path(sys.argv[2])) if len(sys.argv) > 1 else main()
