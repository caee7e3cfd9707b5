"""Raters and published points: the worked example to the last fraction, every resample of it, and what is said."""

import json
import math
from fractions import Fraction as F
from itertools import product

import numpy as np
import pytest
from hypothesis import given

from cases import curve_of, units_lists
from demur import (
    Beside,
    Coverage,
    Key,
    Plan,
    Settings,
    TableOptions,
    UserError,
    evaluate,
    load,
    read_points,
    read_rater,
    read_table,
    typed_point,
)
from demur.audit.loops import number
from demur.audit.own import audited_runs
from demur.confidences.grading import grade
from demur.facts.alignment import aligned
from demur.facts.instruments import Instrument
from demur.inference.key import Group
from demur.inference.points import wilson
from demur.inference.views import CurveView
from demur.quantities.matched import matched_risk
from demur.quantities.operating import coverage_at_risk
from demur.report.console import evaluation_text
from demur.report.html import report_html
from demur.results.beside import ANSWERED_BY, Others, both_key, gap_key, handed_key, system_key
from demur.results.gaps import gap_verdict

WHO, ITEM = [*"AABBCCDD"], ["1", "2"] * 4
LOSS, SURE = [0, 1, 0, 0, 1, None, 0, None], [0.9, 0.9, 0.8, 0.7, 0.7, 0, 0.6, 0]
RATED = [0, 0, 1, 0, 0, 0, None, None]
PLAN = Plan(400, seed=7)


def system(loss=LOSS):
    return read_table(
        {"cluster": WHO, "item": ITEM, "loss": loss, "sure": SURE}, instrument=None, options=TableOptions(loss_max=1)
    )


def rater(loss=RATED, who=WHO, item=ITEM):
    return read_rater({"cluster": who, "item": item, "loss": loss})


def evaluated(beside, systems=None, plan=PLAN):
    return evaluate(systems or {"sys": system()}, settings=Settings(confidence="sure"), plan=plan, beside=beside)


@pytest.fixture(scope="module")
def results():
    points = [
        typed_point("Paper: coverage=0.5, risk=0.25, ci=0.1..0.4"),
        typed_point("Bare: coverage=0.5, risk=0.25"),
        typed_point("Counts: units=8, answered=6, loss=1, clusters=4"),
    ]
    return evaluated(Beside({"Rater A": rater()}, points, margin=2.0, handover_threshold=0.8))


def curve():
    return curve_of(
        [
            type("U", (), {"loss": None if loss is None else F(loss), "confidence": sure})
            for loss, sure in zip(LOSS, SURE)
        ]
    )


def test_the_risk_at_exactly_a_coverage_of_the_example():
    expected = {"1/8": F(1, 2), "1/4": F(1, 2), "1/2": F(3, 8), "5/8": F(2, 5), "3/4": F(1, 3)}
    assert {text: matched_risk(curve(), Coverage.of(text)) for text in expected} == {
        text: float(value) for text, value in expected.items()
    }
    assert math.isnan(matched_risk(curve(), Coverage.of("7/8")))
    assert curve().at("0.5").value == 0.4
    assert (coverage_at_risk(curve(), F(1, 3)), coverage_at_risk(curve(), F(1, 4))) == (0.75, 0)


@given(units_lists)
def test_at_an_operating_point_it_is_the_risk_there_and_before_the_first_the_first_risk(units):
    made = curve_of(units)
    for coverage, risk in zip(made.points.count.tolist(), made.selective_risk.tolist()):
        assert matched_risk(made, Coverage.of(F(coverage, made.units))) == pytest.approx(risk, rel=1e-15)
    if made.defined:
        half = Coverage.of(F(int(made.points.count[0]), 2 * made.units))
        assert matched_risk(made, half) == pytest.approx(made.selective_risk[0], rel=1e-15)


def test_the_worked_example(results):
    gap = results[gap_key("Rater A", "sys", "sure")]
    assert (results[Key("Rater A", "cmax")].value, results[Key("Rater A", "risk")].value) == (3 / 4, 1 / 6)
    own = results[system_key("Rater A", "sys", "sure")]
    assert (own.value, own.at) == (1 / 3, 0.75)
    assert gap.value == 1 / 6 - 1 / 3
    assert results[gap_key("Paper", "sys", "sure")].value == -1 / 8
    both = [results[key].value for key in (both_key("Rater A", "sys"), both_key("sys", "Rater A"))]
    assert both == [1 / 5, 2 / 5]
    assert results[Key("Rater A", "answered", group=Group(ANSWERED_BY, "sys"))].value == 5


