"""Which interval is recommended: by counts in the data and by what the number is, and by nothing else."""

import math
from dataclasses import replace

import numpy as np
import pytest

from demur import QUANTITIES, Measure, Plan, compare, estimate, grade_units
from demur.extensions.lab.runs import ZERO_SHOT, make_people, run_system
from demur.inference.intervals import METHODS, NO_VARIATION
from demur.inference.rules import RULES, Counted
from demur.inference.views import CurveView
from parametrized import parametrize_few

PLAN = Plan(400, seed=2)


def units(losses, confidence=None, per_cluster=2):
    """Answers with these losses, two to a cluster; null is an abstention."""
    clusters = [f"p{index // per_cluster:03}" for index in range(len(losses))]
    ranked = list(range(len(losses), 0, -1)) if confidence is None else confidence
    return grade_units(ranked, loss=losses, clusters=clusters)


def with_losses(clusters, of=40):
    """So many clusters with one loss each, all of them among the least confident answers."""
    return units([0] * of + [0, 1] * clusters + [0, 0] * (of // 2), None)


def chosen(name, number, point=0.1, low=0.0):
    return RULES[name](Counted("informative_clusters", number, number > 0, low), point).method


@pytest.mark.parametrize(
    ("rule", "few", "enough"),
    [
        ("area", "analytic_log", "studentised"),
        ("excess", "analytic_log", "studentised"),
        ("risk", "bootstrap_log", "expanded_percentile"),
    ],
)
def test_ten_clusters_with_a_loss_are_enough(rule, few, enough):
    assert [chosen(rule, number) for number in (0, 1, 9, 10, 500)] == ["", few, few, enough, enough]


def test_a_number_that_can_be_negative_has_no_log_scale():
    assert chosen("area", 9, low=-math.inf) == chosen("excess", 9, low=-0.5) == "analytic"
    assert chosen("risk", 9, low=-math.inf) == "t_interval"


def test_an_excess_that_cannot_be_negative_and_is_0_has_one_side_only():
    assert chosen("excess", 40, point=0.0) == ""
    assert RULES["excess"](Counted("", 40, low=0.0), 0.0).why_none.startswith("perfect_order")
    assert chosen("excess", 40, point=0.0, low=-0.5) == "studentised"


@pytest.mark.parametrize("name", QUANTITIES)
def test_a_quantity_whose_rule_needs_an_influence_function_has_one(name):
    entry = QUANTITIES[name]
    for number in (1, 50):
        for rule in entry.intervals:
            method = RULES[rule](Counted("", number, low=0.0), 0.5).method
            if not method or "influence" not in METHODS[method].needs:
                continue
            if entry.of in ("curve", "costs"):
                name = entry.name if entry.parameter is None else f"{entry.stem}@{entry.parameter.example}"
                assert Measure.of(name)(CurveView.of(units([0, 1])).exact()).slope is not None, rule
            elif entry.of not in ("ranking", "selection", "held_out"):
                assert entry.influence is not None, rule


def test_the_clusters_counted_are_those_in_the_numbers_own_range():
    """Ten clusters with a loss in all, four of them among the most confident half, one among the first fifth."""
    confident = [1, 0, *[0, 0] * 9, *[1, 0] * 3, *[0, 0] * 12, *[1, 0] * 6, *[0, 0] * 19]
    view = CurveView.of(units(confident))
    counts = {name: view.counted(Measure.of(name)).number for name in ("aurc", "aurc@0.5", "risk@0.2", "eaurc")}
    assert counts == {"aurc": 10, "aurc@0.5": 4, "risk@0.2": 1, "eaurc": 10}


def test_a_cut_between_two_operating_points_leans_on_the_second():
    tied = [*[0, 0] * 10, *[1, 0] * 10]
    view = CurveView.of(units(tied, [2] * 20 + [1] * 20))
    assert view.counted(Measure.of("augrc@0.5")).number == 0
    assert view.counted(Measure.of("augrc@0.6")).number == 10


def test_the_count_is_written_beside_the_interval():
    found = estimate(with_losses(7), ["aurc", "risk@0.3"], plan=PLAN)
    ends = found["aurc"].recommended
    assert (ends.method, ends.decided_by, ends.count) == ("analytic_log", "informative_clusters", 7)
    assert found["risk@0.3"].no_interval == "no answer in its range has a loss"
    assert estimate(with_losses(10), ["aurc"], plan=PLAN)["aurc"].recommended.method == "studentised"


@parametrize_few("participants", [5, 12, 30], 1)
@pytest.mark.slow
def test_the_method_does_not_depend_on_how_many_resamples_there_are(participants):
    for seed in range(8):
        people = make_people(participants, seed=seed)
        graded = run_system(people, ZERO_SHOT, seed=seed).graded("abs_norm", "token_msp")
        few, many = (estimate(graded, plan=Plan(size, seed=1)) for size in (200, 1_500))
        for row, other in zip(few, many, strict=True):
            methods = [each.recommended and each.recommended.method for each in (row, other)]
            assert methods[0] == methods[1] or None in methods, row.key


def test_ends_are_cut_off_at_what_the_number_can_be_in_any_population():
    rng = np.random.default_rng(1)
    losses = [int(loss) for loss in rng.random(24) < 0.5]
    clusters = [f"p{index // 8}" for index in range(24)]
    graded = replace(grade_units(rng.integers(0, 4, 24).tolist(), loss=losses, clusters=clusters), largest_loss=1)
    ranges = {"aurc": (0, 1), "augrc": (0, 1 / 2), "eaugrc": (0, 1 / 4), "eaurc": (-1 / 2, 1), "cmax": (0, 1)}
    found = estimate(graded, [*ranges, "aurc@0.5", "augrc@0.5"], plan=PLAN)
    for name, (low, high) in (ranges | {"aurc@0.5": (0, 0.5), "augrc@0.5": (0, 1 / 8)}).items():
        ends = found[name].recommended
        assert low <= ends.low <= found[name].value <= ends.high <= high
        if ends.unclipped:
            assert ends.unclipped[0] < low or ends.unclipped[1] > high
            assert ends.clipped


def test_a_difference_is_cut_off_at_the_width_of_what_its_sides_can_be():
    left, right = units([0, 1] * 3), units([1, 1] * 3)
    found = compare({"a": left, "b": right}, ["augrc", "cmax"], plan=PLAN)
    for row in found:
        if row.key.minus and row.recommended:
            assert -1 <= row.recommended.low <= row.recommended.high <= 1


def test_losses_below_0_have_no_lower_limit():
    rng = np.random.default_rng(2)
    graded = units([float(x) for x in rng.normal(size=60)])
    assert CurveView.of(graded).counted(Measure.of("aurc")).low == -math.inf


def test_a_number_no_cluster_moves_says_so():
    graded = units([1, None] * 20)
    ends = estimate(graded, ["naurc"], plan=PLAN)["naurc"].recommended
    assert (ends.low, ends.high, ends.note) == (1.0, 1.0, NO_VARIATION)


def test_everything_answered_leaves_a_bound_on_cmax():
    ends = estimate(units([0, 1] * 20), ["cmax"], plan=PLAN)["cmax"].recommended
    assert (ends.method, ends.high) == ("cluster_bound", 1.0)
    assert ends.low == pytest.approx(1 - (1 - 0.05 ** (1 / 20)))


def test_everything_abstained_has_no_interval_but_that_of_cmax():
    found = estimate(units([None, None] * 20), plan=PLAN)
    with_interval = {row.key.quantity for row in found if row.recommended}
    assert with_interval == {"cmax"}
    assert (found["cmax"].recommended.low, found["cmax"].recommended.method) == (0.0, "cluster_bound")


def test_one_side_without_a_loss_still_has_a_difference():
    left, right = units([0, 1] * 20), units([0, 0] * 20)
    found = compare({"a": left, "b": right}, ["augrc"], plan=PLAN)
    row = next(row for row in found if row.key.minus and row.key.quantity == "augrc")
    assert row.recommended.method == "analytic"
    assert row.recommended.high < 0
