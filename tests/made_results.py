"""Small results of two and of three systems, and their files."""

import json
import random
from functools import cache

from demur import Plan, Settings, evaluate, read_table
from demur.files.write import json_text
from golden_runs import WHEN


def system(seed, clusters, item="q", confidences=("sure",)):
    """A small system: some answers, some of them wrong, on the clusters given."""
    rng = random.Random(seed)
    size = len(clusters)
    table = {"cluster": list(clusters), "item": [item] * size, "truth": [i % 3 for i in range(size)]}
    table["prediction"] = [rng.choice([None, 0, 1, 2]) if i else i % 3 for i in range(size)]
    return read_table(table | {name: [rng.randint(0, 3) for _ in range(size)] for name in confidences}, instrument=None)


def results_of_systems(names, clusters=("a", "b", "c", "d"), item="q", confidence="sure", **asked):
    systems = {name: system(seed, clusters, item, (confidence,)) for seed, name in enumerate(names)}
    return evaluate(
        systems,
        settings=Settings(loss="abs", confidence=confidence, coverages=("0.3", "0.9"), created_at=WHEN, **asked),
        plan=Plan(8, seed=1),
    )


@cache
def three_text():
    return json_text(results_of_systems(("a", "b", "c"), level=0.5).to_json())


def table_of_three():
    return json.loads(three_text())


@cache
def pair_text():
    return json_text(results_of_systems(("a", "b"), level=0.5, interval="percentile").to_json())
