"""Estimates of one system: the right method for the right number, and every warning when it is due."""

import math

import numpy as np
import pytest

from demur import Curve, Estimate, Graded, Key, Measure, Plan, UserError, estimate
from demur.extensions.lab.runs import FEW_SHOT, ZERO_SHOT, make_people, run_system
from demur.inference.intervals import METHODS
from demur.inference.warnings import about_comparisons, about_estimate
from demur.sampling.graded import Clusters
from tables import Units

PLAN = Plan(400, seed=2)


def simulated(participants=41, loss="abs_norm", confidence="llm_evidence_count", seed=1):
    return run_system(make_people(participants, seed=seed), ZERO_SHOT, seed=seed).graded(loss, confidence)


def clustered(sizes, losses, confidences, units=None):
    """Answers of clusters of these sizes; the clusters may hold more units than answers."""
    owner = np.repeat(np.arange(len(sizes)), sizes)
    held = np.array(units or sizes)
    clusters = Clusters(tuple(range(len(sizes))), held, owner)
    return Graded(
        int(held.sum()), np.array(losses), np.array(confidences, dtype=float), clusters=clusters, largest_loss=3
    )


def codes(found):
    """The warnings of an estimate: their codes, and what each is about."""
    return {(warning.code, warning.about.quantity or warning.subject) for warning in found.warnings}


def test_points_are_the_exact_ones():
    graded = simulated()
    found = estimate(graded, plan=PLAN)
    for row in found:
        exact = Measure.of(row.key.quantity)(Curve.of(graded))
        assert row.value == exact or (math.isnan(exact) and math.isnan(row.value))


def test_each_number_gets_the_method_that_was_measured_to_cover():
    found = estimate(simulated(), plan=PLAN)
    methods = {row.key.quantity: row.recommended.method for row in found if row.recommended}
    risks = [name for name in methods if name.startswith("risk@")]
    assert methods["cmax"] == "logit"
    assert {methods[name] for name in risks} == {"expanded_percentile"}
    assert methods["risk"] == "analytic_logit"
    assert {methods[name] for name in methods if name not in (*risks, "cmax", "risk")} == {"studentised"}
    assert {"eaurc", "eaugrc", "naurc", "aurc@0.5", "augrc@0.5", "risk@0.3"} <= methods.keys()


def test_the_numbers_one_gets_without_asking():
    grid = [f"risk@0.{tenth}" for tenth in (1, 2, 3, 4, 5, 6, 7, 8, 9)]
    names = ["cmax", "aurc", "augrc", "naurc", "naugrc", "eaurc", "eaugrc", "risk", "aurc@0.5", "augrc@0.5", *grid]
    assert [row.key.quantity for row in estimate(simulated(3), plan=Plan(2, seed=1))] == names


def test_many_clusters_change_no_method():
    few, many = (estimate(simulated(size), ["aurc", "cmax", "risk@0.3"], plan=PLAN) for size in (41, 250))
    assert [row.recommended.method for row in few] == [row.recommended.method for row in many]


def test_the_raw_interval_is_the_normalised_one_times_the_range():
    raw, normalised = (
        estimate(simulated(loss=loss), ["aurc", "augrc", "risk@0.3"], plan=PLAN) for loss in ("abs", "abs_norm")
    )
    for row, other in zip(raw, normalised, strict=True):
        for kind in ("percentile", "recommended"):
            ours, theirs = getattr(row, kind), getattr(other, kind)
            assert (ours.low, ours.high) == pytest.approx((3 * theirs.low, 3 * theirs.high), rel=1e-10)


@pytest.mark.parametrize("method", METHODS)
def test_any_interval_can_be_asked_for(method):
    found = estimate(simulated(), ["aurc", "risk@0.3"], plan=PLAN, interval=method, level=0.5)
    wide, narrow = found["aurc"].interval(method), found["aurc"].requested
    assert wide.low < narrow.low < narrow.high < wide.high
    assert (narrow.method, wide.method) == (method, method)
    assert found["aurc"].interval(method, 0.5) == narrow
    if "influence" in METHODS[method].needs:
        assert found["risk@0.3"].requested is None
        assert "this number has none" in found["risk@0.3"].not_requested
    else:
        assert found["risk@0.3"].requested.low < found["risk@0.3"].value


def test_an_interval_that_was_not_asked_for_says_how_to_get_it():
    found = estimate(simulated(10), ["aurc"], plan=Plan(20, seed=1))["aurc"]
    for method in ("bca", "jackknife"):
        with pytest.raises(UserError, match="request it when the number is computed"):
            found.interval(method)
    assert found.requested is None


