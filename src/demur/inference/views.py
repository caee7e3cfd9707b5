"""Views: facts as small tables per cluster that can be resampled. A draw gives every cluster a weight.

Quantities are functions of `exact()`, the data themselves, and of `drawn(weights)`, a block of bootstrap replicates.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from demur.inference.rules import Counted
from demur.quantities import Measure
from demur.quantities.curve import Curve
from demur.sampling.coverage import Coverage
from demur.sampling.exact import ExactSample
from demur.sampling.graded import Graded
from demur.sampling.harmonic import forget_tables
from demur.sampling.plateaus import Plateaus
from demur.sampling.sample import Cut, Sample
from demur.sampling.table import Table
from demur.sampling.weights import Weights
from demur.types import Flags, Floats, Integers


class View(Protocol):
    """Anything whose clusters can be resampled."""

    @property
    def ids(self) -> Sequence[int | str]:
        """The clusters, in the order they are drawn in."""

    @property
    def cells(self) -> int:
        """How wide the arrays of one replicate are."""

    def exact(self) -> Any:
        """The sample of the data, of which quantities are functions."""

    def drawn(self, weights: Weights) -> Any:
        """The sample of replicates that hold each cluster as often as the weights say."""


@dataclass(frozen=True, eq=False)
class CurveView:
    """One system under one confidence: its curve, and the table its replicates are made of."""

    graded: Graded
    curve: Curve
    table: Table

    @classmethod
    def of(cls, graded: Graded) -> CurveView:
        """Sort the confidences once, for curve and table."""
        plateaus = Plateaus.of(graded)
        return cls(graded, Curve.of(graded, plateaus), Table.of(graded, plateaus))

    @property
    def ids(self) -> Sequence[int | str]:
        """The clusters."""
        return self.table.ids

    @property
    def cells(self) -> int:
        """How wide the arrays of one replicate are."""
        return self.table.cells

    @cached_property
    def sample(self) -> Sample:
        """The data as a sample, with influences."""
        return Sample.data(self.table)

    @cached_property
    def _exact(self) -> ExactSample:
        return ExactSample.of(self.table)

    def exact(self) -> ExactSample:
        """The data as a sample in fractions."""
        return self._exact

    def forget_sample(self) -> None:
        """Free the sample; it is computed again if needed. Its tables are as long as the number of answers."""
        for name in ("sample", "_exact"):
            if sample := self.__dict__.pop(name, None):
                sample.weights.release()
        for steps in (self.table.plateaus, self.table.levels):
            steps.forget()
        forget_tables()

    def drawn(self, weights: Weights) -> Sample:
        """The replicates."""
        return Sample(self.table, weights)

    @property
    def own(self) -> CurveView:
        """The view itself; of a `SharedView`, the member that a number is of."""
        return self

    @cached_property
    def first_losses(self) -> Integers:
        """The plateau of the first loss of each cluster that has one, in ascending order."""
        clusters, wrong = self.graded.clusters, self.graded.loss != 0
        owner = np.arange(self.graded.answered) if clusters is None else clusters.of_answer
        first = np.full(len(self.ids), len(self.curve))
        np.minimum.at(first, owner[wrong], self.curve.plateau[wrong])
        return np.sort(first[first < len(self.curve)])

    @property
    def varies(self) -> bool:
        """Whether any answer has a loss: otherwise all replicates are 0 and there is no interval."""
        return len(self.first_losses) > 0 or len(self.ids) == 1

    def counted(self, measure: Measure, cut: Coverage | None = None) -> Counted:
        """The number of clusters with a loss in the range of a number, and the number's possible range.

        An area that is cut between two operating points depends on the losses of the second one too.
        """
        coverage, limits, table, number = measure.coverage, measure.quantity.limits, self.table, len(self.first_losses)
        worst = math.inf if table.largest_loss is None else table.largest_loss / table.divisor
        low, high = limits(worst, float(coverage or 1)) if limits else (-math.inf, math.inf)
        if measure.quantity.loss_free:
            return Counted("clusters", int(self.held.sum()), low=low, high=high)
        if (end := cut or coverage) is not None:
            last = self.curve.points.count.searchsorted(end.units_needed(self.curve.units))
            number = int(self.first_losses.searchsorted(last, side="right"))
        below_0 = len(table.level_loss) > 0 and table.level_loss[0] < 0
        return Counted("informative_clusters", number, self.varies, -math.inf if below_0 else low, high)

    @cached_property
    def held(self) -> Flags:
        """The clusters that hold any of the units: all of them, unless the units are a group."""
        return np.asarray(self.table.cluster_units > 0)

    @cached_property
    def held_by_some(self) -> Flags | None:
        """The clusters that hold any of the units, None if all do."""
        return None if self.held.all() else self.held

    @cached_property
    def largest(self) -> float:
        """The largest cluster over the mean."""
        units = self.table.cluster_units[self.held]
        return float(units.max() / units.mean())

    def entries(self) -> Floats:
        """The contents of the clusters, one row per entry: cluster, confidence, number of answers, their loss."""
        table, plateaus = self.table, self.table.plateaus
        clusters = np.arange(len(self.ids))
        answers = [plateaus.cluster, table.threshold[plateaus.step - 1], plateaus.count, plateaus.loss / table.divisor]
        units = [clusters, np.full(len(clusters), np.inf), table.cluster_units, np.zeros(len(clusters))]
        return np.concatenate([np.column_stack(answers), np.column_stack(units)])


def discordant(entries: Floats, others: Floats) -> int:
    """How many clusters hold other entries on one side than on the other."""
    if not len(entries) + len(others):
        return 0
    rows = np.concatenate([entries, others])
    order = np.lexsort(rows.T)
    rows, side = rows[order], np.where(order < len(entries), 1, -1)
    first = np.flatnonzero(np.append(True, (rows[1:] != rows[:-1]).any(axis=1)))
    return len(set(rows[first[np.add.reduceat(side, first) != 0], 0].tolist()))


@dataclass(frozen=True, eq=False)
class JointView:
    """Several views of the same clusters, drawn alike; a quantity is a function of all their samples."""

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
        """The sample of the data of all members."""
        return self.joined([member.exact() for member in self.members])

    @property
    def sample(self) -> Any:
        """The data of all members, with influences."""
        return self.joined([member.sample for member in self.members])

    def drawn(self, weights: Weights) -> Any:
        """The replicates of all members."""
        return self.joined([member.drawn(weights) for member in self.members])

    def joined(self, samples: Sequence[Any]) -> Any:
        """The joint sample from samples of the members."""
        return samples


@dataclass(frozen=True, eq=False)
class SharedView(JointView):
    """One of several systems, cut at the common coverage, which is recomputed in every replicate."""

    index: int

    @property
    def own(self) -> CurveView:
        """The view of the system itself."""
        view: CurveView = self.members[self.index]
        return view

    @cached_property
    def sharing(self) -> tuple[int, ...]:
        """The members that determine the common coverage: those that answer anything if there are two, else all."""
        answering = tuple(index for index, member in enumerate(self.members) if member.curve.defined)
        return answering if len(answering) > 1 else tuple(range(len(self.members)))

    @cached_property
    def reached(self) -> Coverage | None:
        """The common coverage; None where fewer than two of the systems answer anything."""
        reached = min(self.members[index].curve.coverage_reached for index in self.sharing)
        return Coverage.of(reached) if reached else None

    def joined(self, samples: Sequence[Sample]) -> Cut:
        """The replicates of the system, cut at the smallest Cmax of those that answer."""
        return Cut.at_common_coverage(samples[self.index], [samples[index] for index in self.sharing])

    def counted(self, measure: Measure) -> Counted:
        """The number of clusters with a loss up to the common coverage, and the number's possible range."""
        counted = self.own.counted(measure, self.reached)
        return counted if self.reached else replace(counted, number=0)
