"""Sweeps: the cumulative sums over plateaus from which all numbers of a block of replicates are computed.

Engines implement this interface and do nothing but add; formulas use it, and are written once for all engines. The
numpy engine is the reference: any other engine gives the same bits. A loss numerator is a loss times the divisor of its
table.
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
    """The oracle order in each replicate: summed risks, twice the generalized area, lowest and summed loss."""

    risks: Floats
    generalized: Floats
    lowest: Floats
    loss_sum: Floats


class Reached(Protocol):
    """The first plateau of each replicate with at least a required number of answers, in arrays shaped as the request.

    Where no plateau has so many, `index` is the number of plateaus, and the sums are those of the last plateau.
    """

    @property
    def index(self) -> Indices:
        """Index of the plateau, from 0."""

    @property
    def count(self) -> Floats:
        """Answers up to and including the plateau."""

    @property
    def loss_sum(self) -> Floats:
        """Summed loss numerators up to and including the plateau."""


class ReachedPoints(Reached, Protocol):
    """The first plateaus with enough answers, with the mean loss, and the sums and areas before each of them."""

    @property
    def risk(self) -> Floats:
        """Mean loss numerator up to and including the plateau; 0 where nothing is answered."""

    @property
    def count_before(self) -> Floats:
        """Answers before the plateau."""

    @property
    def loss_before(self) -> Floats:
        """Summed loss numerators before the plateau."""

    @property
    def risk_before(self) -> Floats:
        """Mean loss numerator before the plateau; 0 where nothing is answered."""

    @property
    def selective_before(self) -> Floats:
        """Twice the area under the mean loss before the plateau, in units × numerators."""

    @property
    def generalized_before(self) -> Floats:
        """Twice the area under the summed loss before the plateau, in units × numerators."""


class Sweep(Protocol):
    """The sums of a block of replicates of one table, by one engine. Vectors have one element per replicate."""

    @property
    def weights(self) -> Floats:
        """How often each cluster (row) occurs in each replicate (column)."""

    @property
    def units(self) -> Floats:
        """Number of units."""

    @property
    def answered(self) -> Floats:
        """Number of answered units."""

    @property
    def loss(self) -> Floats:
        """Summed loss numerators of all answers."""

    @property
    def selective(self) -> Floats:
        """Twice the area under the mean loss, in units × numerators."""

    @property
    def generalized(self) -> Floats:
        """Twice the area under the summed loss, in units × numerators."""

    @property
    def oracle(self) -> Oracle:
        """The sums of the losses in the oracle order."""

    @property
    def curves(self) -> Curves:
        """Whole curves, for quantities that are needed too rarely to have sums of their own."""

    def sums_of(self, by_cluster: Floats) -> Floats:
        """Sums over the clusters of each replicate of a whole number per cluster."""

    def reached(self, needs: Floats) -> Reached:
        """The first plateaus with at least `needs` answers: one column per replicate, rows in ascending order."""

    def risks(self, needs: Floats, divisor: float, scale: Floats) -> Floats:
        """Risks at these plateaus, loss / (answers · divisor) and loss / scale; nan where there is no such plateau."""

    def points(self, needs: Floats) -> ReachedPoints:
        """The first plateau with at least `needs` answers, one per replicate, with the sums and areas before it."""

    def numerators(self, described: OfSweep) -> Floats:
        """The numerators of influences of the clusters (rows) in each replicate (columns)."""

    def squares(self, influences: Sequence[Influence]) -> Sequence[Floats]:
        """Σ u² over the clusters for each of these influences u; a cluster drawn twice counts twice.

        The influences may be of several tables whose clusters are the same.
        """


class Weights(Protocol):
    """How often each cluster occurs in each replicate, in the format of one engine."""

    def sweep(self, table: Table) -> Sweep:
        """The sums of these replicates of a table."""
