"""Planning: the smallest number of clusters with the power asked for, and how roughly a pilot knows it."""

import math
from dataclasses import replace

import pytest
from scipy import stats

from demur import Key, Minus, Plan, UserError, compare, grade_units
from demur.inference.planning import Pilot, clusters_needed, needed, power_of


def power(clusters, effect):
    """By the noncentral t of scipy.stats, which shares nothing with the one that is used."""
    critical = stats.t.ppf(0.975, clusters - 1)
    shifted = stats.nct(clusters - 1, math.sqrt(clusters) * effect)
    return shifted.sf(critical) + shifted.cdf(-critical)


@pytest.mark.parametrize(("effect", "expected"), [(0.2, 199), (0.5, 34), (0.8, 15)])
def test_the_numbers_of_every_textbook(effect, expected):
    """A paired t test at 5 % with a power of 80 %, for Cohen's small, medium and large effects."""
    assert clusters_needed(effect, 1.0) == expected


@pytest.mark.parametrize(("effect", "expected"), [(0.1654, 289), (0.356, 64), (0.512, 32)])
def test_a_plan_is_the_smallest_that_suffices(effect, expected):
    assert clusters_needed(-effect * 3, 3.0) == expected
    assert power(expected, effect) >= 0.8 > power(expected - 1, effect)
    assert power_of(expected, effect) == pytest.approx(power(expected, effect), abs=1e-9)


def test_a_huge_effect_needs_two_or_three_and_a_tail_too_thin_is_nothing():
    assert clusters_needed(50.0, 1.0) == 2
    assert power_of(10, 10.0) == 1.0


def test_the_range_is_that_of_the_spread():
    """At 90 %, σ·√(df/χ²) with the 10 % point of chi-squared: the pilot may have shown too little."""
    pilot = Pilot(0.1, 0.4, 40.0, 41)
    plan = needed(pilot)
    for found, point in ((plan.low, 0.9), (plan.high, 0.1)):
        spread = 0.4 * math.sqrt(40 / stats.chi2.ppf(point, 40))
        assert found == clusters_needed(0.1, spread)
    assert plan.low < plan.clusters == clusters_needed(0.1, 0.4) < plan.high


def paired(clusters=30):
    loss = [[(7 * n + 3 * k * (n + side)) % 5 % 2 for n in range(4 * clusters)] for side, k in ((0, 1), (1, 2))]
    ids = [n // 4 for n in range(4 * clusters)]
    sides = [grade_units(range(4 * clusters), loss=each, clusters=ids) for each in loss]
    return compare(dict(zip("ab", sides)), ["augrc"], plan=Plan(100, seed=1))


def test_a_pilot_from_a_file_is_the_one_from_its_data():
    row = paired()[Key("b", "augrc@C_common", minus=Minus("system", "a"))]
    computed = Pilot.of(row, 30)
    read = Pilot.of(replace(row, evidence=None), 30)
    assert computed.spread == pytest.approx(math.sqrt(30) * row.evidence.std_error)
    assert (read.spread, read.degrees) == pytest.approx((computed.spread, computed.degrees))


def test_what_cannot_be_planned_is_refused():
    with pytest.raises(UserError, match="no study shows a difference of 0"):
        needed(Pilot(0.0, 1.0, 10.0, 11))
    with pytest.raises(UserError, match="differ by the same in every cluster"):
        needed(Pilot(0.1, 0.0, 10.0, 11))
    with pytest.raises(UserError, match="power 0.2, expected a number from 0.5 to below 1"):
        needed(Pilot(0.1, 1.0, 10.0, 11), power=0.2)
