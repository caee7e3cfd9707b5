"""Sweeps: the sums over plateaus that all numbers of a block of replicates are made of.

Everything below this seam adds up, and everything above it is formulas. numpy's sweep is the reference: any other
engine gives the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from demur.types import Floats, Indices

if TYPE_CHECKING:
    from demur.quantities.numpy_sweep import Curves
    from demur.quantities.slopes import Influence, OfSweep
    from demur.quantities.table import Table


class Oracle(NamedTuple):
    """The oracle order in each replicate: its risks summed unit by unit, twice its generalized area, its ends."""

    risks: Floats
    generalized: Floats
    lowest: Floats
    loss_sum: Floats


class Reached(Protocol):
    """The first plateaus with at least so many answers, of each replicate: arrays as it was asked with.

    `place` is the number of plateaus where there is none; everything else is then what it is at the end.
    """

    @property
    def place(self) -> Indices:
        """Which plateau it is."""

    @property
    def count(self) -> Floats:
        """Answers there."""

    @property
    def loss_sum(self) -> Floats:
        """Their summed loss numerators."""


class PointsFound(Reached, Protocol):
    """The same, with the mean loss, and with what was before each of them."""

    @property
    def risk(self) -> Floats:
        """Mean loss numerator of the answers; 0 where there are none."""

    @property
    def count_before(self) -> Floats:
        """Answers before it."""

    @property
    def loss_before(self) -> Floats:
        """Their summed loss numerators."""

    @property
    def risk_before(self) -> Floats:
        """Their mean; 0 where there are none."""

    @property
    def selective_before(self) -> Floats:
        """Twice the area under the mean loss before it, in units × numerators."""

    @property
    def generalized_before(self) -> Floats:
        """Twice the area under the summed loss before it, in units × numerators."""


class Sweep(Protocol):
    """A block of replicates of a table, drawn by some engine. Vectors have a number per replicate."""

    @property
    def weights(self) -> Floats:
        """How often each cluster (a row) is in each replicate (a column)."""

    @property
    def units(self) -> Floats:
        """How many units there are."""

    @property
    def answered(self) -> Floats:
        """How many of them are answered."""

    @property
    def loss(self) -> Floats:
        """The summed loss numerators of the answers."""

    @property
    def selective(self) -> Floats:
        """Twice the area under the mean loss, in units × numerators."""

    @property
    def generalized(self) -> Floats:
        """Twice the area under the summed loss, in units × numerators."""

    @property
    def oracle(self) -> Oracle:
        """The same losses in the oracle order."""

    @property
    def curves(self) -> Curves:
        """Whole curves, for what is asked too rarely to have sums of its own."""

    def sums_of(self, by_cluster: Floats) -> Floats:
        """Sums over the clusters of a whole number that each of them has."""

    def reached(self, needs: Floats) -> Reached:
        """The first plateaus with at least `needs` answers: a column per replicate; later rows need no fewer."""

    def risks(self, needs: Floats, divisor: float, scale: Floats) -> Floats:
        """Both risks there, loss / (answers · divisor) and loss / scale; nan where there is no such plateau."""

    def points(self, needs: Floats) -> PointsFound:
        """The same, one for each replicate, with what was before it."""

    def influence(self, described: OfSweep) -> Floats:
        """The influences of the clusters, a row each."""

    def squares(self, influences: Sequence[Influence]) -> Sequence[Floats]:
        """Σ u² over the clusters for each of these influences u, a cluster drawn twice counted twice.

        They may be of other tables too, if the same clusters are drawn.
        """


class Weights(Protocol):
    """How often replicates hold clusters, in a form of some engine's own."""

    def sweep(self, table: Table) -> Sweep:
        """The replicates of a table."""
