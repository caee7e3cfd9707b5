"""Nodes: influences as the kernel takes them, each after the ones it depends on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from demur.quantities.slopes import Influence, OfSweep, OnArea, OnDifference, OracleRisks
from demur.types import Floats

if TYPE_CHECKING:
    from demur.inference.engines.tiles import KernelSweep

_AREA, _ORACLE, _APART, _BY_CLUSTER, _GIVEN = range(5)
_MOST_LINES = 8  # as in _kernel.c
_MOST_SUMS = 1 << 17  # nodes times clusters; in 8 replicates they take 8 MB


@dataclass(frozen=True, slots=True, eq=False)
class Nodes:
    """Influences that one call of the kernel evaluates, as arguments and by their ids.

    `influences` keeps the objects alive that the ids in `index` are of. Lines along one table are evaluated together,
    up to `_MOST_LINES`; each names the first of its group.
    """

    arguments: list[tuple[Any, ...]] = field(default_factory=list)
    index: dict[int, int] = field(default_factory=dict)
    influences: list[Influence] = field(default_factory=list)
    lines: dict[tuple[int, int], list[int]] = field(default_factory=dict)

    def add(self, influence: Influence) -> int:
        """Add an influence after the ones it depends on, unless it is there, and return its index."""
        if id(influence) not in self.index:
            node = self._node(influence)
            self.index[id(influence)] = len(self.arguments)
            self.arguments.append(node)
            self.influences.append(influence)
        return self.index[id(influence)]

    def _node(self, influence: Influence) -> tuple[Any, ...]:
        if isinstance(influence, OnDifference):
            a, b = self.add(influence.a), self.add(influence.b)
            return _APART, 0, a, b, 0, None, *_vectors(influence.times, influence.over)
        if isinstance(influence, OnArea):
            return self._area(influence)
        if isinstance(influence, OracleRisks):
            return self._oracle_risks(influence)
        values = in_order(np.asarray(influence))
        return (_BY_CLUSTER if values.ndim == 1 else _GIVEN), 0, 0, 0, 0, None, values

    def _area(self, area: OnArea) -> tuple[Any, ...]:
        line, finish, sweep = area.line, area.finish, _swept(area)
        entries = sweep.table.levels if line.of_oracle else sweep.table.plateaus
        moves = 0 if finish.moves is None else self.add(finish.moves)
        # Units are made once for a sample, so that lines with the same ones begin alike.
        lines = self.lines.setdefault((id(entries), id(line.units)), [])
        if len(lines) == _MOST_LINES:
            lines.clear()
        lines.append(len(self.arguments))
        rows = _vectors(*line[3:], finish.by_units, finish.scale, finish.lift, finish.factor)
        return _AREA, int(line.selective), moves, 0, lines[0], sweep.steps(entries), *rows

    def _oracle_risks(self, risks: OracleRisks) -> tuple[Any, ...]:
        sweep, finish = _swept(risks), risks.finish
        rows = _vectors(finish.by_units, finish.scale, risks.drawn, risks.held, sweep.table.level_loss)
        return _ORACLE, 0, 0, 0, 0, sweep.steps(sweep.table.levels), *rows, sweep.harmonic_tables


def batches(influences: Sequence[Influence], clusters: int) -> list[Nodes]:
    """The influences in groups, so that the sums of the clusters that the kernel keeps for a group fit the cache.

    An influence stays with those it depends on.
    """
    groups = [Nodes()]
    for influence in influences:
        depends = any(id(part) in groups[-1].index for part in _parts(influence))
        if len(groups[-1].arguments) * clusters > _MOST_SUMS and not depends:
            groups.append(Nodes())
        groups[-1].add(influence)
    return groups


def _parts(influence: Influence) -> tuple[Any, ...]:
    if isinstance(influence, OnDifference):
        return influence.a, influence.b
    return (influence.finish.moves,) if isinstance(influence, OfSweep) else ()


def _swept(described: OfSweep) -> KernelSweep:
    return cast("KernelSweep", described.sweep)


def _vectors(*vectors: Any) -> list[Floats | None]:
    return [None if vector is None else in_order(vector) for vector in vectors]


def in_order(values: Any) -> Floats:
    """The values as a contiguous array of doubles, as the kernel reads them."""
    return np.ascontiguousarray(values, np.float64)
