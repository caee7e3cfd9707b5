"""Cross-fitting: units judged by thresholds chosen on other clusters, as sums that can be resampled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from demur.features.costs.envelope import cheapest_point
from demur.features.costs.options import FOLDS
from demur.features.costs.quantities import HeldOut
from demur.inference.sums import exactly_addable
from demur.inference.views import CurveView
from demur.sampling.draws import folds
from demur.sampling.weights import Weights
from demur.types import Floats, Integers


def cheapest_without(view: CurveView, price: Fraction, fold: Integers) -> Integers:
    """For each cluster the number of points up to which accepting costs least in the other folds, 0 for none."""
    table, number = view.table, int(fold.max()) + 1
    others = (fold[:, None] != np.arange(number)).astype(np.float64)
    sums = (each[1:].T for each in table.plateaus.running_sums(others, whole=table.whole))
    points = [cheapest_point(count, loss, price, table.largest) for count, loss in zip(*sums, strict=True)]
    return np.array(points)[fold]


@dataclass(frozen=True, eq=False)
class HeldOutView:
    """The accepted answers, their summed loss and the units of each cluster; a draw keeps the thresholds."""

    ids: Sequence[int | str]
    lost: Floats
    accepted: Floats
    units: Floats
    largest: float

    @classmethod
    def cheapest(cls, view: CurveView, price: Fraction, seed: int, number: int = FOLDS) -> HeldOutView:
        """Assign clusters to folds, and judge each fold by the cheapest threshold of the others."""
        clusters = len(view.ids)
        fold = folds(seed, clusters, min(number, clusters))
        accepted, lost = view.table.plateaus.upto(cheapest_without(view, price, fold))
        return cls(view.ids, lost, accepted, view.table.cluster_units, view.table.largest)

    @property
    def cells(self) -> int:
        """How wide the arrays of one replicate are."""
        return len(self.ids)

    def exact(self) -> HeldOut:
        """The sums of the data, as fractions."""
        parts = (self.lost, self.accepted, self.units)
        lost, accepted, units = (sum(map(Fraction, part.tolist()), Fraction(0)) for part in parts)
        return HeldOut(lost, accepted, units, Fraction(self.largest))

    def drawn(self, weights: Weights) -> HeldOut:
        """The sums of every draw."""
        lost, accepted, units = (weights.rows @ self._sums).T
        return HeldOut(lost, accepted, units, self.largest, weights)

    @cached_property
    def _sums(self) -> Floats:
        return exactly_addable(np.stack([self.lost, self.accepted, self.units], axis=1))

    def paid(self, price: Fraction) -> Floats:
        """The cost of each cluster."""
        return self.lost / self.largest + float(price) * (self.units - self.accepted)

    def influence(self, price: Fraction) -> Floats:
        """The influence of each cluster on the mean cost of a unit."""
        paid = self.paid(price)
        return np.asarray((paid - paid.sum() / self.units.sum() * self.units) / self.units.sum())

    def entries(self) -> Floats:
        """The sums of the clusters, one row per cluster."""
        return np.column_stack([np.arange(len(self.ids)), self.lost, self.accepted, self.units])
