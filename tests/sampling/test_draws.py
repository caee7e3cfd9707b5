"""The draws: a recipe anyone can re-implement, pinned."""

import numpy as np
import pytest

from demur import UserError
from demur.sampling.draws import _upper_of_product, checked_seed, drawn_clusters, weights

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15


def mix(x):
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def drawn(seed, replicate, draw, clusters):
    """The recipe in whole numbers of any size."""
    key = mix((mix((seed + GOLDEN) & MASK) + (replicate + 1) * GOLDEN) & MASK)
    return (mix((key + (draw + 1) * GOLDEN) & MASK) * clusters) >> 64


@pytest.mark.parametrize("seed", [0, 7, 2**64 - 1])
@pytest.mark.parametrize("clusters", [1, 2, 41, 100_003])
def test_the_recipe_in_whole_numbers_gives_the_same_draws(seed, clusters):
    replicates, few = np.array([0, 1, 2, 9_999]), min(clusters, 40)
    expected = [[drawn(seed, int(b), i, clusters) for i in range(few)] for b in replicates]
    assert drawn_clusters(seed, replicates, clusters)[:, :few].tolist() == expected


def test_the_upper_half_of_a_product_is_exact_for_the_most_clusters():
    words = np.random.default_rng(1).integers(0, 2**64, 5_000, dtype=np.uint64)
    for clusters in (2**31 - 1, 3, 2**30 + 12_345):
        expected = [(int(word) * clusters) >> 64 for word in words]
        assert _upper_of_product(words.copy(), np.uint64(clusters)).tolist() == expected


def test_golden_draws():
    """The numbers to check another implementation against."""
    assert drawn_clusters(42, np.arange(3), 10).tolist() == [
        [3, 9, 0, 6, 4, 1, 0, 3, 8, 4],
        [0, 7, 5, 0, 8, 5, 1, 5, 1, 1],
        [3, 8, 3, 9, 9, 2, 4, 9, 2, 9],
    ]


def test_weights_count_the_draws():
    drawn_ones = drawn_clusters(3, np.arange(50), 7)
    counted = [[(row == cluster).sum() for cluster in range(7)] for row in drawn_ones]
    assert weights(3, np.arange(50), 7).tolist() == counted


def test_a_replicate_needs_none_of_those_before_it():
    assert weights(5, np.array([777]), 9).tolist() == weights(5, np.arange(1000), 9)[777:778].tolist()


def test_draws_are_even_and_unrelated():
    counts = weights(11, np.arange(20_000), 13)
    assert counts.sum(axis=1).tolist() == [13.0] * 20_000
    assert np.abs(counts.mean(axis=0) - 1).max() < 0.03
    assert np.abs(np.cov(counts.T) - (np.eye(13) - 1 / 13)).max() < 0.04


@pytest.mark.parametrize("seed", [-1, 2**64, 1.0, "1", True])
def test_a_seed_is_a_whole_number(seed):
    with pytest.raises(UserError, match="expected an integer from 0"):
        checked_seed(seed)


@pytest.mark.parametrize("seed", [0, 2**64 - 1, np.int64(5)])
def test_any_whole_number_of_64_bits_is_a_seed(seed):
    assert checked_seed(seed) == seed


def test_there_is_no_default_seed():
    with pytest.raises(UserError, match="a seed is needed wherever anything is resampled"):
        checked_seed(None)


@pytest.mark.parametrize("clusters", [0, 2**31])
def test_a_number_of_clusters_nobody_can_draw_from(clusters):
    with pytest.raises(UserError, match="expected at least 1"):
        drawn_clusters(1, np.arange(1), clusters)
