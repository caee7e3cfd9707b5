"""Made-up queries for the tests of retrieval, and their evaluation."""

import random
from dataclasses import replace
from pathlib import Path

from demur import Plan, Results, RetrievalSettings, evaluate_retrieval, rankings_of

GOLDEN = Path(__file__).parent / "golden"
WHEN = "2026-01-31T12:00:00Z"


def made(seed=1, posts=12, criteria="ABC", **more):
    rng = random.Random(seed)
    columns = {name: [] for name in ("gold", "ranked", "posts", "criteria", "prob", "fold", "selected")}
    for post in range(posts):
        for criterion in criteria:
            ids = [f"s{number}" for number in range(8)]
            gold = rng.sample(ids, rng.choice([0, 1, 1, 2]))
            ranked = rng.sample(ids, rng.choice([0, 6, 8]))
            values = (
                gold,
                ranked,
                post,
                criterion,
                rng.randint(0, 10) / 10,
                str(post % 3),
                ranked[: rng.randint(0, 4)],
            )
            for name, value in zip(columns, values):
                columns[name].append(value)
    return columns | more


def evaluated(columns=None, plan=None, **settings):
    return compared({"one": columns or made()}, plan, **settings)


def compared(systems, plan=None, **settings):
    return evaluate_retrieval(
        {name: rankings_of(**columns) for name, columns in systems.items()},
        settings=RetrievalSettings(**({"depths": (1, 5, 10)} | settings)),
        plan=plan or Plan(0, seed=None),
        created_at=WHEN,
    )


def with_rows(results, changes):
    """The same results, some numbers of which are others: members of an estimate by key, or nothing to leave it out."""
    rows = [replace(row, **changes[row.key]) if changes.get(row.key) else row for row in results]
    kept = [row for row in rows if changes.get(row.key, True) is not None]
    return Results(kept, results.study, results.curves, results.warnings)
