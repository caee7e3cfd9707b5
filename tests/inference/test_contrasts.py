"""Differences: the same draws for all systems, C_common anew in each, and nothing compared that is not paired."""

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from awkward import NAMES
from demur import (
    Coverage,
    Curve,
    Graded,
    Key,
    Measure,
    Minus,
    Plan,
    UserError,
    compare,
    estimate,
    grade,
    grade_units,
    read_run,
)
from demur.extensions.lab.runs import FEW_SHOT, ZERO_SHOT, make_people, run_system
from demur.inference.views import discordant
from demur.quantities.operating import augrc_at, aurc_at
from demur.sampling.draws import weights
from demur.sampling.graded import Clusters
from parametrized import parametrize_few
from runs import experiment, participant, run, written

PLAN = Plan(300, seed=4)
COMMON = ("aurc@C_common", "augrc@C_common")


def several(systems=2, participants=25, confidence="token_msp", seed=1):
    people = make_people(participants, seed=seed)
    runs = (run_system(people, (ZERO_SHOT, FEW_SHOT)[n % 2], seed=seed + n) for n in range(systems))
    return tuple(run.graded("abs", confidence) for run in runs)


def compared(left, right, measures=None, plan=PLAN, **more):
    return compare({"left": left, "right": right}, measures, plan=plan, **more)


def deltas(found):
    """The differences by quantity, of a comparison of two."""
    return {row.key.quantity: row for row in found if row.key.minus}


def delta(found, quantity):
    return found[Key("right", quantity, minus=Minus("system", "left"))]


def test_a_run_differs_from_itself_by_nothing_at_all():
    left, _ = several()
    for name, row in deltas(compared(left, left)).items():
        if not math.isnan(row.value):
            assert row.value == 0.0, name
            assert set(row.evidence.reached) == {0.0}, name
            assert (row.percentile.low, row.percentile.high) == (0.0, 0.0), name
            assert (row.recommended.low, row.recommended.high) == (0.0, 0.0), name
            assert (row.p_value, row.above, row.below) == (1.0, 0.0, 0.0), name


@parametrize_few("confidence", ["token_msp", "llm_evidence_count"], 1)
@pytest.mark.slow
def test_swapping_the_sides_negates_exactly(confidence):
    left, right = several(confidence=confidence)
    swapped = compare({"right": right, "left": left}, plan=PLAN, baseline="right")
    other = compare({"left": left, "right": right}, plan=PLAN, baseline="right")
    for name, row in deltas(compared(left, right)).items():
        for back in (deltas(swapped)[name], deltas(other)[name]):
            assert back.key == Key("left", name, minus=Minus("system", "right"))
            assert np.array_equal(row.evidence.values, -back.evidence.values, equal_nan=True), name
            if not math.isnan(row.value):
                assert row.value == -back.value
                assert row.percentile.low == pytest.approx(-back.percentile.high, rel=1e-12, abs=1e-15)
                assert (row.recommended.low, row.recommended.high) == (-back.recommended.high, -back.recommended.low)
                assert (row.p_value, row.above, row.below) == (back.p_value, back.below, back.above)


@parametrize_few("systems", [2, 3], 1)
def test_all_are_drawn_alike_and_c_common_is_found_in_every_replicate(systems):
    """Against the slow way: each replicate's curves, cut at the smallest of their own Cmax."""
    graded = dict(zip("abc", several(systems, participants=9)))
    found = compare(graded, ["aurc"], plan=PLAN)
    drawn = weights(4, np.arange(300), 9)
    for replicate in range(0, 300, 23):
        curves = {name: _replicate(each, drawn[replicate]) for name, each in graded.items()}
        common = Coverage.of(min(curve.coverage_reached for curve in curves.values()))
        for quantity, value in (
            ("aurc@C_common", lambda curve, common=common: aurc_at(curve, common)),
            ("augrc@C_common", lambda curve, common=common: augrc_at(curve, common)),
            ("aurc", Measure.of("aurc")),
        ):
            for name, curve in curves.items():
                own = found[Key(name, quantity)].evidence.values[replicate]
                assert own == pytest.approx(value(curve), abs=1e-13)
                if name != "a":
                    row = found[Key(name, quantity, minus=Minus("system", "a"))]
                    assert row.evidence.values[replicate] == pytest.approx(value(curve) - value(curves["a"]), abs=1e-13)


