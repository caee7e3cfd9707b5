"""Resampling: one pass over one set of draws. Each view is drawn once per block, and all its numbers are computed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from demur.errors import UserError, literal
from demur.facts.memory import give_back
from demur.inference.draws import checked_seed, weights
from demur.inference.engines import prepared_kernel
from demur.inference.evidence import Errors, errors_of_squares
from demur.options import as_option, option, section
from demur.quantities.coverage import Coverage
from demur.quantities.replicates import Replicates
from demur.quantities.table import Table
from demur.types import Floats

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from demur.inference.engines.tiles import Prepared, Tiles

Columns = dict[str, Floats]
Progress = Callable[[int, int], None]
WeightsOf = Callable[[range, "Prepared | None"], "Floats | Tiles"]
_BLOCK_CELLS = 1 << 17  # 1 MB per array: a block stays in the processor's cache
_KERNEL_CELLS = 1 << 21  # replicates times clusters: Python takes a millisecond per block, whatever its size
_MOST_CELLS = 1 << 22  # at most 32 MB per array, for 16 replicates
_LANES = 16
_LARGE = 10**8  # units times resamples: tenths of a second on one processor
_KEPT = 3 << 20
_MANY_CLUSTERS = 1 << 17  # whose weights leave megabytes on the heap of each thread
_MOST_RESAMPLES = 1_000_000  # endpoints are then known to 0.003 standard errors


@dataclass(frozen=True, slots=True, eq=False)
class Ask:
    """Numbers to compute of a view: under each name one number, or a row of numbers, per replicate.

    The operating points at all `coverages` of a curve are found in one sweep.
    """

    view: Any
    numbers: Callable[[Any], Mapping[str, Any]]
    coverages: tuple[Coverage, ...] = ()


@section("plan")
@dataclass(frozen=True, slots=True)
class Plan:
    """How to resample. Only `resamples`, `seed` and `strata` can change a result; the rest is about time and memory.

    With `strata`, one for each cluster in sorted order, clusters are drawn within them. Unless a number of `threads` is
    given, large work is done on all processors and small work on one.
    """

    resamples: int = option(
        10_000,
        "Bootstrap resamples of the clusters: 10000 if not given, 0 for none, at most 1000000.",
        aliases=("--bootstrap-resamples",),
        kind=int,
        everyday=True,
    )
    seed: int | None = option(
        0, "Seed of the resampling: any integer, 0 or more; 0 if not given.", kind=int, everyday=True
    )
    block: int | None = None
    threads: int | None = option(
        None, "Threads to resample on; if not given, all processors for large work, one for small.", kind=int
    )
    progress: Progress | None = None
    strata: tuple[int, ...] | None = None
    workers: int | str | Executor = option(
        1,
        "What reads the parts of a folder: a number of processes, or dask://SCHEDULER:PORT; 1 if not given.",
        also=(int,),
    )

    def __post_init__(self) -> None:
        threads = 1 if self.threads is None else self.threads
        for name, value, least in (("resamples", self.resamples, 0), ("threads", threads, 1)):
            if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < least:
                raise UserError(f"{as_option(name)} {literal(value)}, expected an integer, {least} or more")
        if self.resamples > _MOST_RESAMPLES:
            raise UserError(f"{as_option('resamples')} {literal(self.resamples)}, expected at most {_MOST_RESAMPLES}")
        if self.block is not None and (type(self.block) is not int or self.block < 1):
            raise UserError(f"block {literal(self.block)}, expected an integer, 1 or more, or None")
        if self.resamples:
            object.__setattr__(self, "seed", checked_seed(self.seed))

    def settled(self, units: int) -> Plan:
        """The plan with its number of threads settled for this many units."""
        return replace(self, threads=self.threads or _threads(units * self.resamples))


def _threads(cells: int) -> int:
    """The number of threads: all processors for large work, one for small work."""
    if cells < _LARGE:
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


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
        sweeps=True,
        drawn=lambda weights: [Replicates.of(table, weights) for table in tables],
    )
    return resampled([Ask(view, lambda samples: statistic(*samples))], plan)[0]


def _check_drawn_alike(views: Sequence[Any]) -> None:
    if any(view.ids != views[0].ids for view in views):
        raise UserError("the tables hold different clusters: they cannot be drawn alike")


def resampled(asks: Sequence[Ask], plan: Plan) -> list[Columns]:
    """The answers to every ask over bootstrap samples of the clusters, all views from the same draws."""
    clusters = len(asks[0].view.ids) if asks else 0

    def drawn(replicates: range, prepared: Prepared | None) -> Floats | Tiles:
        assert plan.seed is not None  # noqa: S101  (the plan has checked it)
        tiles = prepared.drawn(plan.seed, replicates, clusters) if prepared and plan.strata is None else None
        return tiles or weights(plan.seed, np.asarray(replicates), clusters, plan.strata)

    return _in_blocks(asks, drawn, plan.resamples, plan)


def left_out(asks: Sequence[Ask], plan: Plan) -> list[Columns]:
    """The answers to every ask with each cluster left out in turn; empty for a single cluster."""
    clusters = len(asks[0].view.ids) if asks else 0
    if clusters <= 1:
        return [{} for _ in asks]

    def all_but(chosen: range, _: Prepared | None) -> Floats:
        return np.asarray(1.0 - (np.asarray(chosen)[:, None] == np.arange(clusters)))

    return _in_blocks(asks, all_but, clusters, replace(plan, progress=None))


def _in_blocks(asks: Sequence[Ask], weights_of: WeightsOf, total: int, plan: Plan) -> list[Columns]:
    """The answers of all blocks of samples, concatenated in order."""
    if not asks or not total:
        return [{} for _ in asks]
    _check_drawn_alike([*{id(ask.view): ask.view for ask in asks}.values()])

    def work(start: int) -> list[Columns]:
        numbers = range(start, min(start + size, total))
        drawn, samples = DrawnWeights.of(weights_of(numbers, prepared), prepared), dict[int, Any]()
        for view, coverages in expected:
            _sample(view, drawn, samples).expect(coverages)
        given = [ask.numbers(_sample(ask.view, drawn, samples)) for ask in asks]
        errors = _errors(given)
        return [_checked(each, errors, len(numbers)) for each in given]

    prepared, expected = prepared_kernel(), _expected(asks)
    threads = plan.threads or _threads(total * max(int(ask.view.cells) for ask in asks))
    size = plan.block or _block_size([ask.view for ask in asks], -(-total // threads), compiled=bool(prepared))
    np.empty(_KEPT)  # freed at once: the C allocator then keeps freed blocks, which saves a quarter of the time
    blocks: list[list[Columns]] = []
    for block in _in_order(work, range(0, total, size), threads):
        blocks.append(block)
        if plan.progress:
            plan.progress(min(len(blocks) * size, total), total)
    if len(asks[0].view.ids) > _MANY_CLUSTERS:
        give_back()
    if len(blocks) == 1:
        return blocks[0]
    return [
        {name: np.concatenate([block[index][name] for block in blocks]) for name in blocks[0][index]}
        for index in range(len(asks))
    ]


def _expected(asks: Sequence[Ask]) -> list[tuple[Any, list[Coverage]]]:
    """The coverages at which each view is asked, in ascending order."""
    views = {id(ask.view): ask.view for ask in asks if ask.coverages}
    coverages = [{at.text: at for ask in asks if id(ask.view) == key for at in ask.coverages} for key in views]
    ordered = [sorted(of_view.values(), key=attrgetter("least_share")) for of_view in coverages]
    return list(zip(views.values(), ordered, strict=True))


def _block_size(views: Sequence[Any], most: int, *, compiled: bool) -> int:
    """How many replicates to draw at a time, so that their arrays stay in the processor's cache.

    The arrays of numpy hold all cells; the kernel reads one byte per cluster and replicate.
    """
    cells = max(int(view.cells) for view in views)
    cached = _KERNEL_CELLS // len(views[0].ids) if compiled else _BLOCK_CELLS // cells
    size = max(1, min(cached, _MOST_CELLS // cells), min(_LANES, _MOST_CELLS // cells))
    if compiled:  # the kernel processes whole lanes of replicates
        size = -(-min(size, most) // _LANES) * _LANES
    return min(size, most)


@dataclass(frozen=True, slots=True, eq=False)
class DrawnWeights:
    """How often a block of replicates holds each cluster: a row for each of them, and tiles for views that sweep."""

    weights: Any
    tiles: Any = None

    @classmethod
    def of(cls, weights: Any, prepared: Any) -> DrawnWeights:
        """From weights as rows, or as tiles of the kernel."""
        if prepared is None:
            return cls(weights)
        if isinstance(weights, np.ndarray):
            return cls(weights, prepared.packed(weights))
        return cls(None, weights)

    @property
    def rows(self) -> Floats:
        """A row of weights for each replicate."""
        rows: Floats = self.tiles.rows if self.weights is None else self.weights
        return rows


def _sample(view: Any, drawn: DrawnWeights, samples: dict[int, Any]) -> Any:
    """The sample that a view draws, drawn once per block whatever the number of asks."""
    if id(view) not in samples:
        members = getattr(view, "members", None)
        if members is not None:
            samples[id(view)] = view.joined([_sample(member, drawn, samples) for member in members])
        else:
            by_kernel = drawn.tiles is not None and getattr(view, "sweeps", False)
            samples[id(view)] = view.drawn(drawn.tiles if by_kernel else drawn.rows)
    return samples[id(view)]


def _errors(given: Sequence[Any]) -> dict[int, Floats]:
    """The standard errors that statistics ask for, by the id of the request: all sums are made in one call."""
    columns = [value for each in given if isinstance(each, Mapping) for value in each.values()]
    errors = [value for value in columns if isinstance(value, Errors)]
    if not errors:
        return {}
    squares = errors[0].sample.squares([each.influence for each in errors])
    return {id(each): errors_of_squares(sums, each.clusters) for each, sums in zip(errors, squares, strict=True)}


def _in_order(work: Callable[[int], Any], starts: range, threads: int) -> Iterator[Any]:
    """The blocks in order, computed on the requested number of threads."""
    if threads == 1:
        yield from map(work, starts)
        return
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  (slow to import, and threads are optional)

    with ThreadPoolExecutor(threads) as pool:
        yield from pool.map(work, starts)


def _checked(given: Any, errors: Mapping[int, Floats], replicates: int) -> dict[str, Floats]:
    """Check that a statistic returned one number, or one row of numbers, per replicate under each name."""
    if not isinstance(given, Mapping):
        raise UserError(f"a statistic gives a dict of arrays, not {literal(given)}")
    settled = {str(name): errors.get(id(value), value) for name, value in given.items()}
    values = {name: np.asarray(value, dtype=np.float64) for name, value in settled.items()}
    for name, value in values.items():
        if value.ndim not in (1, 2) or len(value) != replicates:
            raise UserError(f"the statistic gives {name} the shape {value.shape}, expected ({replicates},)")
    return values
