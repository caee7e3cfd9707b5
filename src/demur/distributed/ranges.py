"""What a worker does with a range of clusters that it alone holds: sums over them, block by block.

Entries are kept as plain arrays in a scratch folder, in order of cluster, so that a pass reads them once from front to
back. A range begins at a whole block of clusters: sums over blocks are then what they are in one process.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from demur.inference.draws import weights
from demur.quantities.table import CLUSTER_BLOCK, Entries, running_sum
from demur.summaries.bins import binned
from demur.summaries.file import read_summary
from demur.summaries.keys import compact, grouped
from demur.summaries.merging import merged
from demur.summaries.summary import ANSWERED, FIRST_VALUE, Summary
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


class Steps(NamedTuple):
    """What entries of one kind are numbered by: values and losses of all ranges, and how sums over them are formed."""

    signal: str
    exponent: int | None
    lower_is_surer: bool
    values: Floats
    losses: Integers
    divisor: int


@dataclass(frozen=True, slots=True)
class Range:
    """The clusters from `first` to `end`, and where what they hold is kept."""

    folder: str
    first: int
    end: int

    def save(self, name: str, array: Array) -> None:
        """Keep an array."""
        _save(self._path(name), array)

    def load(self, name: str) -> Array:
        """An array that was kept: read as it is needed."""
        loaded: Array = np.load(self._path(name), mmap_mode="r", allow_pickle=False)
        return loaded

    def _path(self, name: str) -> Path:
        return Path(self.folder) / f"{self.first}-{name}.npy"

    def weights(self, draw: Draw) -> Array:
        """How often replicates hold these clusters: a row for each cluster."""
        if draw.seed is None:
            return np.ones((self.end - self.first, 1), np.uint8)
        blocks = [
            np.load(_weights_path(self.folder, block), mmap_mode="r", allow_pickle=False) for block in draw.blocks
        ]
        return np.concatenate([block[self.first : self.end] for block in blocks], axis=1)


def draw_weights(task: tuple[str, Draw]) -> None:
    """Draw all clusters in some replicates, once for all ranges, and keep how often each is held: a row for each."""
    folder, draw = task
    assert draw.seed is not None  # noqa: S101  (the data as they are need no weights)
    drawn = weights(draw.seed, np.arange(draw.first, draw.end), draw.clusters).T
    _save(_weights_path(folder, draw), compact(drawn, int(drawn.max()) + 1))


def _weights_path(folder: str, draw: Draw) -> Path:
    return Path(folder) / f"weights-{draw.first}-{draw.end}.npy"


def _save(path: Path, array: Array) -> None:
    """Keep an array: all of it, or none if the worker is killed."""
    new = path.with_name(f"{path.stem}-{os.getpid()}.npy")
    np.save(new, array, allow_pickle=False)
    new.replace(path)


class Held(NamedTuple):
    """What a range says of itself: counts of values and losses, and a number for each of its clusters."""

    marginal: Integers
    abstained: tuple[int, int]
    units: Integers
    answers: Integers
    first_loss: Integers
    entries: tuple[int, int]
    last: tuple[int, int]


def build(task: tuple[Range, Sequence[tuple[str, int, int]], Sequence[Steps]]) -> list[Held]:
    """Put together the parts of a range, and keep its entries by each confidence."""
    own, slices, kinds = task
    parts = [read_summary(path)[0].of_clusters(first, end) for path, first, end in slices if end > first]
    summary = merged(parts, [path for path, first, end in slices if end > first])
    return [_build(own, summary, steps, f"{index}") for index, steps in enumerate(kinds)]


def _build(own: Range, summary: Summary, steps: Steps, name: str) -> Held:
    about, clusters = summary.about, own.end - own.first
    index = [signal.name for signal in about.signals].index(steps.signal)
    cluster, state, *others, loss = summary.columns
    answered = np.flatnonzero(state == ANSWERED)
    values = summary.values[steps.signal]
    if steps.exponent is not None:
        values = binned(values, steps.exponent, lower_is_surer=steps.lower_is_surer)
    value = np.searchsorted(steps.values, values)[others[len(about.groups) + index][answered] - np.intp(FIRST_VALUE)]
    level = np.searchsorted(steps.losses, summary.losses * (steps.divisor // about.loss.divisor))[loss[answered]]
    step = value if steps.lower_is_surer else len(steps.values) - 1 - value
    count, owner = summary.count[answered].astype(np.int64), cluster[answered]
    numbers = {}
    for kind, place, size in (("plateaus", step, len(steps.values)), ("levels", level, len(steps.losses))):
        (held, at), counts = grouped([owner, place], [clusters, size], count)
        _, sums = grouped([owner, place], [clusters, size], count * steps.losses[level])
        begin = np.append(0, np.cumsum(np.bincount(held, minlength=clusters)))
        columns = {"step": at, "count": compact(counts, int(counts.max(initial=0)) + 1), "loss": sums, "begin": begin}
        for column, array in columns.items():
            own.save(f"{name}-{kind}-{column}", array)
        numbers[kind] = len(at), int(held[-1]) + 1 if len(held) else -own.first
    marginal = np.bincount(value * len(steps.losses) + level, count, len(steps.values) * len(steps.losses))
    units = np.bincount(cluster, summary.count, clusters)
    own.save(f"{name}-units", units)
    own.save(f"{name}-answers", np.bincount(owner, count, clusters))
    first = np.full(clusters, len(steps.values))
    wrong = steps.losses[level] != 0
    np.minimum.at(first, owner[wrong], step[wrong])
    unanswered = [int(summary.count[state == each].sum(dtype=np.int64)) for each in (1, 2)]
    answers = np.bincount(owner, count, clusters).astype(np.int64)
    sizes, lasts = zip(*(numbers[kind] for kind in ("plateaus", "levels")), strict=True)
    return Held(
        marginal.astype(np.int64), (unanswered[0], unanswered[1]), units.astype(np.int64), answers, first, sizes, lasts
    )


class Summed(NamedTuple):
    """Weighted sums over the clusters of a range: by plateau and by level, and of units."""

    plateaus: tuple[Floats, Floats]
    levels: tuple[Floats, Floats]
    units: Floats


def sums(task: tuple[Range, str, Draw, tuple[int, int]]) -> Summed:
    """Counts and losses at each step in each replicate, of whole numbers, which are exact however they are added."""
    from scipy.sparse import csr_array  # noqa: PLC0415  (slow to import)

    own, name, draw, sizes = task
    held = own.weights(draw)
    made = {
        kind: (np.zeros((size, draw.size)), np.zeros((size, draw.size)))
        for kind, size in zip(KINDS, sizes, strict=True)
    }
    units, total = own.load(f"{name}-units"), np.zeros(draw.size)
    for rows in _blocks(own.end - own.first, 16 * CLUSTER_BLOCK):
        block = held[rows].astype(np.float64)
        total += units[rows] @ block
        for kind, size in zip(KINDS, sizes, strict=True):
            cluster, step, count, loss = _entries(own, f"{name}-{kind}", rows)
            for column, target in zip((count, loss), made[kind], strict=True):
                by_step = csr_array((column, (step, cluster)), shape=(size, len(block)))
                np.add(target, by_step @ block, out=target)
    return Summed(made["plateaus"], made["levels"], total)


KINDS = ("plateaus", "levels")


def _blocks(clusters: int, size: int) -> Iterator[slice]:
    for start in range(0, clusters, size):
        yield slice(start, min(start + size, clusters))


def _entries(own: Range, name: str, rows: slice) -> tuple[Indices, Indices, Floats, Floats]:
    """The entries of some clusters, in order of cluster and then of step: cluster from 0, step, count, loss."""
    begin = own.load(f"{name}-begin")[rows.start : rows.stop + 1]
    entries = slice(int(begin[0]), int(begin[-1]))
    cluster = np.repeat(np.arange(rows.stop - rows.start), np.diff(begin))
    step, count, loss = (own.load(f"{name}-{column}")[entries] for column in ("step", "count", "loss"))
    return cluster, step.astype(np.intp), count.astype(np.float64), loss.astype(np.float64)


class Area(NamedTuple):
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


class Apart(NamedTuple):
    """(a − times · b) / over, of influences or of a number for each cluster, by its name."""

    a: Any
    b: Any
    times: Floats | None
    over: Floats | None


class Less(NamedTuple):
    """Influences less a number in each replicate."""

    of: Any
    number: Floats


def totals(task: tuple[Range, str, Draw, Any, bool]) -> Floats:
    """Sums of influences, or of their squares, over each block of clusters (a row) in each replicate."""
    own, name, draw, influence, squared = task
    held = own.weights(draw)
    made = []
    for rows in _blocks(own.end - own.first, CLUSTER_BLOCK):
        made.append(np.empty(draw.size))
        for start in range(0, draw.size, _REPLICATES):
            some = slice(start, start + _REPLICATES)
            values = _evaluated(own, name, influence, rows, some)
            drawn = held[rows, some].astype(np.float64)
            made[-1][some] = running_sum(drawn * (values**2 if squared else values))[-1]
    return np.array(made)


def values(task: tuple[Range, str, Any]) -> Floats:
    """The influence of each cluster in the data as they are."""
    own, name, influence = task
    rows = [*_blocks(own.end - own.first, CLUSTER_BLOCK)]
    return np.concatenate([_evaluated(own, name, influence, each, slice(0, 1))[:, 0] for each in rows])


def weighted(task: tuple[Range, Draw, Floats]) -> Floats:
    """The sum over the clusters of a whole number that each of them has."""
    own, draw, numbers = task
    held = own.weights(draw)
    parts = [numbers[rows] @ held[rows].astype(np.float64) for rows in _blocks(len(numbers), CLUSTER_BLOCK)]
    return np.asarray(np.sum(parts, axis=0))


def between(task: tuple[Range, str, int, int]) -> tuple[Indices, Indices, Floats, Floats]:
    """The entries of some plateaus: step, cluster among all, count and loss sum."""
    own, name, start, end = task
    step, begin = own.load(f"{name}-step"), own.load(f"{name}-begin")
    chosen = np.flatnonzero((step >= start) & (step < end))
    cluster = np.searchsorted(begin, chosen, side="right") - 1 + own.first
    count, loss = (own.load(f"{name}-{column}")[chosen].astype(np.float64) for column in ("count", "loss"))
    return step[chosen].astype(np.intp), cluster, count, loss


def _evaluated(own: Range, name: str, influence: Any, rows: slice, some: slice) -> Floats:
    """Influences of a block of clusters (a row each) in some replicates, by the steps that numpy's sweep takes."""
    if isinstance(influence, str):
        return np.asarray(own.load(f"{name}-{influence}")[rows][:, None])
    if isinstance(influence, Less):
        return _evaluated(own, name, influence.of, rows, some) - influence.number[some]
    if isinstance(influence, Apart):
        a, b = (_evaluated(own, name, each, rows, some) for each in influence[:2])
        apart = a - (b if influence.times is None else influence.times[some] * b)
        return apart if influence.over is None else apart / influence.over[some]
    cluster, step, count, loss = _entries(own, f"{name}-{influence.kind}", rows)
    order = np.lexsort((cluster, step))
    ends = np.searchsorted(step[order], np.arange(len(influence.by_count)), side="right") - 1
    entries = Entries(cluster[order], count[order], loss[order], ends, rows.stop - rows.start)
    made = entries.by_cluster(influence.by_count[:, some], influence.by_loss[:, some], dense=influence.dense)
    made += influence.by_units[some] * own.load(f"{name}-units")[rows][:, None]
    made /= influence.scale[some]
    if influence.moves is not None and influence.lift is not None:
        moves = _evaluated(own, name, influence.moves, rows, some)
        made += influence.lift[some] * (moves if influence.factor is None else moves * influence.factor[some])
    return made
