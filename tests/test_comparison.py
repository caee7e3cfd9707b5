"""Paired differences: the same draws on both sides, C_common anew in each, and nothing compared that is not paired."""

import math
from dataclasses import replace

import numpy as np
import pytest

from demur import Curve, Measure, Plan, UserError, compare
from demur.comparison import _p_value
from demur.coverage import Coverage
from demur.draws import weights
from demur.graded import Clusters
from demur.simulate import FEW_SHOT, ZERO_SHOT, make_people, run_system

PLAN = Plan(300, seed=4)


def pair(participants=25, confidence="token_msp", seed=1):
    people = make_people(participants, seed=seed)
    runs = (run_system(people, system, seed=seed + place) for place, system in enumerate((ZERO_SHOT, FEW_SHOT)))
    return tuple(run.graded("abs", confidence) for run in runs)


def test_a_run_differs_from_itself_by_nothing_at_all():
    left, _ = pair()
    found = compare(left, left, plan=PLAN)
    for name, delta in found.deltas.items():
        if not math.isnan(delta.point):
            assert delta.point == 0.0, name
            assert set(delta.evidence.reached) == {0.0}, name
            assert (delta.percentile.low, delta.percentile.high) == (0.0, 0.0), name
            assert (delta.recommended.low, delta.recommended.high) == (0.0, 0.0), name
            assert (delta.p_value, delta.favours_left, delta.favours_right) == (1.0, 0.0, 0.0), name


@pytest.mark.parametrize("confidence", ["token_msp", "llm_evidence_count"])
def test_swapping_the_sides_negates_exactly(confidence):
    left, right = pair(confidence=confidence)
    one, other = compare(left, right, plan=PLAN), compare(right, left, plan=PLAN)
    for name, delta in one.deltas.items():
        swapped = other.deltas[name]
        assert np.array_equal(delta.evidence.values, -swapped.evidence.values, equal_nan=True), name
        if not math.isnan(delta.point):
            assert delta.point == -swapped.point
            assert delta.percentile.low == pytest.approx(-swapped.percentile.high, rel=1e-12, abs=1e-15)
            assert (delta.p_value, delta.favours_left) == (swapped.p_value, swapped.favours_right)


def test_both_sides_are_drawn_alike_and_c_common_is_found_in_every_replicate():
    """Against the slow way: each replicate's curves, cut at the smaller of their own Cmax."""
    left, right = pair(participants=9)
    found = compare(left, right, ["aurc"], plan=PLAN)
    drawn = weights(4, np.arange(300), 9)
    for replicate in range(0, 300, 23):
        curves = [_replicate(graded, drawn[replicate]) for graded in (left, right)]
        common = Coverage.of(min(curve.coverage_reached for curve in curves))
        areas = [float(curve.selective_area_upto(common)) for curve in curves]
        assert found.deltas["aurc@C_common"].evidence.values[replicate] == pytest.approx(areas[1] - areas[0], abs=1e-13)
        full = [Measure.of("aurc")(curve) for curve in curves]
        assert found.deltas["aurc"].evidence.values[replicate] == pytest.approx(full[1] - full[0], abs=1e-13)


def _replicate(graded, drawn):
    rows = np.concatenate(
        [np.flatnonzero(graded.clusters.of_answer == c) for c in range(9) for _ in range(int(drawn[c]))]
    )
    units = int(drawn @ graded.clusters.units)
    return Curve.of(
        replace(graded, units=units, loss=graded.loss[rows], confidence=graded.confidence[rows], clusters=None)
    )


def test_the_sides_keep_their_own_estimates_and_c_common_is_the_smaller_cmax():
    left, right = pair()
    found = compare(left, right, plan=PLAN)
    assert found.common_coverage == min(found.left["cmax"].point, found.right["cmax"].point)
    assert found.deltas["cmax"].point == found.right["cmax"].point - found.left["cmax"].point
    smaller = "left" if found.left["cmax"].point < found.right["cmax"].point else "right"
    side = 0 if smaller == "left" else 1
    assert found.common["aurc@C_common"][side] == getattr(found, smaller)["aurc"].point


def test_differences_of_full_areas_use_t_and_the_rest_the_expanded_percentile():
    found = compare(*pair(), plan=PLAN)
    assert {found.deltas[name].recommended.method for name in ("aurc", "augrc", "cmax")} == {"bootstrap_t"}
    assert found.deltas["augrc@C_common"].recommended.method == "expanded_percentile"
    assert found.deltas["aurc"].interval("percentile") == found.deltas["aurc"].percentile


def test_higher_is_better_for_coverage_and_lower_for_risk():
    left, right = pair()
    found = compare(left, right, ["cmax", "aurc"], plan=PLAN)
    assert found.deltas["cmax"].favours_right == np.mean(found.deltas["cmax"].evidence.values > 0)
    assert found.deltas["aurc"].favours_right == np.mean(found.deltas["aurc"].evidence.values < 0)


def test_the_p_value_counts_the_far_side_twice_and_is_never_0():
    assert _p_value(np.array([1.0] * 95 + [-1.0] * 4)) == pytest.approx(2 * 5 / 100)
    assert _p_value(np.full(99, 1.0)) == pytest.approx(2 / 100)
    assert _p_value(np.array([-1.0, 1.0])) == 1.0
    assert math.isnan(_p_value(np.full(3, np.nan)))


def test_an_undefined_difference_has_no_p_value():
    found = compare(*pair(), ["mae@0.9"], plan=PLAN)
    assert math.isnan(found.deltas["mae@0.9"].point)
    assert math.isnan(found.deltas["mae@0.9"].p_value)
    assert found.deltas["mae@0.9"].recommended is None


def test_many_comparisons_are_warned_about():
    codes = {warning.code for warning in compare(*pair(), plan=PLAN).warnings}
    assert {"many_comparisons", "few_clusters"} <= codes


def test_jackknife_differences_can_be_asked_for():
    found = compare(*pair(), ["aurc"], plan=PLAN, jackknife=True).deltas["aurc"]
    assert found.interval("jackknife").low < found.point < found.interval("bca").high


def test_what_is_not_paired_is_refused():
    left, right = pair()
    clusters = right.clusters
    others = replace(right, clusters=Clusters((*clusters.ids[:-1], 999), clusters.units, clusters.of_answer))
    with pytest.raises(UserError, match="different clusters .2 are on one side only"):
        compare(left, others, plan=PLAN)
    sizes = clusters.units.copy()
    sizes[3] += 1
    longer = replace(right, units=right.units + 1, clusters=Clusters(clusters.ids, sizes, clusters.of_answer))
    with pytest.raises(UserError, match="cluster 3 holds 8 units and 9 on the two sides"):
        compare(left, longer, plan=PLAN)
    with pytest.raises(UserError, match="different losses"):
        compare(left, replace(right, divisor=3), plan=PLAN)


def test_without_resamples_there_are_differences_without_intervals():
    found = compare(*pair(), ["aurc"], plan=Plan(0, seed=None)).deltas["aurc"]
    assert found.point != 0
    assert found.percentile is found.recommended is None


def test_a_silent_side_has_nothing_in_common():
    left, right = pair(participants=5)
    nothing = Clusters(right.clusters.ids, right.clusters.units, np.zeros(0, dtype=int))
    silent = replace(right, loss=np.zeros(0), confidence=np.zeros(0), clusters=nothing)
    found = compare(left, silent, ["cmax"], plan=PLAN)
    assert found.common_coverage == 0
    assert found.deltas["aurc@C_common"].point == 0
