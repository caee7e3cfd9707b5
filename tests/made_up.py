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