def plain(resample):
    """The gap of a resample, by loops over its rows: None where the rater answers nothing or more than the system."""
    rows = [2 * "ABCD".index(who) + one for who in resample for one in (0, 1)]
    said = [RATED[row] for row in rows if RATED[row] is not None]
    if not said:
        return "silent"
    there = number("matched_risk@C", [(LOSS[row], SURE[row]) for row in rows], at=F(len(said), 8))
    return None if there is None else F(sum(said), len(said)) - there


def test_all_256_resamples_of_the_example(results):
    gap = results[gap_key("Rater A", "sys", "sure")]
    expected = [plain(resample) for resample in product("ABCD", repeat=4)]
    defined = [value for value in expected if isinstance(value, F)]
    assert (len(defined), expected.count(None), expected.count("silent")) == (162, 93, 1)
    assert sum(defined) / 162 == F(-19, 162)
    assert (sum(value < 0 for value in defined), defined.count(0)) == (89, 30)
    assert (min(defined), max(defined)) == (F(-1, 2), F(1, 2))
    others = evaluated_others()
    drawn = np.array([[resample.count(who) for who in "ABCD"] for resample in product("ABCD", repeat=4)], float)
    contrast = next(each for each in others.contrasts if each.key == gap.key)
    values = contrast.row.number(contrast.row.view.drawn(drawn))
    values = values - contrast.subtracted.number(contrast.subtracted.view.drawn(drawn))
    wanted = [float(value) if isinstance(value, F) else math.nan for value in expected]
    assert values == pytest.approx(wanted, abs=1e-12, nan_ok=True)


def evaluated_others():
    """Everybody beside the system, before anything is resampled."""

    views = {"sure": {"sys": CurveView.of(grade(system(), loss=None, confidence="sure"))}}
    return Others.of(Beside({"Rater A": rater()}), aligned({"sys": system()}), views, "given", {"sys"})


def test_the_share_of_draws_without_a_gap_is_told_and_warned_of(results):
    gap = results[gap_key("Rater A", "sys", "sure")]
    assert gap.drop_rate == pytest.approx(94 / 256, abs=0.1)
    assert any(each.code == "target_near_cmax" and each.about.matches(gap.key) for each in results.warnings)
    assert "target_near_cmax" in results.to_json()["confidence_variants"]["sure"]["external"]["Rater A"]["notes"]


def summed_loss(rows, count):
    """The loss of the most confident `count` units, of a plateau in part where it is not taken whole."""
    total, before = 0.0, 0
    for sure in sorted({row[1] for row in rows}, reverse=True):
        losses = [loss for loss, confidence, _ in rows if confidence == sure]
        taken = min(max(count - before, 0), len(losses))
        total, before = total + taken * sum(losses) / len(losses), before + len(losses)
    return total


@pytest.mark.parametrize("seed", range(8))
def test_influences_on_a_gap_are_what_a_cluster_adds_to_its_sums(seed):
    """With x the answers of the rater, L(x) the loss up to there and s its slope: [l_g + s·(h_g − k_g) − L/x·h_g]/x."""
    rng = np.random.default_rng(seed)
    who, item = np.repeat(np.arange(7), 6).tolist(), [*map(str, range(6))] * 7
    loss, said = rng.integers(0, 2, 42).tolist(), (rng.random(42) < 0.6).tolist()
    sure = rng.random(42).round(1 if seed % 2 else 9).tolist()
    items = read_table(
        {"cluster": who, "item": item, "loss": loss, "sure": sure}, instrument=None, options=TableOptions(loss_max=1)
    )
    rated = rater([one if known else None for one, known in zip(loss, said)], who, item)
    views = {"sure": {"s": CurveView.of(grade(items, loss=None, confidence="sure"))}}
    others = Others.of(Beside({"r": rated}), aligned({"s": items}), views, "given", {"s"})
    contrast = next(each for each in others.contrasts if each.key == gap_key("r", "s", "sure"))
    rows, x = [*zip(loss, sure, who)], sum(said)
    low, high = max(x - 42**0.5, 0), min(x + 42**0.5, 42)
    slope = (summed_loss(rows, high) - summed_loss(rows, low)) / (high - low)
    lost, wrong = summed_loss(rows, x), sum(one for one, known in zip(loss, said) if known)
    ranked = sorted({*sure}, reverse=True)
    counts = np.cumsum([sure.count(each) for each in ranked])
    edge = int(np.searchsorted(counts, x))
    share = (x - (counts[edge - 1] if edge else 0)) / sure.count(ranked[edge])
    taken = {each: 1.0 if n < edge else share if n == edge else 0.0 for n, each in enumerate(ranked)}
    for cluster, found in enumerate(contrast.influence()):
        own = [unit for unit in range(42) if who[unit] == cluster]
        answers = sum(said[unit] for unit in own)
        mistakes = sum(loss[unit] for unit in own if said[unit])
        accepted = sum(taken[sure[unit]] for unit in own)
        errors = sum(taken[sure[unit]] * loss[unit] for unit in own)
        of_system = (errors + slope * (answers - accepted) - lost / x * answers) / x
        assert found == pytest.approx((mistakes - wrong / x * answers) / x - of_system, abs=1e-12)
    assert contrast.influence().sum() == pytest.approx(0, abs=1e-12)


