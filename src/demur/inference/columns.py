"""The columns of numbers and differences in a block of replicates: plain values, which can be sent to a worker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from demur.inference.sums import errors_of_difference
from demur.quantities import Measure
from demur.sampling.resample import StdError
from demur.types import Flags, Floats


@dataclass(frozen=True, slots=True, eq=False)
class NumberColumns:
    """A number in every replicate, with what its quantity watches there.

    It is undefined in a draw without any of the `held` clusters, if these are given. With `clusters`, the number of
    those that hold any of its units, there is a standard error too.
    """

    number: Callable[[Any], Any]
    measure: Measure
    held: Flags | None = None
    clusters: int | None = None

    def __call__(self, sample: Any) -> dict[str, Any]:
        """The columns by name."""
        number = self.number(sample)
        columns = {"value": number}
        if self.held is not None:
            drawn = sample.weights.total(self.held.astype(np.float64))
            columns["value"] = np.where(drawn > 0, np.asarray(number), np.nan)
        if self.clusters is not None:
            columns["error"] = StdError(number, self.clusters)
        coverage = self.measure.coverage
        if coverage is not None:
            columns |= {name: watch(sample, coverage) for name, watch in self.measure.quantity.watched.items()}
        return columns


@dataclass(frozen=True, slots=True, eq=False)
class DifferenceColumns:
    """The standard error of a difference of two numbers in every replicate, over so many clusters.

    For two means over the same units, `sums` are the differences of the clusters' sums, and their counts.
    """

    number: Callable[[Any], Any]
    subtracted: Callable[[Any], Any]
    clusters: int
    sums: tuple[Floats, Floats] | None = None

    def __call__(self, samples: Sequence[Any]) -> dict[str, Any]:
        """The columns by name, of a sample of each side."""
        apart = self.number(samples[0]) - self.subtracted(samples[1])
        if self.sums is not None:
            return {"error": errors_of_difference(*self.sums, apart, samples[0].weights)}
        return {"error": StdError(apart, self.clusters)}
