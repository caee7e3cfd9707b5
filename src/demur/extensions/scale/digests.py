"""Digests of the ground truth: a number per cluster that is equal for two systems with the same units and truths."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from demur.facts.items import Items

Digests = NDArray[np.uint64]
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def truth_digests(items: Items) -> Digests:
    """For each cluster, the sum of the hashes of its units: of the name, if it has one, and the truth.

    Sums are modulo 2⁶⁴, so that the digests of the parts of a cluster add up.
    """
    first = np.flatnonzero(np.diff(items.cluster, prepend=-1))  # units are in the order of their clusters
    if items.numbered and items.losses is not None:  # units differ in nothing that is hashed: only their number counts
        return np.diff(first, append=len(items)).astype(np.uint64) * _mixed(np.zeros(1, np.uint64))
    unit = np.zeros(len(items), np.uint64)
    if not items.numbered:
        unit += _hashes(items.item_names)[items.item]
    if items.losses is None:
        values, number = np.unique(items.truth, return_inverse=True)
        texts = values.tolist() if items.labels is None else [items.labels[value] for value in values.tolist()]
        unit = _mixed(unit) + _hashes(texts)[number]
    return np.add.reduceat(_mixed(unit), first) if len(first) else unit


def _hashes(texts: Iterable[object]) -> Digests:
    words = [hashlib.blake2b(str(text).encode(), digest_size=8).digest() for text in texts]
    return np.frombuffer(b"".join(words), "<u8").astype(np.uint64)


def _mixed(words: Digests) -> Digests:
    """SplitMix64, so that different units do not have equal sums by accident."""
    words = words + _GOLDEN
    words ^= words >> np.uint64(30)
    words *= _FACTORS[0]
    words ^= words >> np.uint64(27)
    words *= _FACTORS[1]
    return np.asarray(words ^ (words >> np.uint64(31)))
