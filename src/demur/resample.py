"""Resampling: draw once, in blocks, and take every number of every system from the same draws.

No metric is known here by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from demur.draws import checked_seed, weights
from demur.errors import UserError, literal
from demur.replicates import Replicates
from demur.table import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


class Drawable(Protocol):
    """Anything whose clusters can be drawn again: what a statistic gets of it, given the weights of the clusters."""

    @property
    def ids(self) -> Sequence[int | str]: ...  # noqa: D102
    @property
    def clusters(self) -> int: ...  # noqa: D102
    @property
    def cells(self) -> int: ...  # noqa: D102
    def drawn(self, weights: Floats) -> Any: ...  # noqa: D102


Statistic = Callable[..., Mapping[str, Any]]
Job = tuple[Statistic, Sequence["Table | Drawable"]]
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
            if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < least:
                raise UserError(f"{name} {literal(value)}, expected an integer, {least} or more")
        if self.block is not None and (type(self.block) is not int or self.block < 1):
            raise UserError(f"block {literal(self.block)}, expected an integer, 1 or more, or None")
        if self.n_resamples:
            object.__setattr__(self, "seed", checked_seed(self.seed))


def bootstrap(statistic: Statistic, *tables: Table, plan: Plan) -> dict[str, Floats]:
    """The values of a statistic over bootstrap samples of the clusters the tables share.

    The statistic gets one `Replicates` per table, all drawn alike, and gives a number, or a row of numbers, per
    replicate under each name.

    >>> import numpy as np
    >>> from demur import Graded
    >>> table = Table.of(Graded(4, np.array([0, 2, 0]), np.array([2.0, 2.0, 1.0])))
    >>> bootstrap(lambda sample: {"aurc": sample.selective_area}, table, plan=Plan(3, seed=1))["aurc"].round(3).tolist()
    [0.875, 1.75, 0.0]
    """
    return bootstrap_each({"": (statistic, tables)}, plan=plan)[""]


def bootstrap_each(jobs: Mapping[str, Job], *, plan: Plan) -> dict[str, dict[str, Floats]]:
    """The values of several statistics, each of tables of its own, over the same bootstrap samples of the clusters."""

    def drawn(replicates: NDArray[np.intp]) -> Floats:
        assert plan.seed is not None  # noqa: S101  (the plan has checked it)
        return weights(plan.seed, replicates, _clusters(jobs))

    return _in_blocks(jobs, drawn, plan.n_resamples, plan)


def leave_one_out(statistic: Statistic, *tables: Table, plan: Plan) -> dict[str, Floats]:
    """The values of a statistic with each cluster left out in turn; none where that would leave nothing."""
    if tables[0].clusters == 1:
        return {}

    def all_but(clusters: NDArray[np.intp]) -> Floats:
        return np.asarray(1.0 - (clusters[:, None] == np.arange(tables[0].clusters)))

    return _in_blocks({"": (statistic, tables)}, all_but, tables[0].clusters, replace(plan, progress=None))[""]


def as_it_is(table: Table) -> Replicates:
    """The sample itself, as a block of one."""
    return Replicates.of(table, np.ones((1, table.clusters)))


def _in_blocks(
    jobs: Mapping[str, Job], weights_of: Callable[[NDArray[np.intp]], Floats], total: int, plan: Plan
) -> dict[str, dict[str, Floats]]:
    """The statistics of every block of samples, put together in order."""
    tables = _refuse_tables(jobs)

    def work(start: int) -> dict[str, dict[str, Floats]]:
        numbers = np.arange(start, min(start + size, total))
        drawn = weights_of(numbers)
        return {
            name: _checked(statistic(*(_sample(table, drawn) for table in given)), len(numbers))
            for name, (statistic, given) in jobs.items()
        }

    size = plan.block or max(1, min(total, _BLOCK_CELLS // max(table.cells for table in tables)))
    np.empty(_KEPT)  # freed at once: it teaches the C allocator to keep what blocks free, which saves a quarter
    blocks: list[dict[str, dict[str, Floats]]] = []
    for block in _each(work, range(0, total, size), plan.threads):
        blocks.append(block)
        if plan.progress:
            plan.progress(min(len(blocks) * size, total), total)
    return {job: _joined([block.pop(job) for block in blocks]) for job in jobs}


def _joined(blocks: Sequence[dict[str, Floats]]) -> dict[str, Floats]:
    return {name: np.concatenate([block[name] for block in blocks]) for name in (blocks[0] if blocks else ())}


def _each(work: Callable[[int], Any], starts: range, threads: int) -> Iterator[Any]:
    """The blocks in order, on as many threads as are asked for."""
    if threads == 1:
        yield from map(work, starts)
        return
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  (slow to import, and threads are optional)

    with ThreadPoolExecutor(threads) as pool:
        yield from pool.map(work, starts)


def _clusters(jobs: Mapping[str, Job]) -> int:
    return next(iter(jobs.values()))[1][0].clusters


def _sample(table: Table | Drawable, weights: Floats) -> Any:
    return Replicates.of(table, weights) if isinstance(table, Table) else table.drawn(weights)


def _refuse_tables(jobs: Mapping[str, Job]) -> list[Table | Drawable]:
    """All the tables there are, if they can be drawn alike."""
    tables = [table for _, given in jobs.values() for table in given]
    if not tables or not all(isinstance(table, Table) or hasattr(table, "drawn") for table in tables):
        raise UserError("nothing to resample: give at least one table, made by Table.of")
    if any(table.ids != tables[0].ids for table in tables[1:]):
        raise UserError("the tables hold different clusters: they cannot be drawn alike")
    return tables


def _checked(found: Any, replicates: int) -> dict[str, Floats]:
    """What a statistic gave, if it gave one number, or one row of numbers, per replicate under each name."""
    if not isinstance(found, Mapping):
        raise UserError(f"a statistic gives a dict of arrays, not {literal(found)}")
    values = {str(name): np.asarray(value, dtype=np.float64) for name, value in found.items()}
    for name, value in values.items():
        if value.ndim not in (1, 2) or len(value) != replicates:
            raise UserError(f"the statistic gives {name} the shape {value.shape}, expected ({replicates},)")
    return values
