"""Compact arrays give what the decoded ones give, in any operation."""

import numpy as np
import pytest

from demur.facts.compact_array import CompactArray, distinct, occurring, positions, summed_by

VALUES = np.array([0.5, 0.25, 0.5, 1.0, 0.25])
CODED = CompactArray.of(VALUES)


def test_few_distinct_numbers_take_a_byte_each():
    assert (CODED.levels.tolist(), CODED.codes.tolist()) == ([0.25, 0.5, 1.0], [1, 0, 1, 2, 0])
    assert CODED.codes.dtype == np.uint8


def test_many_distinct_numbers_stay_as_they_are():
    many = np.arange(70_000.0)
    assert CompactArray.of(many) is many


@pytest.mark.parametrize(
    "operation",
    [
        lambda x: x * 2,
        lambda x: 1 - x,
        lambda x: x >= 0.5,
        lambda x: x != x[0],
        lambda x: x + VALUES,
        lambda x: VALUES * x,
        lambda x: x * x,
        lambda x: -x,
        lambda x: x[np.array([3, 0])],
        lambda x: x[x > 0.3],
        lambda x: x[1:4],
        lambda x: x.astype(np.float32),
        np.sort,
        np.isfinite,
        lambda x: np.repeat(x, 2),
        lambda x: np.add.reduce(x),
        lambda x: x.sum(),
        lambda x: x.max(initial=0),
        lambda x: x[3],
        len,
    ],
)
def test_operations_are_those_of_the_decoded_array(operation):
    found, expected = np.asarray(operation(CODED)), np.asarray(operation(VALUES))
    assert (found.tolist(), found.dtype) == (expected.tolist(), expected.dtype)


def test_an_array_is_multiplied_in_place():
    product = VALUES.copy()
    product *= CODED
    assert product.tolist() == (VALUES * VALUES).tolist()


def test_narrow_integers_do_not_overflow():
    coded = CompactArray.of(np.full(1000, 100, np.int8))
    assert (coded.sum(), (coded * coded).max(), coded.dtype) == (100_000, 10_000, np.int64)


def test_levels_that_no_element_has_do_not_occur():
    part = CODED[:3]
    assert (distinct(part).tolist(), occurring(part).tolist()) == ([0.25, 0.5, 1.0], [0.25, 0.5])
    assert positions(np.array([0.25, 0.5]), part).tolist() == [1, 0, 1]
    assert positions(np.array([0.25, 0.5]), VALUES[:3]).tolist() == [1, 0, 1]


@pytest.mark.slow
def test_sums_over_more_than_a_chunk_are_exact():
    index = np.arange(2_500_000) % 3
    assert summed_by(index, [CompactArray.of(index), np.full(len(index), 7)], 3).tolist() == [0, 5_833_331, 11_666_662]
