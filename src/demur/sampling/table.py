"""The table that is resampled: counts and summed losses by cluster and plateau, from which all of a curve follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from demur.errors import UserError
from demur.facts.compact_array import positions
from demur.sampling.graded import Graded
from demur.sampling.plateaus import Plateaus, Points, oracle_points
from demur.sampling.steps import Steps
from demur.types import Floats


@dataclass(frozen=True, eq=False)
class Table:
    """The units of one system added up by cluster and plateau of confidence, and by cluster and level of loss.

    `points` are the sums of the data at each plateau, the most confident first, and `oracle_points` those at each level
    of loss, the lowest first. Losses are numerators: the loss times the divisor. Thresholds are on the scale of the
    signal, whose lower values mean more confident where `scale` is −1.
    """

    ids: Sequence[int | str]
    cluster_units: Floats
    plateaus: Steps
    levels: Steps
    points: Points
    oracle_points: Points
    threshold: Floats
    level_loss: Floats
    divisor: int
    whole: bool
    largest_loss: float | None = None
    scale: int = 1

    @classmethod
    def of(cls, graded: Graded, plateaus: Plateaus | None = None) -> Table:
        """Add up graded units by cluster. Their plateaus, if known, save sorting the confidences again."""
        made = Plateaus.of(graded) if plateaus is None else plateaus
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
            plateaus=Steps.of(made.plateau, *rest),
            levels=Steps.of(positions(made.levels, graded.loss), *rest),
            points=made.points,
            oracle_points=oracle_points(made.levels, made.sizes),
            threshold=made.thresholds(graded),
            level_loss=made.levels.astype(np.float64),
            divisor=graded.divisor,
            whole=graded.loss.dtype.kind == "i",
            largest_loss=graded.largest_loss,
            scale=graded.scale,
        )

    @classmethod
    def pooled(cls, units: int, points: Points, oracle: Points, **facts: Any) -> Table:
        """A table with all units in one cluster, from their sums at each plateau and at each level of loss."""
        plateaus, levels = _one_cluster(points), _one_cluster(oracle)
        return cls(range(1), np.array([float(units)]), plateaus, levels, points, oracle, **facts)

    def __getstate__(self) -> dict[str, Any]:
        """The fields alone: what follows from them is computed again by whoever unpickles this."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def points_within(self, threshold: float) -> int:
        """The number of operating points that a threshold accepts."""
        return int(np.sum(self.scale * self.threshold >= self.scale * threshold))

    def accepted(self, threshold: float) -> tuple[Floats, Floats]:
        """Number of answers that a threshold accepts in each cluster, and the sum of their loss numerators."""
        return self.plateaus.upto(self.points_within(threshold))

    @property
    def clusters(self) -> int:
        """The number of clusters."""
        return len(self.ids)

    @property
    def largest(self) -> float:
        """The largest loss numerator; nan if it is not known."""
        return np.nan if self.largest_loss is None else self.largest_loss

    @cached_property
    def cluster_answers(self) -> Floats:
        """The number of answered units of each cluster."""
        return self._of_all[0]

    @cached_property
    def cluster_loss(self) -> Floats:
        """The sum of the loss numerators of each cluster."""
        return self._of_all[1]

    @cached_property
    def _of_all(self) -> tuple[Floats, Floats]:
        return self.plateaus.upto(len(self.plateaus))

    @cached_property
    def cells(self) -> int:
        """The number of elements in the largest array that one replicate needs."""
        return max(self.plateaus.cells, self.levels.cells, self.clusters)


def _one_cluster(points: Points) -> Steps:
    count, loss = (np.diff(sums, prepend=0).astype(np.float64) for sums in points)
    return Steps(np.arange(len(count) + 1), np.zeros(len(count), np.int32), count, loss, 1)