def test_a_published_point_adds_its_error_to_that_of_the_system(results):
    gap, own = results[gap_key("Paper", "sys", "sure")], results[system_key("Paper", "sys", "sure")]
    assert gap.std_error == pytest.approx(math.hypot(own.std_error, 0.3 / (2 * 1.959964)), rel=1e-6)
    reach = 3.182446 * gap.std_error  # t with 3 degrees of freedom
    assert (gap.recommended.low, gap.recommended.high) == pytest.approx((-1 / 8 - reach, -1 / 8 + reach), rel=1e-5)
    bare = results[gap_key("Bare", "sys", "sure")]
    assert (bare.recommended, bare.no_interval) == (None, "no_uncertainty")


def test_counts_of_right_and_wrong_have_the_score_interval_and_never_no_error():
    assert (wilson(1, 6).low, wilson(1, 6).high) == pytest.approx((0.030053, 0.563503), abs=1e-6)
    perfect = evaluated(Beside(points=[typed_point("P: units=40, answered=30, loss=0")]))
    assert perfect[Key("P", "risk")].std_error > 0.02
    assert perfect[gap_key("P", "sys", "sure")].recommended is not None


def test_points_are_recorded_with_their_notes(results):
    told = {point.name: (point.kind, point.note) for point in results.study.external_points}
    assert told == {
        "Rater A": ("paired", ()),
        "Paper": ("published", ("other participants",)),
        "Bare": ("published", ("other participants", "no_uncertainty")),
        "Counts": ("counts", ("other participants", "clustering_unknown")),
    }


def test_several_points_are_judged_at_once(results):
    gaps = [results[gap_key(name, "sys", "sure")] for name in ("Rater A", "Paper", "Counts")]
    assert {gap.simultaneous.count for gap in gaps} == {3}
    for gap in gaps:
        assert gap.simultaneous.low <= gap.recommended.low <= gap.recommended.high <= gap.simultaneous.high
    alone = evaluated(Beside({"Rater A": rater()}))
    assert alone[gap_key("Rater A", "sys", "sure")].simultaneous is None


def test_the_hand_over_curve_of_the_example(results):
    handed = results.curves["sys", "sure"].handover["Rater A"]
    assert handed.threshold == (None, 0.9, 0.8, 0.7, 0.6)
    assert [*zip(handed.share, handed.coverage, handed.risk)] == [
        (1, 3 / 4, 1 / 6),
        (3 / 4, 3 / 4, 1 / 3),
        (5 / 8, 3 / 4, 1 / 6),
        (3 / 8, 3 / 4, 1 / 3),
        (1 / 4, 7 / 8, 2 / 7),
    ]
    assert handed.joint == (1 / 8, 1 / 4, 1 / 8, 1 / 4, 1 / 4)


def test_handing_over_at_a_fixed_threshold_is_tested(results):
    together = results[handed_key("Rater A", "sys", "sure")]
    assert (together.value, together.at, together.threshold) == (1 / 6, 3 / 4, 0.8)
    apart = results[handed_key("Rater A", "sys", "sure", minus=True)]
    assert apart.value == pytest.approx(0, abs=1e-15)
    assert apart.recommended.low < 0 < apart.recommended.high


def test_a_rater_who_answers_everything_is_compared_on_the_units_of_both():
    results = evaluated(Beside({"Dr": rater([0, 0, 1, 0, 0, 0, 1, 0])}))
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
    assert "Of the 6 units both answered the risk of Dr is 0.333 and that of the system 0.333: the same [" in text


def test_no_area_of_a_rater_is_anywhere(results):
    assert {row.key.quantity for row in results.where(system="Rater A", group=None)} == {"cmax", "risk"}