@pytest.mark.parametrize(
    "asked",
    [
        {"interval": "boot"},
        {"level": 1.5},
        {"level": 1},
        {"interval": ""},
    ],
)
def test_a_request_that_makes_no_sense_is_refused_before_anything_is_drawn(asked, message):
    with pytest.raises(UserError) as refused:
        estimate(simulated(3), ["aurc"], plan=Plan(2, seed=1), **asked)
    message(refused.value)


def test_a_quantity_asked_for_twice_or_by_an_alias_is_one_number():
    found = estimate(simulated(5), ["mae@0.3", "risk@0.3", "mae@0.3"], plan=Plan(20, seed=1))
    assert [row.key.quantity for row in found] == ["risk@0.3"]
    assert found["mae@0.3"] is found["risk@0.3"] is found[0] is found[Key("", "risk@0.3")]


def test_the_achievable_area_gets_an_interval_only_when_asked_for():
    assert not estimate(simulated(10), plan=Plan(20, seed=1)).where(quantity="aurc_achievable")
    found = estimate(simulated(10), ["aurc_achievable"], plan=Plan(60, seed=1))["aurc_achievable"]
    assert found.percentile.low < found.value


def test_one_cluster_is_flagged_and_its_interval_is_the_number():
    found = estimate(clustered([4], [0, 1, 2, 0], [4, 3, 2, 1]), plan=PLAN, interval="bca")
    assert found["aurc"].requested.low == found["aurc"].value
    assert ("one_cluster", "clusters") in codes(found)
    for row in found:
        if not math.isnan(row.value):
            assert (row.recommended.low, row.recommended.high) == (row.value, row.value), row.key
            assert (row.percentile.low, row.percentile.high) == (row.value, row.value), row.key
            assert row.std_error == 0.0, row.key


def test_no_errors_give_an_upper_bound_and_no_interval():
    found = estimate(
        clustered([3] * 30, [0] * 90, range(90), units=[4] * 30), ["aurc", "augrc", "cmax", "risk@0.3"], plan=PLAN
    )
    rare = 1 - 0.05 ** (1 / 30)
    assert ("no_errors", "clusters") in codes(found)
    assert found["aurc"].recommended is found["aurc"].percentile is found["risk@0.3"].percentile is None
    assert found["augrc"].upper_bound == pytest.approx(3 * (rare * 0.75 - rare**2 / 2))
    assert found["aurc"].upper_bound == pytest.approx(3 * rare * (1 + math.log(0.75 / rare)))
    assert found["aurc"].interval("t_interval") is None
    assert found["cmax"].recommended is not None
    assert "at most" in repr(found)


def test_losses_that_cancel_are_errors_all_the_same():
    signed = clustered([2] * 40, [1, -1] * 40, [1] * 80)
    assert "no_errors" not in {code for code, _ in codes(estimate(signed, ["aurc"], plan=PLAN))}


def test_few_participants_do_not_make_an_interval_of_astronomical_width():
    for participants, seed in ((2, 5), (3, 2), (3, 4), (5, 4)):
        graded = run_system(make_people(participants, seed=seed), ZERO_SHOT, seed=seed).graded("abs_norm", "token_msp")
        found = estimate(graded, ["aurc", "augrc"], plan=Plan(2000, seed=1))
        for row in found:
            assert row.recommended.method == "analytic_log"
            assert 0 < row.recommended.low < row.recommended.high < math.inf


@pytest.mark.parametrize("participants", [12, 210])
@pytest.mark.parametrize("method", METHODS)
def test_every_method_is_served_at_any_size(participants, method):
    for row in estimate(simulated(participants), ["aurc", "cmax"], plan=PLAN, interval=method):
        assert row.requested.low < row.value < row.requested.high


def test_few_and_few_informative_clusters_are_flagged():
    sure = clustered([2] * 39, [1, 0] * 39, range(78))
    assert codes(estimate(sure, ["aurc"], plan=PLAN)) == {("few_clusters", "clusters")}
    rare = clustered([2] * 40, [1] * 18 + [0] * 62, range(80))
    assert codes(estimate(rare, ["aurc"], plan=PLAN)) == {("few_informative_clusters", "aurc")}
    nineteen = clustered([2] * 40, [1, 0] * 19 + [0] * 42, range(80))
    assert codes(estimate(nineteen, ["aurc", "eaurc"], plan=PLAN)) == {("few_informative_clusters", "eaurc")}
    enough = clustered([2] * 40, [1, 0] * 40, range(80))
    assert codes(estimate(enough, ["aurc"], plan=PLAN)) == set()


