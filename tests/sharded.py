"""Tables in parts: random units of many kinds, shuffled over shards, and what must be the same whatever the shards."""

import csv
import json

import numpy as np

UNNAMED = ("created_at", "execution", "inputs")
SINGLE_UNITS = ("by_item", "cases")  # which no summary has


def units(seed=1, clusters=40, rows=600, system=0):
    """Rows as a table holds them: two confidences with ties and nulls, a decimal loss, labels, and abstentions."""
    rng = np.random.default_rng(seed)
    owner, truth = rng.integers(0, clusters, rows), rng.integers(0, 3, rows)
    rng = np.random.default_rng((seed, system))
    sure = np.round(rng.random(rows), 2)
    loss = np.where(rng.random(rows) > sure, rng.integers(0, 5, rows) / 4, 0)
    state = rng.random(rows)
    return [
        {
            "user": f"u{owner[i]}",
            "item": f"q{i}",
            "truth": int(truth[i]),
            "loss": "" if state[i] < 0.1 else "NaN" if state[i] < 0.15 else f"{loss[i]:g}",
            "sure": "" if state[i] < 0.05 else f"{sure[i]:g}",
            "margin": f"{rng.integers(-3, 4)}",
            "sex": ("f", "m", "")[owner[i] % 3],
        }
        for i in range(rows)
    ]


def table(path, rows, without=("truth",)):
    """Write them as CSV."""
    kept = [{name: cell for name, cell in row.items() if name not in without} for row in rows]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, [*kept[0]])
        writer.writeheader()
        writer.writerows(kept)
    return path


def shards(folder, rows, number, seed=5, **how):
    """The rows in another order, in so many files: clusters are in several of them."""
    folder.mkdir()
    order = np.random.default_rng(seed).permutation(len(rows))
    parts = np.array_split(order, number)
    return [table(folder / f"part-{n}.csv", [rows[i] for i in part], **how) for n, part in enumerate(parts)]


def same_in_both(text):
    """A file of results, without what says when and how it was made, and what needs single units."""
    content = json.loads(text)
    content["tool"].pop("command")
    return json.dumps(_without(content, {*UNNAMED, *SINGLE_UNITS}))


def _without(content, names):
    if isinstance(content, dict):
        return {name: _without(part, names) for name, part in content.items() if name not in names}
    return [_without(part, names) for part in content] if isinstance(content, list) else content
