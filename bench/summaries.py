"""Summaries: the tally beside DuckDB's own group-by, and what rows cost in each step, with the memory of each process.

`python bench/summaries.py [ROWS…]`, 1e5 and 1e6 if not given; 1e7 takes minutes. DuckDB is measured where it is
installed. CPU seconds are those of all processes. Then the replicates of a summary on one thread, two, and two workers.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from demur.extensions.scale.summary import Summary, SummaryOptions
from demur.facts.losses import Losses
from demur.read import read_table

REPLICATES, ABSTAINED, PART, MOST_ROWS = 200, 0.1, 1_000_000, 1_000_000
READ = ("--column", "cluster=user", "--confidence", "sure", "--loss-max", "1")
DRAWN = ("--seed", "7", "--bootstrap-resamples", str(REPLICATES), "--quiet", "--output")


def spent():
    return sum(os.times()[:4])


def columns(rows, seed=7):
    """Users of 10 rows each, a confidence of two decimals, right and wrong answers, and a tenth of abstentions."""
    rng, clusters = np.random.default_rng(seed), rows // 10
    user, sure = rng.integers(0, clusters, rows), np.round(rng.beta(4, 1.5, rows), 2)
    wrong = (rng.random(rows) < (1 - sure) * np.exp(0.3 * rng.normal(size=clusters))[user] * 0.8).astype(np.float64)
    return user, sure, np.where(rng.random(rows) < ABSTAINED, np.nan, wrong)


def tally(rows):
    """CPU seconds of counting units that are read already, and of the same group-by in DuckDB."""
    user, sure, loss = columns(rows)
    items = read_table({"cluster": user, "sure": sure, "loss": loss}, instrument=None)
    losses: Losses = items.losses
    before = spent()
    made = Summary.of(items, losses, SummaryOptions("sure", ["sure"]), "0" * 64)
    ours, theirs = spent() - before, None
    try:
        import duckdb  # noqa: PLC0415
        import pyarrow as pa  # noqa: PLC0415
    except ImportError:
        return ours, theirs, len(made.count)
    given = pa.table({"cluster": user, "sure": sure, "loss": loss})  # noqa: F841  (DuckDB finds it by its name)
    with duckdb.connect() as connection:
        connection.execute("create table held as select * from given")
        before = spent()
        connection.execute("create table made as select cluster, sure, loss, count(*) from held group by all")
        theirs = spent() - before
    return ours, theirs, len(made.count)


def written(folder, rows):
    """A folder of parts with the rows of users all over it, and the same rows as one file."""
    import pyarrow as pa  # noqa: PLC0415
    from pyarrow import parquet  # noqa: PLC0415

    (folder / "parts").mkdir()
    user, sure, loss = columns(rows)
    whole = pa.table({"user": user, "sure": sure, "loss": pa.array(loss, from_pandas=True)})
    parquet.write_table(whole, folder / "big.parquet")
    parts = max(2, rows // PART)
    for number in range(parts):
        part = whole.slice(number * rows // parts, rows // parts)
        parquet.write_table(part, folder / "parts" / f"{number}.parquet")


def measured(folder, *words):
    """CPU seconds and seconds of a command, and the largest memory of its process and its workers, in megabytes."""
    before, largest, began = spent(), {}, time.perf_counter()
    started = subprocess.Popen([sys.executable, "-m", "demur", *map(str, words)], cwd=folder, stdout=subprocess.DEVNULL)
    while started.poll() is None:
        for process in descendants(started.pid):
            largest[process] = resident(process) or largest.get(process, 0)
        time.sleep(0.05)
    if started.returncode:
        sys.exit(f"demur {' '.join(map(str, words))}: exit code {started.returncode}")
    own = largest.pop(started.pid)
    return spent() - before, time.perf_counter() - began, own, max(largest.values(), default=0)


def descendants(root):
    """A process and those that it started, as Linux tells."""
    found = [root]
    for process in found:
        try:
            tasks = Path(f"/proc/{process}/task").iterdir()
            found += [int(each) for task in tasks for each in (task / "children").read_text().split()]
        except OSError:
            continue
    return found


def resident(process):
    """The largest memory that a process has had, in megabytes of 10⁶ bytes."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 // 10**6 for line in lines if line.startswith("VmHWM")), 0)


STEPS = {
    "summarize 2 workers": ("summarize", "parts", *READ, "--workers", "2", "-o", "run.sum"),
    "summarize one file": ("summarize", "big.parquet", *READ, "-o", "big.sum"),
    "evaluate a summary": ("evaluate", "A=run.sum", *DRAWN, "a.json"),
    "evaluate a folder": ("evaluate", "A=parts", *READ, "--workers", "2", *DRAWN, "b.json"),
}
MANY = ("--seed", "7", "--bootstrap-resamples", "1000", "--quiet", "--output", "c.json")
WAYS = {"1 thread": ("--threads", "1"), "2 threads": ("--threads", "2"), "2 workers": ("--workers", "2")}


def main():
    sizes = [int(float(text)) for text in sys.argv[1:]] or [100_000, 1_000_000]
    print(f"{'rows':>10} {'tally, s':>9} {'DuckDB, s':>10} {'ratio':>6} {'entries':>9}")
    for rows in sizes:
        ours, theirs, entries = tally(rows)
        ratio = f"{ours / theirs:6.2f}" if theirs else "     –"
        print(f"{rows:>10} {ours:9.2f} {theirs if theirs is None else round(theirs, 2)!s:>10} {ratio} {entries:>9}")
    print(f"\n{'rows':>10} {'':20} {'CPU, s':>8} {'µs per row':>11} {'over smaller':>13} {'MB':>6} {'a worker':>9}")
    before = {}
    for rows in sizes:
        with tempfile.TemporaryDirectory() as folder:
            written(Path(folder), rows)
            for name, words in STEPS.items():
                cpu, _, own, worker = measured(folder, *words)
                ratio = f"{cpu / rows / before[name]:13.2f}" if name in before else f"{'–':>13}"
                before[name] = cpu / rows
                print(f"{rows:>10} {name:20} {cpu:8.1f} {1e6 * cpu / rows:11.1f} {ratio} {own:>6} {worker or '–':>9}")
            if rows <= MOST_ROWS:
                for name, words in WAYS.items():
                    cpu, seconds, own, worker = measured(folder, "evaluate", "A=run.sum", *words, *MANY)
                    print(f"{'1000 by':>10} {name:20} {cpu:8.1f} CPU, {seconds:.1f} s, {own} MB, a worker {worker} MB")


if __name__ == "__main__":
    main()
