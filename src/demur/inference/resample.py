"""Resampling: one pass over one set of draws. Each view is drawn once per block, and every number is taken from it.

No quantity is known here by name.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from demur.errors import UserError, literal
from demur.inference.draws import checked_seed, weights
from demur.quantities.replicates import Replicates
from demur.quantities.table import Table
from demur.types import Floats, Indices

Columns = dict[str, Floats]
Progress = Callable[[int, int], None]
_BLOCK_CELLS = 1 << 17  # a megabyte an array: a block of them stays near the processor
_KEPT = 3 << 20
_MOST_RESAMPLES = 1_000_000  # endpoints are then known to 0.003 standard errors


@dataclass(frozen=True, slots=True, eq=False)
class Ask:
    """Numbers wanted of a view: one number, or a row of numbers, per replicate under each name."""

    view: Any
    numbers: Callable[[Any], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Plan:
    """How to resample. Only `n_resamples`, `seed` and `strata` can change a result; the rest is about time and memory.

    With `strata`, one for each cluster in sorted order, clusters are drawn within them.
    """

    n_resamples: int
    seed: int | None
    block: int | None = None
    threads: int = 1
    progress: Progress | None = None
    strata: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        for name, value, least in (("n_resamples", self.n_resamples, 0), ("threads", self.threads, 1)):
            if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < least:
                raise UserError(f"{name} {literal(value)}, expected an integer, {least} or more")
        if self.n_resamples > _MOST_RESAMPLES:
            raise UserError(f"n_resamples {literal(self.n_resamples)}, expected at most {_MOST_RESAMPLES}")
        if self.block is not None and (type(self.block) is not int or self.block < 1):
            raise UserError(f"block {literal(self.block)}, expected an integer, 1 or more, or None")
        if self.n_resamples:
            object.__setattr__(self, "seed", checked_seed(self.seed))


def bootstrap(statistic: Callable[..., Mapping[str, Any]], *tables: Table, plan: Plan) -> Columns:
    """The values of a statistic over bootstrap samples of the clusters the tables share.

    The statistic gets one `Replicates` per table, all drawn alike, and gives a number, or a row of numbers, per
    replicate under each name.

    >>> import numpy as np
    >>> from demur import Graded
    >>> table = Table.of(Graded(4, np.array([0, 2, 0]), np.array([2.0, 2.0, 1.0])))
    >>> bootstrap(lambda sample: {"aurc": sample.selective_area}, table, plan=Plan(3, seed=1))["aurc"].round(3).tolist()
    [0.875, 1.75, 0.0]
    """
    if not tables or not all(isinstance(table, Table) for table in tables):
        raise UserError("nothing to resample: give at least one table, made by Table.of")
    _check_drawn_alike(tables)
    view = SimpleNamespace(
        ids=tables[0].ids,
        cells=max(table.cells for table in tables),
        drawn=lambda weights: [Replicates.of(table, weights) for table in tables],
    )
    return resampled([Ask(view, lambda samples: statistic(*samples))], plan)[0]


def _check_drawn_alike(views: Sequence[Any]) -> None:
    if any(view.ids != views[0].ids for view in views):
        raise UserError("the tables hold different clusters: they cannot be drawn alike")


def resampled(asks: Sequence[Ask], plan: Plan) -> list[Columns]:
    """What is asked, over bootstrap samples of the clusters: of every view, from the same draws."""
    clusters = len(asks[0].view.ids) if asks else 0

    def drawn(replicates: Indices) -> Floats:
        assert plan.seed is not None  # noqa: S101  (the plan has checked it)
        return weights(plan.seed, replicates, clusters, plan.strata)

    return _in_blocks(asks, drawn, plan.n_resamples, plan)


def left_out(asks: Sequence[Ask], plan: Plan) -> list[Columns]:
    """What is asked, with each cluster left out in turn; nothing where that would leave nothing."""
    clusters = len(asks[0].view.ids) if asks else 0
    if clusters <= 1:
        return [{} for _ in asks]

    def all_but(chosen: Indices) -> Floats:
        return np.asarray(1.0 - (chosen[:, None] == np.arange(clusters)))

    return _in_blocks(asks, all_but, clusters, replace(plan, progress=None))


def _in_blocks(asks: Sequence[Ask], weights_of: Callable[[Indices], Floats], total: int, plan: Plan) -> list[Columns]:
    """The answers of every block of samples, put together in order."""
    if not asks or not total:
        return [{} for _ in asks]
    _check_drawn_alike([ask.view for ask in asks])

    def work(start: int) -> list[Columns]:
        numbers = np.arange(start, min(start + size, total))
        drawn, samples = weights_of(numbers), dict[int, Any]()
        return [_checked(ask.numbers(_sample(ask.view, drawn, samples)), len(numbers)) for ask in asks]

    size = plan.block or max(1, min(total, _BLOCK_CELLS // max(ask.view.cells for ask in asks)))
    np.empty(_KEPT)  # freed at once: it teaches the C allocator to keep what blocks free, which saves a quarter
    blocks: list[list[Columns]] = []
    for block in _each(work, range(0, total, size), plan.threads):
        blocks.append(block)
        if plan.progress:
            plan.progress(min(len(blocks) * size, total), total)
    return [
        {name: np.concatenate([block[index][name] for block in blocks]) for name in blocks[0][index]}
        for index in range(len(asks))
    ]


def _sample(view: Any, weights: Floats, samples: dict[int, Any]) -> Any:
    """What a view draws, drawn once per block however many numbers are taken from it."""
    if id(view) not in samples:
        members = getattr(view, "members", None)
        samples[id(view)] = (
            view.drawn(weights) if members is None else view.joined([_sample(one, weights, samples) for one in members])
        )
    return samples[id(view)]


def _each(work: Callable[[int], Any], starts: range, threads: int) -> Iterator[Any]:
    """The blocks in order, on as many threads as are asked for."""
    if threads == 1:
        yield from map(work, starts)
        return
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  (slow to import, and threads are optional)

    with ThreadPoolExecutor(threads) as pool:
        yield from pool.map(work, starts)


def _checked(given: Any, replicates: int) -> dict[str, Floats]:
    """What a statistic gave, if it gave one number, or one row of numbers, per replicate under each name."""
    if not isinstance(given, Mapping):
        raise UserError(f"a statistic gives a dict of arrays, not {literal(given)}")
    values = {str(name): np.asarray(value, dtype=np.float64) for name, value in given.items()}
    for name, value in values.items():
        if value.ndim not in (1, 2) or len(value) != replicates:
            raise UserError(f"the statistic gives {name} the shape {value.shape}, expected ({replicates},)")
    return values
