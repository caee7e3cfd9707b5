"""How often each cluster occurs in each of a block of replicates: the seam between formulas and what adds up for them.

These weights add up with numpy. Those of the compiled kernel are a subclass.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from demur.sampling.line import Line
from demur.sampling.numbers import Number
from demur.sampling.steps import Steps, sum_of_rows
from demur.types import Floats


class Weights:
    """The weight of each cluster (rows) in each replicate (columns)."""

    def __init__(self, columns: Floats) -> None:
        self._given = columns
        self._lines: list[Line] = []

    @classmethod
    def of(cls, rows: Floats) -> Weights:
        """From one row per replicate."""
        return Weights(np.ascontiguousarray(rows.T))

    @classmethod
    def once(cls, clusters: int) -> Weights:
        """The data: the replicate in which every cluster counts once."""
        return Weights(np.ones((clusters, 1)))

    @cached_property
    def columns(self) -> Floats:
        """One row per cluster, one column per replicate."""
        return self._given

    @cached_property
    def rows(self) -> Floats:
        """One row per replicate."""
        return np.ascontiguousarray(self.columns.T)

    @property
    def replicates(self) -> int:
        """The number of replicates."""
        return int(self.columns.shape[1])

    def line(self, steps: Steps, *, whole: bool) -> Line:
        """Running sums along some steps, whose losses may be whole."""
        return self._kept(Line(steps, self, whole))

    def _kept(self, line: Line) -> Line:
        self._lines.append(line)
        return line

    def release(self) -> None:
        """Free the sums of all lines. These refer to themselves, and would stay until Python looks for such cycles."""
        for line in self._lines:
            line.forget()

    def total(self, by_cluster: Floats) -> Floats:
        """Sums over the clusters of each replicate of a whole number per cluster."""
        return by_cluster @ self.columns

    def squares(self, numbers: Sequence[Number]) -> list[Floats]:
        """Σ u² over the clusters of each replicate, for the influences u on each number."""
        squares = []
        for each in numbers:
            influence = each.influence
            influence *= influence
            influence *= self.columns
            squares.append(sum_of_rows(influence))
        return squares
