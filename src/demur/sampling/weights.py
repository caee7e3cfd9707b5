"""Weights of the clusters in a block of replicates, and the weighted sums that formulas are made of.

These weights are summed by numpy; those of the compiled kernel are a subclass.
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
        """Build weights from an array with one row per replicate."""
        return Weights(np.ascontiguousarray(rows.T))

    @classmethod
    def once(cls, clusters: int) -> Weights:
        """The weights of the data: one replicate, in which every cluster counts once."""
        return Weights(np.ones((clusters, 1)))

    @cached_property
    def columns(self) -> Floats:
        """The weights as an array, clusters × replicates."""
        return self._given

    @cached_property
    def rows(self) -> Floats:
        """The weights as an array, replicates × clusters."""
        return np.ascontiguousarray(self.columns.T)

    @property
    def replicates(self) -> int:
        """The number of replicates."""
        return int(self.columns.shape[1])

    def line(self, steps: Steps, *, whole: bool) -> Line:
        """The running sums along the given steps; `whole` says that losses are integers."""
        return self._kept(Line(steps, self, whole))

    def _kept(self, line: Line) -> Line:
        self._lines.append(line)
        return line

    def release(self) -> None:
        """Free the sums of all lines, which refer to themselves and would stay until Python's cycle collector runs."""
        for line in self._lines:
            line.forget()

    def total(self, by_cluster: Floats) -> Floats:
        """The weighted sum over the clusters, in each replicate, of a whole number per cluster."""
        return by_cluster @ self.columns

    def squares(self, numbers: Sequence[Number]) -> list[Floats]:
        """Σ u² over the clusters of each replicate, where u are the influences of the clusters on each number."""
        squares = []
        for each in numbers:
            influence = each.influence
            influence *= influence
            influence *= self.columns
            squares.append(sum_of_rows(influence))
        return squares
