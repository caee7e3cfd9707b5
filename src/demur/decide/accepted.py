"""What thresholds accept, cluster by cluster: the sums every decision is made of."""

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
from demur.quantities.graded import Graded
from demur.types import Floats, Integers


@dataclass(frozen=True, eq=False)
class Accepted:
    """Accepted units and their loss numerators in each cluster, of how many units, over which divisor.

    `largest` is the largest loss there can be, None where nothing bounds it.
    """

    count: Integers
    loss: NDArray[Any]
    units: Integers
    divisor: int
    largest: Fraction | None
    below_0: bool = False

    @classmethod
    def of(cls, graded: Graded, threshold: float | Floats) -> Accepted:
        """By one threshold on the confidence, or by one for each cluster; infinity accepts nothing."""
        clusters = graded.grouped
        owner, size = clusters.of_answer, len(clusters.ids)
        taken = graded.confidence >= (threshold[owner] if isinstance(threshold, np.ndarray) else threshold)
        counts = None if graded.count is None else graded.count[taken]
        loss = np.zeros(size, graded.loss.dtype)
        np.add.at(loss, owner[taken], graded.loss[taken] * (1 if counts is None else counts))
        largest = None if graded.largest_loss is None else Fraction(graded.largest_loss) / graded.divisor
        count, below_0 = summed(owner[taken], counts, size), bool((graded.loss < 0).any())
        return cls(count, loss, clusters.units, graded.divisor, largest, below_0)

    @cached_property
    def pairs(self) -> dict[tuple[int, Fraction], int]:
        """How many clusters there are of each number of accepted units and summed loss."""
        counted = Counter(zip(self.count.tolist(), self.loss.tolist(), strict=True))
        return {(count, Fraction(loss) / self.divisor): times for (count, loss), times in counted.items()}

    @property
    def clusters(self) -> int:
        """How many clusters there are."""
        return len(self.units)

    @property
    def risk(self) -> Ratio:
        """The loss of what is accepted over how much is."""
        largest = None if self.largest is None else float(self.largest)
        return Ratio(self.loss, self.count, self.divisor, largest, self.below_0)

    @property
    def generalized_risk(self) -> Ratio:
        """The loss of what is accepted over how much there is."""
        return replace(self.risk, denominator=self.units)

    @property
    def coverage(self) -> Ratio:
        """How much is accepted over how much there is."""
        return Ratio(self.count, self.units, maximum=1.0)

    @property
    def loss_sum(self) -> Fraction:
        """The loss of everything accepted."""
        return Fraction(self.loss.sum().item()) / self.divisor
