"""Raters and published points: what is said, written, read back and audited of them, and what is refused."""

import json
import math

import pytest

from demur import (
    Instrument,
    Key,
    Raters,
    TableOptions,
    UserError,
    evaluate,
    load,
    read_points,
    read_table,
    report_html,
    typed_point,
)
from demur.extensions.audit.results_audit import audited_runs
from demur.features.raters.comparators import Comparators
from demur.features.raters.gaps import gap_key, gap_verdict
from demur.show.console import evaluation_text
from demur.show.statements.warnings import warnings
from four_clusters import ITEM, LOSS, SURE, WHO, system
from raters import PLAN, evaluated, everybody, rater


@pytest.fixture(scope="module")
def results():
    return evaluated(everybody())


def test_a_rater_who_answers_everything_is_compared_on_the_units_of_both():
    results = evaluated(Comparators({"Dr": rater([0, 0, 1, 0, 0, 0, 1, 0])}))
    gap = results[gap_key("Dr", "sys", "sure")]
    assert math.isnan(gap.value)
    member = results.to_json()["confidence_variants"]["sure"]["external"]["Dr"]
    assert (member["risk_gap"]["value"], member["notes"], member["verdict"]) == (
        None,
        ["beyond_cmax", "target_near_cmax"],
        "",
    )
    assert member["answered_by_both"]["n"] == 6
    assert member["answered_by_both"]["delta"]["value"] == 2 / 6 - 2 / 6
    text = evaluation_text(results)
    assert "it answered 2 units that the system declined; at its largest coverage, 75.0%, the risk" in text
    assert "of the 6 units both answered the risk of Dr is 0.333 and that of the system 0.333: the same [" in text


def test_no_area_of_a_rater_is_anywhere(results):
    assert {row.key.quantity for row in results.where(system="Rater A", group=None)} == {"cmax", "risk"}


def test_a_forced_run_is_a_point_at_coverage_1():
    forced = system([0, 1, 0, 0, 1, 1, 0, 0])
    results = evaluated(Comparators(forced={"sys": forced}))
    assert results[Key("sys, forced", "cmax")].value == 1
    assert results[Key("sys, forced", "risk")].value == 3 / 8
    with pytest.raises(UserError, match="no system with a forced run is called other"):
        evaluated(Comparators(forced={"other": forced}))


def test_the_sentence_and_the_verdict(results):
    alone = evaluated(Comparators({"Rater A": rater()}))
    text = evaluation_text(alone)
    gap = alone[gap_key("Rater A", "sys", "sure")]
    ends = f"[{-gap.recommended.high:.3g}, {-gap.recommended.low:.3g}]"
    assert (
        "Rater A answered 75.0% of the items at a risk of 0.167; at that coverage the system's is 0.333: "
        f"0.167 higher {ends}, not distinguishable with 4 clusters." in text
    )
    assert "Beside others" in report_html(alone)
    assert gap_verdict(gap, 2.0) == "not distinguishable, no worse by more than 2"
    assert gap_verdict(results[gap_key("Bare", "sys", "sure")]) == ""


@pytest.mark.slow
def test_one_two_and_three_systems_come_back_from_their_files(results, tmp_path):
    asked = Comparators(
        {"Rater A": rater()}, [typed_point("Paper: coverage=0.5, risk=0.25, se=0.1")], handover_threshold=0.8
    )
    made = [results]
    made += [evaluated(asked, {name: system() for name in names}) for names in ("ab", "abc")]
    for each in made:
        again = load(each.save(tmp_path / f"{len(each.systems)}.json"))
        assert again.text == each.text
        assert {row.key for row in again} == {row.key for row in each}
        assert evaluation_text(again) == evaluation_text(each)


def whose(results):
    return {
        about for warning in warnings(results) if warning.code == "few_discordant_clusters" for about in warning.about
    }


