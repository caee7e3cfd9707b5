"""Counts and losses by step (a plateau of confidence or a level of loss) and cluster, and their running sums."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demur.types import Flags, Floats, Indices, Integers

_DENSE_ENOUGH = 4
_CLUSTER_BLOCK = 4096
_FEW_ROWS = 4
_SMALL_PRODUCT = (
    1 << 17
)  # multiplications; beyond twice as many BLAS may start threads, which take longer than they save


def running_sum(values: Floats) -> Floats:
    """Cumulative sums down the rows, in place; the order of addition does not depend on the number of columns.

    Stretches of √rows are added up side by side, then their totals: rows are often too short to be added one by one.
    """
    rows = len(values)
    if rows < _FEW_ROWS:
        return np.cumsum(values, axis=0, out=values)
    stretch = math.isqrt(rows)
    whole = rows // stretch * stretch
    parts = values[:whole].reshape(-1, stretch, values.shape[1])
    for row in range(1, stretch):
        parts[:, row] += parts[:, row - 1]
    parts[1:] += running_sum(parts[:-1, -1].copy())[:, None]
    for row in range(whole, rows):
        values[row] += values[row - 1]
    return values


def _product(matrix: Floats, columns: Floats) -> Floats:
    """The product of two matrices of whole numbers, in parts so small that no thread is started for them."""
    width = _SMALL_PRODUCT // max(matrix.size, 1)
    if not width or columns.shape[1] <= width:
        return matrix @ columns
    product = np.empty((len(matrix), columns.shape[1]))
    for start in range(0, columns.shape[1], width):
        np.matmul(matrix, columns[:, start : start + width], out=product[:, start : start + width])
    return product


def careful_sum(values: NDArray[Any]) -> NDArray[Any]:
    """Cumulative sums down the rows: exact for integers, to about the last bit of each sum for doubles.

    Floats are cut in two on a grid so coarse that the upper parts add up without rounding; what rounding does to the
    lower parts is far below the last bit of the total.

    >>> float(careful_sum(np.full(1_000_000, 0.1))[-1])
    100000.0
    """
    if values.dtype.kind == "i":
        return np.cumsum(values, axis=0)
    largest = float(np.abs(values).max(initial=0)) * len(values)
    grid = 2.0 ** (math.frexp(largest)[1] - 52)
    upper = np.rint(values / grid) * grid
    return np.asarray(np.cumsum(upper, axis=0) + np.cumsum(values - upper, axis=0))


def sum_of_rows(values: Floats) -> Floats:
    """Sums down the rows; the order of addition does not depend on the number of columns."""
    # numpy adds up a single column pairwise, but several columns row by row.
    return np.asarray((values if values.shape[1] > 1 else np.cumsum(values, axis=0)[-1:]).sum(axis=0))


def last_of_equal(values: NDArray[Any]) -> Flags:
    """Flags of the last of each run of equal values in a sorted array."""
    return np.append(values[1:] != values[:-1], True)[: len(values)]


def narrow(size: int) -> np.dtype[Any]:
    """The smallest integer type, of 4 or 8 bytes, that can count to `size`."""
    return np.promote_types(np.int32, np.min_scalar_type(-size - 1))


@dataclass(frozen=True, eq=False)
class Steps:
    """A sparse matrix of counts and losses, steps × clusters, its entries in order of steps, then of clusters.

    Steps are numbered from 1, so that running sums begin with a row of 0 at step 0; the entries of step j are those
    from `begin[j - 1]` to `begin[j]`.
    """

    begin: Indices
    cluster: Indices
    count: Floats
    loss: Floats
    clusters: int

    @classmethod
    def of(
        cls, step: Indices, cluster: Indices, loss: NDArray[Any], clusters: int, counts: Integers | None = None
    ) -> Steps:
        """Build the matrix by adding up the units that share a step and a cluster. Steps count from 0, none empty."""
        # Sums of doubles depend on their order, so a cluster's losses are sorted: the order of the rows has no effect.
        whole, in_order = loss.dtype.kind == "i", bool((cluster[1:] >= cluster[:-1]).all())
        if whole and in_order:  # as in a summary: narrow steps are then sorted alone, much faster
            order = np.argsort(step, kind="stable")
        else:
            order = np.lexsort((cluster, step) if whole else (loss, cluster, step))
        step, cluster = step[order], cluster[order]
        differs = (step[1:] != step[:-1]) | (cluster[1:] != cluster[:-1])
        first = np.flatnonzero(np.append(True, differs)[: len(order)])
        begin = np.append(0, np.flatnonzero(last_of_equal(step[first])) + 1)
        cluster = cluster[first].astype(narrow(clusters))
        del step, differs  # as large as the arrays made from them
        count = np.ones(len(order)) if counts is None else np.asarray(counts[order], np.float64)
        loss = np.asarray(loss[order], np.float64) * count
        del order
        if 0 < len(first) < len(count):
            count = np.add.reduceat(count, first)
            loss = np.add.reduceat(loss, first)
        return cls(begin, cluster, count, loss, clusters)

    def __getstate__(self) -> dict[str, Any]:
        """The fields alone: what is kept to speed up sums is computed again by whoever unpickles this."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def __len__(self) -> int:
        return len(self.begin) - 1

    @cached_property
    def dense(self) -> bool:
        """Whether a full matrix is faster than a sparse one."""
        return len(self) * (int(self.cluster.max(initial=-1)) + 1) <= _DENSE_ENOUGH * len(self.count)

    @property
    def cells(self) -> int:
        """Number of elements in the largest array that one replicate needs."""
        return len(self) if self.dense else len(self.count)

    @cached_property
    def step(self) -> Indices:
        """The step of each entry, counted from 1."""
        return np.repeat(np.arange(1, len(self) + 1, dtype=narrow(len(self))), np.diff(self.begin))

    @cached_property
    def _matrix(self) -> Floats:
        full = np.zeros((2, len(self) + 1, self.clusters))
        full[0, self.step, self.cluster], full[1, self.step, self.cluster] = self.count, self.loss
        return full

    @cached_property
    def _cumulated(self) -> Floats:
        return np.cumsum(self._matrix, axis=1)

    @cached_property
    def _turns(self) -> list[Indices]:
        """Indices of the first entry of every cluster, then of the second, and so on: each cluster once per turn."""
        order = np.argsort(self.cluster, kind="stable")
        cluster = self.cluster[order]
        turn = np.arange(len(cluster)) - np.searchsorted(cluster, cluster)
        by_turn = order[np.argsort(turn, kind="stable")]
        return np.split(by_turn, np.cumsum(np.bincount(turn))[:-1])

    def forget(self) -> None:
        """Free the stored matrices; they are computed again when needed."""
        for name in ("step", "_matrix", "_cumulated", "_turns"):
            self.__dict__.pop(name, None)

    def running_sums(self, weights: Floats, *, whole: bool) -> tuple[Floats, Floats]:
        """Weighted counts and losses up to each step (rows) in each replicate (columns).

        Sums of integers are exact in any order, so a matrix product computes them where the table is dense. Other
        losses are added in the order of the entries, so that the result does not depend on the block size.
        """
        if whole and self.dense:
            counts, losses = (_product(sums, weights) for sums in self._cumulated)
            return counts, losses
        count, loss = np.empty((2, len(self.count) + 1, weights.shape[1]))
        count[0], loss[0] = 0, 0
        np.take(weights, self.cluster, axis=0, out=count[1:])
        np.multiply(count[1:], self.loss[:, None], out=loss[1:])
        if (self.count != 1).any():
            count[1:] *= self.count[:, None]
        sums = running_sum(count), running_sum(loss)
        return sums if len(self) == len(self.count) else (sums[0][self.begin], sums[1][self.begin])

    def by_cluster(self, by_count: Floats, by_loss: Floats | None = None) -> Floats:
        """Sum, for each cluster, its counts and losses times the coefficients of their steps: clusters × replicates."""
        totals = np.zeros((self.clusters, by_count.shape[1]))
        if self.dense:
            (counts, losses), part = self._matrix, np.empty_like(totals)
            for step in range(1, len(self) + 1):  # one order of addition, whatever the block
                totals += np.multiply(counts[step][:, None], by_count[step], out=part)
                if by_loss is not None:
                    totals += np.multiply(losses[step][:, None], by_loss[step], out=part)
            return totals
        for entries in self._turns:
            steps = self.step[entries]
            terms = by_count[steps] * self.count[entries, None]
            if by_loss is not None:
                terms += by_loss[steps] * self.loss[entries, None]
            totals[self.cluster[entries]] += terms
        return totals

    def upto(self, last: Any) -> tuple[Floats, Floats]:
        """Counts and losses of each cluster up to a step; `last` is one step, or one per cluster."""
        inside = self.step <= np.broadcast_to(last, self.clusters)[self.cluster]
        cluster = self.cluster[inside]
        count, loss = (np.bincount(cluster, part[inside], self.clusters) for part in (self.count, self.loss))
        return count.astype(np.float64), loss.astype(np.float64)

    def between(self, start: int, end: int) -> tuple[Indices, Indices, Floats, Floats]:
        """Step, cluster, count and loss of the entries with start < step ≤ end."""
        begin = self.begin[start : end + 1]
        rows = slice(begin[0], begin[-1])
        step = np.repeat(np.arange(start + 1, end + 1), np.diff(begin))
        return step, self.cluster[rows], self.count[rows], self.loss[rows]

    def in_blocks(self) -> Iterator[Steps]:
        """The matrix cut into blocks of clusters; each block has all steps, some perhaps empty."""
        if self.clusters <= _CLUSTER_BLOCK:
            yield self
            return
        borders = np.append(np.arange(0, self.clusters, _CLUSTER_BLOCK), self.clusters)
        steps = pairwise(self.begin.tolist())
        begins = np.stack([begin + np.searchsorted(self.cluster[begin:end], borders) for begin, end in steps])
        for (first, end), begin, sizes in zip(pairwise(borders.tolist()), begins.T, np.diff(begins).T, strict=False):
            ends = np.cumsum(sizes)
            rows = np.arange(ends[-1]) + np.repeat(begin - ends + sizes, sizes)
            parts = self.cluster[rows] - first, self.count[rows], self.loss[rows]
            yield Steps(np.append(0, ends), *parts, end - first)
