"""Leaderboard: every two systems compared at once, the ranks that leaves, and who takes part."""

import json
import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from demur import Estimate, Interval, Key, Minus, Plan, Settings, TableOptions, UserError, evaluate, read_table
from demur.results.leaderboard import _ranks, _worse, pair_difference
from demur.results.load import results_of
from golden_runs import evaluated
from made_up import units_of
from parametrized import parametrize_few
from results_by_loops import compared, run_recipes

AREA = "augrc@C_common"


SYSTEMS = {
    "good": units_of(1, wrong=0.05),
    "fair/1": units_of(2, wrong=0.35),
    "fair": units_of(3, wrong=0.4, answered=0.9),
    "bad": units_of(4, wrong=0.8),
}


PLAN = Plan(300, seed=5)


def ranked(systems=SYSTEMS, plan=PLAN, **settings):
    return evaluate(systems, settings=Settings(confidence="sure", **settings), plan=plan)


@pytest.fixture(scope="module")
def four():
    return ranked()


@parametrize_few("clusters", [24, 12], 1)
@pytest.mark.slow
def test_the_intervals_of_all_pairs_hold_at_once(clusters):
    """A plain loop over pairs and replicates: c is the 95 % point of the largest |Δ* − Δ|/s*; Bonferroni below 20."""
    systems = {
        name: units_of(n, wrong, clusters=clusters) for n, (name, wrong) in enumerate(zip("abcd", (0.1, 0.3, 0.3, 0.6)))
    }
    found = ranked(systems)
    rows = [row for row in found.where(quantity=AREA) if row.key.minus]
    assert len(rows) == 6
    largest = []
    for b in range(300):
        deviations = [0.0]
        for row in rows:
            evidence = row.evidence
            if evidence.replicate_std_error[b] > 1e-9 * evidence.std_error:
                deviations.append(abs(evidence.values[b] - row.value) / evidence.replicate_std_error[b])
        largest.append(max(deviations))
    for row in rows:
        u = row.evidence.influence
        error = math.sqrt(clusters / (clusters - 1) * sum(each**2 for each in u))
        critical = np.quantile(largest, 0.95)
        if clusters < 20:
            critical = stats.t.ppf(1 - 0.05 / (2 * 6), row.evidence.degrees)
        ends = (row.simultaneous.low, row.simultaneous.high)
        assert ends == pytest.approx((row.value - critical * error, row.value + critical * error), rel=1e-9)
        assert row.simultaneous.count == 6


def test_the_pairs_are_rows_minus_rows_on_the_same_draws(four):
    for one, other in combinations(SYSTEMS, 2):
        found = pair_difference(four, one, other)
        values = [four[Key(name, AREA, "sure")] for name in (one, other)]
        assert found.value == values[0].value - values[1].value
        stored = four.get(found.key) or four[Key(other, AREA, "sure", minus=Minus("system", one))]
        sign = 1 if stored.key == found.key else -1
        apart = values[0].evidence.values - values[1].evidence.values
        assert np.array_equal(stored.evidence.values, sign * apart)


def test_the_ranks_follow_from_the_pairs_and_the_best_is_a_tie_set(four):
    board = four.leaderboard()
    assert [each.system for each in board.standings] == ["good", "fair", "fair/1", "bad"]
    ranks = {each.system: each.ranks for each in board.standings}
    assert ranks == {"good": (1, 1), "fair/1": (2, 3), "fair": (2, 3), "bad": (4, 4)}
    assert board.best == ("good",)
    without = ranked({name: SYSTEMS[name] for name in ("fair/1", "fair", "bad")}).leaderboard()
    assert without.best == ("fair", "fair/1")
    assert without.standings[2].worse_than == ("fair/1", "fair")