def _replicate(graded, drawn):
    rows = np.concatenate(
        [np.flatnonzero(graded.clusters.of_answer == c) for c in range(9) for _ in range(int(drawn[c]))]
    )
    units = int(drawn @ graded.clusters.units)
    return Curve.of(
        replace(graded, units=units, loss=graded.loss[rows], confidence=graded.confidence[rows], clusters=None)
    )


def same(row, other):
    """Every number of two rows, to the last bit."""
    fields = ("value", "std_error", "percentile", "recommended", "drop_rate", "p_value", "above", "below", "at")
    return repr([getattr(row, name) for name in fields]) == repr([getattr(other, name) for name in fields])


@pytest.mark.slow
def test_of_three_systems_each_difference_is_that_of_two_but_in_common():
    graded = dict(zip("abc", several(3)))
    found = compare(graded, plan=PLAN)
    for name in "bc":
        pair = compare({"a": graded["a"], name: graded[name]}, plan=PLAN)
        rows = [row for row in pair if row.key.quantity not in COMMON]
        assert len(rows) > 40
        assert all(same(found[row.key], row) for row in rows)


def test_c_common_of_three_is_the_smallest_cmax():
    graded = dict(zip("abc", several(3)))
    found = compare(graded, ["cmax"], plan=PLAN)
    smallest = min(graded, key=lambda name: found[Key(name, "cmax")].value)
    assert {found[Key(name, quantity)].at for name in "abc" for quantity in COMMON} == {
        found[Key(smallest, "cmax")].value
    }
    alone = estimate(graded[smallest], ["aurc"], plan=PLAN)["aurc"]
    assert found[Key(smallest, "aurc@C_common")].value == alone.value
    assert not np.array_equal(found[Key(smallest, "aurc@C_common")].evidence.values, alone.evidence.values)


def test_any_system_may_be_the_baseline():
    graded = dict(zip("abc", several(3, participants=6)))
    found = compare(graded, ["cmax"], plan=Plan(20, seed=1), baseline="b")
    pairs = {(row.key.system, row.key.minus.value) for row in found if row.key.minus}
    assert pairs == {("a", "b"), ("c", "b")}
    with pytest.raises(UserError, match="no system is called d; there are: a, b, c"):
        compare(graded, plan=PLAN, baseline="d")


