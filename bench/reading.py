"""Reading: a run file beside json.loads of the same bytes, tables of a million rows beside pyarrow alone.

pyarrow alone is `read_table` of the columns from Parquet and `to_numpy` of each. Each reader of a table has a process
of its own, which measures by how much the largest memory it ever held is above what it held before.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from timing import Ratio, against, by_turns

from demur import PHQ8, read_run
from demur.facts.signals import SIGNALS
from demur.read import read_systems

PEOPLE, ROWS = 10_000, 1_000_000
GIVEN = ("cluster", "item", "loss", "sure", "margin")
SCORED = ("cluster", "item", "truth", "prediction", "sure")
KINDS = {"losses": GIVEN, "truths and predictions": SCORED, "two systems": ("system", *GIVEN)}
FURTHER = ("consistency_na_rate", "answer_length", "latency_seconds")  # signals that nobody declares


def signals(rng: random.Random) -> dict[str, object]:
    """One unit's signals: counts, text, numbers of full length, a null now and then."""
    values: dict[str, object] = {name: rng.random() for name in (*SIGNALS, *FURTHER)}
    values |= {name: rng.randint(0, 5) for name in values if name.endswith("_count")}
    values |= {"evidence_source": rng.choice(["llm", "both", None]), "verbalized_confidence": rng.randint(1, 5)}
    return values | ({"retrieval_similarity_mean": None} if rng.random() < 0.2 else {})  # noqa: PLR2004


def large_run() -> bytes:
    rng = random.Random(0)  # noqa: S311
    people = [
        {
            "participant_id": person,
            "success": True,
            "ground_truth_items": {item: rng.randint(0, 3) for item in PHQ8.items},
            "predicted_items": {item: rng.choice([None, 0, 1, 2, 3]) for item in PHQ8.items},
            "item_signals": {item: signals(rng) for item in PHQ8.items},
        }
        for person in range(PEOPLE)
    ]
    return json.dumps({"experiments": [{"results": {"mode": "few_shot", "results": people}}]}).encode()


def run_file() -> Iterator[Ratio]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.json"
        path.write_bytes(data := large_run())
        jobs = {"ours": partial(read_run, path), "json": partial(json.loads, data)}
        ours, plain = by_turns(jobs, rounds=3).values()
    job = f"a run file of {len(data) / 1e6:.0f} MB"
    yield from against(job, f"{ours:.2f} s", ours, {"json.loads of its bytes": plain}, "≥ 0.25")


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


def measure(reader: str, path: Path) -> None:
    """The least time of two rounds and the memory of the first."""
    read = partial(read_systems, instrument=None) if reader == "ours" else plain
    read(path.with_name(f"small{path.suffix}"))  # modules that are imported when they are needed are not measured
    before = memory("VmRSS")
    seconds = by_turns({"": partial(read, path)}, rounds=1)[""]
    held = (memory("VmHWM") - before) / ROWS
    print(min(seconds, by_turns({"": partial(read, path)}, rounds=1)[""]), held)


def memory(kind: str) -> int:
    """Bytes of this process that are in memory now (VmRSS), or were at most (VmHWM)."""
    return next(int(line.split()[1]) << 10 for line in Path("/proc/self/status").open() if line.startswith(kind))


def measured(reader: str, path: Path) -> tuple[float, float]:
    """Seconds and bytes per row, measured in a process of its own."""
    words = [sys.executable, __file__, reader, str(path)]
    seconds, held = subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()
    return float(seconds), float(held)


def tables() -> Iterator[Ratio]:
    everything = table()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kind, columns in KINDS.items():
            chosen = everything.select(columns)
            for rows, stem in ((ROWS, "t"), (10, "small")):
                pq.write_table(chosen.slice(0, rows), folder / f"{stem}.parquet")
                pa.csv.write_csv(chosen.slice(0, rows), folder / f"{stem}.csv")
            alone, _ = measured("plain", folder / "t.parquet")
            for form, asked in (("parquet", "≥ 0.333, 200 bytes"), ("csv", "")):
                took, held = measured("ours", folder / f"t.{form}")
                job, ours = f"{kind}, {ROWS} rows of {form}", f"{took:.2f} s, {held:.0f} bytes per row"
                yield from against(job, ours, took, {"pyarrow alone, Parquet": alone}, asked)


def ratios(_: Path | None) -> Iterator[Ratio]:
    yield from run_file()
    yield from tables()


if __name__ == "__main__":
    measure(sys.argv[1], Path(sys.argv[2]))