def test_a_forced_run_is_a_point_at_coverage_1():
    forced = system([0, 1, 0, 0, 1, 1, 0, 0])
    results = evaluated(Beside(forced={"sys": forced}))
    assert results[Key("sys, forced", "cmax")].value == 1
    assert results[Key("sys, forced", "risk")].value == 3 / 8
    with pytest.raises(UserError, match="no system with a forced run is called other"):
        evaluated(Beside(forced={"other": forced}))


def test_the_sentence_and_the_verdict(results):
    alone = evaluated(Beside({"Rater A": rater()}))
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


def test_one_two_and_three_systems_come_back_from_their_files(results, tmp_path):
    asked = Beside(
        {"Rater A": rater()}, [typed_point("Paper: coverage=0.5, risk=0.25, se=0.1")], handover_threshold=0.8
    )
    made = [results]
    made += [evaluated(asked, {name: system() for name in names}) for names in ("ab", "abc")]
    for each in made:
        again = load(each.save(tmp_path / f"{len(each.systems)}.json"))
        assert again.text == each.text
        assert {row.key for row in again} == {row.key for row in each}
        assert evaluation_text(again) == evaluation_text(each)


def test_an_audit_computes_it_again_and_asks_for_the_rater(results, tmp_path):
    path = results.save(tmp_path / "results.json")
    with pytest.raises(
        UserError, match="the file holds Rater A beside its systems: give the data, --rater Rater A=FILE"
    ):
        audited_runs(load(path), [system()], None, None)
    given = Beside({"Rater A": rater()})
    assert {each.status for each in audited_runs(load(path), [system()], None, None, given)} == {"match"}
    other = Beside({"Rater A": rater([1, 0, 1, 0, 0, 0, None, None])})
    assert "differs" in {each.status for each in audited_runs(load(path), [system()], None, None, other)}
    content = json.loads(path.read_text())
    assert content["external_points"][1]["given"] == "coverage=0.5, risk=0.25, ci=0.1..0.4"


def test_abs_and_abs_norm_are_converted_by_the_range_and_others_refused(tmp_path):
    path = tmp_path / "points.toml"
    path.write_text('["P"]\ncoverage = 0.5\nrisk = 0.6\nse = 0.3\nloss = "abs"\n')
    table = {"cluster": WHO, "item": ["Sleep"] * 8, "truth": [1] * 8, "prediction": [1, 2] * 4, "sure": SURE}
    table["cluster"] = [*range(8)]

    items = read_table(table, instrument=Instrument("one", ("Sleep",), 0, 3))
    results = evaluate(
        {"s": items}, settings=Settings(confidence="sure"), plan=PLAN, beside=Beside(points=read_points(path))
    )
    assert results[Key("P", "risk")].value == pytest.approx(0.2)
    assert results[Key("P", "risk")].std_error == pytest.approx(0.1)
    assert "converted from abs" in results.study.external_points[0].note
    with pytest.raises(UserError, match="point P: its loss is abs, that of the evaluation given"):
        evaluated(Beside(points=read_points(path)))


@pytest.mark.parametrize(
    ("given_as", "message"),
    [
        ({"who": [*"AABBCCDE"]}, "1 of 8 are not in the rater's table, 1 are there alone (cluster D, 2, …)"),
        ({"loss": [None] * 8}, "rater Dr: rater_answers_nothing: a rater without an answer has no risk"),
        ({"loss": [0, 0, 1, 0, 0, 0, 7, None]}, "rater Dr: cluster D, 1: loss 7, expected a number 0 to 1"),
    ],
)
def test_a_rater_of_other_units_is_refused_with_counts(given_as, message):
    with pytest.raises(UserError) as caught:
        evaluated(Beside({"Dr": rater(**given_as)}))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"margin": 0.1}, "a margin is for a comparison with raters or points"),
        ({"handover_threshold": 0.1}, "a hand-over threshold needs a rater"),
        ({"margin": -1.0, "raters": {"x": rater()}}, "margin -1.0, expected a number above 0"),
    ],
)
def test_what_says_nothing_is_refused(asked, message):
    with pytest.raises(UserError, match=message):
        Beside(**asked)


def test_a_name_that_is_taken_is_refused():
    with pytest.raises(UserError, match="two systems, raters or points are called sys"):
        evaluated(Beside({"sys": rater()}))
    with pytest.raises(UserError, match="need its spread, sd="):
        evaluated(Beside(points=[typed_point("P: units=9, answered=9, loss=4")]), {"s": graded_loss()})


def graded_loss():
    return read_table(
        {"cluster": [1, 2, 3], "loss": [0, 0.5, 1], "sure": [3, 2, 1]},
        instrument=None,
        options=TableOptions(loss_max=1),
    )
