"""The work on a range of clusters that one worker holds: sums over its clusters, block by block.

Entries are arrays in files, in order of cluster, so that a pass reads them once from front to back. Sums equal those
of a single process to the bit: where a block begins in another range, its running sum is carried over.
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
from demur.inference.point_intervals import held_at, influences_at
from demur.sampling.draws import weights
from demur.sampling.table import CLUSTER_BLOCK, Entries, running_sum
from demur.summaries.keys import compact
from demur.types import Floats, Indices, Integers

Array = NDArray[Any]
_DRAWN_CELLS = 1 << 22
_REPLICATES = 32


class Draw(NamedTuple):
    """The replicates from `first` to `end`, of so many clusters; without a seed, the sample itself."""

    seed: int | None
    first: int
    end: int
    clusters: int

    @property
    def blocks(self) -> list[Draw]:
        """Blocks of replicates that are small enough to draw all clusters at once."""
        step = max(1, _DRAWN_CELLS // self.clusters)
        starts = range(self.first, self.end, step)
        return [self._replace(first=start, end=min(start + step, self.end)) for start in starts]

    @property
    def size(self) -> int:
        """The number of replicates."""
        return self.end - self.first


class Storage(NamedTuple):
    """The folder of a worker's files: shared by all workers, or at a site."""

    folder: str
    site: str = ""


@dataclass(frozen=True, slots=True)
class Range:
    """The clusters from `first` to `end`, and the folder of their files; its weights begin at cluster `origin`."""

    storage: Storage
    first: int
    end: int
    origin: int = 0

    @property
    def site(self) -> str:
        """The site that holds the clusters, empty without sites."""
        return self.storage.site

    def save(self, name: str, array: Array) -> None:
        """Save an array in the folder."""
        _save(self._path(name), array)

    def load(self, name: str) -> Array:
        """An array of the folder, mapped into memory."""
        return _load(self._path(name))

    def _path(self, name: str) -> Path:
        return Path(self.storage.folder) / f"{self.first}-{name}.npy"

    def weights(self, draw: Draw, rows: slice) -> Floats:
        """How often each replicate drew each cluster of some rows: clusters × replicates."""
        if draw.seed is None:
            return np.ones((rows.stop - rows.start, draw.size))
        drawn = slice(rows.start + self.first - self.origin, rows.stop + self.first - self.origin)
        blocks = [_load(_weights_path(self.storage, block))[drawn] for block in draw.blocks]
        return np.concatenate(blocks, axis=1, dtype=np.float64)

    def blocks(self, first: int, end: int, size: int = CLUSTER_BLOCK) -> Iterator[slice]:
        """The rows of the clusters from `first` to `end`, cut at multiples of `size`."""
        borders = [first, *range(first - first % size + size, end, size), end] if first < end else []
        for start, stop in pairwise(borders):
            yield slice(start - self.first, stop - self.first)


def draw_weights(task: tuple[Range, Draw]) -> None:
    """Draw all clusters in some replicates, and save how often each cluster of the range was drawn."""
    own, draw = task
    assert draw.seed is not None  # noqa: S101  (the sample itself needs no weights)
    drawn = weights(draw.seed, np.arange(draw.first, draw.end), draw.clusters)[:, own.first : own.end].T
    _save(_weights_path(own.storage, draw), compact(drawn, int(drawn.max(initial=0)) + 1))


def _weights_path(storage: Storage, draw: Draw) -> Path:
    return Path(storage.folder) / f"weights-{draw.first}-{draw.end}.npy"


def _save(path: Path, array: Array) -> None:
    """Save an array atomically: a killed worker leaves no partial file."""
    new = path.with_name(f"{path.stem}-{os.getpid()}.npy")
    try:
        np.save(new, array, allow_pickle=False)
        new.replace(path)
    except OSError as error:
        new.unlink(missing_ok=True)
        raise unwritable(path.parent, error) from None


def unwritable(folder: str | Path, error: OSError) -> UserError:
    """The error of a folder that cannot be written."""
    return UserError(f"{folder}: cannot be written ({error.strerror or error}): name another, --scratch")


def _load(path: Path) -> Array:
    loaded: Array = np.load(path, mmap_mode="r", allow_pickle=False)
    return loaded


class Summed(NamedTuple):
    """Weighted sums over the clusters of a range: count and loss by plateau and by level of loss, and units."""

    plateaus: tuple[Floats, Floats]
    levels: tuple[Floats, Floats]
    units: Floats


def sums(task: tuple[Range, Draw, tuple[int, int]]) -> Summed:
    """Counts and losses at each step in each replicate: whole numbers, so exact in any order of addition."""
    from scipy.sparse import csr_array  # noqa: PLC0415  (slow to import)

    own, draw, sizes = task
    by_kind = {
        kind: (np.zeros((size, draw.size)), np.zeros((size, draw.size)))
        for kind, size in zip(KINDS, sizes, strict=True)
    }
    units, total = own.load("units"), np.zeros(draw.size)
    for rows in own.blocks(own.first, own.end, 16 * CLUSTER_BLOCK):
        block = own.weights(draw, rows)
        total += units[rows] @ block
        for kind, size in zip(KINDS, sizes, strict=True):
            cluster, step, count, loss = _entries(own, kind, rows)
            for column, target in zip((count, loss), by_kind[kind], strict=True):
                by_step = csr_array((column, (step, cluster)), shape=(size, len(block)))
                np.add(target, by_step @ block, out=target)
    return Summed(by_kind["plateaus"], by_kind["levels"], total)


KINDS = ("plateaus", "levels")


