"""What a worker does with a range of clusters that it alone holds: sums over them, block by block.

Entries are kept as plain arrays in a folder, in order of cluster, so that a pass reads them once from front to back.
Sums over blocks of clusters are what they are in one process, also where a block begins in another range: running sums
go on from what is carried over.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from demur.errors import UserError
from demur.inference.draws import weights
from demur.inference.point_intervals import held_at, influences_at
from demur.quantities.table import CLUSTER_BLOCK, Entries, running_sum
from demur.summaries.keys import compact
from demur.types import Floats, Indices, Integers

Array = NDArray[Any]
_DRAWN_CELLS = 1 << 22
_REPLICATES = 32


class Draw(NamedTuple):
    """Which replicates of how many clusters; without a seed, the data as they are."""

    seed: int | None
    first: int
    end: int
    clusters: int

    @property
    def blocks(self) -> list[Draw]:
        """The same in blocks of so few replicates that all their clusters can be drawn at once."""
        step = max(1, _DRAWN_CELLS // self.clusters)
        starts = range(self.first, self.end, step)
        return [self._replace(first=start, end=min(start + step, self.end)) for start in starts]

    @property
    def size(self) -> int:
        """How many replicates there are."""
        return self.end - self.first


class Storage(NamedTuple):
    """Where what a worker makes is kept: a folder that all workers see, or one of a site."""

    folder: str
    site: str = ""


@dataclass(frozen=True, slots=True)
class Range:
    """The clusters from `first` to `end`, and where what they hold is kept, with that of others from `origin` on."""

    storage: Storage
    first: int
    end: int
    origin: int = 0

    @property
    def site(self) -> str:
        """The site that holds them, if sites do."""
        return self.storage.site

    def save(self, name: str, array: Array) -> None:
        """Keep an array."""
        _save(self._path(name), array)

    def load(self, name: str) -> Array:
        """An array that was kept: read as it is needed."""
        return _load(self._path(name))

    def _path(self, name: str) -> Path:
        return Path(self.storage.folder) / f"{self.first}-{name}.npy"

    def weights(self, draw: Draw, rows: slice) -> Floats:
        """How often replicates hold some of these clusters: a row for each cluster."""
        if draw.seed is None:
            return np.ones((rows.stop - rows.start, draw.size))
        some = slice(rows.start + self.first - self.origin, rows.stop + self.first - self.origin)
        blocks = [_load(_weights_path(self.storage, block))[some] for block in draw.blocks]
        return np.concatenate(blocks, axis=1, dtype=np.float64)

    def blocks(self, first: int, end: int, size: int = CLUSTER_BLOCK) -> Iterator[slice]:
        """The rows of some clusters, in blocks that begin where those of all clusters do."""
        borders = [first, *range(first - first % size + size, end, size), end] if first < end else []
        for start, stop in pairwise(borders):
            yield slice(start - self.first, stop - self.first)


def draw_weights(task: tuple[Range, Draw]) -> None:
    """Draw all clusters in some replicates, and keep how often each of those in one place is held: a row for each."""
    own, draw = task
    assert draw.seed is not None  # noqa: S101  (the data as they are need no weights)
    drawn = weights(draw.seed, np.arange(draw.first, draw.end), draw.clusters)[:, own.first : own.end].T
    _save(_weights_path(own.storage, draw), compact(drawn, int(drawn.max(initial=0)) + 1))


def _weights_path(storage: Storage, draw: Draw) -> Path:
    return Path(storage.folder) / f"weights-{draw.first}-{draw.end}.npy"


def _save(path: Path, array: Array) -> None:
    """Keep an array: all of it, or none if the worker is killed."""
    new = path.with_name(f"{path.stem}-{os.getpid()}.npy")
    try:
        np.save(new, array, allow_pickle=False)
        new.replace(path)
    except OSError as error:
        new.unlink(missing_ok=True)
        raise unwritable(path.parent, error) from None


def unwritable(folder: str | Path, error: OSError) -> UserError:
    """The error of a folder in which nothing can be kept."""
    return UserError(f"{folder}: cannot be written ({error.strerror or error}): name another, --scratch")


def _load(path: Path) -> Array:
    loaded: Array = np.load(path, mmap_mode="r", allow_pickle=False)
    return loaded


class Summed(NamedTuple):
    """Weighted sums over the clusters of a range: by plateau and by level, and of units."""

    plateaus: tuple[Floats, Floats]
    levels: tuple[Floats, Floats]
    units: Floats


def sums(task: tuple[Range, Draw, tuple[int, int]]) -> Summed:
    """Counts and losses at each step in each replicate, of whole numbers, which are exact however they are added."""
    from scipy.sparse import csr_array  # noqa: PLC0415  (slow to import)

    own, draw, sizes = task
    made = {
        kind: (np.zeros((size, draw.size)), np.zeros((size, draw.size)))
        for kind, size in zip(KINDS, sizes, strict=True)
    }
    units, total = own.load("units"), np.zeros(draw.size)
    for rows in own.blocks(own.first, own.end, 16 * CLUSTER_BLOCK):
        block = own.weights(draw, rows)
        total += units[rows] @ block
        for kind, size in zip(KINDS, sizes, strict=True):
            cluster, step, count, loss = _entries(own, kind, rows)
            for column, target in zip((count, loss), made[kind], strict=True):
                by_step = csr_array((column, (step, cluster)), shape=(size, len(block)))
                np.add(target, by_step @ block, out=target)
    return Summed(made["plateaus"], made["levels"], total)


KINDS = ("plateaus", "levels")


def _entries(own: Range, kind: str, rows: slice) -> tuple[Indices, Indices, Floats, Floats]:
    """The entries of some clusters, in order of cluster and then of step: cluster from 0, step, count, loss."""
    begin = own.load(f"{kind}-begin")[rows.start : rows.stop + 1]
    entries = slice(int(begin[0]), int(begin[-1]))
    cluster = np.repeat(np.arange(rows.stop - rows.start), np.diff(begin))
    step, count, loss = (own.load(f"{kind}-{column}")[entries] for column in ("step", "count", "loss"))
    return cluster, step.astype(np.intp), count.astype(np.float64), loss.astype(np.float64)


class RangeArea(NamedTuple):
    """Influences on an area: what a count and a loss at each step are worth, and how sums by cluster become them."""

    kind: str
    dense: bool
    by_count: Floats
    by_loss: Floats
    by_units: Floats
    scale: Floats
    lift: Floats | None
    moves: Any
    factor: Floats | None


class RangeApart(NamedTuple):
    """(a − times · b) / over, of influences or of a number for each cluster, by its name."""

    a: Any
    b: Any
    times: Floats | None
    over: Floats | None


class Less(NamedTuple):
    """Influences less a number in each replicate."""

    of: Any
    number: Floats


class AtPoints(NamedTuple):
    """Influences on the risk at operating points, in columns where other influences have replicates."""

    risk: Floats
    answers: Integers
    divisor: int


class Total(NamedTuple):
    """A sum over clusters: of which powers (1, 2, 4) of which influences, in which replicates."""

    draw: Draw
    influence: Any
    powers: tuple[int, ...]


def totals(task: tuple[Range, Total, tuple[int, int], Floats | None]) -> list[Floats]:
    """Sums over each block of some clusters; the first goes on from the sum that is carried to it."""
    own, total, ends, carried = task
    made = []
    for rows in own.blocks(*ends):
        added = np.zeros((len(total.powers), total.draw.size)) if carried is None else carried
        made.append(_added(own, total, rows, added))
        carried = None
    return made


def _added(own: Range, total: Total, rows: slice, carried: Floats) -> Floats:
    """What was carried and then the powers of a block of clusters, added up one cluster after another."""
    made, held = np.empty_like(carried), own.weights(total.draw, rows)
    for start in range(0, total.draw.size, _REPLICATES):
        some = slice(start, start + _REPLICATES)
        values = _evaluated(own, total.influence, rows, some)
        for index, power in enumerate(total.powers):
            once = values if power == 1 else values**2
            terms = held[:, some] * (once * once if power == 4 else once)  # noqa: PLR2004  (squared twice, as elsewhere)
            terms[0] += carried[index, some]
            made[index, some] = running_sum(terms)[-1]
    return made


def weighted(task: tuple[Range, Draw, Floats]) -> Floats:
    """The sum over the clusters of a whole number that each of them has."""
    own, draw, numbers = task
    parts = [numbers[rows] @ own.weights(draw, rows) for rows in own.blocks(own.first, own.end)]
    return np.asarray(np.sum(parts, axis=0))


def _evaluated(own: Range, influence: Any, rows: slice, some: slice) -> Floats:
    """Influences of a block of clusters (a row each) in some replicates, by the steps that numpy's sweep takes."""
    if isinstance(influence, str):
        return np.asarray(own.load(influence)[rows][:, None])
    if isinstance(influence, Less):
        return _evaluated(own, influence.of, rows, some) - influence.number[some]
    if isinstance(influence, RangeApart):
        a, b = (_evaluated(own, each, rows, some) for each in influence[:2])
        apart = a - (b if influence.times is None else influence.times[some] * b)
        return apart if influence.over is None else apart / influence.over[some]
    if isinstance(influence, AtPoints):
        return _at_points(_by_step(own, "plateaus", (rows.start, rows.stop), len(influence.risk)), influence, some)
    entries = _by_step(own, influence.kind, (rows.start, rows.stop), len(influence.by_count))
    made = entries.by_cluster(influence.by_count[:, some], influence.by_loss[:, some], dense=influence.dense)
    made += influence.by_units[some] * own.load("units")[rows][:, None]
    made /= influence.scale[some]
    if influence.moves is not None and influence.lift is not None:
        moves = _evaluated(own, influence.moves, rows, some)
        made += influence.lift[some] * (moves if influence.factor is None else moves * influence.factor[some])
    return made


@lru_cache(maxsize=len(KINDS))  # some replicates after others ask for the same block
def _by_step(own: Range, kind: str, rows: tuple[int, int], steps: int) -> Entries:
    """The entries of a block of clusters, in order of step."""
    cluster, step, count, loss = _entries(own, kind, slice(*rows))
    order = np.lexsort((cluster, step))
    ends = np.searchsorted(step[order], np.arange(steps), side="right") - 1
    return Entries(cluster[order], count[order], loss[order], ends, rows[1] - rows[0])


def _at_points(entries: Entries, at: AtPoints, some: slice) -> Floats:
    points = slice(*some.indices(len(at.risk))[:2])
    _, cluster, *sums = entries.between(0, points.start)
    count, loss = sums[0], sums[1] / at.divisor
    before = np.array([np.bincount(cluster, each, entries.clusters) for each in (count, loss)], np.float64)
    return influences_at(held_at(entries, points, at.divisor, before), at.risk[points], at.answers[points])
