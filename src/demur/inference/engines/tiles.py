"""Tiles: the weights of clusters in replicates, in the format of the kernel, and the sums that the kernel computes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from demur.inference.engines import _kernel
from demur.inference.engines.kernel import LANES, Kernel
from demur.inference.engines.nodes import Nodes, batches, in_order
from demur.quantities.numpy_sweep import Curves
from demur.quantities.slopes import Influence, OfSweep, harmonic_tables, scaled_squares
from demur.quantities.sweep import Oracle
from demur.quantities.table import Entries, Table
from demur.types import Floats, Indices

if TYPE_CHECKING:
    from demur.inference.engines._kernel import Steps

_LARGEST = 255
_STATES = 5  # the kernel's numbers of a replicate at a plateau: answers, their loss, two areas, mean loss
_FEW_PLATEAUS, _SHORT_CHUNK, _LONG_CHUNK = 2048, 32, 64
_SHARED = 8  # clusters to a plateau
_REACHED, _RISKS, _POINTS = 3, 2, 9  # how many numbers of a plateau each search returns
_NONE = np.zeros(0)
_ROOM = 64  # spare length beside an eighth, for replicates with more answers


@dataclass(frozen=True, eq=False)
class Prepared:
    """The kernel with the tables it has prepared, once for all blocks of replicates."""

    kernel: Kernel
    _steps: dict[int, tuple[Entries, Steps]] = field(default_factory=dict)
    _tables: list[Floats] = field(default_factory=list)

    def steps(self, table: Table, entries: Entries) -> Steps:
        """The entries of a table in order of its plateaus, or of its levels of loss."""
        if id(entries) not in self._steps:
            begin = np.append(0, entries.step_end + 1).astype(np.int64)
            # A matrix product begins each sum with 0, a running sum with its first term, which may be −0.
            nothing = 0.0 if table.whole and entries.dense else -0.0
            cluster = entries.cluster.astype(np.int32, copy=False)
            for array in (cluster, entries.count, entries.loss):  # the kernel reads them without a copy
                array.flags.writeable = False
            arrays = begin, cluster, entries.count, entries.loss, table.cluster_units
            steps = _kernel.steps(*arrays, entries.dense, nothing)
            self._steps[id(entries)] = entries, steps  # with the entries themselves, so that no others get their id
        return self._steps[id(entries)][1]

    def drawn(self, seed: int, replicates: range, clusters: int) -> Tiles | None:
        """Random weights of the clusters in each replicate; None if one exceeds a byte."""
        drawn = self.kernel.draw(seed, replicates, clusters)
        return None if drawn is None else Tiles(self, drawn, len(replicates), clusters)

    def packed(self, rows: Floats) -> Tiles | None:
        """Given weights, one row per replicate, as tiles; None if one is not a whole number from 0 to 255."""
        if rows.size and not (rows.min() >= 0 and rows.max() <= _LARGEST and (rows == np.floor(rows)).all()):
            return None
        replicates, clusters = rows.shape
        full = np.zeros((-(-replicates // LANES) * LANES, clusters), np.uint8)
        full[:replicates] = rows
        return Tiles(self, np.ascontiguousarray(full.reshape(-1, LANES, clusters).swapaxes(1, 2)), replicates)

    def harmonic_tables(self, most: float) -> Floats:
        """Harmonic numbers and trigamma function for the whole numbers up to at least this one."""
        if not self._tables or self._tables[-1].shape[1] <= most:
            self._tables.append(harmonic_tables(int(most * 1.125) + _ROOM))
        return self._tables[-1]


@dataclass(frozen=True, eq=False)
class Tiles:
    """How often each cluster occurs in each replicate, as bytes by block of 16 replicates, cluster and lane.

    `size` is how many clusters every replicate has, if that is known.
    """

    prepared: Prepared
    bytes: NDArray[np.uint8]
    replicates: int
    size: int | None = None

    @cached_property
    def columns(self) -> Floats:
        """The weights with one row per cluster and one column per replicate, as numpy uses them."""
        clusters = self.bytes.shape[1]
        return self.bytes.swapaxes(0, 1).reshape(clusters, -1)[:, : self.replicates].astype(np.float64)

    @cached_property
    def rows(self) -> Floats:
        """The weights with one row per replicate."""
        return np.ascontiguousarray(self.columns.T)

    def sweep(self, table: Table) -> KernelSweep:
        """The sums of these replicates of a table."""
        return KernelSweep(table, self)


@dataclass(frozen=True, slots=True, eq=False)
class ReachedByKernel:
    """The first plateaus with a required number of answers, by the kernel."""

    index: Indices
    count: Floats
    loss_sum: Floats


@dataclass(frozen=True, slots=True, eq=False)
class PointsByKernel(ReachedByKernel):
    """The first plateaus with a required number of answers, with the mean loss, and the sums and areas before them."""

    risk: Floats
    count_before: Floats
    loss_before: Floats
    risk_before: Floats
    selective_before: Floats
    generalized_before: Floats


@dataclass(frozen=True, eq=False)
class KernelSweep:
    """The sums of a block of replicates, by the kernel."""

    table: Table
    tiles: Tiles

    @property
    def weights(self) -> Floats:
        """How often each cluster (row) occurs in each replicate (column)."""
        return self.tiles.columns

    @cached_property
    def curves(self) -> Curves:
        """Whole curves, by numpy."""
        return Curves(self.table, self.weights)

    @property
    def _plateaus(self) -> int:
        return len(self.table.plateaus.step_end)

    @property
    def _chunk(self) -> int:
        """Number of plateaus between stored states; a search for a point goes through so many again.

        Where many clusters share a plateau, the state of each is stored: that is less than adding them up again.
        """
        if len(self.table.plateaus.count) >= _SHARED * self._plateaus:
            return 1
        return _SHORT_CHUNK if self._plateaus <= _FEW_PLATEAUS else _LONG_CHUNK

    def steps(self, entries: Entries) -> Steps:
        """The plateaus or levels of the table, as prepared for the kernel."""
        return self.tiles.prepared.steps(self.table, entries)

    def _call(self, function: Callable[..., None], entries: Entries | None, option: int, *arrays: Any) -> None:
        """Call a function of the kernel with these replicates and the plateaus or levels of the table."""
        number, drawn = self.tiles.prepared.kernel.number, self.tiles.bytes
        steps = None if entries is None else self.steps(entries)
        function(number, steps, drawn, self.table.clusters, self.tiles.replicates, option, *arrays)

    @cached_property
    def _swept(self) -> Floats:
        """The state of each replicate before every chunk of plateaus, and after the last one."""
        chunks = -(-self._plateaus // self._chunk)
        state = np.empty((len(self.tiles.bytes), chunks + 1, _STATES, LANES))
        self._call(_kernel.sweep, self.table.plateaus, self._chunk, state)
        return state

    @cached_property
    def _end(self) -> list[Floats]:
        """Answers, their loss, both areas and the mean loss of the whole curves."""
        last = self._swept[:, -1].swapaxes(0, 1)
        return [*last.reshape(_STATES, -1)[:, : self.tiles.replicates]]

    @cached_property
    def units(self) -> Floats:
        """Number of units."""
        return self.sums_of(self.table.cluster_units)

    @property
    def answered(self) -> Floats:
        """Number of answered units."""
        return self._end[0]

    @property
    def loss(self) -> Floats:
        """Summed loss numerators of all answers."""
        return self._end[1]

    @property
    def selective(self) -> Floats:
        """Twice the area under the mean loss."""
        return self._end[2]

    @property
    def generalized(self) -> Floats:
        """Twice the area under the summed loss."""
        return self._end[3]

    @cached_property
    def oracle(self) -> Oracle:
        """The sums of the losses in the oracle order."""
        sums = np.empty((4, self.tiles.replicates))
        levels = self.table.level_loss, self.harmonic_tables
        self._call(_kernel.oracle, self.table.levels, 0, *levels, sums)
        return Oracle(*sums)

    @property
    def harmonic_tables(self) -> Floats:
        """Harmonic numbers and trigamma function up to at least the largest number of answers."""
        return self.tiles.prepared.harmonic_tables(float(self.answered.max(initial=0)))

    def sums_of(self, by_cluster: Floats) -> Floats:
        """Sums over the clusters of each replicate of a whole number per cluster."""
        if self.tiles.size is not None and (by_cluster == by_cluster[0]).all():
            return np.full(self.tiles.replicates, self.tiles.size * float(by_cluster[0]))
        sums = np.empty(self.tiles.replicates)
        self._call(_kernel.sums, None, 0, in_order(by_cluster), sums)
        return sums

    def reached(self, needs: Floats) -> ReachedByKernel:
        """The first plateaus with at least `needs` answers."""
        return ReachedByKernel(*self._search(needs, _NONE, _REACHED))

    def risks(self, needs: Floats, divisor: float, scale: Floats) -> Floats:
        """Selective and generalized risk at the first plateaus with at least `needs` answers."""
        risks: Floats = self._search(needs, np.append(divisor, scale), _RISKS)
        return risks

    def points(self, needs: Floats) -> PointsByKernel:
        """The first plateaus with at least `needs` answers, with the sums and areas before them."""
        return PointsByKernel(*self._search(needs, _NONE, _POINTS))

    def _search(self, needs: Floats, scales: Floats, size: int) -> Any:
        values = np.empty((size, *needs.shape))
        self._call(_kernel.find, self.table.plateaus, self._chunk, self._swept, in_order(needs), scales, values)
        return values

    def numerators(self, described: OfSweep) -> Floats:
        """The numerators of influences of the clusters (rows) in each replicate (columns)."""
        numerators, nodes = np.empty((self.table.clusters, self.tiles.replicates)), Nodes()
        nodes.add(described)
        self._call(_kernel.influences, None, 0, _NONE, numerators, nodes.asking(()))
        return numerators

    def squares(self, influences: Sequence[Influence]) -> Sequence[Floats]:
        """Sums of squared influences over the clusters of each replicate."""
        squares, wanted = dict[int, Floats](), {id(influence) for influence in influences}
        for nodes in batches(influences, self.table.clusters):
            places = {nodes.index[key]: key for key in nodes.index.keys() & wanted}
            sums = np.empty((len(places), self.tiles.replicates))
            self._call(_kernel.influences, None, 0, sums, _NONE, nodes.asking(places))
            squares |= zip((places[place] for place in sorted(places)), sums, strict=True)
        return [scaled_squares(squares[id(influence)], influence) for influence in influences]