def _entries(own: Range, kind: str, rows: slice) -> tuple[Indices, Indices, Floats, Floats]:
    """Cluster (from 0), step, count and loss of the entries of some rows, in order of cluster, then step."""
    begin = own.load(f"{kind}-begin")[rows.start : rows.stop + 1]
    entries = slice(int(begin[0]), int(begin[-1]))
    cluster = np.repeat(np.arange(rows.stop - rows.start), np.diff(begin))
    step, count, loss = (own.load(f"{kind}-{column}")[entries] for column in ("step", "count", "loss"))
    return cluster, step.astype(np.intp), count.astype(np.float64), loss.astype(np.float64)


class RangeArea(NamedTuple):
    """Influences on an area: derivatives by count and by loss at each step, and what is added to sums over them."""

    kind: str
    dense: bool
    by_count: Floats
    by_loss: Floats
    by_units: Floats
    moves: Any = None
    lift: Floats | None = None


class RangeSum(NamedTuple):
    """A sum of terms, each the name of an array with a number for each cluster, and a factor in each replicate."""

    terms: list[tuple[str, Floats]]


class RangeDifference(NamedTuple):
    """a − times · b, of two influences."""

    a: Any
    b: Any
    times: Floats


class OverScale(NamedTuple):
    """Influences divided by their scale in each replicate."""

    influence: Any
    scale: Floats


class Centred(NamedTuple):
    """Influences less their mean in each replicate."""

    influence: Any
    mean: Floats


class AtPoints(NamedTuple):
    """Influences on the selective risk at operating points: a column for each point instead of each replicate."""

    risk: Floats
    answers: Integers
    divisor: int


class Total(NamedTuple):
    """The sums over clusters to compute: of these powers (1, 2 or 4) of these influences, in these replicates."""

    draw: Draw
    influence: Any
    powers: tuple[int, ...]


def totals(task: tuple[Range, Total, tuple[int, int], Floats | None]) -> list[Floats]:
    """Sums over each block of clusters; that of the first block continues the sum that is carried over."""
    own, total, ends, carried = task
    blocks = []
    for rows in own.blocks(*ends):
        before = np.zeros((len(total.powers), total.draw.size)) if carried is None else carried
        blocks.append(_block_sums(own, total, rows, before))
        carried = None
    return blocks


def _block_sums(own: Range, total: Total, rows: slice, carried: Floats) -> Floats:
    """The carried sums plus the powers of a block, added cluster by cluster."""
    result, drawn = np.empty_like(carried), own.weights(total.draw, rows)
    for start in range(0, total.draw.size, _REPLICATES):
        columns = slice(start, start + _REPLICATES)
        values = _evaluated(own, total.influence, rows, columns)
        for index, power in enumerate(total.powers):
            base = values if power == 1 else values**2
            terms = drawn[:, columns] * (base * base if power == 4 else base)  # noqa: PLR2004  (squared twice, as elsewhere)
            terms[0] += carried[index, columns]
            result[index, columns] = running_sum(terms)[-1]
    return result


def weighted(task: tuple[Range, Draw, Floats]) -> Floats:
    """The sum in each replicate of a whole number that each cluster has."""
    own, draw, numbers = task
    parts = [numbers[rows] @ own.weights(draw, rows) for rows in own.blocks(own.first, own.end)]
    return np.asarray(np.sum(parts, axis=0))


def _evaluated(own: Range, influence: Any, rows: slice, columns: slice) -> Floats:
    """Influences of a block of clusters in some replicates, in the same order of operations as `NumpySweep`."""
    if isinstance(influence, OverScale):
        return _evaluated(own, influence.influence, rows, columns) / influence.scale[columns]
    if isinstance(influence, RangeSum):
        first, *others = (own.load(name)[rows][:, None] * factor[columns] for name, factor in influence.terms)
        for term in others:
            first += term
        return np.asarray(first)
    if isinstance(influence, Centred):
        return _evaluated(own, influence.influence, rows, columns) - influence.mean[columns]
    if isinstance(influence, RangeDifference):
        a, b = (_evaluated(own, term, rows, columns) for term in influence[:2])
        return a - influence.times[columns] * b
    if isinstance(influence, AtPoints):
        return _at_points(_by_step(own, "plateaus", (rows.start, rows.stop), len(influence.risk)), influence, columns)
    entries = _by_step(own, influence.kind, (rows.start, rows.stop), len(influence.by_count))
    values = entries.by_cluster(influence.by_count[:, columns], influence.by_loss[:, columns], dense=influence.dense)
    values += influence.by_units[columns] * own.load("units")[rows][:, None]
    if influence.moves is not None and influence.lift is not None:
        values += influence.lift[columns] * _evaluated(own, influence.moves, rows, columns)
    return values


@lru_cache(maxsize=len(KINDS))  # successive blocks of replicates need the same entries
def _by_step(own: Range, kind: str, rows: tuple[int, int], steps: int) -> Entries:
    """The entries of a block of clusters, in order of step."""
    cluster, step, count, loss = _entries(own, kind, slice(*rows))
    order = np.lexsort((cluster, step))
    ends = np.searchsorted(step[order], np.arange(steps), side="right") - 1
    return Entries(cluster[order], count[order], loss[order], ends, rows[1] - rows[0])


def _at_points(entries: Entries, at: AtPoints, columns: slice) -> Floats:
    points = slice(*columns.indices(len(at.risk))[:2])
    _, cluster, *sums = entries.between(0, points.start)
    count, loss = sums[0], sums[1] / at.divisor
    before = np.array([np.bincount(cluster, column, entries.clusters) for column in (count, loss)], np.float64)
    return influences_at(held_at(entries, points, at.divisor, before), at.risk[points], at.answers[points])