@settings(max_examples=settings.default.max_examples // 4)
@given(st.lists(NAMES, min_size=3, max_size=3, unique=True))
@pytest.mark.slow
def test_a_name_is_data(names):
    """Systems may be called anything: each keeps its own numbers, whatever the others are called."""
    graded = several(3, participants=5)
    plan = Plan(20, seed=1)
    found = compare(dict(zip(names, graded)), ["aurc", "risk@0.3"], plan=plan)
    assert len({row.key for row in found}) == len(found) == 3 * 4 + 2 * 4
    for name, each in zip(names, graded):
        alone = estimate(each, ["aurc", "risk@0.3"], plan=plan, system=name)
        assert all(same(found[row.key], row) for row in alone)
        assert {row.key.system for row in found.where(system=name)} == {name}


def test_the_sides_keep_their_own_estimates_and_c_common_is_the_smaller_cmax():
    left, right = several()
    found = compared(left, right)
    ends = {name: found[Key(name, "cmax")].value for name in ("left", "right")}
    assert found[Key("left", "aurc@C_common")].at == min(ends.values())
    assert delta(found, "cmax").value == ends["right"] - ends["left"]
    smaller = min(ends, key=ends.get)
    assert found[Key(smaller, "aurc@C_common")].value == found[Key(smaller, "aurc")].value


def test_differences_use_influences_and_those_of_risks_the_bootstrap_error():
    found = deltas(compared(*several()))
    methods = {name: row.recommended.method for name, row in found.items() if row.recommended}
    assert {methods[name] for name in methods if name.startswith("risk@")} == {"t_interval"}
    assert {methods[name] for name in methods if not name.startswith("risk@")} == {"analytic"}
    assert {"cmax", "eaurc", "augrc@C_common"} <= methods.keys()
    assert found["aurc"].interval("percentile") == found["aurc"].percentile


def test_the_shares_above_and_below_are_those_of_the_replicates():
    for row in deltas(compared(*several(), ["cmax", "aurc"])).values():
        assert row.above == np.mean(row.evidence.values > 1e-12)
        assert row.below == np.mean(row.evidence.values < -1e-12)


@pytest.mark.parametrize("quantity", ["augrc", "augrc@C_common", "cmax", "risk@0.3"])
def test_the_p_value_is_the_level_at_which_the_interval_first_includes_0(quantity):
    found = compared(*several(), quantity)
    p_value = delta(found, quantity).p_value
    assert 0 < p_value < 1
    wider = delta(compared(*several(), quantity, interval="recommended", level=1 - p_value), quantity)
    low, high = wider.requested.unclipped or (wider.requested.low, wider.requested.high)
    assert min(abs(low), abs(high)) == pytest.approx(0, abs=1e-9)


def test_an_undefined_difference_has_no_p_value():
    row = delta(compared(*several(), ["risk@0.9"]), "risk@0.9")
    assert math.isnan(row.value)
    assert math.isnan(row.p_value)
    assert row.recommended is None
    assert row.undefined == "no operating point reaches this coverage"


def test_many_comparisons_are_warned_about():
    codes = {warning.code for warning in compared(*several()).warnings}
    assert {"many_comparisons", "few_clusters"} <= codes


@pytest.mark.parametrize("method", ["jackknife", "bca"])
def test_jackknife_differences_can_be_asked_for(method):
    row = delta(compared(*several(), ["aurc"], interval=method), "aurc")
    assert row.requested.low < row.value < row.requested.high
    assert row.requested.method == method


@parametrize_few("name", ["aurc", "augrc", "cmax"], 1)
def test_an_analytic_difference_is_that_of_the_influences(name):
    found = compared(*several(), ["aurc", "augrc", "cmax"], plan=Plan(3_000, seed=1), interval="studentised")
    row = delta(found, name)
    assert row.evidence.std_error == pytest.approx(row.std_error, rel=0.25)
    assert row.requested.low < row.value < row.interval("analytic").high


def test_a_difference_without_errors_in_replicates_says_so():
    row = delta(compared(*several(), ["aurc"]), "aurc")
    with pytest.raises(UserError, match="request it when the number is computed"):
        row.interval("bca")
    with pytest.raises(UserError, match="this number has none, or it was not requested"):
        row.interval("studentised")


def test_one_participant_decides_nothing():
    row = delta(compared(*several(participants=1), ["cmax"]), "cmax")
    assert (row.recommended.low, row.recommended.high) == (row.value, row.value)
    assert math.isnan(row.p_value)


def test_a_perfect_run_differs_from_itself_by_exactly_nothing():
    left, _ = several()
    perfect = replace(left, loss=np.zeros(len(left.loss)))
    row = delta(compared(perfect, perfect, ["aurc"]), "aurc")
    assert (row.value, row.percentile.low, row.percentile.high) == (0.0, 0.0, 0.0)
    assert row.recommended is None
    assert row.no_interval == "no answer in its range has a loss"


def test_warnings_say_which_system_and_which_difference():
    left, right = several()
    dull = replace(right, confidence=np.ones(len(right.confidence)))
    about = {(warning.code, warning.about) for warning in compared(left, dull, ["risk@0.6"]).warnings}
    codes = {(code, pattern.system, pattern.quantity, pattern.minus) for code, pattern in about}
    assert ("constant_confidence", "right", None, None) in codes
    assert ("few_clusters", None, None, None) in codes
    assert ("target_near_cmax", "right", "risk@0.6", Minus("system", "left")) in codes


def test_units_without_clusters_are_paired_by_position():
    loss = np.arange(200) % 3
    early, late = ([None if (i < 100) == flag else int(x) for i, x in enumerate(loss)] for flag in (True, False))
    found = compared(grade_units(range(200), loss=early), grade_units(range(200), loss=late), ["cmax"])
    assert delta(found, "cmax").std_error == pytest.approx(2 * 0.5 / math.sqrt(200), rel=0.2)
    bare = Graded(3, np.array([1]), np.array([1.0]))
    with pytest.raises(UserError, match="the cluster of each unit"):
        compared(bare, bare)


def test_two_truths_about_one_unit_are_refused(tmp_path):
    def of(content, name):
        return grade(read_run(written(tmp_path, content, name)), loss="abs", confidence="llm_evidence_count")

    left, other = run(experiment(participant(1), participant(2))), run(experiment(participant(1), participant(2)))
    other["experiments"][0]["results"]["results"][1]["ground_truth_items"]["Tired"] = 0
    assert delta(compared(of(left, "l.json"), of(left, "r.json"), ["cmax"]), "cmax").value == 0
    with pytest.raises(UserError, match="participant 2, Tired: ground truth 3 in left, 0 in right"):
        compared(of(left, "l.json"), of(other, "r.json"))


def test_what_is_not_paired_is_refused():
    left, right = several()
    clusters = right.clusters
    others = replace(right, clusters=Clusters((*clusters.ids[:-1], 999), clusters.units, clusters.of_answer))
    with pytest.raises(UserError, match="left and right hold different clusters .2 are in one only"):
        compared(left, others)
    sizes = clusters.units.copy()
    sizes[3] += 1
    longer = replace(right, units=right.units + 1, clusters=Clusters(clusters.ids, sizes, clusters.of_answer))
    with pytest.raises(UserError, match="cluster 303 holds 8 units and 9 in left and right: not paired"):
        compared(left, longer)
    with pytest.raises(UserError, match="different losses .abs / 1 and abs / 3"):
        compared(left, replace(right, divisor=3))
    with pytest.raises(UserError, match="different losses .abs / 1 and zero_one / 1"):
        compared(left, replace(right, loss_name="zero_one"))


@pytest.mark.parametrize("systems", [{}, {"a": several(1, participants=2)[0]}])
def test_fewer_than_two_systems_are_no_comparison(systems):
    with pytest.raises(UserError, match=r"[01] systems?, expected at least two to compare"):
        compare(systems, plan=PLAN)


def test_without_resamples_there_are_differences_without_intervals():
    row = delta(compared(*several(), ["aurc"], plan=Plan(0, seed=None)), "aurc")
    assert row.value != 0
    assert row.percentile is row.recommended is None
    assert row.no_interval == "no resamples"


def silenced(graded):
    nothing = Clusters(graded.clusters.ids, graded.clusters.units, np.zeros(0, dtype=int))
    return replace(graded, loss=np.zeros(0), confidence=np.zeros(0), clusters=nothing)


def test_with_a_silent_system_one_has_nothing_in_common():
    speaking, last = several(2, participants=5)
    found = compare({"a": speaking, "b": silenced(last)}, ["cmax"], plan=PLAN)
    for row in found.where(quantity="aurc@C_common"):
        assert row.value == 0
        assert set(row.evidence.values) == {0.0}
    assert {row.at for row in found.where(quantity="aurc@C_common", minus=None)} == {0.0}


def test_a_silent_system_takes_no_part_in_what_two_others_have_in_common():
    one, other, last = several(3, participants=5)
    found = compare({"a": one, "silent": silenced(last), "b": other}, ["cmax"], plan=PLAN)
    alone = compare({"a": one, "b": other}, ["cmax"], plan=PLAN)
    assert all(same(found[row.key], row) for row in alone)
    row = found[Key("silent", "augrc@C_common")]
    assert (row.value, set(row.evidence.values)) == (0.0, {0.0})


_ENTRIES = st.lists(st.tuples(st.integers(0, 3), st.sampled_from([0.0, 0.5, math.inf]), st.integers(0, 1)), max_size=8)


@given(_ENTRIES, _ENTRIES)
def test_discordant_clusters_hold_an_entry_more_often_on_one_side(left, right):
    once, other = Counter(left), Counter(right)
    expected = {entry[0] for entry in once | other if once[entry] != other[entry]}
    assert discordant(*(np.array(side, np.float64).reshape(-1, 3) for side in (left, right))) == len(expected)
