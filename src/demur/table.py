"""The table behind every replicate: (cluster × plateau) → (count, loss sum).

It is sufficient for every selective metric, and parts of it merge by addition.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from demur.errors import UserError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from demur.graded import Graded

    Floats = NDArray[np.float64]
    Places = NDArray[np.intp]

_DENSE_ENOUGH = 4


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """Counts and loss sums of the clusters at each of a number of steps, in order of step and then of cluster."""

    cluster: Places
    count: Floats
    loss: Floats
    step_end: Places

    @classmethod
    def of(cls, step: Places, cluster: Places, loss: NDArray[Any], clusters: int) -> Entries:
        """Add up the units that share a step and a cluster. Steps are numbered from 0 and none is empty."""
        key = step * clusters + cluster
        # Sums of doubles depend on their order: equal keys are put in the order of their losses, not of the rows.
        order = np.lexsort((loss, key))
        key = key[order]
        first = np.flatnonzero(np.append(True, key[1:] != key[:-1])[: len(key)])
        last_step = np.flatnonzero(np.append(np.diff(key[first] // clusters) > 0, True)[: len(first)])
        return cls(
            cluster=key[first] % clusters,
            count=np.diff(np.append(first, len(key))).astype(np.float64),
            loss=np.add.reduceat(loss[order].astype(np.float64), first) if len(first) else np.zeros(0),
            step_end=last_step,
        )

    def cumulative(self, weights: Floats, *, whole: bool) -> tuple[Floats, Floats]:
        """Weighted counts and loss sums up to each step, one row per replicate.

        Whole numbers are exact however they are added, so a matrix product may do it where the table is full enough;
        other losses are always added in the one order of the entries, so that no block size can change a bit.
        """
        steps, clusters = len(self.step_end), weights.shape[1]
        if whole and steps * clusters <= _DENSE_ENOUGH * len(self.count):
            step = np.searchsorted(self.step_end, np.arange(len(self.count)))
            dense = np.zeros((2, clusters, steps))
            dense[0, self.cluster, step], dense[1, self.cluster, step] = self.count, self.loss
            dense = np.cumsum(dense, axis=2)
            return weights @ dense[0], weights @ dense[1]
        drawn = weights[:, self.cluster]
        loss = np.cumsum(drawn * self.loss, axis=1)
        drawn *= self.count
        count = np.cumsum(drawn, axis=1, out=drawn)
        if steps == len(self.count):
            return count, loss
        return count[:, self.step_end], loss[:, self.step_end]

    def by_cluster(self, by_count: Floats, by_loss: Floats, clusters: int) -> Floats:
        """Each cluster's counts and losses times what one of them is worth at each step, one row per replicate."""
        totals = np.zeros((len(by_count), clusters))
        if not len(self.count):
            return totals
        order = np.argsort(self.cluster, kind="stable")
        step = np.searchsorted(self.step_end, order)
        worth = by_count[:, step] * self.count[order]
        worth += by_loss[:, step] * self.loss[order]
        present, first = np.unique(self.cluster[order], return_index=True)
        totals[:, present] = np.add.reduceat(worth, first, axis=1)
        return totals


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """One system's units as its clusters hold them: by plateau of confidence, and by level of loss."""

    ids: tuple[int | str, ...]
    cluster_units: Floats
    threshold: Floats
    plateaus: Entries
    levels: Entries
    level_loss: Floats
    divisor: int
    whole: bool
    largest_loss: int | None = None

    @classmethod
    def of(cls, graded: Graded) -> Table:
        """Aggregate graded units by cluster."""
        clusters = graded.clusters
        if clusters is None:
            ids: tuple[int | str, ...] = tuple(range(graded.units))
            units, cluster = np.ones(graded.units), np.arange(graded.answered)
        else:
            ids, units, cluster = clusters.ids, clusters.units.astype(np.float64), clusters.of_answer
        if not ids:
            raise UserError("there are no clusters: nothing can be resampled")
        threshold, plateau = np.unique(-graded.confidence, return_inverse=True)
        level_loss, level = np.unique(graded.loss, return_inverse=True)
        return cls(
            ids=ids,
            cluster_units=units,
            threshold=-threshold,
            plateaus=Entries.of(plateau, cluster, graded.loss, len(ids)),
            levels=Entries.of(level, cluster, graded.loss, len(ids)),
            level_loss=level_loss.astype(np.float64),
            divisor=graded.divisor,
            whole=graded.loss.dtype.kind == "i",
            largest_loss=graded.largest_loss,
        )

    @property
    def clusters(self) -> int:
        """How many clusters there are."""
        return len(self.ids)

    @property
    def informative(self) -> int:
        """How many clusters hold an answered unit with a loss: what the uncertainty of an area rests on."""
        return len(np.unique(self.plateaus.cluster[self.plateaus.loss != 0]))

    @property
    def entries(self) -> int:
        """How much work a replicate is."""
        return len(self.plateaus.count) + len(self.levels.count)
