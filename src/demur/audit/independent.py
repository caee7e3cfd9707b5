"""The independent audit of demur's own files: points by plain loops, ci95 by repeating the rows of drawn clusters.

Only the seed is shared with the evaluation, no code that computes. One tolerance covers rounding in all numbers.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from demur.audit.figures import Finding, compared
from demur.audit.loops.draws import ci95, drawn
from demur.audit.loops.registry import Number
from demur.audit.recipes import Recipe
from demur.facts.frames import TableOf
from demur.inference.estimates import label
from demur.inference.key import Key
from demur.results.table import Results
from demur.sampling.resample import Progress

TOLERANCE = 1e-9


def audited_independently(
    claimed: Results,
    recipes: Mapping[Key, Recipe],
    progress: Progress | None = None,
    strata: Sequence[int] | None = None,
) -> TableOf[Finding]:
    """Every number that has a plain loop, and its ci95."""
    operands = {row.key: _operands(row.key, recipes) for row in claimed}
    rows = [row for row in claimed if operands[row.key]]
    clusters = next((len(recipe.tables[0].clusters) for recipe in recipes.values()), 0)
    points = _numbers(recipes, range(clusters))
    findings = TableOf(_finding(label(row.key), row.value, _difference(operands[row.key], points)) for row in rows)
    findings += [
        Finding(label(row.key), "not recognised", repr(row.value), cause="no plain loop computes it")
        for row in claimed
        if not operands[row.key]
    ]
    boot = claimed.study.bootstrap
    ends = {row.key: row.percentile.ends for row in rows if row.percentile is not None}
    resampled = {operand: recipes[operand] for key in ends for operand in operands[key]}
    values: dict[Key, list[Any]] = {key: [] for key in ends}
    seed, resamples = (boot.seed, boot.n_resamples) if boot else (0, 0)
    for replicate in range(resamples):
        numbers = _numbers(resampled, drawn(seed, replicate, clusters, strata))
        for key in ends:
            values[key].append(_difference(operands[key], numbers))
        if progress:
            progress(replicate + 1, resamples)
    for key, pair in ends.items():
        for name, end, recomputed in zip(("low", "high"), pair, ci95(values[key]) or (None, None), strict=True):
            findings.append(_finding(f"{label(key)}: ci95, {name}", end, recomputed))
    return findings


def _operands(key: Key, recipes: Mapping[Key, Recipe]) -> list[Key]:
    """The keys a number is computed from: its own, or the two of a difference; none if a loop is missing."""
    if key in recipes:  # a difference of groups is one loop
        return [key]
    systems = [key.system, *([] if key.minus is None else [str(key.minus.value)])]
    keys = [Key(system, key.quantity, key.confidence, key.among, key.group) for system in systems]
    return keys if all(operand in recipes for operand in keys) else []


def _numbers(recipes: Mapping[Key, Recipe], clusters: Sequence[int]) -> dict[Key, Number | None]:
    """Every number of a sample of clusters; the rows of each system are assembled once."""
    tables = {id(table): table for recipe in recipes.values() for table in recipe.tables}
    samples = {
        name: table.prepared([row for cluster in clusters for row in table.clusters[cluster]])
        for name, table in tables.items()
    }
    return {key: recipe.loop(*(samples[id(table)] for table in recipe.tables)) for key, recipe in recipes.items()}


def _difference(operands: Sequence[Key], numbers: Mapping[Key, Number | None]) -> float | None:
    values = [numbers[operand] for operand in operands]
    first, *others = [float(value) for value in values if value is not None] or [math.nan]
    return None if None in values else first - sum(others)


def _finding(name: str, claimed: float, recomputed: float | None) -> Finding:
    return compared((), None if math.isnan(claimed) else claimed, recomputed, tolerance=TOLERANCE, key=name)
