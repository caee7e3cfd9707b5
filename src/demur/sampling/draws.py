"""Draws: the clusters of each bootstrap replicate, a pure function of the seed and two counters.

The recipe, for anyone who wants the same draws in another language. All arithmetic is on unsigned 64-bit integers:

    mix(x):   x = (x ^ (x >> 30)) · 0xBF58476D1CE4E5B9
              x = (x ^ (x >> 27)) · 0x94D049BB133111EB
              x ^ (x >> 31)                                    (the finaliser of SplitMix64)
    G = 0x9E3779B97F4A7C15
    key(b)   = mix(mix(seed + G) + (b + 1)·G)                  for replicate b = 0, 1, …
    u(b, i)  = mix(key(b) + (i + 1)·G)                         for draw i = 0 … P−1
    drawn    = the upper 64 bits of the 128-bit product u(b, i)·P

A draw is the position of a cluster among the P clusters in sorted order. Within strata, the clusters are put in the
order of their strata, in each in sorted order; draw i is from the stratum of cluster i, at the upper 64 bits of u(b, i)
times the size of the stratum, counted from where it begins. No stream is consumed: replicate 9 999
needs none of the 9 999 before it, so blocks, threads and machines cannot change it.

Folds and splits of clusters come from the same words, of replicates that no bootstrap reaches: cluster i is ranked by
u(2⁶³ + n, i), n = 0 for folds and n = 1 for a split in two, and its fold is its rank modulo the number of folds.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from demur.errors import UserError, literal
from demur.types import Floats, Integers

Words = NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_HALF = np.uint64(32)
_LOWER = np.uint64(0xFFFFFFFF)
_MOST_CLUSTERS = 2**31
_NO_REPLICATE = 2**63


NO_SEED = "a seed is needed wherever anything is resampled: give any integer, 0 or more, and report it"


def checked_seed(seed: object) -> int:
    """Return a seed if it is an integer from 0 to 2⁶⁴ − 1; raise an error otherwise."""
    if seed is None:
        raise UserError(NO_SEED)
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or not 0 <= seed < 2**64:
        raise UserError(f"seed {literal(seed)}, expected an integer from 0 to 2**64 - 1")
    return int(seed)


def drawn_clusters(seed: int, replicates: NDArray[np.integer], clusters: int) -> Integers:
    """The clusters of each replicate, one row per replicate and one column per draw.

    >>> drawn_clusters(7, np.arange(2), 5).tolist()
    [[3, 2, 4, 0, 2], [0, 0, 1, 1, 2]]
    """
    if not 0 < clusters < _MOST_CLUSTERS:
        raise UserError(f"{clusters} clusters, expected at least 1 and fewer than 2**31")
    return _upper_of_product(_words(seed, replicates, clusters), np.uint64(clusters)).astype(np.int64)


def signs(seed: int, replicates: NDArray[np.integer], clusters: int) -> Floats:
    """Random signs, +1 or −1, one row per replicate and one column per cluster: the highest bit of the random word.

    >>> signs(7, np.arange(2), 5).tolist()
    [[-1.0, 1.0, -1.0, 1.0, -1.0], [1.0, 1.0, 1.0, 1.0, -1.0]]
    """
    highest = _words(seed, replicates, clusters) >> np.uint64(63)
    return 1 - 2 * highest.astype(np.float64)


def folds(seed: int, clusters: int, number: int, *, purpose: int = 0) -> Integers:
    """Assign each cluster to one of `number` random folds, whose sizes differ by at most one; folds count from 0.

    >>> folds(7, 8, 3).tolist(), folds(7, 8, 2, purpose=1).tolist()
    ([2, 0, 1, 1, 0, 2, 1, 0], [1, 0, 1, 1, 0, 0, 1, 0])
    """
    words = _words(seed, np.array([_NO_REPLICATE + purpose], dtype=np.uint64), clusters)[0]
    rank = np.empty(clusters, np.int64)
    rank[np.argsort(words, kind="stable")] = np.arange(clusters)
    return rank % number


def _words(seed: int, replicates: NDArray[np.integer], clusters: int) -> Words:
    """u(b, i) for each replicate (a row) and draw (a column)."""
    with np.errstate(over="ignore"):  # the recipe wraps around
        start = _mix(np.array([seed], dtype=np.uint64) + _GOLDEN)
        key = _mix(start + (replicates.astype(np.uint64) + np.uint64(1)) * _GOLDEN)
        return _mix(key[:, None] + np.arange(1, clusters + 1, dtype=np.uint64) * _GOLDEN)


def drawn_within(seed: int, replicates: NDArray[np.integer], strata: Sequence[int]) -> Integers:
    """The clusters of each replicate, drawn within strata; `strata` gives the stratum of each cluster.

    >>> drawn_within(7, np.arange(2), [0, 1, 0, 1, 1]).tolist()
    [[2, 0, 4, 1, 3], [0, 0, 1, 1, 3]]
    """
    stratum = np.asarray(strata)
    order = np.argsort(stratum, kind="stable")
    _, begins, sizes = np.unique(stratum[order], return_index=True, return_counts=True)
    words = _words(seed, replicates, len(stratum))
    within = _upper_of_product(words, np.repeat(sizes, sizes).astype(np.uint64)).astype(np.int64)
    return np.asarray(order[within + np.repeat(begins, sizes)])


def weights(seed: int, replicates: NDArray[np.integer], clusters: int, strata: Sequence[int] | None = None) -> Floats:
    """How often each cluster (a column) occurs in each replicate (a row): whole numbers as doubles.

    >>> weights(7, np.arange(2), 5).tolist()
    [[1.0, 0.0, 2.0, 1.0, 1.0], [2.0, 2.0, 1.0, 0.0, 0.0]]
    """
    drawn = drawn_clusters(seed, replicates, clusters) if strata is None else drawn_within(seed, replicates, strata)
    drawn += np.arange(len(replicates))[:, None] * clusters
    counted = np.bincount(drawn.ravel(), minlength=len(replicates) * clusters)
    return counted.reshape(len(replicates), clusters).astype(np.float64)


def _mix(words: Words) -> Words:
    words = words ^ (words >> np.uint64(30))
    words *= _FACTORS[0]
    words ^= words >> np.uint64(27)
    words *= _FACTORS[1]
    words ^= words >> np.uint64(31)
    return words


def _upper_of_product(words: Words, factor: np.uint64 | Words) -> Words:
    """Upper 64 bits of words × factor, for a factor below 2³¹: no intermediate overflows."""
    carried = ((words & _LOWER) * factor) >> _HALF
    words >>= _HALF
    words *= factor
    words += carried
    words >>= _HALF
    return words
