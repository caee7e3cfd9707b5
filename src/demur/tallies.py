"""Tallies: what clusters add up to, in a form that can be drawn again and again.

A draw gives every cluster a weight. Sums with counts, and tables of forecasts, are all that the means and
the detection metrics of retrieval need; the resampling treats them as it treats the tables of a curve.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from demur.metrics.forecasts import Forecasts, over

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

_EXACT_BITS = 52
MICRO, MACRO = "micro", "macro"  # all units pooled, and the mean over groups of them


@dataclass(frozen=True, slots=True, eq=False)
class Mean:
    """A mean of one number a unit, among some of the units."""

    values: Floats
    among: NDArray[np.bool_]

    @property
    def value(self) -> float:
        """The mean itself: the sum is rounded once, in whatever order the units come; nan among none."""
        taken = self.values[self.among].tolist()
        return math.fsum(taken) / len(taken) if taken else math.nan


@dataclass(frozen=True, eq=False)
class MeanTable:
    """Means by name, as sums and counts within clusters. In a draw each is the weighted sum over the weighted count.

    The sums are held to so many bits that adding them, weighted, is exact: the result cannot depend on the order a
    matrix product adds in, and with it on the number of threads or of replicates in a block.
    """

    ids: Sequence[int | str]
    names: tuple[str, ...]
    total: Floats
    count: Floats
    count_of: NDArray[np.intp]

    @classmethod
    def of(cls, ids: Sequence[int | str], cluster: Integers, means: Mapping[str, Mean]) -> MeanTable:
        """From the means of units, and the cluster of each unit; means among the same units share their counts."""
        groups = {id(mean.among): mean.among for mean in means.values()}
        place = {group: index for index, group in enumerate(groups)}
        size = len(ids)
        total = [np.bincount(cluster[mean.among], mean.values[mean.among], minlength=size) for mean in means.values()]
        count = [np.bincount(cluster[among], minlength=size) for among in groups.values()]
        return cls(
            ids=ids,
            names=tuple(means),
            total=_exactly_addable(np.stack(total, axis=1)),
            count=np.stack(count, axis=1).astype(np.float64),
            count_of=np.array([place[id(mean.among)] for mean in means.values()], np.intp),
        )

    @property
    def clusters(self) -> int:
        """How many clusters there are."""
        return len(self.ids)

    @property
    def cells(self) -> int:
        """How much a draw takes."""
        return max(self.clusters, len(self.names))

    def drawn(self, weights: Floats) -> dict[str, Floats]:
        """Every mean in every draw; nan where a draw holds none of its units."""
        values = over(weights @ self.total, (weights @ self.count)[:, self.count_of])
        return dict(zip(self.names, values.T, strict=True))


def _exactly_addable(sums: Floats) -> Floats:
    """Sums rounded to multiples of a power of two so large that no weighted total of a column needs rounding."""
    largest = np.abs(sums).max(axis=0, initial=0) * len(sums)
    unit = np.ldexp(1.0, np.frexp(largest)[1] - _EXACT_BITS)
    return np.asarray(np.rint(sums / unit) * unit)


def mean_over(columns: Sequence[Floats]) -> Floats:
    """The mean of several numbers in every draw, of those that are there; nan where none is."""
    stacked = np.stack(columns)
    there = ~np.isnan(stacked)
    return over(np.where(there, stacked, 0.0).sum(axis=0), there.sum(axis=0))


@dataclass(frozen=True, eq=False)
class ForecastTable:
    """Probabilities and outcomes of units, in ascending order of the probability, with the cluster of each."""

    ids: Sequence[int | str]
    cluster: Integers
    outcome: Floats
    levels: Floats
    starts: NDArray[np.intp]

    @classmethod
    def of(cls, ids: Sequence[int | str], cluster: Integers, probability: Floats, outcome: Floats) -> ForecastTable:
        """From one probability and one outcome, 0 or 1, per unit."""
        order = np.argsort(probability, kind="stable")
        levels, starts = np.unique(probability[order], return_index=True)
        return cls(ids, cluster[order], outcome[order], levels, starts)

    @property
    def clusters(self) -> int:
        """How many clusters there are."""
        return len(self.ids)

    @property
    def cells(self) -> int:
        """How much a draw takes."""
        return max(len(self.cluster), self.clusters)

    def drawn(self, weights: Floats) -> Forecasts:
        """The forecasts of every draw."""
        of_unit = weights[:, self.cluster].T
        outcome = np.add.reduceat(of_unit * self.outcome[:, None], self.starts, axis=0)
        return Forecasts(
            probability=self.levels,
            count=np.add.reduceat(of_unit, self.starts, axis=0),
            outcome=outcome,
            squares=np.asarray(outcome.sum(axis=0)),
        )
