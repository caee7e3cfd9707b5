"""Views: facts as small tables per cluster, which can be drawn again. A draw gives every cluster a weight.

A view answers `exact()`, what its quantities are numbers of in the data as they are, and `drawn(weights)`, the same for
a block of bootstrap replicates.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np

from demur.inference.engines import prepared_kernel
from demur.inference.rules import Counted
from demur.quantities import Measure
from demur.quantities.coverage import Coverage
from demur.quantities.curve import Curve
from demur.quantities.graded import Graded
from demur.quantities.influence import on_coverage
from demur.quantities.replicates import Replicates
from demur.quantities.slopes import Influence
from demur.quantities.sweep import Weights
from demur.quantities.table import Table
from demur.types import Flags, Floats, Integers


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
        if graded.items is not None and graded.items.elsewhere is not None:
            view: CurveView = graded.items.elsewhere.view(graded, curve)
            return view
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

    sweeps: ClassVar[bool] = True

    def drawn(self, weights: Floats | Weights) -> Replicates:
        """The curves of the replicates; the weights may have the form of an engine's own."""
        return Replicates.of(self.table, weights)

    @property
    def own(self) -> CurveView:
        """The view itself; of several that are cut at a common coverage, the one a number is of."""
        return self

    @cached_property
    def sample(self) -> Replicates:
        """The data as they are, as a block of one replicate."""
        once, prepared = np.ones((1, len(self.ids))), prepared_kernel()
        tiles = prepared.packed(once) if prepared else None
        return self.drawn(once if tiles is None else tiles)

    @cached_property
    def first_losses(self) -> Integers:
        """The plateaus at which clusters first hold a loss, ascending: of each cluster that holds one at all."""
        clusters, held = self.graded.clusters, self.graded.loss != 0
        owner = np.arange(self.graded.answered) if clusters is None else clusters.of_answer
        first = np.full(len(self.ids), len(self.curve))
        np.minimum.at(first, owner[held], self.curve.plateau[held])
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
        below_0 = len(table.level_loss) > 0 and table.level_loss[0] < 0
        if measure.quantity.loss_free:
            return Counted("clusters", int(self.held.sum()), low=low, high=high)
        return Counted("informative_clusters", number, self.varies, -math.inf if below_0 else low, high)

    @property
    def held(self) -> Flags:
        """Which clusters hold any of the units: all of them, unless the units are a part of those that were drawn."""
        return np.asarray(self.table.cluster_units > 0)

    @property
    def largest(self) -> float:
        """The largest cluster over the mean."""
        units = self.table.cluster_units[self.held]
        return float(units.max() / units.mean())

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
    """A sample, and the coverage several of them have in common: of a curve as it is, of replicates in units.

    `least` says in which replicates each member is one that ends there.
    """

    own: Any
    common: Any
    members: Sequence[Replicates] = ()
    least: Sequence[Flags] = ()

    @property
    def weights(self) -> Floats:
        """How often each cluster (a row) is in each replicate."""
        weights: Floats = self.own.weights
        return weights

    def squares(self, influences: Sequence[Influence]) -> Sequence[Floats]:
        """Σ u² over the clusters of each replicate, for each of the influences u."""
        squares: Sequence[Floats] = self.own.squares(influences)
        return squares

    @cached_property
    def moves(self) -> Influence:
        """Influences on the common coverage: those on the least Cmax, the mean of them where several are least."""
        moves = sum(
            np.asarray(on_coverage(sample)) * ends for sample, ends in zip(self.members, self.least, strict=True)
        )
        return np.asarray(moves / np.maximum(np.sum(self.least, axis=0), 1))


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
    """One of several systems, cut at the coverage that all reach that answer, found anew in every replicate."""

    index: int

    @property
    def own(self) -> CurveView:
        """The view of the system itself."""
        view: CurveView = self.members[self.index]
        return view

    @cached_property
    def sharing(self) -> tuple[int, ...]:
        """Which of them have the coverage in common: those that answer anything, if there are two; all otherwise."""
        speaking = tuple(index for index, member in enumerate(self.members) if member.curve.defined)
        return speaking if len(speaking) > 1 else tuple(range(len(self.members)))

    @cached_property
    def reached(self) -> Coverage | None:
        """The common coverage; None where fewer than two of the systems answer anything."""
        reached = min(self.members[index].curve.coverage_reached for index in self.sharing)
        return Coverage.of(reached) if reached else None

    def exact(self) -> Cut:
        """The curve with the common coverage; an empty one where there is none."""
        return Cut(self.own.curve, self.reached) if self.reached else Cut(Curve.empty(self.own.curve), None)

    def joined(self, samples: Sequence[Replicates]) -> Cut:
        """The replicates of the system, cut where the first of those that answer ends."""
        sharing = [samples[index] for index in self.sharing]
        common = np.minimum.reduce([sample.answered for sample in sharing])
        return Cut(samples[self.index], common, sharing, [sample.answered == common for sample in sharing])

    @cached_property
    def sample(self) -> Cut:
        """The data as they are, as a block of one replicate."""
        return self.joined([member.sample for member in self.members])

    def counted(self, measure: Measure) -> Counted:
        """How many clusters hold a loss up to the common coverage, and what the number can be."""
        counted = self.own.counted(measure, self.reached)
        return counted if self.reached else replace(counted, number=0)


@dataclass(frozen=True, eq=False)
class GroupView(SharedView):
    """One of several groups of units, to be cut at the coverage all of them reach that answer anything at all.

    Groups have different numbers of units: the common coverage is a share, which in a replicate is found among the
    groups it holds.
    """

    @cached_property
    def reached(self) -> Coverage | None:
        """The common coverage; None where no group answers anything."""
        reached = [member.curve.coverage_reached for member in self.members if member.curve.defined]
        return Coverage.of(min(reached)) if reached else None

    def joined(self, samples: Sequence[Replicates]) -> Cut:
        """The replicates of the group, cut where the first of all ends."""
        answered, units = (np.stack([getattr(each, name) for each in samples]) for name in ("answered", "units"))
        shares = np.where(answered > 0, answered / units, np.inf)
        first = np.argmin(shares, axis=0), np.arange(shares.shape[1])
        # Products of whole numbers are exact, and so is a quotient that is a whole number.
        common = answered[first] * units[self.index] / units[first]
        least = (answered * units[first] == answered[first] * units) & (answered > 0)
        return Cut(samples[self.index], common, samples, [*least])
