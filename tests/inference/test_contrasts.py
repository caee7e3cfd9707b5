"""Paired differences: the same draws on both sides, C_common anew in each, and nothing compared that is not paired."""

import math
from dataclasses import replace

import numpy as np
import pytest

from demur import Curve, Graded, Measure, Plan, UserError, compare, grade, grade_units, read_run
from demur.comparison import _p_value
from demur.coverage import Coverage
from demur.draws import weights
from demur.graded import Clusters
from demur.simulate import FEW_SHOT, ZERO_SHOT, make_people, run_system
from runs import experiment, participant, run, written

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
    assert found.common["aurc@C_common"][side].point == getattr(found, smaller)["aurc"].point


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
    assert _p_value(np.array([1.0] * 90 + [1e-17] * 9)) == pytest.approx(2 * 10 / 100)  # 0 but for rounding


def test_an_undefined_difference_has_no_p_value():
    found = compare(*pair(), ["mae@0.9"], plan=PLAN)
    assert math.isnan(found.deltas["mae@0.9"].point)
    assert math.isnan(found.deltas["mae@0.9"].p_value)
    assert found.deltas["mae@0.9"].recommended is None


def test_many_comparisons_are_warned_about():
    codes = {warning.code for warning in compare(*pair(), plan=PLAN).warnings}
    assert {"many_comparisons", "few_clusters"} <= codes


def test_jackknife_differences_can_be_asked_for():
    found = compare(*pair(), ["aurc"], plan=PLAN, thorough=True).deltas["aurc"]
    assert found.interval("jackknife").low < found.point < found.interval("bca").high


def test_an_analytic_difference_is_that_of_the_influences():
    found = compare(*pair(), ["aurc", "augrc", "cmax"], plan=Plan(3_000, seed=1), thorough=True)
    for name in ("aurc", "augrc", "cmax"):
        delta = found.deltas[name]
        assert delta.evidence.std_error == pytest.approx(delta.std_error, rel=0.25)
        assert delta.interval("studentised").low < delta.point < delta.interval("analytic").high
    with pytest.raises(UserError, match="thorough=True"):
        compare(*pair(), ["aurc"], plan=PLAN).deltas["aurc"].interval("bca")
    with pytest.raises(UserError, match="aurc, augrc and cmax have one"):
        compare(*pair(), ["aurc"], plan=PLAN).deltas["aurc"].interval("analytic")


def test_one_participant_decides_nothing():
    delta = compare(*pair(participants=1), ["cmax"], plan=PLAN).deltas["cmax"]
    assert (delta.recommended.low, delta.recommended.high) == (delta.point, delta.point)
    assert math.isnan(delta.p_value)
    assert math.isnan(delta.favours_left)


def test_neither_side_is_favoured_where_neither_way_is_better():
    delta = compare(*pair(participants=6), ["achievable_gain_pct"], plan=Plan(30, seed=1)).deltas["achievable_gain_pct"]
    assert math.isnan(delta.favours_left)
    assert math.isnan(delta.favours_right)


def test_a_perfect_run_differs_from_itself_by_exactly_nothing():
    left, _ = pair()
    perfect = replace(left, loss=np.zeros(len(left.loss)))
    delta = compare(perfect, perfect, ["aurc"], plan=PLAN).deltas["aurc"]
    assert (delta.point, delta.percentile.low, delta.percentile.high) == (0.0, 0.0, 0.0)


def test_warnings_say_which_side_and_which_difference():
    left, right = pair()
    dull = replace(right, confidence=np.ones(len(right.confidence)))
    found = compare(left, dull, ["mae@0.6"], plan=PLAN)
    where = {(warning.code, warning.where) for warning in found.warnings}
    assert ("constant_confidence", "right confidence") in where
    assert ("few_clusters", "left clusters") in where
    assert ("target_near_cmax", "difference mae@0.6") in where


def test_units_without_clusters_are_paired_by_position():
    loss = np.arange(200) % 3
    early, late = ([None if (i < 100) == flag else int(x) for i, x in enumerate(loss)] for flag in (True, False))
    found = compare(grade_units(range(200), loss=early), grade_units(range(200), loss=late), ["cmax"], plan=PLAN)
    assert found.deltas["cmax"].std_error == pytest.approx(2 * 0.5 / math.sqrt(200), rel=0.2)
    bare = Graded(3, np.array([1]), np.array([1.0]))
    with pytest.raises(UserError, match="whose each unit is"):
        compare(bare, bare, plan=PLAN)


def test_two_truths_about_one_unit_are_refused(tmp_path):
    def of(content, name):
        return grade(read_run(written(tmp_path, content, name)), loss="abs", confidence="llm_evidence_count")

    left, other = run(experiment(participant(1), participant(2))), run(experiment(participant(1), participant(2)))
    other["experiments"][0]["results"]["results"][1]["ground_truth_items"]["Tired"] = 0
    assert compare(of(left, "l.json"), of(left, "r.json"), ["cmax"], plan=PLAN).deltas["cmax"].point == 0
    with pytest.raises(UserError, match="participant 2, Tired: ground truth 3 in left, 0 in right"):
        compare(of(left, "l.json"), of(other, "r.json"), plan=PLAN)


def test_what_is_not_paired_is_refused():
    left, right = pair()
    clusters = right.clusters
    others = replace(right, clusters=Clusters((*clusters.ids[:-1], 999), clusters.units, clusters.of_answer))
    with pytest.raises(UserError, match="different clusters .2 are on one side only"):
        compare(left, others, plan=PLAN)
    sizes = clusters.units.copy()
    sizes[3] += 1
    longer = replace(right, units=right.units + 1, clusters=Clusters(clusters.ids, sizes, clusters.of_answer))
    with pytest.raises(UserError, match="cluster 303 holds 8 units and 9 on the two sides"):
        compare(left, longer, plan=PLAN)
    with pytest.raises(UserError, match="different losses .abs / 1 and abs / 3"):
        compare(left, replace(right, divisor=3), plan=PLAN)
    with pytest.raises(UserError, match="different losses .abs / 1 and zero_one / 1"):
        compare(left, replace(right, loss_name="zero_one"), plan=PLAN)


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
