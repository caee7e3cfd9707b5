"""Accepted units and their losses in each cluster at a given threshold."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demur.facts.items import summed
from demur.inference.ratios import Ratio
from demur.sampling.graded import Graded
from demur.types import Floats, Integers


@dataclass(frozen=True, eq=False)
class Accepted:
    """The number of accepted units of each cluster, their summed loss over `divisor`, and the cluster's size.

    `largest` is the largest possible loss, None if there is no bound; `below_0` says whether any loss is negative.
    """

    count: Integers
    loss: NDArray[Any]
    units: Integers
    divisor: int
    largest: Fraction | None
    below_0: bool = False

    @classmethod
    def of(cls, graded: Graded, threshold: float | Floats) -> Accepted:
        """Count what one threshold on the confidence, or one per cluster, accepts; infinity accepts nothing."""
        clusters = graded.grouped
        cluster, size = clusters.of_answer, len(clusters.ids)
        accepted = graded.confidence >= (threshold[cluster] if isinstance(threshold, np.ndarray) else threshold)
        counts = None if graded.count is None else graded.count[accepted]
        loss = np.zeros(size, graded.loss.dtype)
        np.add.at(loss, cluster[accepted], graded.loss[accepted] * (1 if counts is None else counts))
        largest = None if graded.largest_loss is None else Fraction(graded.largest_loss) / graded.divisor
        count, below_0 = summed(cluster[accepted], counts, size), bool((graded.loss < 0).any())
        return cls(count, loss, clusters.units, graded.divisor, largest, below_0)

    @cached_property
    def pairs(self) -> dict[tuple[int, Fraction], int]:
        """How many clusters have each pair (number of accepted units, summed loss)."""
        counted = Counter(zip(self.count.tolist(), self.loss.tolist(), strict=True))
        return {(count, Fraction(loss) / self.divisor): times for (count, loss), times in counted.items()}

    @property
    def clusters(self) -> int:
        """The number of clusters."""
        return len(self.units)

    @property
    def risk(self) -> Ratio:
        """The risk: the summed loss of the accepted units over their number."""
        largest = None if self.largest is None else float(self.largest)
        return Ratio(self.loss, self.count, self.divisor, largest, self.below_0)

    @property
    def generalized_risk(self) -> Ratio:
        """The generalized risk: the summed loss of the accepted units over the number of all units."""
        return replace(self.risk, denominator=self.units)

    @property
    def coverage(self) -> Ratio:
        """The coverage: the number of accepted units over that of all units."""
        return Ratio(self.count, self.units, maximum=1.0)

    @property
    def loss_sum(self) -> Fraction:
        """The summed loss of the accepted units."""
        return Fraction(self.loss.sum().item()) / self.divisor
