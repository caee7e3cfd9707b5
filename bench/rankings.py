"""Sixteen values of every query: by a plain loop, pytrec_eval and ranx; and the memory a million rows of CSV take."""

from __future__ import annotations

import math
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from timing import Ratio, against, by_turns, installed

from demur.extensions.retrieval.quantities.ranking import per_query
from demur.extensions.retrieval.ranking_columns import rankings_of
from demur.quantities import Measure

QUERIES, CANDIDATES, ROWS = 20_000, 20, 1_000_000
NAMES, DEPTHS = ("recall", "mrr", "map", "ndcg"), (1, 3, 5, 10)
TREC = {f"{name}.{','.join(map(str, DEPTHS))}" for name in ("recall", "map_cut", "ndcg_cut")} | {"recip_rank"}
_CLOSE = 1e-6


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


def as_dicts(gold: list[list[str]], ranked: list[list[str]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Queries as others take them: those with gold, and a score that falls with the rank."""
    known = [query for query, ids in enumerate(gold) if ids]
    judged = {f"q{query}": dict.fromkeys(gold[query], 1) for query in known}
    scored = {
        f"q{query}": {name: float(CANDIDATES - rank) for rank, name in enumerate(ranked[query])} for query in known
    }
    return judged, scored


def by_trec(judged: dict[str, Any], scored: dict[str, Any]) -> float:
    """All values by pytrec_eval; gives the mean nDCG@10."""
    import pytrec_eval  # noqa: PLC0415

    found = pytrec_eval.RelevanceEvaluator(judged, TREC).evaluate(scored)
    return float(np.mean([values["ndcg_cut_10"] for values in found.values()]))


def by_ranx(qrels: object, run: object) -> float:
    """All values by ranx; gives the mean nDCG@10."""
    from ranx import evaluate  # noqa: PLC0415

    return float(evaluate(qrels, run, [f"{name}@{k}" for name in NAMES for k in DEPTHS])["ndcg@10"])


def peers_of(judged: dict[str, Any], scored: dict[str, Any]) -> Iterator[tuple[str, Callable[[], float]]]:
    """Whoever is installed, each checked to mean the same."""
    if installed("pytrec_eval"):
        yield "pytrec_eval", partial(by_trec, judged, scored)
    if installed("ranx"):
        from ranx import Qrels, Run  # noqa: PLC0415

        yield "ranx", lambda: by_ranx(Qrels(judged), Run(scored))
        yield "ranx, its tables made before", partial(by_ranx, Qrels(judged), Run(scored))


def against_others() -> Iterator[Ratio]:
    gold, ranked = made()
    posts, criteria = [query // 10 for query in range(QUERIES)], [str(query % 10) for query in range(QUERIES)]
    measures = [Measure.of(f"{name}@{k}") for name in NAMES for k in DEPTHS]

    def loop() -> list[list[float]]:
        return [[plain(n, g, r, k) for n in NAMES for k in DEPTHS] for g, r in zip(gold, ranked, strict=True)]

    facts = rankings_of(gold, ranked, posts=posts, criteria=criteria)
    values = per_query(facts, measures)
    if np.abs(np.stack([*values.values()], axis=1) - loop()).max() > _CLOSE:
        raise SystemExit("the plain loop does not agree: nothing to compare")
    peers = dict(peers_of(*as_dicts(gold, ranked)))
    mean = float(values[Measure.of("ndcg@10")].sum() / sum(map(bool, gold)))
    for name, work in peers.items():  # which also compiles what is compiled when it is first used
        if abs(work() - mean) > _CLOSE:
            raise SystemExit(f"{name} does not agree: nothing to compare")
    lists = partial(rankings_of, gold, ranked, posts=posts, criteria=criteria)
    jobs = {"lists": lambda: per_query(lists(), measures), "held": partial(per_query, facts, measures), "loop": loop}
    taken = by_turns(jobs | peers, rounds=3)
    others = {"a plain loop": taken["loop"]} | {name: taken[name] for name in peers}
    for job, words, asked in (("lists", "from lists", "≥ 5"), ("held", "read before", "≥ 20")):
        shown = f"16 values of {QUERIES} queries, {words}", f"{taken[job] / QUERIES * 1e6:.1f} µs per query"
        for row in against(*shown, taken[job], others):
            yield row._replace(asked=asked if row.peer == "a plain loop" else "")
        for package in ("pytrec_eval", "ranx"):
            if not installed(package):
                yield Ratio(*shown, package, None)


READ = """
import pathlib, sys
from demur.extensions.retrieval.query_files import read_queries
read_queries(sys.argv[1])
print(int(pathlib.Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) * 1024)
"""


def peak(folder: Path, rows: int) -> tuple[int, int]:
    """Bytes of a file of so many rankings, and of the process that reads it."""
    path = folder / f"{rows}.csv"
    with path.open("w", encoding="utf-8") as file:
        file.write("post_id,criterion_id,gold_ids,ranked_ids\n")
        for row in range(rows):
            ids = "|".join(f"p{row}_s{number}" for number in range(CANDIDATES))
            file.write(f"{row // 10},{row % 10},p{row}_s3|p{row}_s30,{ids}\n")
    done = subprocess.run([sys.executable, "-c", READ, str(path)], check=True, capture_output=True, text=True)
    size = path.stat().st_size
    path.unlink()
    return size, int(done.stdout)


def memory() -> Iterator[Ratio]:
    with tempfile.TemporaryDirectory() as folder:
        (_, start), (size, whole) = peak(Path(folder), ROWS // 1000), peak(Path(folder), ROWS)
    grown = whole - start
    yield Ratio(
        f"memory for {ROWS} rankings of CSV", f"{grown / ROWS:.0f} bytes per row", "the file itself", size / grown
    )


def ratios(_: Path | None) -> Iterator[Ratio]:
    yield from against_others()
    yield from memory()