def test_a_cluster_that_outweighs_the_others_is_flagged():
    lopsided = clustered([30, *[2] * 45], [1, 0] * 60, range(120))
    assert ("unequal_clusters", "clusters") in codes(estimate(lopsided, ["aurc"], plan=PLAN))


def test_confidences_that_do_not_rank_are_flagged():
    constant = clustered([2] * 40, [1, 0] * 40, [1] * 80)
    assert ("constant_confidence", "confidence") in codes(estimate(constant, ["aurc"], plan=PLAN))
    tied = clustered([2] * 40, [1, 0] * 40, [1] * 41 + list(range(2, 41)))
    assert ("tied_confidence", "confidence") in codes(estimate(tied, ["aurc"], plan=PLAN))
    even = clustered([2] * 40, [1, 0] * 40, [1] * 40 + list(range(2, 42)))
    assert ("tied_confidence", "confidence") not in codes(estimate(even, ["aurc"], plan=PLAN))


def test_the_edges_of_the_warnings():
    """At the limit there is no warning yet; just past it there is."""
    twenty = clustered([2] * 40, [1, 0] * 20 + [0] * 40, range(80))
    assert codes(estimate(twenty, ["aurc"], plan=PLAN)) == set()
    fifth = clustered([20, *[5] * 16], [1, 0] * 50, range(100))
    assert "unequal_clusters" not in {code for code, _ in codes(estimate(fifth, ["aurc"], plan=PLAN))}
    more = clustered([25, *[5] * 15], [1, 0] * 50, range(100))
    messages = {warning.code: warning.message() for warning in estimate(more, ["aurc"], plan=PLAN).warnings}
    assert messages["unequal_clusters"].startswith("one cluster holds 25% of the units")
    single = clustered([1, 0, 0], [1], [1], units=[1, 1, 1])
    assert not {"constant_confidence", "tied_confidence"} & {
        code for code, _ in codes(estimate(single, ["aurc"], plan=PLAN))
    }
    double = clustered([1, 1, 0], [1, 0], [1, 1], units=[1, 1, 1])
    assert ("constant_confidence", "confidence") in codes(estimate(double, ["aurc"], plan=PLAN))
    two_values = clustered([2] * 40, [1, 0] * 40, [1] * 50 + [2] * 30)
    assert ("tied_confidence", "confidence") in codes(estimate(two_values, ["aurc"], plan=PLAN))
    assert warned(0.9, drop_rate=0.05, other_threshold_rate=0.05) == []
    assert warned(0.05, drop_rate=0.0, other_threshold_rate=0.9) == []
    assert warned(0.051, drop_rate=0.051, other_threshold_rate=0.051) == ["target_near_cmax", "plateau_edge"]
    assert warned(short_domain_rate=0.05) == []
    assert warned(short_domain_rate=0.051) == ["short_domain"]


def warned(plateau_share=0.0, **rates):
    return [warning.code for warning in about_estimate(Estimate(Key("", "x"), 0.0, **rates), plateau_share)]


def test_leaving_a_cluster_out_is_the_sample_without_it():
    units = Units.random(78, most=8, whole=True)
    assert units.clusters > 2
    found = estimate(units.graded(), ["aurc", "cmax"], plan=PLAN, interval="jackknife")
    for cluster in range(units.clusters):
        others = np.ones(units.clusters)
        others[cluster] = 0
        for name in ("aurc", "cmax"):
            assert found[name].evidence.left_out[cluster] == pytest.approx(
                Measure.of(name)(units.curve_of(others)), rel=1e-12
            )


def test_a_large_plateau_is_seen_wherever_it_is():
    first = clustered([2] * 40, [1, 0] * 40, [99] * 41 + list(range(39)))
    assert ("tied_confidence", "confidence") in codes(estimate(first, ["aurc"], plan=PLAN))


def test_a_cut_beyond_every_replicate_is_short_in_all_of_them():
    half = clustered([1] * 60, [1, 0] * 30, range(60), units=[2] * 60)
    assert estimate(half, ["aurc@1", "aurc@0.3"], plan=PLAN)["aurc@1"].short_domain_rate == 1.0
    assert estimate(half, ["aurc@0.3"], plan=PLAN)["aurc@0.3"].short_domain_rate == 0.0