@given(st.lists(st.integers(0, 4), min_size=2, max_size=5), st.data())
def test_the_true_rank_is_in_the_rank_set_wherever_the_intervals_hold_the_truth(truth, data):
    names = [f"s{index}" for index in range(len(truth))]
    value, apart = dict(zip(names, truth)), {}
    for one, other in combinations(names, 2):
        true = value[one] - value[other]
        low, high = (true - data.draw(st.integers(0, 3)), true + data.draw(st.integers(0, 3)))
        apart[one, other] = Estimate(Key(one, AREA), true, simultaneous=Interval("simultaneous", low, high))
    worse = _worse(names, apart)
    for name in names:
        low, high = _ranks(name, names, worse)
        smaller, equal = (sum(op(value[name]) for op in ops) for ops in _counts(value, name))
        assert 1 <= low <= 1 + smaller
        assert smaller + equal <= high <= len(names)
    assert any(not worse[name] for name in names), "somebody is shown worse than nobody"


def _counts(value, name):
    others = [each for each in value if each != name]
    smaller = [lambda own, each=each: value[each] < own for each in others]
    equal = [lambda own, each=each: value[each] == own for each in value]
    return smaller, equal


def test_one_pair_is_decided_by_its_recommended_interval():
    found = ranked({name: SYSTEMS[name] for name in ("good", "bad")})
    row = found.one(quantity=AREA, system="bad", minus=Minus("system", "good"))
    assert row.simultaneous is None
    assert found.leaderboard().best == ("good",)
    assert row.recommended.low > 0


@pytest.mark.slow
def test_a_silent_system_is_not_ranked_and_takes_no_part_in_c_common(four):
    silent = units_of(5, answered=0.0)
    found, without = ranked(SYSTEMS | {"silent": silent}), four
    board, other = found.leaderboard(), without.leaderboard()
    assert board.common_to == tuple(SYSTEMS)
    assert board.coverage == other.coverage > 0
    assert [(each.system, each.ranks) for each in board.standings[:-1]] == [
        (each.system, each.ranks) for each in other.standings
    ]
    assert (board.standings[-1].system, board.standings[-1].ranks) == ("silent", None)
    assert "silent" not in board.best
    for row in without.where(quantity=AREA, minus=None):
        assert repr(found[row.key]) == repr(row)


@pytest.mark.slow
def test_who_ends_first_is_named_with_what_the_others_have_in_common(four):
    board = ranked(SYSTEMS | {"brief": units_of(6, answered=0.2)}).leaderboard()
    standing, without = board.shortest
    assert standing.system == "brief"
    assert board.coverage == standing.reaches
    assert without == four.leaderboard().coverage


@pytest.mark.slow
def test_areas_cut_where_asked_rank_those_that_reach_it():
    board = ranked(SYSTEMS | {"brief": units_of(6, answered=0.2)}, area_coverage="0.5").leaderboard()
    assert (board.number.quantity, board.coverage, board.common_to) == ("augrc@0.5", 0.5, ())
    assert [each.system for each in board.standings if each.ranks is None] == ["brief"]
    assert board.shortest is None


@pytest.mark.slow
def test_a_system_is_excluded_by_its_name_and_the_file_says_so(four):
    found = ranked(SYSTEMS | {"brief": units_of(6, answered=0.2)}, exclude=["brief"])
    assert [repr(row) for row in found] == [repr(row) for row in four]
    assert found.selective.excluded == ("brief",)
    assert json.loads(found.text)["excluded"] == ["brief"]
    assert "excluded" not in json.loads(four.text)
    two = ranked(exclude=["fair", "fair/1"])
    assert json.loads(two.text)["population"]["excluded"] == ["fair", "fair/1"]
    assert results_of(json.loads(two.text)).selective.excluded == ("fair", "fair/1")
    with pytest.raises(UserError, match="no system is called far; did you mean fair"):
        ranked(exclude=["far"])
    with pytest.raises(UserError, match="every system is excluded: there is nothing to evaluate"):
        ranked(exclude=[*SYSTEMS])


