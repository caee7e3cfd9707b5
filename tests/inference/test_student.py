"""Student's t and the normal distribution against scipy, for degrees of freedom of every size."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from demur.inference.student import normal_quantile, t_quantile, t_tails

DEGREES = [0.7, 1, 1.5, 2, 2.6, 3, 4, 9, 14.3, 40, 99, 199.5, 201, 5_000.25, 300_000]


@pytest.mark.parametrize("probability", [0.5, 0.6, 0.75, 0.95, 0.975, 0.995, 0.99999])
def test_quantiles_are_scipys(probability):
    found = [t_quantile(probability, degrees) for degrees in DEGREES]
    assert found == pytest.approx(stats.t.ppf(probability, DEGREES), rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("t", [0.0, 0.03, 0.5, 1.0, 2.0, 4.5, 12.0, 80.0])
def test_tails_are_scipys(t):
    found = [t_tails(t, degrees) for degrees in DEGREES]
    assert found == pytest.approx(2 * stats.t.sf(t, DEGREES), rel=1e-9, abs=1e-300)
    assert [t_tails(-t, degrees) for degrees in DEGREES] == found


def test_the_tails_of_one_degree_of_freedom_are_an_arc_tangent():
    """Near 0 too, where scipy has eight digits left."""
    for t in (1e-9, 1e-4, 0.3, 7.0):
        assert t_tails(t, 1) == pytest.approx(1 - 2 / math.pi * math.atan(t), rel=1e-14)


@given(st.floats(0.5, 0.9999), st.floats(0.8, 1e5))
def test_a_quantile_leaves_its_share_in_the_tails(probability, degrees):
    assert t_tails(t_quantile(probability, degrees), degrees) == pytest.approx(2 * (1 - probability), rel=1e-9)


@given(st.floats(0.501, 0.9999), st.floats(0.8, 1e4))
def test_a_quantile_rises_with_the_probability_and_falls_with_the_degrees(probability, degrees):
    quantile = t_quantile(probability, degrees)
    assert t_quantile((probability + 1) / 2, degrees) > quantile > t_quantile(probability, 1.5 * degrees)


@pytest.mark.parametrize("probability", [0.5, 0.6, 0.9, 0.975, 0.9999])
def test_normal_quantiles_are_scipys(probability):
    assert normal_quantile(probability) == pytest.approx(stats.norm.ppf(probability), rel=1e-12, abs=1e-15)
