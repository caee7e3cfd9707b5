"""Made-up long tables of systems on the same clusters, some of which are hard for all."""

import math

import numpy as np

from demur import read_table


def units_of(seed, wrong=0.3, answered=0.8, clusters=60, units=4):
    """One system: who abstains, who is wrong, and a confidence `sure` that knows a little about it."""
    people = np.random.default_rng(1).normal(size=clusters)
    rng, rows = np.random.default_rng(seed), []
    for person, hard in enumerate(people):
        for item in range(units):
            loss = int(rng.random() < wrong * math.exp(0.5 * hard))
            known = rng.random() < answered
            sure = round(float(rng.random() - 0.4 * loss), 3)
            rows.append({"cluster": person, "item": f"i{item}", "loss": loss if known else None, "sure": sure})
    return read_table({name: [row[name] for row in rows] for name in rows[0]}, instrument=None)


def continuous(clusters=150, units=4):
    """Columns of clusters with 4 units each, a continuous confidence, and an error that grows rarer with it."""
    rng = np.random.default_rng(150)
    hard = rng.normal(size=clusters)
    columns = {"cluster": [], "item": [], "truth": [], "prediction": [], "sure": []}
    for person in range(clusters):
        for item in range(units):
            sure = float(round(rng.random(), 6))
            wrong = int(rng.random() < 0.5 * (1 - sure) * math.exp(0.4 * hard[person]))
            row = (f"p{person}", f"i{item}", 0, None if rng.random() < 0.1 else wrong, sure)
            for column, cell in zip(columns.values(), row, strict=True):
                column.append(cell)
    return columns
