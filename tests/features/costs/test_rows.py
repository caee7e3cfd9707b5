"""Costs from the settings to the file, the console and the page: one set of numbers, those of the plain loops."""

import json
from fractions import Fraction as F

import numpy as np
import pytest

from demur import Costs, Key, Minus, Plan, Settings, UserError, evaluate, load, read_table, report_html
from demur.extensions.audit.results_audit import audited_runs
from demur.features.costs.tables import HEADINGS, cost_row
from demur.sampling.draws import folds
from demur.show.console import evaluation_text
from demur.show.names import systems_of
from reference import number

PRICES = ("0.1", "1/3", "0.5")
PLAN = Plan(200, seed=7)
SETTINGS = Settings(loss="zero_one", confidence="sure")
COSTS = Costs(*PRICES)


def table(seed, wrong=0.4, clusters=24):
    """Units of clusters of four; answers are right more often the surer they are."""
    rng = np.random.default_rng(seed)
    sure = rng.random(4 * clusters).round(2)
    loss = (rng.random(4 * clusters) < wrong * (1.4 - sure)).astype(int)
    answered = rng.random(4 * clusters) < 0.9
    return {
        "cluster": [f"p{unit // 4}" for unit in range(4 * clusters)],
        "item": [f"q{unit % 4}" for unit in range(4 * clusters)],
        "truth": [1] * (4 * clusters),
        "prediction": [1 - each if said else None for each, said in zip(loss.tolist(), answered.tolist())],
        "sure": sure.tolist(),
    }


def items(seed, **how):
    return read_table(table(seed, **how), instrument=None)


@pytest.fixture(scope="module")
def two():
    return evaluate({"one": items(1), "other": items(2, wrong=0.9)}, COSTS, settings=SETTINGS, plan=PLAN)


def test_the_cross_fitted_cost_is_that_of_a_plain_loop_over_folds():
    rows = table(1)
    found = evaluate({"one": items(1)}, Costs(*PRICES, cross_fit=5), settings=SETTINGS, plan=PLAN)
    ids = sorted({*rows["cluster"]})
    fold = dict(zip(ids, folds(7, 24, 5).tolist()))
    plain = [
        (None if said is None else F(said != 1), sure, fold[who])
        for said, sure, who in zip(rows["prediction"], rows["sure"], rows["cluster"])
    ]
    for price in PRICES:
        row = found[Key("one", f"cost_crossfit@{price}", "sure")]
        assert row.value == float(number(f"cost_crossfit@{price}", plain))
        assert row.recommended.method == "analytic"
        units = [plain_row[:2] for plain_row in plain]
        assert found[Key("one", f"cost@{price}", "sure")].value == float(number(f"cost@{price}", units))


def test_folds_are_a_pure_function_of_the_seed_and_the_clusters():
    assert folds(7, 8, 3).tolist() == [2, 0, 1, 1, 0, 2, 1, 0]
    assert np.bincount(folds(1, 41, 10)).tolist() == [5, *[4] * 9]


@pytest.mark.slow
def test_a_cost_is_reached_at_a_threshold_and_declining_everything_has_none(two):
    row = two[Key("one", "cost@0.5", "sure")]
    curve = two.curves["one", "sure"].curve
    assert curve.coverage[curve.threshold.index(row.threshold)] == row.at
    wrong = evaluate({"x": items(5, wrong=9)}, COSTS, settings=SETTINGS, plan=Plan(0, seed=None))
    row = wrong[Key("x", "cost@0.1", "sure")]
    assert (row.value, row.at, row.threshold) == (0.1, 0.0, None)
    assert wrong.get(Key("x", "cost_crossfit@0.1", "sure")) is None, "folds need the seed that is recorded"


def test_differences_at_all_prices_are_judged_at_once(two):
    minus = Minus("system", "one")
    rows = [two[Key("other", f"cost@{price}", "sure", minus=minus)] for price in PRICES]
    for row in rows:
        assert row.simultaneous.low <= row.recommended.low <= row.value <= row.recommended.high <= row.simultaneous.high
    told = [line for line in evaluation_text(two).splitlines() if "cheaper" in line]
    assert told == ["one is cheaper where an abstention costs 0.5."]


def test_the_file_says_it_as_members_and_gives_back_every_row(two, tmp_path):
    for results in (two, evaluate({"one": items(1)}, COSTS, settings=SETTINGS, plan=PLAN)):
        again = load(results.save(tmp_path / f"{len(results.systems)}.json"))
        assert again.text == results.text
        assert {row.key for row in again} == {row.key for row in results}
        assert repr(again[Key("one", "cost@1/3", "sure")]) == repr(results[Key("one", "cost@1/3", "sure")])
    cost = two.to_json()["confidence_variants"]["sure"]["left"]["cost"]
    row = two[Key("one", "cost@0.5", "sure")]
    assert cost["a"] == cost["decline_all"] == [0.1, 1 / 3, 0.5]
    assert cost["optimal"][2]["cost"] == row.value
    assert cost["optimal"][2]["ci95"] == [row.percentile.low, row.percentile.high]
    assert cost["area_optimal"] <= cost["area"] <= cost["area_random"]
    assert [each["a"] for each in cost["switches"]] == sorted(each["a"] for each in cost["switches"])


