"""Tallies: what clusters add up to, in a form that can be drawn again and again.

A draw gives every cluster a weight. Ratios of sums and tables of forecasts are all that the means and the detection
metrics of retrieval need; the resampling treats them as it treats the tables of a curve.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from demur.metrics.forecasts import Forecasts, over

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

_EXACT_BITS = 52


@dataclass(frozen=True, slots=True)
class Ratio:
    """A sum over units divided by another; a mean is one, with a bottom of ones over the units it is about."""

    top: Floats
    bottom: Floats

    @property
    def value(self) -> float:
        """The number itself, from sums rounded once, in whatever order; nan if there is nothing to divide by."""
        whole = math.fsum(self.bottom.tolist())
        return math.fsum(self.top.tolist()) / whole if whole else math.nan


@dataclass(frozen=True, eq=False)
class RatioTable:
    """Ratios by name, summed within clusters. In a draw each is the weighted sum of its tops over that of its bottoms.

    The sums are held to so many bits that adding them, weighted, is exact: the result cannot depend on the order a
    matrix product adds in, and with it on the number of threads or of replicates in a block.
    """

    ids: Sequence[int | str]
    names: tuple[str, ...]
    top: Floats
    bottom: Floats
    bottom_of: NDArray[np.intp]

    @classmethod
    def of(cls, ids: Sequence[int | str], cluster: Integers, ratios: Mapping[str, Ratio]) -> RatioTable:
        """From the ratios of units, and the cluster of each unit."""
        bottoms: dict[bytes, tuple[int, Floats]] = {}
        bottom_of = []
        for ratio in ratios.values():
            place, _ = bottoms.setdefault(ratio.bottom.tobytes(), (len(bottoms), ratio.bottom))
            bottom_of.append(place)
        return cls(
            ids=ids,
            names=tuple(ratios),
            top=_sums([ratio.top for ratio in ratios.values()], cluster, len(ids)),
            bottom=_sums([bottom for _, bottom in bottoms.values()], cluster, len(ids)),
            bottom_of=np.array(bottom_of, np.intp),
        )

    @property
    def clusters(self) -> int:
        """How many clusters there are."""
        return len(self.ids)

    @property
    def cells(self) -> int:
        """How much a draw takes."""
        return max(self.clusters, len(self.names))

    def drawn(self, weights: Floats) -> dict[str, Floats]:
        """Every ratio in every draw; nan where a draw has nothing to divide by."""
        values = over(weights @ self.top, (weights @ self.bottom)[:, self.bottom_of])
        return dict(zip(self.names, values.T, strict=True))


def _sums(columns: Sequence[Floats], cluster: Integers, clusters: int) -> Floats:
    sums = np.stack([np.bincount(cluster, column, minlength=clusters) for column in columns], axis=1)
    largest = float(np.abs(sums).max(initial=0)) * clusters
    unit = 2.0 ** (math.frexp(largest)[1] - _EXACT_BITS)
    return np.asarray(np.rint(sums / unit) * unit)


@dataclass(frozen=True, eq=False)
class ForecastTable:
    """Probabilities and outcomes of units, in ascending order of the probability, with the cluster of each."""

    ids: Sequence[int | str]
    cluster: Integers
    outcome: Floats
    levels: Floats
    starts: NDArray[np.intp]

    @classmethod
    def of(cls, ids: Sequence[int | str], cluster: Integers, probability: Floats, outcome: Floats) -> ForecastTable:
        """From one probability and one outcome, 0 or 1, per unit."""
        order = np.argsort(probability, kind="stable")
        levels, starts = np.unique(probability[order], return_index=True)
        return cls(ids, cluster[order], outcome[order], levels, starts)

    @property
    def clusters(self) -> int:
        """How many clusters there are."""
        return len(self.ids)

    @property
    def cells(self) -> int:
        """How much a draw takes."""
        return max(len(self.cluster), self.clusters)

    def drawn(self, weights: Floats) -> Forecasts:
        """The forecasts of every draw."""
        of_unit = weights[:, self.cluster].T
        outcome = np.add.reduceat(of_unit * self.outcome[:, None], self.starts, axis=0)
        return Forecasts(
            probability=self.levels,
            count=np.add.reduceat(of_unit, self.starts, axis=0),
            outcome=outcome,
            squares=np.asarray(outcome.sum(axis=0)),
        )