@pytest.mark.slow
def test_a_warning_about_a_difference_says_whose_it_is(results, tmp_path):
    again = load(results.save(tmp_path / "one.json"))
    for each in (results, again):
        assert whose(each) == {
            "Rater A − sys comparison",
            "sure: Rater A − sys comparison",
            "sure: sys − Rater A comparison",
        }
    both = evaluated(Comparators({"Rater A": rater()}), {name: system() for name in "ab"})
    told = whose(both)
    assert {"sure: difference comparison", "Rater A − a comparison", "Rater A − b comparison"} <= told


@pytest.mark.slow
def test_an_audit_computes_it_again_and_asks_for_the_rater(results, tmp_path):
    path = results.save(tmp_path / "results.json")
    with pytest.raises(
        UserError, match="the file holds Rater A beside its systems: give the data, --rater Rater A=FILE"
    ):
        audited_runs(load(path), [system()], None, None)
    given = Comparators({"Rater A": rater()})
    assert {each.status for each in audited_runs(load(path), [system()], None, None, [given])} == {"match"}
    other = Comparators({"Rater A": rater([1, 0, 1, 0, 0, 0, None, None])})
    assert "differs" in {each.status for each in audited_runs(load(path), [system()], None, None, [other])}
    content = json.loads(path.read_text())
    assert content["external_points"][1]["given"] == "coverage=0.5, risk=0.25, ci=0.1..0.4"


def test_abs_and_abs_norm_are_converted_by_the_range_and_others_refused(tmp_path):
    path = tmp_path / "points.toml"
    path.write_text('["P"]\ncoverage = 0.5\nrisk = 0.6\nse = 0.3\nloss = "abs"\n')
    table = {"cluster": WHO, "item": ["Sleep"] * 8, "truth": [1] * 8, "prediction": [1, 2] * 4, "sure": SURE}
    table["cluster"] = [*range(8)]

    items = read_table(table, instrument=Instrument("one", ("Sleep",), 0, 3))
    results = evaluate({"s": items}, Raters(points=path), confidence="sure", plan=PLAN)
    assert results[Key("P", "risk")].value == pytest.approx(0.2)
    assert results[Key("P", "risk")].std_error == pytest.approx(0.1)
    assert "converted from abs" in results.study.external_points[0].note
    with pytest.raises(UserError, match="point P: its loss is abs, that of the evaluation given"):
        evaluated(Comparators(points=read_points(path)))


@pytest.mark.parametrize(
    "given_as",
    [
        {"who": [*"AABBCCDE"]},
        {"loss": [None] * 8},
        {"loss": [0, 0, 1, 0, 0, 0, 7, None]},
    ],
)
def test_a_rater_of_other_units_is_refused_with_counts(given_as, message):
    with pytest.raises(UserError) as caught:
        evaluated(Comparators({"Dr": rater(**given_as)}))
    message(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "asked",
    [
        {"margin": 0.1},
        {"handover_threshold": 0.1},
        {"margin": -1.0, "raters": {"x": rater()}},
    ],
)
def test_what_says_nothing_is_refused(asked, message):
    with pytest.raises(UserError) as refused:
        Comparators(**asked)
    message(refused.value)


def test_a_name_that_is_taken_is_refused():
    with pytest.raises(UserError, match="two systems, raters or points are called sys"):
        evaluated(Comparators({"sys": rater()}))
    with pytest.raises(UserError, match="need its spread, sd="):
        evaluated(Comparators(points=[typed_point("P: units=9, answered=9, loss=4")]), {"s": graded_loss()})


def graded_loss():
    return read_table(
        {"cluster": [1, 2, 3], "loss": [0, 0.5, 1], "sure": [3, 2, 1]},
        instrument=None,
        options=TableOptions(loss_max=1),
    )


def test_units_and_clusters_that_the_evaluation_leaves_out_are_left_out_of_the_rater_too():
    table = {"cluster": WHO, "item": ITEM, "loss": LOSS, "sure": SURE, "status": ["ok"] * 7 + ["failed"]}
    table["success"] = [True] * 4 + [False] * 2 + [True] * 2
    items = read_table(table, instrument=None, options=TableOptions(loss_max=1))
    results = evaluated(Comparators({"Dr": rater()}), {"s": items})
    assert results[Key("Dr", "risk")].value == 1 / 4
    assert results.study.external_points[0].n_units == 5