@pytest.mark.slow
def test_without_enough_resamples_nothing_is_ranked_above_anything():
    for plan, reason in ((Plan(0, None), "nothing was resampled"), (Plan(50, seed=1), "too few resamples to decide")):
        board = ranked(plan=plan).leaderboard()
        assert board.undecided == reason
        assert {each.ranks for each in board.standings} == {(1, 4)}
        assert len(board.best) == 4


def test_the_file_stores_it_and_reading_checks_it(four):
    content = json.loads(four.text)
    assert content["leaderboard"]["best"] == ["good"]
    assert content["leaderboard"]["common_to"] == [*SYSTEMS]
    assert content["leaderboard"]["coverage"] == min(four[Key(name, "cmax", "sure")].value for name in SYSTEMS)
    again = results_of(content)
    assert again.leaderboard().to_json() == four.leaderboard().to_json()
    assert again.text == four.text
    content["leaderboard"]["best"] = ["bad"]
    with pytest.raises(UserError, match="the leaderboard does not follow from the estimates"):
        results_of(content)


def test_an_earlier_file_without_all_pairs_has_none(four):
    content = json.loads(four.text)
    del content["leaderboard"]
    kept = [minus is None or minus == {"system": "good"} for minus in content["estimates"]["minus"]]
    content["estimates"] = {
        name: [cell for cell, keep in zip(column, kept) if keep] for name, column in content["estimates"].items()
    }
    with pytest.raises(UserError, match="do not hold the differences of all pairs of systems under sure"):
        results_of(content).leaderboard()


def test_one_system_has_no_leaderboard():
    with pytest.raises(UserError, match="a leaderboard needs several systems"):
        evaluated("zero_shot").leaderboard()


def test_it_is_a_frame_with_a_row_per_system(four):
    frame = four.leaderboard().to_frame()
    assert frame["system"].to_list() == ["good", "fair", "fair/1", "bad"]
    assert frame["rank_high"].to_list() == [1, 3, 3, 4]
    assert frame["best"].to_list() == [True, False, False, False]
    assert repr(four.leaderboard()).splitlines()[0] == "augrc@C_common under sure; best: good"


@pytest.mark.slow
def test_the_order_and_the_baseline_change_no_rank(four):
    turned = ranked(dict(reversed(SYSTEMS.items())), baseline="fair")
    for each, other in zip(turned.leaderboard().standings, four.leaderboard().standings):
        assert (each.system, each.ranks, {*each.worse_than}) == (other.system, other.ranks, {*other.worse_than})


@pytest.mark.slow
def test_the_plain_loops_leave_a_silent_system_out_as_well():
    systems = {
        "a": units_of(1, clusters=8),
        "silent": units_of(2, answered=0.0, clusters=8),
        "b": units_of(3, answered=0.5, clusters=8),
    }
    found = ranked(systems, plan=Plan(20, seed=1))
    numbers = compared(found, run_recipes(found, systems, None))
    assert all(one.agrees for one in numbers)
    assert len(numbers) > 100


@pytest.mark.slow
def test_the_level_is_shared_by_all_pairs_also_by_those_that_turn_out_not_to_differ():
    rng = np.random.default_rng(5)
    table = {"cluster": [f"p{unit // 3}" for unit in range(36)], "sure": rng.random(36).round(2).tolist()}
    losses = {"right": [0] * 36, "right too": [0] * 36, "wrong": rng.integers(0, 2, 36).tolist()}
    options = TableOptions(loss_max=1)
    systems = {
        name: read_table({**table, "loss": loss}, instrument=None, options=options) for name, loss in losses.items()
    }
    results = evaluate(systems, settings=Settings(confidence="sure"), plan=Plan(200, seed=7))
    row = results[Key("wrong", "augrc@C_common", "sure", minus=Minus("system", "right"))]
    # Twelve clusters: t at 1 − 0.05/(2·3), though the two without an error have no interval of their difference.
    reach = stats.t.ppf(1 - 0.05 / 6, row.evidence.degrees) * row.evidence.std_error
    assert (row.simultaneous.low, row.simultaneous.high) == pytest.approx((row.value - reach, row.value + reach))
    assert row.simultaneous.count == 3