def test_one_difference_is_no_many():
    assert list(about_comparisons(1)) == []
    assert [warning.code for warning in about_comparisons(2)] == ["many_comparisons"]


def test_nothing_asked_is_nothing_shown():
    assert repr(estimate(simulated(3), [], plan=PLAN)).startswith("\nwarning (few_clusters): 3 clusters: ")


def test_a_target_near_cmax_or_a_plateau_edge_is_flagged_with_its_rates():
    half = clustered([1] * 60, [1] * 60, [2] * 30 + [1] * 30, units=[1, 3] * 30)
    found = estimate(half, ["risk@0.5", "risk@0.25", "risk@0.1", "aurc@0.5"], plan=PLAN)
    assert ("target_near_cmax", "risk@0.5") in codes(found)
    assert 0.2 < found["risk@0.5"].drop_rate < 0.8
    assert ("plateau_edge", "risk@0.5") not in codes(found), "those that reach it use the same threshold"
    assert found["risk@0.5"].other_threshold_rate == 0
    assert ("plateau_edge", "risk@0.25") in codes(found)
    assert found["risk@0.25"].other_threshold_rate > 0.05
    assert ("short_domain", "aurc@0.5") in codes(found)
    assert found["aurc@0.5"].short_domain_rate == pytest.approx(found["risk@0.5"].drop_rate)
    assert not {code for code in codes(found) if code[1] == "risk@0.1"}
    assert found["risk@0.1"].other_threshold_rate == found["risk@0.1"].drop_rate == 0


def test_a_system_that_answers_nothing_has_areas_of_0_in_every_replicate():
    silent = Graded(6, np.zeros(0), np.zeros(0), clusters=Clusters((1, 2, 3), np.full(3, 2), np.zeros(0, dtype=int)))
    found = estimate(silent, ["aurc", "augrc", "eaurc", "risk@0.5", "naurc"], plan=PLAN)
    assert found["aurc"].evidence.values.tolist() == [0.0] * 400
    assert found["risk@0.5"].drop_rate == 1.0
    assert math.isnan(found["naurc"].value)


def test_duplicating_every_cluster_moves_no_number_but_the_optimum():
    units = Units.random(21, most=8, whole=True)
    once = units.graded()
    twice = Units(
        np.concatenate([units.owner, units.owner + units.clusters]),
        *(np.concatenate([column, column]) for column in (units.loss, units.confidence, units.answered)),
        2 * units.clusters,
    ).graded()
    for row in estimate(once, ["cmax", "aurc", "augrc", "eaugrc", "risk@0.3"], plan=PLAN):
        (doubled,) = estimate(twice, [row.key.quantity], plan=PLAN)
        assert doubled.value == pytest.approx(row.value, rel=1e-12, nan_ok=True)


def test_the_optimum_does_move_when_every_unit_is_there_twice():
    once = clustered([1] * 4, [0, 1, 2, 3], [4, 3, 2, 1])
    twice = clustered([1] * 8, [0, 1, 2, 3] * 2, [4, 3, 2, 1] * 2)
    one, two = (estimate(graded, "eaurc", plan=PLAN)["eaurc"].value for graded in (once, twice))
    assert one != pytest.approx(two)


def test_units_without_clusters_are_their_own():
    found = estimate(Graded(50, np.arange(50) % 3, np.arange(50.0)), ["aurc"], plan=PLAN)
    assert found["aurc"].evidence.clusters == 50


def test_estimates_show_themselves():
    text = repr(estimate(simulated(seed=3), ["aurc", "risk@0.9"], plan=PLAN))
    assert text.startswith("aurc      0.")
    assert "studentised" in text
    assert "risk@0.9  nan, no interval" in text
    assert "warning (target_near_cmax): " in text


def test_better_and_worse_systems_are_told_apart():
    people = make_people(3_000, seed=5)
    sharp, blunt = (
        Measure.of("risk")(Curve.of(run_system(people, system, seed=1).graded("abs", "token_msp")))
        for system in (ZERO_SHOT, FEW_SHOT)
    )
    assert sharp < blunt


def test_a_loss_far_above_the_others_is_flagged():
    """Ten losses of 1 and one of L: the largest is L·11/(10 + L) times their mean."""
    for largest, flagged in ((3, False), (8, False), (9, True)):
        losses = [1] * 10 + [largest] + [0] * 69
        found = estimate(clustered([2] * 40, losses, range(80)), ["aurc"], plan=PLAN)
        assert ("heavy_tailed_loss" in {code for code, _ in codes(found)}) is flagged, largest
