"""Views of means, decisions and forecasts, stored as sums within clusters that can be resampled."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from demur.extensions.retrieval.quantities.evidence import EvidenceDecision
from demur.inference.sums import exactly_addable
from demur.quantities import Quantity
from demur.quantities.forecasts import Forecasts, over
from demur.sampling.weights import Weights
from demur.types import Flags, Floats, Indices, Integers


@dataclass(frozen=True, slots=True, eq=False)
class Mean:
    """The mean of a number per unit, over some of the units."""

    values: Floats
    among: Flags

    @property
    def value(self) -> float:
        """The mean, rounded once whatever the order of the units; nan over no units."""
        values = self.values[self.among].tolist()
        return math.fsum(values) / len(values) if values else math.nan


@dataclass(frozen=True, eq=False)
class MeansView:
    """Means by name, as sums and counts within clusters. In a draw each is the weighted sum over the weighted count.

    The sums are rounded so that adding them, weighted, is exact: the result cannot depend on the order of summation in
    a matrix product, nor on the number of threads or the size of a block.
    """

    ids: Sequence[int | str]
    means: Mapping[Hashable, Mean]
    total: Floats
    count: Floats
    count_of: Indices

    @classmethod
    def of(cls, ids: Sequence[int | str], cluster: Integers, means: Mapping[Hashable, Mean]) -> MeansView:
        """From the means of units, and the cluster of each unit; means among the same units share their counts."""
        groups = {id(mean.among): mean.among for mean in means.values()}
        index = {group: number for number, group in enumerate(groups)}
        size = len(ids)
        total = [np.bincount(cluster[mean.among], mean.values[mean.among], minlength=size) for mean in means.values()]
        count = [np.bincount(cluster[among], minlength=size) for among in groups.values()]
        return cls(
            ids=ids,
            means=means,
            total=exactly_addable(np.stack(total, axis=1)),
            count=np.stack(count, axis=1).astype(np.float64),
            count_of=np.array([index[id(mean.among)] for mean in means.values()], np.intp),
        )

    @property
    def cells(self) -> int:
        """How wide the arrays of one replicate are."""
        return max(len(self.ids), len(self.means))

    def exact(self) -> dict[Hashable, Floats]:
        """Every mean of the data, as a sample of one."""
        return self._exact

    @cached_property
    def _exact(self) -> dict[Hashable, Floats]:
        return {name: np.array([mean.value]) for name, mean in self.means.items()}

    def sums(self, names: Sequence[Hashable]) -> tuple[Floats, Floats]:
        """Sums and counts of the named means, one row per cluster and one column per mean that has any units."""
        index = [number for number, name in enumerate(self.means) if name in names]
        total, count = self.total[:, index], self.count[:, self.count_of[index]]
        counted = count.any(axis=0)
        return total[:, counted], count[:, counted]

    def column(self, name: Hashable) -> tuple[Floats, Floats]:
        """The sum and the count of one mean in each cluster."""
        index = [*self.means].index(name)
        return self.total[:, index], self.count[:, self.count_of[index]]

    def influence(self, names: Sequence[Hashable]) -> Floats:
        """The influence of each cluster on the mean of the named means that have any units."""
        total, count = self.sums(names)
        units = count.sum(axis=0)
        influences = (total - total.sum(axis=0) / units * count) / units
        return np.asarray(influences.sum(axis=1) / max(influences.shape[1], 1))

    def entries(self, names: Sequence[Hashable]) -> Floats:
        """The sums and counts of the named means, one row per cluster."""
        return np.column_stack([np.arange(len(self.ids)), *self.sums(names)])

    def drawn(self, weights: Weights) -> DrawnMeans:
        """Every mean in every draw; nan where a draw holds none of its units."""
        values = over(weights.rows @ self.total, (weights.rows @ self.count)[:, self.count_of])
        return DrawnMeans(zip(self.means, values.T, strict=True), weights)


class DrawnMeans(dict[Hashable, Floats]):
    """Means by name in every draw, and how often each draw holds each cluster."""

    def __init__(self, means: Iterable[tuple[Hashable, Floats]], weights: Weights) -> None:
        super().__init__(means)
        self.weights = weights


def mean_over(columns: Sequence[Floats]) -> Floats:
    """The mean of several numbers in every draw, ignoring nan; nan where all are."""
    stacked = np.stack(columns)
    defined = ~np.isnan(stacked)
    return over(np.where(defined, stacked, 0.0).sum(axis=0), defined.sum(axis=0))


@dataclass(frozen=True, eq=False)
class DecisionView:
    """Counts of queries within clusters: rightly empty, empty, without gold, all."""

    ids: Sequence[int | str]
    counts: Floats

    @classmethod
    def of(cls, ids: Sequence[int | str], cluster: Integers, empty: Flags, without_gold: Flags) -> DecisionView:
        """From the decision and the truth of every query."""
        flags = (empty & without_gold, empty, without_gold, np.ones(len(empty), bool))
        counts = [np.bincount(cluster[flag], minlength=len(ids)) for flag in flags]
        return cls(ids, np.stack(counts, axis=1).astype(np.float64))

    @property
    def cells(self) -> int:
        """How wide the arrays of one replicate are."""
        return len(self.ids)

    def entries(self) -> Floats:
        """The counts of the clusters, one row per cluster."""
        return np.column_stack([np.arange(len(self.ids)), self.counts])

    def exact(self) -> EvidenceDecision:
        """The counts of the data, as a sample of one."""
        return self.drawn(Weights.once(len(self.ids)))

    def drawn(self, weights: Weights) -> EvidenceDecision:
        """The counts of every draw."""
        return EvidenceDecision(*(weights.rows @ self.counts).T)


@dataclass(frozen=True, eq=False)
class ForecastsView:
    """Probabilities and outcomes of units, in ascending order of the probability, with the cluster of each."""

    ids: Sequence[int | str]
    cluster: Integers
    outcome: Floats
    levels: Floats
    starts: Indices
    forecasts: Forecasts

    @classmethod
    def of(cls, ids: Sequence[int | str], cluster: Integers, probability: Floats, outcome: Floats) -> ForecastsView:
        """From one probability and one outcome, 0 or 1, per unit."""
        order = np.argsort(probability, kind="stable")
        levels, starts = np.unique(probability[order], return_index=True)
        return cls(ids, cluster[order], outcome[order], levels, starts, Forecasts.of(probability, outcome))

    @property
    def cells(self) -> int:
        """How wide the arrays of one replicate are."""
        return max(len(self.cluster), len(self.ids))

    def exact(self) -> Forecasts:
        """The forecasts of the data."""
        return self.forecasts

    def entries(self) -> Floats:
        """The forecasts with their clusters, one row per forecast."""
        return np.column_stack([self.cluster, self.probability, self.outcome])

    @property
    def probability(self) -> Floats:
        """The probability of each unit."""
        return np.repeat(self.levels, np.diff(np.append(self.starts, len(self.cluster))))

    def influence(self, quantity: Quantity) -> Floats:
        """The influence of each cluster on a quantity of pairs of one positive and one negative forecast."""
        assert quantity.influence is not None  # noqa: S101  (asked of quantities that have one)
        step = np.searchsorted(self.levels, self.probability)
        influence: Floats = quantity.influence(step, self.cluster, self.outcome, 1 - self.outcome, len(self.ids))
        return influence

    def drawn(self, weights: Weights) -> Forecasts:
        """The forecasts of every draw."""
        of_unit = weights.columns[self.cluster]
        outcome = np.add.reduceat(of_unit * self.outcome[:, None], self.starts, axis=0)
        return Forecasts(
            probability=self.levels,
            count=np.add.reduceat(of_unit, self.starts, axis=0),
            outcome=outcome,
            squares=np.asarray(outcome.sum(axis=0)),
        )
