"""Views: facts as small tables per cluster, which can be drawn again. A draw gives every cluster a weight.

A view answers `exact()`, what its quantities are numbers of in the data as they are, and `drawn(weights)`, the same for
a block of bootstrap replicates.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from demur.inference.rules import Counted
from demur.quantities import Measure, Quantity
from demur.quantities.coverage import Coverage
from demur.quantities.curve import Curve
from demur.quantities.evidence import EvidenceDecision
from demur.quantities.forecasts import Forecasts, over
from demur.quantities.graded import Graded
from demur.quantities.replicates import Replicates
from demur.quantities.table import Table
from demur.types import Flags, Floats, Indices, Integers

_EXACT_BITS = 52
_UNSEEN = 0.05


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

    @property
    def defined(self) -> bool:
        """Whether anything is answered."""
        return self.curve.defined

    @property
    def own(self) -> CurveView:
        """The view itself; of several that are cut at a common coverage, the one a number is of."""
        return self

    @cached_property
    def sample(self) -> Replicates:
        """The data as they are, as a block of one replicate."""
        return self.drawn(np.ones((1, len(self.ids))))

    @cached_property
    def first_losses(self) -> Integers:
        """The plateaus at which clusters first hold a loss, ascending: of each cluster that holds one at all."""
        held = self.table.plateaus.loss != 0
        first = np.full(len(self.ids), len(self.curve))
        np.minimum.at(first, self.table.plateaus.cluster[held], self.table.plateaus.step[held])
        return np.sort(first[first < len(self.curve)])

    @property
    def varies(self) -> bool:
        """Whether losses vary at all: without an error every replicate is 0, which is not an interval."""
        return len(self.first_losses) > 0 or len(self.ids) == 1

    def counted(self, measure: Measure, cut: Coverage | None = None) -> Counted:
        """How many clusters hold a loss in the range of a number, and what it can be in any population.

        An area that is cut between two operating points leans on the losses of the second one too.
        """
        place = len(self.curve)
        if (end := cut or measure.coverage) is not None:
            place = int(np.searchsorted(self.curve.points.count, end.units_needed(self.curve.units)))
        number = int(np.searchsorted(self.first_losses, place, side="right"))
        limits, table = measure.quantity.limits, self.table
        worst = math.inf if table.largest_loss is None else table.largest_loss / table.divisor
        low, high = limits(worst, float(measure.coverage or 1)) if limits else (-math.inf, math.inf)
        below_0 = len(table.level_loss) > 0 and table.level_loss[0] < 0 and not measure.quantity.loss_free
        varies = self.varies or measure.quantity.loss_free
        return Counted("informative_clusters", number, varies, -math.inf if below_0 else low, high)

    @cached_property
    def rare(self) -> float:
        """At most this share of the units, at 95 %, is in clusters of a kind that the sample has none of."""
        units = self.table.cluster_units
        return float(min(1.0, (1 - _UNSEEN ** (1 / len(units))) * units.max() / units.mean()))

    def entries(self) -> Floats:
        """What the clusters hold, an entry a row: cluster, confidence, number of answers, their loss."""
        table, plateaus = self.table, self.table.plateaus
        clusters = np.arange(len(self.ids))
        answers = [plateaus.cluster, table.threshold[plateaus.step], plateaus.count, plateaus.loss / table.divisor]
        units = [clusters, np.full(len(clusters), np.inf), table.cluster_units, np.zeros(len(clusters))]
        return np.concatenate([np.column_stack(answers), np.column_stack(units)])


def discordant(entries: Floats, others: Floats) -> int:
    """How many clusters hold other entries on one side than on the other."""
    sides = [np.column_stack(np.unique(rows, axis=0, return_counts=True)) for rows in (entries, others)]
    rows, times = np.unique(np.concatenate(sides), axis=0, return_counts=True)
    return len(np.unique(rows[times == 1, 0]))


@dataclass(frozen=True, eq=False)
class Cut:
    """A sample, and the coverage several of them have in common: of a curve as it is, of replicates in units."""

    own: Any
    common: Any
    members: Sequence[Replicates] = ()

    @property
    def weights(self) -> Floats:
        """How often each cluster (a row) is in each replicate."""
        weights: Floats = self.own.weights
        return weights

    @cached_property
    def moves(self) -> Floats:
        """Influences on the common coverage: those on the least Cmax, the mean of them where several are least."""
        least = np.stack([sample.answered == self.common for sample in self.members])
        moves = sum(sample.influences.coverage * held for sample, held in zip(self.members, least, strict=True))
        return np.asarray(moves / least.sum(axis=0))


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

    @cached_property
    def reached(self) -> Coverage | None:
        """The common coverage; None where one of the systems answers nothing."""
        reached = min(member.curve.coverage_reached for member in self.members)
        return Coverage.of(reached) if reached else None

    @property
    def defined(self) -> bool:
        """Whether all systems answer anything."""
        return self.reached is not None

    def exact(self) -> Cut:
        """The curve with the common coverage; an empty one where one of the systems answers nothing."""
        return Cut(self.own.curve, self.reached) if self.reached else Cut(Curve.empty(self.own.curve), None)

    def joined(self, samples: Sequence[Replicates]) -> Cut:
        """The replicates of the system, cut where the first of all ends."""
        return Cut(samples[self.index], np.minimum.reduce([sample.answered for sample in samples]), samples)

    @cached_property
    def sample(self) -> Cut:
        """The data as they are, as a block of one replicate."""
        return self.joined([member.sample for member in self.members])

    def counted(self, measure: Measure) -> Counted:
        """How many clusters hold a loss up to the common coverage, and what the number can be."""
        counted = self.own.counted(measure, self.reached)
        return counted if self.reached else replace(counted, number=0)


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

    def sums(self, names: Sequence[Hashable]) -> tuple[Floats, Floats]:
        """The sums and counts of some of the means (a column each) in each cluster (a row), of those that are there."""
        index = [place for place, name in enumerate(self.means) if name in names]
        total, count = self.total[:, index], self.count[:, self.count_of[index]]
        there = count.any(axis=0)
        return total[:, there], count[:, there]

    def influence(self, names: Sequence[Hashable]) -> Floats:
        """How much each cluster moves the mean of some of the means, of those that are there."""
        total, count = self.sums(names)
        everywhere = count.sum(axis=0)
        apart = (total - total.sum(axis=0) / everywhere * count) / everywhere
        return np.asarray(apart.sum(axis=1) / max(apart.shape[1], 1))

    def entries(self, names: Sequence[Hashable]) -> Floats:
        """What the clusters hold of some of the means, a cluster a row."""
        return np.column_stack([np.arange(len(self.ids)), *self.sums(names)])

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

    def entries(self) -> Floats:
        """What the clusters hold, a cluster a row."""
        return np.column_stack([np.arange(len(self.ids)), self.counts])

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

    def entries(self) -> Floats:
        """What the clusters hold, a forecast a row."""
        return np.column_stack([self.cluster, self.probability, self.outcome])

    @property
    def probability(self) -> Floats:
        """The probability of each unit."""
        return np.repeat(self.levels, np.diff(np.append(self.starts, len(self.cluster))))

    def influence(self, quantity: Quantity) -> Floats:
        """How much each cluster moves a number of pairs of forecasts, one that came true and one that did not."""
        assert quantity.influence is not None  # noqa: S101  (asked of quantities that have one)
        step = np.searchsorted(self.levels, self.probability)
        influence: Floats = quantity.influence(step, self.cluster, self.outcome, 1 - self.outcome, len(self.ids))
        return influence

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
