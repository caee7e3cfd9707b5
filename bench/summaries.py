"""Summaries: the tally beside DuckDB's own group-by, what a row and a replicate cost from 1e5 to 1e7 rows, and memory.

`python bench/summaries.py [ROWS…]`; DuckDB is measured where it is installed. Times are CPU seconds of all processes.
"""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from demur.facts.losses import Losses
from demur.read import read_table
from demur.summaries.summary import Kept, Summary

REPLICATES, ABSTAINED = 200, 0.1


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
    made = Summary.of(items, losses, Kept("sure", ["sure"]), "0" * 64)
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


def evaluated(rows, parts, route):
    """CPU seconds of summarizing and of evaluating, and the largest memory of any process in megabytes."""
    import pyarrow as pa  # noqa: PLC0415
    from pyarrow import parquet  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder:
        shards = Path(folder) / "parts"
        shards.mkdir()
        made = np.array_split(np.arange(rows), parts)
        user, sure, loss = columns(rows)
        for number, part in enumerate(made):
            held = pa.table({"user": user[part], "sure": sure[part], "loss": pa.array(loss[part], from_pandas=True)})
            parquet.write_table(held, shards / f"{number}.parquet")
        words = ["evaluate", f"A={shards}", "--column", "cluster=user", "--confidence", "sure", "--loss-max", "1"]
        words += ["--seed", "7", "--bootstrap-resamples", str(REPLICATES), "--output", f"{folder}/a.json", "--quiet"]
        words += ["--workers", "2", "--route", route]
        before = spent()
        subprocess.run([sys.executable, "-m", "demur", *words], check=True)
        return spent() - before, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024


def main():
    sizes = [int(float(text)) for text in sys.argv[1:]] or [100_000, 1_000_000]
    print(f"{'rows':>10} {'tally, s':>9} {'DuckDB, s':>10} {'ratio':>6} {'entries':>9}")
    for rows in sizes:
        ours, theirs, entries = tally(rows)
        ratio = f"{ours / theirs:6.2f}" if theirs else "     –"
        print(f"{rows:>10} {ours:9.2f} {theirs if theirs is None else round(theirs, 2)!s:>10} {ratio} {entries:>9}")
    print(f"\n{'rows':>10} {'CPU, s':>8} {'µs per row':>11} {'ratio of cost to rows':>22} {'largest process, MB':>20}")
    first = None
    for rows in sizes:
        cpu, memory = evaluated(rows, max(2, rows // 600_000), "passes")
        first = first or (cpu, rows)
        linear = cpu / first[0] / (rows / first[1])
        print(f"{rows:>10} {cpu:8.1f} {1e6 * cpu / rows:11.1f} {linear:22.2f} {memory:>20}")


if __name__ == "__main__":
    main()
