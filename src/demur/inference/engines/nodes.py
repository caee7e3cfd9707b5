"""Nodes: influences as the kernel takes them, each after those that it is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from demur.quantities.slopes import Influence, OfSweep, OnArea, OnDifference, OracleRisks
from demur.types import Floats

if TYPE_CHECKING:
    from demur.inference.engines.tiles import KernelSweep

_AREA, _ORACLE, _APART, _BY_CLUSTER, _GIVEN = range(5)
_MOST_LINES = 8  # that the kernel goes along together
_MOST_SUMS = 1 << 17  # of clusters, in 8 replicates each: 8 megabytes


@dataclass(frozen=True, slots=True, eq=False)
class Nodes:
    """Influences that are evaluated together, where each is among them, and what their ids are of.

    Of the lines along each table, those that the kernel goes along together are known by the first of them.
    """

    made: list[tuple[Any, ...]] = field(default_factory=list)
    place: dict[int, int] = field(default_factory=dict)
    kept: list[Influence] = field(default_factory=list)
    lines: dict[tuple[int, int], list[int]] = field(default_factory=dict)

    def add(self, influence: Influence) -> int:
        """Its place, after all that it is made of."""
        if id(influence) not in self.place:
            node = self._node(influence)
            self.place[id(influence)] = len(self.made)
            self.made.append(node)
            self.kept.append(influence)
        return self.place[id(influence)]

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
        lines.append(len(self.made))
        rows = _vectors(*line[3:], finish.by_units, finish.scale, finish.lift, finish.factor)
        return _AREA, int(line.selective), moves, 0, lines[0], sweep.steps(entries), *rows

    def _oracle_risks(self, risks: OracleRisks) -> tuple[Any, ...]:
        sweep, finish = _swept(risks), risks.finish
        rows = _vectors(finish.by_units, finish.scale, risks.drawn, risks.held, sweep.table.level_loss)
        return _ORACLE, 0, 0, 0, 0, sweep.steps(sweep.table.levels), *rows, sweep.harmonic_tables


def batches(influences: Sequence[Influence], clusters: int) -> list[Nodes]:
    """All of them, so many together that what the kernel keeps of the clusters stays small; those of one table are."""
    parts = [Nodes()]
    for each in influences:
        known = (id(part) in parts[-1].place for part in _parts(each))
        if len(parts[-1].made) * clusters > _MOST_SUMS and not any(known):
            parts.append(Nodes())
        parts[-1].add(each)
    return parts


def _parts(influence: Influence) -> tuple[Any, ...]:
    if isinstance(influence, OnDifference):
        return influence.a, influence.b
    return (influence.finish.moves,) if isinstance(influence, OfSweep) else ()


def _swept(described: OfSweep) -> KernelSweep:
    sweep: Any = described.sweep
    made: KernelSweep = sweep
    return made


def _vectors(*vectors: Any) -> list[Floats | None]:
    return [None if each is None else in_order(each) for each in vectors]


def in_order(values: Any) -> Floats:
    """The same numbers, as the kernel reads them."""
    return np.ascontiguousarray(values, np.float64)