@pytest.mark.slow
def test_a_difference_is_turned_round_where_the_second_is_the_baseline(two):
    turned = evaluate(
        {"one": items(1), "other": items(2, wrong=0.9)}, COSTS, settings=SETTINGS, baseline="other", plan=PLAN
    ).to_json()
    straight = two.to_json()
    assert turned["estimates"]["value"] == straight["estimates"]["value"]
    assert turned["estimates"]["minus"] == straight["estimates"]["minus"]


@pytest.mark.slow
def test_three_systems_have_the_same_rows_in_the_long_file(tmp_path):
    runs = {name: items(seed) for seed, name in enumerate("abc")}
    results = evaluate(runs, COSTS, settings=SETTINGS, plan=PLAN)
    assert load(results.save(tmp_path / "three.json")).text == results.text


@pytest.mark.slow
def test_an_audit_computes_costs_again_and_finds_a_changed_one(two, tmp_path):
    path = two.save(tmp_path / "two.json")
    runs = [items(1), items(2, wrong=0.9)]
    assert {finding.status for finding in audited_runs(load(path), runs, None, None)} == {"match"}
    content = json.loads(path.read_text())
    place = content["estimates"]["quantity"].index("cost_crossfit@0.1")
    content["estimates"]["value"][place] += 0.001
    path.write_text(json.dumps(content))
    wrong = [each.key for each in audited_runs(load(path), runs, None, None) if each.status == "differs"]
    assert wrong == ["one, cost_crossfit@0.1, sure"]


def test_without_costs_a_file_and_a_page_say_nothing_of_them():
    plain = evaluate({"one": items(1)}, settings=Settings(loss="zero_one", confidence="sure"), plan=PLAN)
    assert not {"estimates", "abstention_costs", "cross_fit"} & plain.to_json().keys()
    assert "silence" not in report_html(plain)


def test_the_sentence_of_console_and_page():
    five = read_table(
        {
            "cluster": [*"abcde"],
            "truth": [1] * 5,
            "prediction": [1, 1, 0, 1, 0],
            "sure": [0.9, 0.8, 0.7, 0.6, 0.5],
        },
        instrument=None,
    )
    results = evaluate({"one": five}, Costs("1:10"), settings=SETTINGS, plan=PLAN)
    sentence = (
        "If a silence costs a tenth of the worst error, declining below 0.8 is cheapest: 0.06 per unit, "
        "against 0.4 for answering everything."
    )
    assert sentence in evaluation_text(results)
    page = report_html(results)
    assert sentence in page
    assert "What an error and a silence cost" in page


def test_a_cost_without_an_interval_leaves_no_cell_empty():
    results = evaluate({"one": items(1)}, COSTS, settings=SETTINGS, plan=Plan(0, seed=None))
    [system] = systems_of(results)
    for price in results.selective.abstention_costs:
        row = cost_row(results, system, "sure", price)
        assert row[HEADINGS.index("threshold kept")] == "–"
        assert all(row)


def test_a_loss_without_a_maximum_needs_one_and_says_so():
    free = read_table({"cluster": [1, 2, 3], "loss": [0, 2.5, 1], "sure": [3, 2, 1]}, instrument=None)
    with pytest.raises(UserError, match=r"the largest loss is not known, .*loss_max"):
        evaluate({"one": free}, Costs("0.1"), confidence="sure", plan=PLAN)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Costs("0.1", "1:10"),
        lambda: Costs("2"),
        lambda: Costs("0.1", cross_fit=1),
    ],
)
def test_wrong_settings_are_one_line(wrong, message):
    with pytest.raises(UserError) as caught:
        wrong()
    message(caught.value)


def test_without_an_error_a_cost_of_nothing_is_not_certain():
    table = {"cluster": [*"aabbcc"], "truth": [1] * 6, "prediction": [1] * 6, "sure": [3, 2, 3, 2, 3, 2]}
    results = evaluate({"one": read_table(table, instrument=None)}, COSTS, settings=SETTINGS, plan=PLAN)
    for name in ("cost", "cost_at_threshold", "cost_crossfit", "saving"):
        row = results[Key("one", f"{name}@0.1", "sure")]
        assert (row.value, row.std_error, row.percentile, row.recommended) == (0, 0, None, None)
        assert row.no_interval


@pytest.mark.slow
def test_no_draw_has_a_cost_or_a_saving_below_0():
    results = evaluate({"one": items(1, wrong=0.02)}, COSTS, settings=SETTINGS, plan=PLAN)
    for price in PRICES:
        assert results[Key("one", f"cost@{price}", "sure")].evidence.values.min() >= 0
        assert results[Key("one", f"saving@{price}", "sure")].evidence.values.min() >= 0
