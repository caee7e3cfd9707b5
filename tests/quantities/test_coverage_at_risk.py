"""The largest coverage within a risk: decided as typed, by whatever asks for quantities, and never unasked."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import curve_of, units_lists
from demur import Coverage, Measure, Minus, Plan, compare, estimate, grade_units, measure
from demur.quantities import default_measures
from demur.quantities.areas import cmax
from demur.quantities.operating import coverage_at_risk, risk_at
from reference import number
from reference.draws import drawn
from reference.selective import Unit

risks = st.fractions(0, 4, max_denominator=30)


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        ("0", Fraction(0)),
        ("0.333333333333333333", Fraction(0)),
        ("1/3", Fraction(3, 5)),
        ("0.3333333333333333333334", Fraction(3, 5)),
        ("0.49999999999999999999", Fraction(3, 5)),
        ("0.5", Fraction(4, 5)),
        ("3", Fraction(4, 5)),
    ],
)
def test_the_coverage_at_a_risk_is_that_of_the_last_point_within_it(limit, expected):
    """Risks 1, 1/2, 1/3 and 1/2 at 1, 2, 3 and 4 of five units: decided as typed, past points that are above it."""
    confidence, loss = [4, 3, 2, 1, 0], [1, 0, 0, 1, None]
    assert measure(confidence, loss=loss, metrics=[f"coverage@risk={limit}"]).to_dict() == {
        f"coverage@risk={limit}": float(expected)
    }


def test_the_coverage_at_a_risk_of_nothing_answered_is_0_and_of_no_error_is_cmax():
    assert measure([1, 1], loss=[None, None], metrics="coverage@risk=1")["coverage@risk=1"] == 0
    assert measure([2, 1, 0], loss=[0, 0, None], metrics="coverage@risk=0")["coverage@risk=0"] == 2 / 3


@given(units_lists, risks, risks)
def test_the_coverage_at_a_risk_grows_with_the_risk_up_to_cmax_and_keeps_it(units, one, other):
    curve = curve_of(units)
    low, high = sorted((one, other))
    assert coverage_at_risk(curve, low) <= coverage_at_risk(curve, high) <= cmax(curve)
    assert coverage_at_risk(curve, Fraction(10)) == cmax(curve)
    index = curve.last_within(low, "selective")
    reached = 0 if index is None else Fraction(int(curve.points.count[index]), curve.units)
    assert coverage_at_risk(curve, low) == float(reached)
    beyond = curve.points.count > reached * curve.units
    assert all(curve.exact_risk(i, "selective") > low for i in np.flatnonzero(beyond))
    if reached:
        assert risk_at(curve, Coverage.of(reached)) <= float(low)


@given(units_lists, risks, st.integers(2, 9))
def test_the_coverage_at_a_risk_scales_with_the_loss(units, limit, factor):
    curve, scaled = curve_of(units), curve_of([Unit(u.loss and u.loss * factor, u.confidence) for u in units])
    assert coverage_at_risk(scaled, factor * limit) == coverage_at_risk(curve, limit)


@given(units_lists, risks)
def test_it_is_the_plain_loops_to_the_last_bit(units, limit):
    assert coverage_at_risk(curve_of(units), limit) == float(number("coverage@risk=R", units, at=limit))


@pytest.mark.parametrize("name", ["coverage@risk=0.1", "coverage@risk=0", "coverage@risk=2.50", "coverage@risk=1/3"])
def test_it_prints_as_it_parses_and_is_no_default(name):
    assert str(Measure.of(name)) == str(Measure.of(name, "curve")) == name
    entry = Measure.of(name).quantity
    assert not entry.reported
    assert not entry.shown, "a page or a table lists what it does not hold"
    assert entry not in {measure.quantity for measure in default_measures()}


PEOPLE = ["a", "a", "b", "b", "c", "c", "d", "d"]
CONFIDENCE = [8, 7, 6, 5, 4, 3, 2, 1]
NAME = "coverage@risk=0.25"


def graded(loss):
    return grade_units(CONFIDENCE, loss=loss, clusters=PEOPLE)


def test_its_interval_is_of_the_draws_of_the_plain_loop():
    loss = [0, 0, 1, 0, 0, 1, None, 1]
    found = estimate(graded(loss), NAME, plan=Plan(200, seed=3))[NAME]
    rows = [[(loss[2 * who + one], CONFIDENCE[2 * who + one]) for one in (0, 1)] for who in range(4)]
    expected = [float(number(NAME, [row for who in drawn(3, draw, 4) for row in rows[who]])) for draw in range(200)]
    assert found.value == 5 / 8
    assert found.evidence.values.tolist() == expected
    assert found.recommended.method == "expanded_percentile"
    assert (found.percentile.low, found.percentile.high) == tuple(np.quantile(expected, [0.025, 0.975]))


def test_without_an_error_it_is_cmax_and_still_has_an_interval():
    found = estimate(graded([0, 0, 0, None, 0, 0, None, 0]), [NAME, "cmax"], plan=Plan(200, seed=3))
    assert found[NAME].value == found["cmax"].value == 6 / 8
    assert (found[NAME].percentile.low, found[NAME].percentile.high) == (0.5, 1.0)


def test_two_systems_are_compared_by_it():
    systems = {"one": graded([0, 0, 1, 0, 0, 1, None, 1]), "other": graded([0, 1, 1, 1, 0, 1, None, 1])}
    table = compare(systems, [NAME], plan=Plan(200, seed=3))
    assert table.one(quantity=NAME, minus=Minus("system", "one")).value == 1 / 8 - 5 / 8
