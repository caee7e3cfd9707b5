"""The table that is resampled, (cluster × plateau) → (count, loss sum): enough for every quantity of a curve."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demur.errors import UserError
from demur.facts.coded import positions, summed_by
from demur.quantities.curve import Curve, points_within
from demur.quantities.graded import Graded
from demur.quantities.plateaus import last_of_equal, narrow
from demur.types import Floats, Indices, Integers

_DENSE_ENOUGH = 4
_WIDE = 256
_CLUSTER_BLOCK = 4096


def running_sum(values: Floats) -> Floats:
    """Cumulative sums down the rows, in place. For long rows, adding whole rows is several times faster than cumsum."""
    if values.shape[1] < _WIDE:
        return np.cumsum(values, axis=0, out=values)
    for above, row in pairwise(values):
        np.add(row, above, out=row)
    return values


def cluster_sums(values: Floats) -> Floats:
    """Sums over clusters (rows), block by block, in the same order of addition in every engine."""
    total = np.zeros(values.shape[1])
    for start in range(0, len(values), _CLUSTER_BLOCK):
        total += running_sum(values[start : start + _CLUSTER_BLOCK])[-1]
    return total


@dataclass(frozen=True, eq=False)
class Entries:
    """Counts and loss sums by step (a plateau or a level of loss) and cluster, in order of step and then of cluster."""

    cluster: Indices
    count: Floats
    loss: Floats
    step_end: Indices
    clusters: int

    @classmethod
    def of(
        cls, step: Indices, cluster: Indices, loss: NDArray[Any], clusters: int, counts: Integers | None = None
    ) -> Entries:
        """Add up the units that share a step and a cluster. Steps are numbered from 0 and none is empty."""
        # Sums of doubles depend on their order, so a cluster's losses are sorted: the order of the rows has no effect.
        whole, in_order = loss.dtype.kind == "i", bool((cluster[1:] >= cluster[:-1]).all())
        if whole and in_order:  # as in a summary: narrow steps are then sorted alone, much faster
            order = np.argsort(step, kind="stable")
        else:
            order = np.lexsort((cluster, step) if whole else (loss, cluster, step))
        step, cluster = step[order], cluster[order]
        differs = (step[1:] != step[:-1]) | (cluster[1:] != cluster[:-1])
        first = np.flatnonzero(np.append(True, differs)[: len(order)])
        step_end, cluster = np.flatnonzero(last_of_equal(step[first])), cluster[first].astype(narrow(clusters))
        del step, differs  # as large as the arrays made from them
        count = np.ones(len(order)) if counts is None else np.asarray(counts[order], np.float64)
        loss = np.asarray(loss[order], np.float64) * count
        del order
        if 0 < len(first) < len(count):
            count = np.add.reduceat(count, first)
            loss = np.add.reduceat(loss, first)
        return cls(cluster, count, loss, step_end, clusters)

    @cached_property
    def dense(self) -> bool:
        """Whether enough clusters have entries at enough steps for a full matrix to pay off."""
        return len(self.step_end) * (int(self.cluster.max(initial=-1)) + 1) <= _DENSE_ENOUGH * len(self.count)

    @property
    def cells(self) -> int:
        """Number of elements in the largest array of one replicate."""
        return len(self.step_end) if self.dense else len(self.count)

    @cached_property
    def matrix(self) -> Floats:
        """Counts and loss sums as two full matrices, steps × clusters."""
        full = np.zeros((2, len(self.step_end), self.clusters))
        full[0, self.step, self.cluster], full[1, self.step, self.cluster] = self.count, self.loss
        return full

    @cached_property
    def cumulated(self) -> Floats:
        """Counts and loss sums up to and including each step, as two full matrices, steps × clusters."""
        return np.cumsum(self.matrix, axis=1)

    @cached_property
    def turns(self) -> list[Indices]:
        """Indices of the first entry of every cluster, then of the second, and so on: each cluster once per turn."""
        order = np.argsort(self.cluster, kind="stable")
        cluster = self.cluster[order]
        turn = np.arange(len(cluster)) - np.searchsorted(cluster, cluster)
        by_turn = order[np.argsort(turn, kind="stable")]
        return np.split(by_turn, np.cumsum(np.bincount(turn))[:-1])

    @cached_property
    def step(self) -> Indices:
        """The step of each entry."""
        steps = np.arange(len(self.step_end), dtype=narrow(len(self.step_end)))
        return np.repeat(steps, np.diff(self.step_end, prepend=-1))

    def between(self, start: int, end: int) -> tuple[Indices, Indices, Floats, Floats]:
        """Step, cluster, count and loss sum of the entries with start ≤ step < end."""
        begin = np.append(0, self.step_end + 1)[start : end + 1]
        rows = slice(begin[0], begin[-1])
        step = np.repeat(np.arange(start, end), np.diff(begin))
        return step, self.cluster[rows], self.count[rows], self.loss[rows]

    def in_blocks(self) -> Iterator[Entries]:
        """The entries of each block of clusters, with the same steps, some of which may be empty."""
        if self.clusters <= _CLUSTER_BLOCK:
            yield self
            return
        borders = np.append(np.arange(0, self.clusters, _CLUSTER_BLOCK), self.clusters)
        steps = pairwise(np.append(0, self.step_end + 1).tolist())
        begins = np.stack([begin + np.searchsorted(self.cluster[begin:end], borders) for begin, end in steps])
        for (first, end), begin, sizes in zip(pairwise(borders.tolist()), begins.T, np.diff(begins).T, strict=False):
            ends = np.cumsum(sizes)
            rows = np.arange(ends[-1]) + np.repeat(begin - ends + sizes, sizes)
            yield Entries(self.cluster[rows] - first, self.count[rows], self.loss[rows], ends - 1, end - first)

    def cumulative(self, weights: Floats, *, whole: bool) -> tuple[Floats, Floats]:
        """Weighted counts and loss sums up to each step (rows) in each replicate (columns).

        Sums of integers are exact in any order, so a matrix product computes them where the table is dense. Other
        losses are added in the order of the entries, so that the result does not depend on the block size.
        """
        if whole and self.dense:
            counts, losses = self.cumulated
            return counts @ weights, losses @ weights
        count = weights[self.cluster]
        loss = count * self.loss[:, None]
        if (self.count != 1).any():
            count *= self.count[:, None]
        running_sum(count)
        running_sum(loss)
        if len(self.step_end) == len(self.count):
            return count, loss
        return count[self.step_end], loss[self.step_end]

    def by_cluster(self, by_count: Floats, by_loss: Floats) -> Floats:
        """Counts and losses of each cluster times the coefficients of their steps: clusters × replicates."""
        totals = np.zeros((self.clusters, by_count.shape[1]))
        if self.dense:
            counts, losses = self.matrix
            for step in range(len(self.step_end)):  # one order of addition, whatever the block
                totals += counts[step][:, None] * by_count[step]
                totals += losses[step][:, None] * by_loss[step]
            return totals
        for entries in self.turns:
            steps = self.step[entries]
            terms = by_count[steps] * self.count[entries, None]
            terms += by_loss[steps] * self.loss[entries, None]
            totals[self.cluster[entries]] += terms
        return totals


@dataclass(frozen=True, eq=False)
class Table:
    """The units of one system summed by cluster and plateau of confidence, and by cluster and level of loss."""

    ids: Sequence[int | str]
    cluster_units: Floats
    threshold: Floats
    plateaus: Entries
    levels: Entries
    level_loss: Floats
    divisor: int
    whole: bool
    largest_loss: float | None = None
    scale: int = 1

    @classmethod
    def of(cls, graded: Graded, curve: Curve | None = None) -> Table:
        """Aggregate graded units by cluster. Their curve, if it is known, saves sorting the confidences again."""
        curve = Curve.of(graded) if curve is None else curve
        clusters = graded.clusters
        ids: Sequence[int | str] = range(graded.units)
        units, cluster = np.ones(graded.units), np.arange(graded.answered)
        if clusters is not None:
            ids, units, cluster = clusters.ids, clusters.units.astype(np.float64), clusters.of_answer
        if not ids:
            raise UserError("there are no clusters: nothing can be resampled")
        rest = cluster, graded.loss, len(ids), graded.count
        return cls(
            ids=ids,
            cluster_units=units,
            threshold=curve.threshold,
            plateaus=Entries.of(curve.plateau, *rest),
            levels=Entries.of(positions(curve.loss_levels, graded.loss), *rest),
            level_loss=curve.loss_levels.astype(np.float64),
            divisor=graded.divisor,
            whole=graded.loss.dtype.kind == "i",
            largest_loss=graded.largest_loss,
            scale=curve.scale,
        )

    def accepted(self, threshold: float) -> tuple[Floats, Floats]:
        """Summed loss numerators and number of answers of each cluster with at least this confidence."""
        entries = self.plateaus
        accepted = entries.step < points_within(self.threshold, threshold, self.scale)
        cluster = entries.cluster[accepted]
        sums = [np.bincount(cluster, values[accepted], self.clusters) for values in (entries.loss, entries.count)]
        return sums[0].astype(np.float64), sums[1].astype(np.float64)

    @property
    def clusters(self) -> int:
        """Number of clusters."""
        return len(self.ids)

    @cached_property
    def cluster_answers(self) -> Floats:
        """Number of answered units of each cluster."""
        return summed_by(self.plateaus.cluster, [self.plateaus.count], self.clusters).astype(np.float64)

    @cached_property
    def cluster_loss(self) -> Floats:
        """Summed loss numerators of each cluster."""
        return np.bincount(self.plateaus.cluster, self.plateaus.loss, self.clusters).astype(np.float64)

    @cached_property
    def cells(self) -> int:
        """Number of elements in the largest array of one replicate."""
        return max(self.plateaus.cells, self.levels.cells, self.clusters)
