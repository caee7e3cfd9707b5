"""Evidence: what the intervals of one number are computed from."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from demur.types import Floats


@dataclass(frozen=True, eq=False)
class Evidence:
    """One number: its value, its replicates, and the influence of each cluster if the number has a derivative.

    `values` may hold nan for replicates in which the number was not reached: `reached` are the others, `drop_rate` is
    the share of those left out. Where every replicate must be 0 because nothing is ever wrong, no interval is
    `two_sided`. `largest` is the largest cluster over the mean, `maximum` what a number on a logit scale is at most,
    and `scale` the size of the numbers a difference is of, beside which a standard error may be nothing but rounding.
    """

    point: float
    values: Floats
    clusters: int
    influence: Floats | None = None
    replicate_std_error: Floats | None = None
    left_out: Floats | None = None
    two_sided: bool = True
    largest: float = math.nan
    maximum: float = 1.0
    scale: float = 0.0
    reached: Floats = field(init=False)
    drop_rate: float = field(init=False)

    def __post_init__(self) -> None:
        missing, replicates = np.isnan(self.values), len(self.values)
        dropped = int(np.count_nonzero(missing))
        object.__setattr__(self, "reached", self.values[~missing] if dropped else self.values)
        object.__setattr__(self, "drop_rate", dropped / replicates if replicates else math.nan)

    @cached_property
    def std_error(self) -> float | None:
        """The standard error from the influence function."""
        if self.influence is None:
            return None
        clusters = self.clusters
        return math.sqrt(self._squares_and_fourths[0] * (clusters / (clusters - 1))) if clusters > 1 else 0.0

    @cached_property
    def degrees(self) -> float:
        """Degrees of freedom of that standard error: fewer than P − 1 where a few clusters hold most of it."""
        clusters = self.clusters
        if self.influence is None or clusters == 1:
            return clusters - 1.0
        squares, fourths = self._squares_and_fourths
        spread = fourths - squares**2 / clusters
        return min(clusters - 1.0, 2 * squares**2 / spread) if spread > 0 else clusters - 1.0

    @cached_property
    def _squares_and_fourths(self) -> tuple[float, float]:
        """Σ u² and Σ u⁴."""
        assert self.influence is not None  # noqa: S101
        squares = self.influence**2
        return float(squares.sum()), float((squares * squares).sum())

    @cached_property
    def bootstrap_std_error(self) -> float:
        """Standard deviation of the replicates, ddof 1; nan with fewer than two of them, 0 with one cluster."""
        if self.clusters == 1:
            return 0.0
        number = len(self.reached)
        if number <= 1:
            return math.nan
        away = self.reached - np.add.reduce(self.reached) / number  # as np.std does, in half the time
        away *= away
        return math.sqrt(np.add.reduce(away) / (number - 1))
