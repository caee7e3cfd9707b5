"""Resampling: draw once, in blocks, and take every number of every system from the same draws.

No metric is known here by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from demur.draws import checked_seed, weights
from demur.errors import UserError, literal
from demur.replicates import Replicates

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from demur.table import Table

    Floats = NDArray[np.float64]

Statistic = Callable[..., Mapping[str, Any]]
Progress = Callable[[int, int], None]

_BLOCK_CELLS = 1 << 17  # a megabyte an array: a block of them stays near the processor

_KEPT = 3 << 20


@dataclass(frozen=True, slots=True)
class Plan:
    """How to resample. Only `n_resamples` and `seed` can change a result; the rest is about time and memory."""

    n_resamples: int
    seed: int | None
    block: int | None = None
    threads: int = 1
    progress: Progress | None = None

    def __post_init__(self) -> None:
        for name, value, least in (("n_resamples", self.n_resamples, 0), ("threads", self.threads, 1)):
            if type(value) is not int or value < least:
                raise UserError(f"{name} {literal(value)}, expected an integer, {least} or more")
        if self.block is not None and (type(self.block) is not int or self.block < 1):
            raise UserError(f"block {literal(self.block)}, expected an integer, 1 or more, or None")
        if self.n_resamples:
            object.__setattr__(self, "seed", checked_seed(self.seed))


def bootstrap(statistic: Statistic, *tables: Table, plan: Plan) -> dict[str, Floats]:
    """The values of a statistic over bootstrap samples of the clusters the tables share.

    The statistic gets one `Replicates` per table, all drawn alike, and gives a number per replicate under each name.

    >>> import numpy as np
    >>> from demur import Graded
    >>> from demur.table import Table
    >>> table = Table.of(Graded(4, np.array([0, 2, 0]), np.array([2.0, 2.0, 1.0])))
    >>> bootstrap(lambda sample: {"aurc": sample.selective_area}, table, plan=Plan(3, seed=1))["aurc"].round(3).tolist()
    [0.875, 1.75, 0.0]
    """
    if not tables:
        raise UserError("nothing to resample: give at least one table")
    if any(table.ids != tables[0].ids for table in tables[1:]):
        raise UserError("the tables hold different clusters: they cannot be drawn alike")

    def of_weights(drawn: Floats) -> Mapping[str, Any]:
        return statistic(*(Replicates.of(table, drawn) for table in tables))

    return resampled(of_weights, tables[0].clusters, max(table.cells for table in tables), plan)


def resampled(
    of_weights: Callable[[Floats], Mapping[str, Any]], clusters: int, cells: int, plan: Plan
) -> dict[str, Floats]:
    """The statistic of every block of draws, put together in order. `cells` is how wide a replicate's arrays are."""
    size = plan.block or max(1, min(plan.n_resamples, _BLOCK_CELLS // max(cells, 1)))
    starts = range(0, plan.n_resamples, size)
    work = partial(_block, of_weights, clusters, plan, size)
    np.empty(_KEPT)  # freed at once: it teaches the C allocator to keep what blocks free, which saves a quarter
    blocks: list[Mapping[str, Any]] = []
    with ThreadPoolExecutor(plan.threads) as pool:
        for done in map(work, starts) if plan.threads == 1 else pool.map(work, starts):
            blocks.append(done)
            if plan.progress:
                plan.progress(min(len(blocks) * size, plan.n_resamples), plan.n_resamples)
    if not blocks:
        return {}
    return {name: np.concatenate([np.asarray(block[name], dtype=np.float64) for block in blocks]) for name in blocks[0]}


def _block(
    of_weights: Callable[[Floats], Mapping[str, Any]], clusters: int, plan: Plan, size: int, start: int
) -> Mapping[str, Any]:
    replicates = np.arange(start, min(start + size, plan.n_resamples))
    assert plan.seed is not None  # noqa: S101  (the plan has checked it)
    return of_weights(weights(plan.seed, replicates, clusters))


def left_out(table: Table) -> Replicates:
    """Every sample that lacks one cluster: what the jackknife looks at."""
    return Replicates.of(table, 1 - np.eye(table.clusters))


def as_it_is(table: Table) -> Replicates:
    """The sample itself, as a block of one."""
    return Replicates.of(table, np.ones((1, table.clusters)))
