"""Tables with groups: the worked example, and random ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from demur import Group, Groups, Plan, Settings, TableOptions, read_table
from demur.results.selective import evaluate

T1 = {
    "cluster": [*"AABBCCDD"],
    "conf": [0.9, 0.9, 0.8, 0.7, 0.7, None, 0.6, None],
    "loss": [0, 1, 0, 0, 1, None, 0, None],
    "site": [*"xxxxyyyy"],
}


LABELS = {"site": "site", "topic": "topic"}


def items_of(table: dict[str, Any], group: dict[str, str], **options: Any) -> Any:
    return read_table(table, instrument=None, options=TableOptions(loss_max=1.0, group=group, **options))


def evaluated(table: dict[str, Any], groups: Any, group: dict[str, str], resamples: int = 50, **settings: Any) -> Any:
    items = items_of(table, group)
    groups = groups if isinstance(groups, Groups) else Groups(*groups)
    return evaluate(
        items,
        settings=Settings(confidence="conf", created_at="2026-01-31T12:00:00Z", **settings),
        features=[groups],
        plan=Plan(resamples, seed=1),
    )


def values(results: Any, level: str | None, name: str = "site") -> dict[str, float]:
    """Numbers of a group by their quantities, without the threshold, of no difference."""
    rows = results.where(group=Group(name, level), minus=None)
    return {row.key.quantity.partition("@threshold")[0]: row.value for row in rows if row.key.confidence}


def random_table(seed: int, clusters: int = 24, levels: str = "abc", by_unit: bool = False) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    rows: dict[str, list[Any]] = {"cluster": [], "conf": [], "loss": [], "site": []}
    for cluster in range(clusters):
        own, base = rng.choice([*levels]), rng.random() * 0.5
        for _ in range(int(rng.integers(2, 7))):
            sure = round(float(rng.random()), 1)
            loss = None if rng.random() < 0.2 else int(rng.random() < base + 0.5 * (1 - sure))
            site = rng.choice([*levels]) if by_unit else own
            for name, value in zip(rows, (cluster, sure, loss, str(site)), strict=True):
                rows[name].append(value)
    return rows
