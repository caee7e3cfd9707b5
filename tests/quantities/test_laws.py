"""What must hold for every input, over random ones with ties, abstentions and repeated units."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cases import answered_lists, curve_of, units_lists
from demur import Coverage, Curve, Graded, Measure
from demur.quantities import default_measures, quantities
from demur.quantities.areas import augrc, aurc, cmax
from demur.quantities.excess import (
    augrc_optimal,
    aurc_achievable,
    aurc_harmonic,
    aurc_optimal,
    aurc_sele,
    eaugrc,
    eaurc,
)
from demur.quantities.operating import augrc_at, aurc_at, risk, risk_at
from reference.selective import Unit

AT_THRESHOLD = [Measure.of("coverage@threshold=2"), Measure.of("risk@threshold=2")]
ALL = [
    *default_measures(),
    Measure.of("coverage@risk=0.3"),
    Measure.of("coverage@risk=1"),
    Measure.of("matched_risk@0.3"),
    *AT_THRESHOLD,
]
SCALE_FREE = {"cmax", "aurc_gap_pct", "augrc_gap_pct", "achievable_gain_pct"}
MOVED_BY_DUPLICATION = {"aurc_optimal", "eaurc", "aurc_gap_pct", "aurc_harmonic"}
coverages = st.fractions(Fraction(1, 50), 1).map(Coverage.of)


def near(value):
    return pytest.approx(value, rel=1e-12, abs=1e-13, nan_ok=True)


def same(one, other):
    """The same bits; two undefined numbers are the same."""
    return one == other or (math.isnan(one) and math.isnan(other))


def risk_or_zero(curve):
    return risk(curve) if curve.defined else 0.0


@given(units_lists)
def test_generalized_risk_is_coverage_times_selective_risk(units):
    curve = curve_of(units)
    assert curve.generalized_risk == near(curve.coverage * curve.selective_risk)


@given(units_lists)
def test_coverage_increases_to_cmax_and_thresholds_decrease(units):
    curve = curve_of(units)
    assert (np.diff(curve.coverage) > 0).all()
    assert (np.diff(curve.threshold) < 0).all()
    assert not curve.defined or curve.coverage[-1] == curve.cmax


@given(units=units_lists, shuffle=st.randoms(use_true_random=False))
def test_the_order_of_the_rows_changes_no_bit(units, shuffle):
    curve, shuffled = curve_of(units), curve_of(random.Random(shuffle.random()).sample(units, len(units)))
    for measure in ALL:
        assert same(measure(shuffled), measure(curve)), measure


@given(st.lists(st.tuples(st.floats(-5, 5), st.integers(0, 2)), min_size=1, max_size=20), st.randoms())
def test_nor_does_it_for_losses_that_are_not_whole(rows, shuffle):
    def measured(rows):
        losses, confidence = np.array(rows, dtype=float).T
        return [aurc(curve := Curve.of(Graded(len(rows), losses, confidence))), augrc(curve), risk(curve)]

    assert measured(rows) == measured(shuffle.sample(rows, len(rows)))


@given(units=units_lists)
def test_a_strictly_increasing_map_of_confidence_changes_only_thresholds(units):
    steps = {c: rank**3 - 7.0 for rank, c in enumerate(sorted({unit.confidence for unit in units}))}
    curve, mapped = curve_of(units), curve_of([Unit(unit.loss, steps[unit.confidence]) for unit in units])
    for measure in (measure for measure in ALL if measure not in AT_THRESHOLD):
        assert same(measure(mapped), measure(curve)), measure


@given(units=units_lists, factor=st.integers(2, 9))
def test_scaling_the_loss_scales_every_area_and_no_percentage(units, factor):
    curve, scaled = curve_of(units), curve_of([Unit(u.loss and u.loss * factor, u.confidence) for u in units])
    for measure in default_measures():
        expected = measure(curve) * (1 if measure.quantity.name in SCALE_FREE else factor)
        assert measure(scaled) == near(expected), measure


@given(units_lists, st.integers(1, 5))
def test_a_constant_loss_on_top_adds_what_random_answers_would(units, extra):
    before = curve_of(units)
    after = curve_of([Unit(None if u.loss is None else u.loss + extra, u.confidence) for u in units])
    assert aurc(after) == near(aurc(before) + extra * cmax(before))
    assert augrc(after) == near(augrc(before) + extra * cmax(before) ** 2 / 2)
    assert eaurc(after) == near(eaurc(before))
    assert eaugrc(after) == near(eaugrc(before))


@given(units_lists, st.integers(1, 30))
def test_extra_abstentions_shrink_aurc_once_and_augrc_twice(units, extra):
    before, after = curve_of(units), curve_of([*units, *[Unit(None, 0.0)] * extra])
    share = len(units) / (len(units) + extra)
    assert aurc(after) == near(aurc(before) * share)
    assert augrc(after) == near(augrc(before) * share**2)
    assert aurc_sele(after) == near(aurc_sele(before) * share)
    assert aurc_harmonic(after) == near(aurc_harmonic(before) * share)


@given(units_lists, coverages, coverages)
def test_truncated_areas_grow_with_the_coverage_up_to_the_whole(units, one, other):
    curve = curve_of(units)
    low, high = sorted((one, other), key=float)
    assert aurc_at(curve, low) <= aurc_at(curve, high) <= aurc(curve)
    assert augrc_at(curve, low) <= augrc_at(curve, high) <= augrc(curve)
    assert aurc_at(curve, Coverage.of(1)) == aurc(curve)
    assert augrc_at(curve, Coverage.of(1)) == augrc(curve)
    if curve.defined:
        at_cmax = Coverage.of(Fraction(curve.answered, curve.units))
        assert aurc_at(curve, at_cmax) == aurc(curve)
        assert aurc_at(curve, Coverage.of(curve.cmax)) == aurc(curve), "a Cmax that went through a float"


@given(units_lists)
def test_below_the_first_point_the_area_is_flat(units):
    curve = curve_of(units)
    assume(curve.defined)
    below = Coverage.of(Fraction(int(curve.points.count[0]), 2 * curve.units))
    assert aurc_at(curve, below) == near(float(below) * curve.selective_risk[0])


@given(units_lists)
def test_bounds_between_the_areas(units):
    curve = curve_of(units)
    assert augrc(curve) <= cmax(curve) * aurc(curve) * (1 + 1e-15)
    assert aurc_achievable(curve) <= aurc(curve)
    assert augrc_optimal(curve) <= augrc(curve)
    assert eaugrc(curve) >= 0


@given(units_lists)
def test_augrc_is_a_mean_over_pairs(units):
    them = [unit for unit in units if unit.loss is not None]
    pairs = sum(
        one.loss * ((other.confidence < one.confidence) + Fraction(other.confidence == one.confidence, 2))
        for one in them
        for other in them
    )
    assert augrc(curve_of(units)) == float(Fraction(pairs) / len(units) ** 2)


@given(st.lists(st.builds(Unit, st.sampled_from([None, Fraction(0), Fraction(1)]), st.integers(0, 5)), min_size=2))
def test_for_zero_one_loss_augrc_is_a_function_of_auroc(units):
    curve = curve_of(units, divisor=1)
    right = [unit.confidence for unit in units if unit.loss == 0]
    wrong = [unit.confidence for unit in units if unit.loss == 1]
    assume(right and wrong)
    wins = sum((a > b) + Fraction(a == b, 2) for a in right for b in wrong)
    auroc = wins / (len(right) * len(wrong))
    accuracy = Fraction(len(right), len(right) + len(wrong))
    reached = Fraction(curve.answered, curve.units)
    expected = reached**2 * ((1 - auroc) * accuracy * (1 - accuracy) + (1 - accuracy) ** 2 / 2)
    assert augrc(curve) == float(expected)
    assert augrc_optimal(curve) == float((1 - accuracy) ** 2 * reached**2 / 2)


@given(st.lists(st.one_of(st.none(), st.integers(0, 3).map(Fraction)), min_size=1, max_size=20))
def test_without_ties_aurc_is_a_harmonic_sum_and_eaurc_is_not_negative(losses):
    units = [Unit(loss, -rank) for rank, loss in enumerate(losses)]
    them = [loss for loss in losses if loss is not None]
    assume(them)
    size = len(them)
    harmonic = [sum((Fraction(1, m) for m in range(1, n + 1)), Fraction(0)) for n in range(size + 1)]
    weighted = sum(loss * (harmonic[size] - harmonic[i]) for i, loss in enumerate(them))
    expected = (weighted + (them[0] - sum(them) / size) / 2) / len(units)
    curve = curve_of(units)
    assert aurc(curve) == float(expected)
    assert eaurc(curve) >= 0
    assert aurc_harmonic(curve) == near(float(weighted / len(units)))
    assert aurc_sele(curve) <= aurc_harmonic(curve) * (1 + 1e-15)


@given(units=units_lists)
def test_duplicating_every_unit_changes_no_number_that_is_not_about_single_ranks(units):
    curve, doubled = curve_of(units), curve_of(units + units)
    for measure in ALL:
        if measure.quantity.name not in MOVED_BY_DUPLICATION:
            assert measure(doubled) == near(measure(curve)), measure


@pytest.mark.parametrize("name", sorted(MOVED_BY_DUPLICATION))
def test_duplicating_every_unit_moves_the_optimum_and_the_harmonic_estimate(name):
    units = [Unit(Fraction(loss), confidence) for loss, confidence in ((1, 3), (0, 2), (2, 1))]
    assert Measure.of(name)(curve_of(units + units)) != near(Measure.of(name)(curve_of(units)))


@given(answered_lists)
def test_one_plateau_is_a_random_ranking(units):
    curve = curve_of([Unit(unit.loss, 1.0) for unit in units] + [Unit(None, 0.0)])
    assert aurc(curve) == near(cmax(curve) * risk_or_zero(curve)) == near(Measure.of("aurc_random")(curve))
    assert augrc(curve) == near(cmax(curve) ** 2 * risk_or_zero(curve) / 2) == near(Measure.of("augrc_random")(curve))


@given(units_lists)
def test_a_ranking_and_its_reverse_share_the_augrc(units):
    curve, reverse = curve_of(units), curve_of([Unit(u.loss, -u.confidence) for u in units])
    assert augrc(curve) + augrc(reverse) == near(cmax(curve) ** 2 * risk_or_zero(curve))


@given(units_lists, st.data())
def test_a_smaller_loss_never_makes_a_system_look_worse(units, data):
    index = data.draw(st.integers(0, len(units) - 1))
    assume(units[index].loss)
    better = units.copy()
    better[index] = units[index]._replace(loss=Fraction(0))
    before, after, target = curve_of(units), curve_of(better), data.draw(coverages)
    assert aurc(after) <= aurc(before)
    assert augrc(after) <= augrc(before)
    assert math.isnan(risk_at(before, target)) or risk_at(after, target) <= risk_at(before, target)


@given(units_lists, units_lists)
def test_parts_merge_by_adding_counts_and_loss_sums(left, right):
    """The pooled curve from the plateaus of the parts, without going back to their units."""
    plateaus: dict[float, np.ndarray] = {}
    for part in (curve_of(left), curve_of(right)):
        steps = np.diff(np.array([part.points.count, part.points.loss_sum]), prepend=0, axis=1).T
        for threshold, step in zip(part.threshold, steps):
            plateaus[threshold] = plateaus.get(threshold, 0) + step
    pooled = curve_of(left + right)
    merged = np.cumsum([plateaus[threshold] for threshold in pooled.threshold], axis=0).reshape(-1, 2)
    assert merged[:, 0].tolist() == pooled.points.count.tolist()
    assert merged[:, 1].tolist() == pooled.points.loss_sum.tolist()


@given(units_lists)
def test_the_normalised_loss_is_the_raw_one_over_the_range(units):
    raw, normalised = (
        curve_of(units, divisor=3),
        curve_of([Unit(u.loss and u.loss / 3, u.confidence) for u in units], 9),
    )
    assert aurc(raw) == near(3 * aurc(normalised))
    assert aurc_optimal(raw) == near(3 * aurc_optimal(normalised))


def test_every_registered_quantity_of_curves_is_under_these_laws():
    assert {measure.quantity.name for measure in ALL} == {entry.name for entry in quantities("curve")}
