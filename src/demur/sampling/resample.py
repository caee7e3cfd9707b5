"""The bootstrap: one pass over one set of draws, in which every number of every view is computed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from demur.errors import UserError, literal
from demur.facts.memory import give_back
from demur.options import as_option, option, section
from demur.sampling import engine
from demur.sampling.draws import checked_seed, weights
from demur.sampling.numbers import Number
from demur.sampling.sample import Sample
from demur.sampling.table import Table
from demur.sampling.weights import Weights
from demur.types import Floats
from demur.workers import Progress, alone, hired

if TYPE_CHECKING:
    from concurrent.futures import Executor

Columns = dict[str, Floats]
_BLOCK_CELLS = 1 << 17  # 1 MB per array: a block stays in the processor's cache
_MOST_CELLS = 1 << 22  # at most 32 MB per array, for 16 replicates
_FEW_REPLICATES = 16
_SHARES = 128  # of the replicates, at most, among workers
_LARGE = 10**8  # units times resamples: tenths of a second on one processor
_KEPT = 3 << 20
_MANY_CLUSTERS = 1 << 17  # whose weights leave megabytes on the heap of each thread
_MOST_RESAMPLES = 1_000_000  # endpoints are then known to 0.003 standard errors


@dataclass(frozen=True, slots=True, eq=False)
class Ask:
    """Numbers to compute of a view: under each name one number, a row of numbers, or an error, per replicate.

    A view is a `Table`, several in a `Joint`, or anything with `ids`, `cells`, and a sample that is `drawn` with
    weights. An ask that pickles can be answered by other processes.
    """

    view: Any
    numbers: Callable[[Any], Mapping[str, Any]]


@dataclass(frozen=True, slots=True, eq=False)
class Joint:
    """Several views of the same clusters, drawn alike; `join` makes one sample of those of its members."""

    members: tuple[Any, ...]
    join: Callable[[Sequence[Any]], Any] = list

    @property
    def ids(self) -> Sequence[int | str]:
        """The clusters."""
        ids: Sequence[int | str] = self.members[0].ids
        return ids

    @property
    def cells(self) -> int:
        """How wide the arrays of one replicate are."""
        return max(int(member.cells) for member in self.members)


@dataclass(frozen=True, slots=True, eq=False)
class StdError:
    """The standard error of a number in each replicate, √(P/(P−1) · Σ u²) over P clusters with the influences u.

    `clusters` is the number of clusters that have any of the number's units. All errors of a block are computed
    together.
    """

    number: Number
    clusters: int

    def of_squares(self, squares: Floats) -> Floats:
        """The standard errors from the sums of squared influences; 0 if there is one cluster."""
        return np.sqrt(squares * (self.clusters / (self.clusters - 1))) if self.clusters > 1 else np.zeros(len(squares))


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
        "Who reads parts of data and resamples: a number of processes, or dask://SCHEDULER:PORT; 1 is this one.",
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
        """The plan with its number of threads chosen for this many units."""
        return replace(self, threads=self.threads or _threads(units * self.resamples))

    def drawn(self, replicates: range, clusters: int) -> Weights:
        """The weights of the clusters in some of the replicates; a draw depends on seed, replicate and index alone."""
        assert self.seed is not None  # noqa: S101  (the plan has checked it)
        by_kernel = engine.drawn(self.seed, replicates, clusters) if self.strata is None else None
        return by_kernel or engine.packed(weights(self.seed, np.asarray(replicates), clusters, self.strata))


def _threads(cells: int) -> int:
    if cells < _LARGE:
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def bootstrap(statistic: Callable[..., Mapping[str, Any]], *tables: Table, plan: Plan) -> Columns:
    """The values of a statistic over bootstrap samples of the clusters that the tables share.

    The statistic gets one `Sample` per table, all drawn alike, and gives a number, or a row of numbers, per replicate
    under each name.

    >>> import numpy as np
    >>> from demur import Graded, Measure
    >>> table, aurc = Table.of(Graded(4, np.array([0, 2, 0]), np.array([2.0, 2.0, 1.0]))), Measure.of("aurc")
    >>> bootstrap(lambda sample: {"aurc": aurc(sample)}, table, plan=Plan(3, seed=1))["aurc"].round(3).tolist()
    [0.875, 1.75, 0.0]
    """
    if not tables or not all(isinstance(table, Table) for table in tables):
        raise UserError("nothing to resample: give at least one table, made by Table.of")
    _check_drawn_alike(tables)
    return resampled([Ask(Joint(tables), partial(_called, statistic))], plan)[0]


def _called(statistic: Callable[..., Mapping[str, Any]], samples: Sequence[Sample]) -> Mapping[str, Any]:
    return statistic(*samples)


def _check_drawn_alike(views: Sequence[Any]) -> None:
    if any(view.ids != views[0].ids for view in views):
        raise UserError("the tables hold different clusters: they cannot be drawn alike")


def resampled(asks: Sequence[Ask], plan: Plan) -> list[Columns]:
    """The values of every ask over all bootstrap replicates; all views use the same draws."""
    clusters = len(asks[0].view.ids) if asks else 0
    draw = partial(replace(plan, workers=1, progress=None).drawn, clusters=clusters)
    return _in_blocks(asks, draw, plan.resamples, plan)


def replicates_of(asks: Sequence[Ask], plan: Plan, replicates: range) -> list[Columns]:
    """The values of every ask in some of the replicates.

    They follow from the asks and the plan alone, so blocks may be computed anywhere and in any order to the same bytes.
    """
    return _answers(asks, plan.drawn(replicates, len(asks[0].view.ids)))


def left_out(asks: Sequence[Ask], plan: Plan) -> list[Columns]:
    """The values of every ask with each cluster left out in turn; empty if there is a single cluster."""
    clusters = len(asks[0].view.ids) if asks else 0
    if clusters <= 1:
        return [{} for _ in asks]
    return _in_blocks(asks, partial(_all_but, clusters), clusters, replace(plan, progress=None))


def _all_but(clusters: int, chosen: range) -> Weights:
    return engine.packed(np.asarray(1.0 - (np.asarray(chosen)[:, None] == np.arange(clusters))))


def _in_blocks(asks: Sequence[Ask], weights_of: Callable[[range], Weights], total: int, plan: Plan) -> list[Columns]:
    """The answers of all blocks of samples, computed on threads or by workers, and concatenated in order."""
    if not asks or not total:
        return [{} for _ in asks]
    views = [*{id(ask.view): ask.view for ask in asks}.values()]
    _check_drawn_alike(views)
    cells = max(int(view.cells) for view in views)
    if alone(plan.workers):
        threads = plan.threads or _threads(total * cells)
        job = Job(asks, weights_of, plan.block or _block_size(cells, -(-total // threads)))
        blocks = _on_threads(job.answers, _ranges(total, job.block), threads, _of_samples(plan, job.block, total))
    else:
        share = max(-(-total // _SHARES), _FEW_REPLICATES)
        job = Job(asks, weights_of, plan.block or _block_size(cells, share))
        with hired(plan.workers, job) as workers:
            blocks = workers.each(Job.answered_by_worker, _ranges(total, share), _of_samples(plan, share, total))
    if len(views[0].ids) > _MANY_CLUSTERS:
        give_back()
    return _concatenated(blocks)


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """Asks, what gives the weights of a range of samples, and how many samples are computed at a time.

    The answers of a range are the same whoever computes it, on the `engine` of this process.
    """

    asks: Sequence[Ask]
    weights_of: Callable[[range], Weights]
    block: int
    engine: str = field(default_factory=engine.kind)

    def answers(self, samples: range) -> list[Columns]:
        """The answers to every ask in a range of samples."""
        np.empty(_KEPT)  # freed at once: the C allocator then keeps freed blocks, which saves a quarter of the time
        starts = range(0, len(samples), self.block)
        parts = [_answers(self.asks, self.weights_of(samples[start : start + self.block])) for start in starts]
        return _concatenated(parts)

    def answered_by_worker(self, samples: range) -> list[Columns]:
        """The answers, computed by another process, whose engine must be that of the process that shares them out."""
        if engine.kind() != self.engine:
            engines = f"a worker computes with {engine.kind()}, and this process with {self.engine}"
            raise UserError(f"{engines}: numbers would differ in the last digits; set {engine.VARIABLE} alike for both")
        return self.answers(samples)


def _of_samples(plan: Plan, size: int, total: int) -> Progress | None:
    """What is told the number of ranges that are done, and tells that of samples."""
    progress = plan.progress
    return progress and (lambda ranges, _: progress(min(ranges * size, total), total))


def _ranges(total: int, size: int) -> list[range]:
    return [range(start, min(start + size, total)) for start in range(0, total, size)]


def _concatenated(blocks: Sequence[list[Columns]]) -> list[Columns]:
    """The answers to every ask over all blocks, in order."""
    if len(blocks) == 1:
        return blocks[0]
    return [
        {name: np.concatenate([block[index][name] for block in blocks]) for name in first}
        for index, first in enumerate(blocks[0])
    ]


def _block_size(cells: int, most: int) -> int:
    """How many replicates to draw at a time, so that their arrays stay in the processor's cache."""
    least = min(_FEW_REPLICATES, _MOST_CELLS // cells)
    return min(max(engine.replicates_at_once(_BLOCK_CELLS // cells), least, 1), most)


def _answers(asks: Sequence[Ask], drawn: Weights) -> list[Columns]:
    """The answers to every ask in a block of samples; each view is drawn once, whatever the number of asks."""
    samples: dict[int, Any] = {}
    given = [ask.numbers(_sample(ask.view, drawn, samples)) for ask in asks]
    errors = [
        value for each in given if isinstance(each, Mapping) for value in each.values() if type(value) is StdError
    ]
    squares = drawn.squares([error.number for error in errors])
    known = {id(error): error.of_squares(sums) for error, sums in zip(errors, squares, strict=True)}
    columns = [_checked(each, known, drawn.replicates) for each in given]
    drawn.release()
    return columns


def _sample(view: Any, drawn: Weights, samples: dict[int, Any]) -> Any:
    if id(view) not in samples:
        if isinstance(view, Joint):
            samples[id(view)] = view.join([_sample(member, drawn, samples) for member in view.members])
        else:
            samples[id(view)] = Sample(view, drawn) if isinstance(view, Table) else view.drawn(drawn)
    return samples[id(view)]


def _on_threads(
    work: Callable[[range], list[Columns]], ranges: Sequence[range], threads: int, progress: Progress | None
) -> list[list[Columns]]:
    """The blocks in order, computed on the requested number of threads."""
    blocks: list[list[Columns]] = []
    with ExitStack() as stack:
        in_order: Callable[..., Iterable[list[Columns]]] = map
        if threads > 1:
            from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  (slow to import, and often not needed)

            in_order = stack.enter_context(ThreadPoolExecutor(threads)).map
        for block in in_order(work, ranges):
            blocks.append(block)
            if progress:
                progress(len(blocks), len(ranges))
    return blocks


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
