"""Nodes: influences as the kernel takes them, each after the ones it depends on."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from demur.quantities.slopes import Influence, OfSweep, OnArea, OnDifference, OnSum, OracleRisks, Term
from demur.types import Floats

if TYPE_CHECKING:
    from demur.inference.engines.tiles import KernelSweep

_AREA, _ORACLE, _SUM, _APART, _GIVEN = range(5)
_MOST_LINES = 8  # as in _types.h
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
    lines: dict[int, list[int]] = field(default_factory=dict)

    def add(self, influence: Influence) -> int:
        """Add an influence after the ones it depends on, unless it is there, and return its index."""
        if id(influence) not in self.index:
            node = self._node(influence)
            self.index[id(influence)] = self._append(node)
            self.influences.append(influence)
        return self.index[id(influence)]

    def _append(self, node: tuple[Any, ...]) -> int:
        self.arguments.append(node)
        return len(self.arguments) - 1

    def asking(self, wanted: Container[int]) -> list[tuple[Any, ...]]:
        """The arguments, with the nodes marked whose squares are wanted, by their places."""
        return [(*node[:2], place in wanted, *node[2:]) for place, node in enumerate(self.arguments)]

    def _node(self, influence: Influence) -> tuple[Any, ...]:
        if isinstance(influence, OnDifference):
            a, b = self.add(influence.a), self.add(influence.b)
            return _APART, 0, a, b, 0, None, in_order(influence.times)
        if isinstance(influence, OnArea):
            return self._area(influence)
        if isinstance(influence, OracleRisks):
            return self._oracle_risks(influence)
        if isinstance(influence, OnSum):
            return self._sum(influence)
        return _GIVEN, 0, 0, 0, 0, None, in_order(np.asarray(influence))

    def _area(self, area: OnArea) -> tuple[Any, ...]:
        line, sweep = area.line, _swept(area)
        entries = sweep.table.levels if line.of_oracle else sweep.table.plateaus
        moves = 0 if area.moves is None else self.add(area.moves)
        lines = self.lines.setdefault(id(entries), [])
        if len(lines) == _MOST_LINES:
            lines.clear()
        lines.append(len(self.arguments))
        rows = _vectors(*line[2:], area.by_units, area.lift)
        return _AREA, int(line.selective), moves, 0, lines[0], sweep.steps(entries), *rows

    def _sum(self, added: OnSum) -> tuple[Any, ...]:
        """Two terms to a node, each of which adds to the one before."""
        *earlier, last = [added.terms[start : start + 2] for start in range(0, len(added.terms), 2)]
        before = 0
        for index, terms in enumerate(earlier):
            before = self._append(self._terms(terms, index > 0, before))
        return self._terms(last, bool(earlier), before)

    @staticmethod
    def _terms(terms: Sequence[Term], adds: bool, before: int) -> tuple[Any, ...]:  # noqa: FBT001
        rows = [row for term in terms for row in term]
        return _SUM, int(adds), before, 0, 0, None, *_vectors(*rows, *[None] * (4 - len(rows)))

    def _oracle_risks(self, risks: OracleRisks) -> tuple[Any, ...]:
        sweep = _swept(risks)
        rows = _vectors(risks.by_units, risks.drawn, risks.held, sweep.table.level_loss)
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
    return (influence.moves,) if isinstance(influence, OnArea) else ()


def _swept(described: OfSweep) -> KernelSweep:
    return cast("KernelSweep", described.sweep)


def _vectors(*vectors: Any) -> list[Floats | None]:
    return [None if vector is None else in_order(vector) for vector in vectors]


def in_order(values: Any) -> Floats:
    """The values as a contiguous array of doubles, as the kernel reads them."""
    return np.ascontiguousarray(values, np.float64)
