"""The risk at exactly a coverage: the worked example to the last fraction, and what it is at operating points."""

import math
from fractions import Fraction as F

import pytest
from hypothesis import given

from cases import curve_of, units_lists
from demur import Coverage
from demur.quantities.matched import matched_risk
from demur.quantities.operating import coverage_at_risk
from four_clusters import LOSS, SURE


def curve():
    return curve_of(
        [
            type("U", (), {"loss": None if loss is None else F(loss), "confidence": sure})
            for loss, sure in zip(LOSS, SURE)
        ]
    )


def test_the_risk_at_exactly_a_coverage_of_the_example():
    expected = {"1/8": F(1, 2), "1/4": F(1, 2), "1/2": F(3, 8), "5/8": F(2, 5), "3/4": F(1, 3)}
    assert {text: matched_risk(curve(), Coverage.of(text)) for text in expected} == {
        text: float(value) for text, value in expected.items()
    }
    assert math.isnan(matched_risk(curve(), Coverage.of("7/8")))
    assert curve().at("0.5").value == 0.4
    assert (coverage_at_risk(curve(), F(1, 3)), coverage_at_risk(curve(), F(1, 4))) == (0.75, 0)


@given(units_lists)
def test_at_an_operating_point_it_is_the_risk_there_and_before_the_first_the_first_risk(units):
    made = curve_of(units)
    for coverage, risk in zip(made.points.count.tolist(), made.selective_risk.tolist()):
        assert matched_risk(made, Coverage.of(F(coverage, made.units))) == pytest.approx(risk, rel=1e-15)
    if made.defined:
        half = Coverage.of(F(int(made.points.count[0]), 2 * made.units))
        assert matched_risk(made, half) == pytest.approx(made.selective_risk[0], rel=1e-15)
