"""The cluster bootstrap by brute force: the rows of the drawn clusters go through the same loop."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from demur.audit.retrieval_figures.numbers import percentile
from reference.registry import number

Clusters = Sequence[Sequence[Any]]

_WORD = 2**64
_GOLDEN = 0x9E3779B97F4A7C15
_MOST_DROPPED = 0.5


def drawn(seed: int, replicate: int, clusters: int, strata: Sequence[int] | None = None) -> list[int]:
    """The clusters of one bootstrap replicate, by their index in sorted order, in plain integers.

    `strata` are those of the clusters: the i-th draw is from the stratum of the i-th cluster in the order of strata.

    >>> drawn(7, 0, 5), drawn(7, 1, 5)
    ([3, 2, 4, 0, 2], [0, 0, 1, 1, 2])
    >>> drawn(7, 0, 5, [0, 1, 0, 1, 1]), drawn(7, 1, 5, [0, 1, 0, 1, 1])
    ([2, 0, 4, 1, 3], [0, 0, 1, 1, 3])
    """
    key = _mixed(_mixed(seed + _GOLDEN) + (replicate + 1) * _GOLDEN)
    stratum = strata or [0] * clusters
    order = sorted(range(clusters), key=lambda cluster: stratum[cluster])
    members = {own: [cluster for cluster in order if stratum[cluster] == own] for own in {*stratum}}
    drawn_from = [members[stratum[cluster]] for cluster in order]
    return [own[_mixed(key + (draw + 1) * _GOLDEN) * len(own) // _WORD] for draw, own in enumerate(drawn_from)]


def _mixed(word: int) -> int:
    """The finaliser of SplitMix64."""
    word %= _WORD
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % _WORD
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB % _WORD
    return word ^ (word >> 31)


def joint_replicates(sides: Sequence[Clusters], quantity: str | Callable[..., Any], seed: int, n: int) -> list[Any]:
    """A quantity, by its name or as a function of the rows of each system, in n replicates drawn together."""
    values = []
    for replicate in range(n):
        drawn_clusters = drawn(seed, replicate, len(sides[0]))
        rows = [[row for cluster in drawn_clusters for row in clusters[cluster]] for clusters in sides]
        values.append(number(quantity, *rows) if isinstance(quantity, str) else quantity(*rows))
    return values


def ci95(values: Sequence[Any]) -> tuple[float, float] | None:
    """The percentile interval of the replicates that are defined; None where more than half are not."""
    defined = sorted(float(value) for value in values if value is not None)
    if not defined or len(defined) < (1 - _MOST_DROPPED) * len(values):
        return None
    return percentile(defined, 0.025), percentile(defined, 0.975)


def standard_error(values: Sequence[Any]) -> float | None:
    """The standard deviation of the replicates that are defined, with ddof 1; None of fewer than two."""
    defined = [float(value) for value in values if value is not None]
    if len(defined) < 2:
        return None
    middle = math.fsum(defined) / len(defined)
    return math.sqrt(math.fsum((value - middle) ** 2 for value in defined) / (len(defined) - 1))
