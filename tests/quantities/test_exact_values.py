"""The numbers everybody must get, written as fractions."""

import math
from decimal import Decimal
from fractions import Fraction as F

import numpy as np
import pytest

import demur
from demur import Coverage, Curve, Graded, ItemPrediction, Measure, measure, risk_coverage
from demur.quantities import default_measures

CANONICAL = [(2, 2, 2), (3, 1, 2), (1, 1, 1), (None, 0, 0)]


def rows(units):
    return [ItemPrediction(1, index, pred, gt, c) for index, (pred, gt, c) in enumerate(units)]


def curve(units, **options):
    preds, truths, confidences = zip(*units)
    return risk_coverage(confidences, truth=truths, prediction=preds, **{"loss": "abs"} | options)


@pytest.mark.parametrize(("loss", "over"), [("abs", 1), ("abs_norm", 3)])
def test_the_four_units_of_the_definition(loss, over):
    found = demur.compute_risk_coverage_curve(rows(CANONICAL), loss=loss)
    assert found == demur.RiskCoverageCurve(
        coverage=[0.5, 0.75],
        selective_risk=[float(F(1, over)), float(F(2, 3 * over))],
        generalized_risk=[float(F(1, 2 * over)), float(F(1, 2 * over))],
        threshold=[2.0, 1.0],
        cmax=0.75,
    )
    them = rows(CANONICAL)
    assert demur.compute_aurc(them, loss=loss) == float(F(17, 24 * over))
    assert demur.compute_augrc(them, loss=loss) == float(F(1, 4 * over))
    assert demur.compute_risk_at_coverage(them, target_coverage=0.6, loss=loss) == float(F(2, 3 * over))
    assert demur.compute_aurc_at_coverage(them, max_coverage=0.6, loss=loss) == float(F(89, 150 * over))
    assert demur.compute_augrc_at_coverage(them, max_coverage=0.6, loss=loss) == float(F(7, 40 * over))
    assert curve(CANONICAL, loss=loss, instrument="PHQ-8").at("0.6").achieved == 0.75


def test_all_right_costs_nothing():
    found = curve([(1, 1, 3), (2, 2, 2), (0, 0, 1)])
    assert (Measure.of("aurc")(found), Measure.of("augrc")(found)) == (0, 0)


def test_one_answer_is_a_rectangle():
    found = measure([5, 0, 0, 0], loss=[2, None, None, None])
    assert found["aurc"] == 1 / 4 * 2
    assert found["risk@0.1"] == 2
    assert math.isnan(found["risk@0.3"])


def test_one_plateau_is_one_point_at_cmax():
    found = curve([(2, 2, 1), (3, 1, 1), (None, 0, 1)])
    assert (found.coverage.tolist(), found.cmax) == ([2 / 3], 2 / 3)


def test_a_target_between_plateaus_snaps_to_the_next():
    point = curve(CANONICAL).at(0.51)
    assert (point.requested, point.achieved, point.value, point.threshold) == (0.51, 0.75, 2 / 3, 1.0)


def test_a_cut_on_an_operating_point_interpolates_nothing():
    found = measure([2, 2, 1, 0], loss=[0, 2, 0, None], metrics=["aurc@0.5", "augrc@0.5"])
    assert (found["aurc@0.5"], found["augrc@0.5"]) == (1 / 2, 1 / 8)


def test_everything_abstained_is_empty_and_not_defined():
    found = curve([(None, 0, 1), (None, 2, 1)])
    values = {str(m): m(found) for m in default_measures()}
    assert (len(found), found.cmax, found.defined) == (0, 0.0, False)
    undefined = {name for name, value in values.items() if math.isnan(value)}
    assert undefined == {str(m) for m in default_measures() if m.quantity.undefined}
    assert {value for name, value in values.items() if name not in undefined} == {0.0}


def test_nan_confidence_of_an_abstention_is_never_looked_at():
    found = curve([(0, 0, 2), (None, 0, math.nan)])
    assert (Measure.of("aurc")(found), found.cmax) == (0, 1 / 2)


def test_the_normalised_loss_is_summed_as_integers_in_any_order():
    for units in ([(1, 0, 1), (3, 0, 1), (3, 0, 1)], [(3, 0, 1), (3, 0, 1), (1, 0, 1)]):
        assert curve(units, loss="abs_norm", instrument="PHQ-8").selective_risk.tolist() == [7 / 9]


@pytest.mark.slow
def test_a_convex_curve_is_its_own_hull():
    """r = c² at 50 000 points: second differences of 1e-9 that an absolute epsilon would flatten."""
    size = 50_000
    rank = np.arange(1.0, size + 1)
    found = Curve.of(Graded(size, (3 * rank**2 - 3 * rank + 1) / size**2, -rank))
    assert Measure.of("aurc_achievable")(found) == Measure.of("aurc")(found)


def test_plateaus_can_beat_the_optimum_by_a_hair():
    found = measure([1, 0, 0], loss=[0, 1, 1])
    assert (found["aurc"], found["aurc_optimal"], found["eaurc"]) == (2 / 9, 5 / 18, -1 / 18)


def test_random_abstention_shrinks_the_full_areas_but_not_the_normalised_one():
    everything = measure([3, 2, 1], loss=[0, 1, 2])
    mostly_silent = measure([3, 2, 1, *[0] * 9], loss=[0, 1, 2, *[None] * 9])
    assert mostly_silent["aurc"] == pytest.approx(everything["aurc"] / 4)
    assert mostly_silent["augrc"] == pytest.approx(everything["augrc"] / 16)
    assert mostly_silent["naurc"] == everything["naurc"]


@pytest.mark.parametrize("target", ["0.3", 0.3, 0.1 + 0.2, F(3, 10), np.float64(0.3)])
def test_three_tenths_is_reached_by_three_of_ten_however_it_is_written(target):
    point = risk_coverage(range(10, 0, -1), loss=[0, 0, 0, *[3] * 7]).at(target)
    assert (point.achieved, point.value) == (3 / 10, 0)


def test_text_is_exact_where_a_float_is_lenient():
    found = risk_coverage(range(10, 0, -1), loss=[0, 0, 0, *[3] * 7])
    assert found.at("0.3000000000000000000001").achieved == 4 / 10
    assert found.at("0.2999999999999999999999").achieved == 3 / 10


def test_a_float_cmax_reaches_its_own_point():
    found = risk_coverage(range(215), loss=[1] * 215, data=None)
    padded = Curve.of(Graded(328, np.ones(215, dtype=int), np.arange(215.0)))
    assert padded.at(215 / 328).achieved == 215 / 328
    assert found.at(1.0).achieved == 1


@pytest.mark.parametrize(
    "bad",
    [
        0,
        -0.1,
        1.01,
        math.nan,
        math.inf,
        "0.0",
        "1.1",
        "x",
        "1e-1",
        True,
        None,
        "",
        "1/0",
        10**400,
        Decimal("1e-999999999"),
        Decimal("nan"),
        [1],
    ],
)
def test_a_coverage_outside_0_to_1_is_an_error(bad):
    with pytest.raises(demur.UserError, match="expected a number above 0 and at most 1"):
        Coverage.of(bad)


def test_minus_zero_and_zero_are_one_plateau():
    found = risk_coverage([0.0, -0.0], loss=[1, 0])
    assert (len(found), str(found.threshold[0])) == (1, "0.0")
