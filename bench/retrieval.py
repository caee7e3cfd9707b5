"""How much faster than plain loops over queries, and how much memory a million rows of CSV take.

Prints ratios against loops measured in the same run: 100 000 queries of 20 candidates, 16 values per query.
"""

from __future__ import annotations

import math
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from demur.facts.ranking_columns import rankings_of
from demur.quantities import Measure
from demur.quantities.ranking import per_query

if TYPE_CHECKING:
    from collections.abc import Callable

QUERIES, CANDIDATES, ROWS = 100_000, 20, 1_000_000
NAMES, DEPTHS = ("recall", "mrr", "map", "ndcg"), (1, 3, 5, 10)


def plain(name: str, gold_ids: list[str], ranked: list[str], k: int) -> float:
    """One value of one query, as the definitions read."""
    gold = set(gold_ids)
    if not gold:
        return 0.0
    hits = [rank for rank, candidate in enumerate(ranked[:k], 1) if candidate in gold]
    if name == "recall":
        return len(hits) / len(gold)
    if name == "mrr":
        return 1 / hits[0] if hits else 0.0
    if name == "map":
        return sum(number / rank for number, rank in enumerate(hits, 1)) / min(len(gold), k)
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(len(gold), k) + 1))
    return sum(1 / math.log2(rank + 1) for rank in hits) / ideal


def made() -> tuple[list[list[str]], list[list[str]]]:
    rng = random.Random(1)  # noqa: S311
    gold, ranked = [], []
    for query in range(QUERIES):
        ids = [f"p{query}_s{number}" for number in range(CANDIDATES + 10)]
        rng.shuffle(ids)
        ranked.append(ids[:CANDIDATES])
        gold.append(rng.sample(ids, rng.choice([0, 1, 1, 2, 3, 5])))
    return gold, ranked


def best(work: Callable[[], object], times: int = 3) -> float:
    seconds = []
    for _ in range(times):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return min(seconds)


def speed() -> None:
    gold, ranked = made()
    posts, criteria = [query // 10 for query in range(QUERIES)], [str(query % 10) for query in range(QUERIES)]
    measures = [Measure.of(f"{name}@{k}") for name in NAMES for k in DEPTHS]
    loops = [[plain(n, g, r, k) for n in NAMES for k in DEPTHS] for g, r in zip(gold, ranked, strict=True)]
    slow = best(lambda: [[plain(n, g, r, k) for n in NAMES for k in DEPTHS] for g, r in zip(gold, ranked, strict=True)])
    facts = rankings_of(gold, ranked, posts=posts, criteria=criteria)
    assert np.abs(np.stack([*per_query(facts, measures).values()], axis=1) - loops).max() < 1e-15  # noqa: S101, PLR2004
    fast = best(lambda: per_query(facts, measures))
    lists = best(lambda: per_query(rankings_of(gold, ranked, posts=posts, criteria=criteria), measures))
    sizes = f"{QUERIES} queries × {CANDIDATES} candidates, {len(measures)} values per query"
    print(f"{sizes}: plain loops {slow:.2f} s of CPU")
    print(f"  from rankings {fast:.3f} s: {slow / fast:.0f} × faster (promised 20)")
    print(f"  from Python lists {lists:.3f} s: {slow / lists:.1f} × faster (promised 5)")


READ = """
import pathlib, sys
from demur.read.queries import read_queries
facts = read_queries(sys.argv[1])["ranked"]
status = pathlib.Path("/proc/self/status").read_text()
print(len(facts), int(status.split("VmHWM:")[1].split()[0]) * 1024)
"""


def peak(folder: Path, rows: int) -> tuple[int, int]:
    path = folder / f"{rows}.csv"
    with path.open("w", encoding="utf-8") as file:
        file.write("post_id,criterion_id,gold_ids,ranked_ids\n")
        for row in range(rows):
            ids = "|".join(f"p{row}_s{number}" for number in range(CANDIDATES))
            file.write(f"{row // 10},{row % 10},p{row}_s3|p{row}_s30,{ids}\n")
    done = subprocess.run([sys.executable, "-c", READ, str(path)], check=True, capture_output=True, text=True)
    size = path.stat().st_size
    path.unlink()
    return size, int(done.stdout.split()[1])


def memory() -> None:
    with tempfile.TemporaryDirectory() as folder:
        (_, start), (size, whole) = peak(Path(folder), ROWS // 1000), peak(Path(folder), ROWS)
    grown = whole - start
    print(f"{ROWS} CSV rows, {size / 2**20:.0f} MB: {grown / 2**20:.0f} MB more than for {ROWS // 1000} rows")
    print(f"  {grown / ROWS:.0f} bytes per row, {grown / size:.2f} × the file")


if __name__ == "__main__":
    memory()
    speed()
