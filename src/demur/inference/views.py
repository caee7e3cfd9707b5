"""Views: facts as small tables per cluster, which can be drawn again. A draw gives every cluster a weight.

A view answers `exact()`, what its quantities are numbers of in the data as they are, and `drawn(weights)`, the same for
a block of bootstrap replicates.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from demur.quantities.coverage import Coverage
from demur.quantities.curve import Curve
from demur.quantities.evidence import EvidenceDecision
from demur.quantities.forecasts import Forecasts, over
from demur.quantities.graded import Graded
from demur.quantities.replicates import Replicates
from demur.quantities.table import Table
from demur.types import Flags, Floats, Indices, Integers

_EXACT_BITS = 52


class View(Protocol):
    """Anything whose clusters can be drawn again."""

    @property
    def ids(self) -> Sequence[int | str]:
        """The clusters, in the order they are drawn in."""

    @property
    def cells(self) -> int:
        """How wide the arrays of one replicate are."""

    def exact(self) -> Any:
        """What quantities are numbers of, in the data as they are."""

    def drawn(self, weights: Floats) -> Any:
        """The same in replicates that hold each cluster as often as a row of weights says."""


@dataclass(frozen=True, eq=False)
class CurveView:
    """One system under one confidence: its exact curve, and the table its replicates are made of."""

    graded: Graded
    curve: Curve
    table: Table

    @classmethod
    def of(cls, graded: Graded) -> CurveView:
        """Sort the confidences once, for both."""
        curve = Curve.of(graded)
        return cls(graded, curve, Table.of(graded, curve))

    @property
    def ids(self) -> Sequence[int | str]:
        """The clusters."""
        return self.table.ids

    @property
    def cells(self) -> int:
        """How wide the arrays of one replicate are."""
        return self.table.cells

    def exact(self) -> Curve:
        """The curve."""
        return self.curve

    def drawn(self, weights: Floats) -> Replicates:
        """The curves of the replicates."""
        return Replicates.of(self.table, weights)

    @cached_property
    def sample(self) -> Replicates:
        """The data as they are, as a block of one replicate."""
        return self.drawn(np.ones((1, len(self.ids))))

    @cached_property
    def varies(self) -> bool:
        """Whether losses vary at all: without an error every replicate is 0, which is not an interval."""
        return self.table.informative > 0 or len(self.ids) == 1


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """A sample, and the coverage several of them have in common; of replicates, in units."""

    own: Any
    common: Any


@dataclass(frozen=True, eq=False)
class JointView:
    """Several views of the same clusters, drawn alike; a quantity is a number of all their samples."""

    members: tuple[Any, ...]

    @property
    def ids(self) -> Sequence[int | str]:
        """The clusters."""
        ids: Sequence[int | str] = self.members[0].ids
        return ids

    @property
    def cells(self) -> int:
        """How wide the arrays of one replicate are."""
        return max(int(member.cells) for member in self.members)

    def exact(self) -> Any:
        """What each of them is in the data."""
        return [member.exact() for member in self.members]

    def drawn(self, weights: Floats) -> Any:
        """What each of them is in every draw."""
        return self.joined([member.drawn(weights) for member in self.members])

    def joined(self, samples: Sequence[Any]) -> Any:
        """The same from samples that are drawn already."""
        return samples


@dataclass(frozen=True, eq=False)
class SharedView(JointView):
    """One of several systems, to be cut at the coverage all of them reach, found anew in every replicate."""

    index: int

    @property
    def own(self) -> CurveView:
        """The view of the system itself."""
        view: CurveView = self.members[self.index]
        return view

    def exact(self) -> Cut:
        """The curve with the common coverage; an empty one where one of the systems answers nothing."""
        reached = min(member.curve.coverage_reached for member in self.members)
        return Cut(self.own.curve, Coverage.of(reached)) if reached else Cut(Curve.empty(self.own.curve), None)

    def joined(self, samples: Sequence[Replicates]) -> Cut:
        """The replicates of the system, cut where the first of all ends."""
        return Cut(samples[self.index], np.minimum.reduce([sample.answered for sample in samples]))


@dataclass(frozen=True, slots=True, eq=False)
class Mean:
    """A mean of one number a unit, among some of the units."""

    values: Floats
    among: Flags

    @property
    def value(self) -> float:
        """The mean itself: the sum is rounded once, in whatever order the units come; nan among none."""
        taken = self.values[self.among].tolist()
        return math.fsum(taken) / len(taken) if taken else math.nan


@dataclass(frozen=True, eq=False)
class MeansView:
    """Means by name, as sums and counts within clusters. In a draw each is the weighted sum over the weighted count.

    The sums are held to so many bits that adding them, weighted, is exact: the result cannot depend on the order a
    matrix product adds in, and with it on the number of threads or of replicates in a block.
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
            total=_exactly_addable(np.stack(total, axis=1)),
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

    def drawn(self, weights: Floats) -> dict[Hashable, Floats]:
        """Every mean in every draw; nan where a draw holds none of its units."""
        values = over(weights @ self.total, (weights @ self.count)[:, self.count_of])
        return dict(zip(self.means, values.T, strict=True))


def _exactly_addable(sums: Floats) -> Floats:
    """Sums rounded to multiples of a power of two so large that no weighted total of a column needs rounding."""
    largest = np.abs(sums).max(axis=0, initial=0) * len(sums)
    unit = np.ldexp(1.0, np.frexp(largest)[1] - _EXACT_BITS)
    return np.asarray(np.rint(sums / unit) * unit)


def mean_over(columns: Sequence[Floats]) -> Floats:
    """The mean of several numbers in every draw, of those that are there; nan where none is."""
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

    def exact(self) -> EvidenceDecision:
        """The counts of the data, as a sample of one."""
        return self.drawn(np.ones((1, len(self.ids))))

    def drawn(self, weights: Floats) -> EvidenceDecision:
        """The counts of every draw."""
        return EvidenceDecision(*(weights @ self.counts).T)


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
