import random
from fractions import Fraction

import numpy as np
import pytest

from demur.sampling.exact import sum_of_quotients
from demur.sampling.hull import lower_hull
from reference.selective import Point, hull


def reference_hull(counts, sums):
    points = [Point(Fraction(k), Fraction(s) / k, None, index) for index, (k, s) in enumerate(zip(counts, sums))]
    return [point.threshold for point in hull(points)]


@pytest.mark.parametrize("tries", [100, pytest.param(400, marks=pytest.mark.slow)])
def test_the_hull_is_the_one_gift_wrapping_finds(tries):
    rng = random.Random(1)
    for _ in range(tries):
        size, top = rng.randint(1, 40), rng.choice([1, 3, 1000])
        counts = sorted(rng.sample(range(1, 3 * size + 1), size))
        sums = [sum(rng.randint(0, top) for _ in range(k)) for k in counts]
        assert lower_hull(np.array(counts), np.array(sums)).tolist() == reference_hull(counts, sums)


def test_sums_with_fractions_are_decided_exactly_too():
    rng = np.random.default_rng(2)
    for _ in range(100):
        counts = np.arange(1, int(rng.integers(2, 30)))
        sums = np.cumsum(rng.normal(size=len(counts)))
        assert lower_hull(counts, sums).tolist() == reference_hull(counts.tolist(), sums.tolist())


def test_a_point_on_the_line_is_no_vertex():
    """Risks 0, 1/2, 1 at counts 2, 4, 6: exactly straight, and 1/3 of it would not be in doubles."""
    assert lower_hull(np.array([2, 4, 6]), np.array([0, 2, 6])).tolist() == [0, 2]
    third = 2.0**-60
    assert lower_hull(np.array([2, 4, 6]), np.array([0, 2 - third, 6])).tolist() == [0, 2]
    assert lower_hull(np.array([2, 4, 6]), np.array([0, 2 - 2.0**-50, 6])).tolist() == [0, 1, 2]


@pytest.mark.parametrize("size", [0, 1, 2])
def test_few_points_are_all_vertices(size):
    assert lower_hull(np.arange(1, size + 1), np.arange(size)).tolist() == [*range(size)]


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 1000, 70_001])
def test_sums_of_quotients_are_good_to_a_hundred_bits(size):
    rng = np.random.default_rng(size)
    numerators, denominators = rng.integers(-1000, 1000, size), rng.integers(1, 2**30, size)
    shift = 300
    expected = Fraction(sum((n << shift) // d for n, d in zip(numerators.tolist(), denominators.tolist())), 1 << shift)
    scale = sum(abs(n) / d for n, d in zip(numerators.tolist(), denominators.tolist()))
    error = abs(sum_of_quotients(numerators.astype(float), denominators.astype(float)) - expected)
    assert error <= Fraction(scale) / 2**98 + Fraction(size, 2**shift)
