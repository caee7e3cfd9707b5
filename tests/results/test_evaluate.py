"""Evaluations of one run and of two: exact numbers of a small run, as the nested file holds them; golden bytes."""

import json
from fractions import Fraction
from functools import cache

import pytest

from demur import Coverage, Key, Minus, Plan, Settings, UserError, evaluate, measure, read_run, read_table
from demur.results.json_v1_model import metrics_model
from golden_runs import RUN, evaluated
from parametrized import parametrize_few


@cache
def nested(*modes, **settings):
    """The nested file of an evaluation, member by member."""
    return metrics_model().model_validate(evaluated(*modes, **settings).to_json())


@pytest.fixture(scope="module")
def found():
    return nested("zero_shot", "few_shot", loss="abs", confidence="llm")


class TestOneRun:
    """Three participants × 8 items, one of whom answered nothing, and one more who failed; 11 answers."""

    def test_who_was_counted(self):
        found = nested("zero_shot", loss="abs")
        people = found.population
        assert (people.participants_total, people.participants_included, people.participants_failed) == (4, 3, 1)
        assert people.items_total == 8 * people.participants_included
        assert people.items_predicted == 11
        assert people.cmax == found.confidence_variants["llm"].cmax == 11 / 24
        assert found.cases.failed == (306,)

    def test_the_oracle_order_has_a_vertex_where_the_loss_grows(self):
        """Seven answers without a loss, two with 1, two with 2."""
        oracle = nested("zero_shot", loss="abs", confidence="llm").confidence_variants["llm"].reference.oracle
        assert oracle.coverage == (7 / 24, 9 / 24, 11 / 24)
        assert oracle.selective_risk == (0, 2 / 9, 6 / 11)
        assert oracle.generalized_risk == (0, 2 / 24, 6 / 24)

    def test_of_one_run_nobody_knows_which_abstention_was_needless(self):
        assert nested("zero_shot").cases.needless_abstentions is None

    def test_the_numbers_are_those_of_paper_and_pencil(self):
        """Losses by evidence: 3 → 0 0 0, 2 → 1 0 0 2, 1 → 2 0 1 0."""
        one = nested("zero_shot", loss="abs", confidence="llm").confidence_variants["llm"]
        assert one.curve.threshold == (3, 2, 1)
        assert one.curve.coverage == (3 / 24, 7 / 24, 11 / 24)
        assert one.curve.selective_risk == (0, 3 / 7, 6 / 11)
        assert one.curve.generalized_risk == (0, 3 / 24, 6 / 24)
        assert one.cmax == 11 / 24
        assert one.aurc_full == float(Fraction(9, 77))
        assert one.augrc_full == 1 / 24
        assert one.mae == 6 / 11
        risks = one.mae_at_coverage
        assert (risks["0.10"].achieved, risks["0.10"].value) == (3 / 24, 0)
        assert (risks["0.20"].achieved, risks["0.20"].value) == (7 / 24, 3 / 7)
        assert risks["0.50"] is None
        assert one.by_item["Sleep"].model_dump() == {
            "n": 3,
            "answered": 2,
            "coverage": 2 / 3,
            "risk": 1 / 2,
            "bias": 1 / 2,
        }
        assert sum(one.histogram.right) + sum(one.histogram.wrong) + one.histogram.abstained == 24

    def test_confidences_a_last_bit_apart_leave_room_for_one_bar(self):
        table = {
            "cluster": ["a", "a", "b"],
            "item": ["q", "r", "q"],
            "truth": [0, 0, 0],
            "prediction": [0, 1, 0],
            "sure": [1.0, 0.9999999999999999, 1.0],
        }
        items = read_table(table, instrument=None)
        settings = Settings(loss="abs", confidence="sure")
        one = evaluate(items, settings=settings, plan=Plan(0, seed=None)).curves["The run", "sure"]
        assert (one.histogram.right, one.histogram.wrong) == ((2,), (1,))

    def test_normalised_loss_divides_by_the_range(self):
        raw, norm = (nested("zero_shot", loss=loss).confidence_variants["llm"] for loss in ("abs", "abs_norm"))
        assert norm.aurc_full == float(Fraction(9, 77) / 3)
        assert norm.bootstrap.ci95["augrc_full"] == pytest.approx([x / 3 for x in raw.bootstrap.ci95["augrc_full"]])

    def test_areas_are_cut_at_one_half_or_where_asked(self):
        one = nested("zero_shot", loss="abs").confidence_variants["llm"]
        assert (one.aurc_at_c.requested, one.aurc_at_c.used, one.aurc_at_c.value) == (0.5, 11 / 24, one.aurc_full)
        cut = nested("zero_shot", loss="abs", area_coverage=Coverage.of("0.25")).confidence_variants["llm"]
        by_measure = measure(
            "llm", data=read_run(RUN, mode="zero_shot"), loss="abs", metrics=["aurc@0.25", "augrc@0.25"]
        )
        assert (cut.aurc_at_c.requested, cut.aurc_at_c.used) == (0.25, 0.25)
        assert [cut.aurc_at_c.value, cut.augrc_at_c.value] == [*by_measure.values()]
        assert cut.bootstrap.short_domain_rate > 0

    def test_every_number_of_the_library_is_the_one_in_the_file(self):
        one = nested("zero_shot", loss="abs").confidence_variants["total_evidence"]
        by_measure = measure("total_evidence", data=read_run(RUN, mode="zero_shot"), loss="abs")
        for name, key in (("eaurc", "eaurc"), ("aurc_optimal", "aurc_optimal"), ("naugrc", "naugrc"), ("cmax", "cmax")):
            assert getattr(one, key) == by_measure[name]
        assert one.interpretation.aurc_gap_pct == by_measure["aurc_gap_pct"]

    def test_all_lists_what_it_leaves_out_and_counts_what_it_fills(self):
        found = nested("zero_shot", confidence="all")
        assert [*found.confidence_variants] == ["llm", "total_evidence", "verbalized"]
        assert found.confidence_variants["verbalized"].nulls_filled == {"verbalized_confidence": 1}
        skipped = {one.name: one.reason for one in found.skipped_variants}
        assert skipped["token_msp"] == "participant 300, NoInterest: token_msp is missing (and 10 more)"
        assert found.confidence_variants["verbalized"].reliability.bins[-1].high == 1
        assert found.confidence_variants["llm"].reliability is None, "a count is no probability"

    def test_zero_resamples_need_no_seed_and_give_no_intervals(self):
        found = nested("zero_shot", plan=Plan(0, seed=None))
        assert found.confidence_variants["llm"].bootstrap is None

    def test_the_most_confident_errors_come_first(self):
        found = nested("zero_shot").cases.confident_errors["llm"]
        assert [(one.participant, one.item) for one in found] == [
            (300, "Sleep"),
            (302, "Tired"),
            (300, "Failure"),
            (302, "Concentrating"),
        ]

    @parametrize_few("interval", ["recommended", "percentile", "bca", "jackknife", "studentised", None], 3)
    def test_one_more_interval(self, interval):
        found = nested("zero_shot", level=0.5, interval=interval).confidence_variants["llm"].bootstrap
        assert found.ci["level"] == 0.5
        wide, narrow = found.ci95["cmax"], found.ci["cmax"]
        if interval == "percentile":
            assert wide[0] <= narrow["low"] <= narrow["high"] <= wide[1]
        if interval not in (None, "recommended", "studentised"):
            assert narrow["method"] == interval

    @pytest.mark.slow
    def test_the_interval_asked_for_is_the_one_recorded(self):
        asked = nested("zero_shot", "few_shot", confidence="llm", level=0.5, interval="jackknife")
        pair, delta = asked.confidence_variants["llm"], asked.comparison.deltas["llm"]["augrc_at_c"]
        assert (delta.ci.method, pair.left.bootstrap.ci["aurc_at_c"]["method"]) == ("jackknife", "jackknife")
        one = nested("zero_shot", confidence="llm", level=0.5, interval="studentised")
        risks = one.confidence_variants["llm"].bootstrap.ci["mae_at_coverage"]
        assert set(risks.values()) == {None}, "a risk at a coverage has no influence function"
        with pytest.raises(UserError, match="an interval needs resamples"):
            evaluated("zero_shot", level=0.9, plan=Plan(0, seed=None))

    def test_each_warning_keeps_its_own_number(self):
        warned = evaluated("zero_shot", confidence="llm").warnings
        rates = {one.about.quantity: one.parameters["drop_rate"] for one in warned if one.code == "target_near_cmax"}
        assert len(rates) > 2
        assert len({*rates.values()}) > 1
        assert all(name.startswith("risk@") for name in rates)

    def test_a_grid_as_typed(self):
        found = nested("zero_shot", coverages=("0.101", "0.104", ".25", "1"), plan=Plan(0, seed=None))
        assert [*found.confidence_variants["llm"].mae_at_coverage] == ["0.101", "0.104", "0.25", "1.00"]

    def test_a_time_that_is_none_is_refused_before_anything_is_drawn(self):
        with pytest.raises(UserError, match="created_at: expected a time such as 2026-01-31T12:00:00Z, not 'now'"):
            evaluate(read_run(RUN, mode="zero_shot"), settings=Settings(created_at="now"), plan=Plan(9, seed=1))


class TestTwoRuns:
    """Participants 300 and 302 succeeded in both modes; 304 and 306 failed in one each."""

    def test_the_counters(self, found):
        assert found.comparison.model_dump(exclude={"deltas"}) == {
            "enabled": True,
            "intersection_only": False,
            "participants_left_only": 0,
            "participants_right_only": 0,
            "participants_overlap_total": 4,
            "participants_overlap_included": 2,
            "participants_failed_left": 1,
            "participants_failed_right": 1,
        }
        people = found.population.model_dump()
        assert people.pop("items_predicted") == {"left": 11, "right": 14}
        assert people.pop("cmax") == {"left": 11 / 16, "right": 14 / 16}
        assert [*people.values()] == [4, 2, 2, 16]

    def test_both_sides_are_on_the_analysis_set_only(self, found):
        pair = found.confidence_variants["llm"]
        assert (pair.left.cmax, pair.right.cmax) == (11 / 16, 14 / 16)
        assert (pair.left.mae, pair.right.mae) == (6 / 11, 7 / 14)

    def test_areas_are_cut_at_the_common_coverage(self, found):
        pair = found.confidence_variants["llm"]
        for side in (pair.left, pair.right):
            assert (side.aurc_at_c.requested, side.aurc_at_c.used) == (None, 11 / 16)
        assert pair.left.aurc_at_c.value == pair.left.aurc_full
        assert pair.right.aurc_at_c.value < pair.right.aurc_full

    def test_differences_are_right_less_left(self, found):
        pair, deltas = found.confidence_variants["llm"], found.comparison.deltas["llm"]
        for key in ("cmax", "aurc_full", "augrc_full", "eaugrc"):
            assert deltas[key].delta == getattr(pair.right, key) - getattr(pair.left, key)
        assert deltas["augrc_at_c"].delta == pair.right.augrc_at_c.value - pair.left.augrc_at_c.value
        assert deltas["mae_at_coverage"]["0.50"].delta == pytest.approx(
            pair.right.mae_at_coverage["0.50"].value - pair.left.mae_at_coverage["0.50"].value
        )
        assert deltas["mae_at_coverage"]["0.80"].delta is None

    @pytest.mark.slow
    def test_a_run_against_itself_differs_by_nothing(self):
        found = nested("zero_shot", "zero_shot", confidence="all", names=("a", "b")).comparison.deltas
        for deltas in found.values():
            assert all(one.delta == 0 and one.ci95 == (0, 0) for key, one in deltas.items() if key != "mae_at_coverage")
            risks = [one for one in deltas["mae_at_coverage"].values() if one.delta is not None]
            assert risks
            assert all(one.delta == 0 for one in risks)

    @pytest.mark.slow
    def test_swapping_the_sides_negates(self):
        one, other = (
            nested(*modes).comparison.deltas["llm"] for modes in (("zero_shot", "few_shot"), ("few_shot", "zero_shot"))
        )
        for key in ("cmax", "aurc_full", "augrc_at_c"):
            assert one[key].delta == -other[key].delta
            assert one[key].ci95 == pytest.approx((-other[key].ci95[1], -other[key].ci95[0]))

    def test_no_resamples_give_differences_without_intervals(self):
        found = nested("zero_shot", "few_shot", plan=Plan(0, seed=None)).comparison.deltas["llm"]
        assert found["cmax"].delta == 3 / 16
        assert found["cmax"].ci95 is None

    def test_a_side_is_favoured_by_what_is_better_there(self):
        """More coverage, less risk; and nobody where neither way is better, or where there is nothing to test."""
        results = evaluated("zero_shot", "few_shot", loss="abs", confidence="llm")
        deltas = results.to_json()["comparison"]["deltas"]["llm"]
        for key, name, better in (("cmax", "cmax", "above"), ("aurc_full", "aurc", "below")):
            row = results[Key("few_shot", name, "llm", minus=Minus("system", "zero_shot"))]
            assert deltas[key]["favours_right"] == getattr(row, better)
            assert deltas[key]["favours_left"] == getattr(row, "below" if better == "above" else "above")
        assert deltas["mae_at_coverage"]["0.80"]["favours_left"] is None

    @pytest.mark.slow
    def test_whichever_is_the_baseline_the_file_holds_right_minus_left(self):
        files = [
            evaluated("zero_shot", "few_shot", confidence="llm", baseline=name).to_json()
            for name in ("zero_shot", "few_shot")
        ]
        ours, theirs = (content["comparison"].pop("deltas")["llm"] for content in files)
        assert files[0] == files[1]
        for key in ("cmax", "aurc_full", "augrc_at_c"):
            assert ours[key]["ci95"] == pytest.approx(theirs[key]["ci95"], abs=1e-15)
            for exact in ("delta", "p_value", "favours_left", "favours_right", "drop_rate"):
                assert ours[key][exact] == theirs[key][exact]

    @pytest.mark.slow
    def test_nothing_turned_around_is_nothing_and_not_minus_nothing(self):
        found = evaluated("zero_shot", "zero_shot", names=("a", "b"), confidence="llm", baseline="b").to_json()
        assert "-0.0" not in json.dumps(found["comparison"])


@pytest.mark.parametrize(
    "settings",
    [
        {"loss": "absolute"},
        {"confidence": "lm"},
        {"interval": "boot"},
        {"level": 1.5},
        {"confidence": "token_msp"},
    ],
)
def test_settings_that_make_no_sense(settings, message):
    with pytest.raises(UserError) as refused:
        evaluated("zero_shot", **settings)
    message(refused.value)


class TestPrimary:
    @pytest.mark.slow
    def test_the_confidence_named_beforehand_comes_first_and_alone_is_decided_by_its_own_interval(self):
        plan = Plan(200, seed=7)
        modes = ("zero_shot", "few_shot")
        usual, named = (evaluated(*modes, confidence="all", plan=plan, primary=name) for name in (None, "verbalized"))
        assert named.selective.confidences[0] == "verbalized"
        assert {*named.selective.confidences} == {*usual.selective.confidences}
        for results, first in ((usual, usual.selective.confidences[0]), (named, "verbalized")):
            rows = [
                row for row in results if row.key.minus and row.key.quantity == "augrc@C_common" and row.recommended
            ]
            assert [row.key.confidence for row in rows if row.simultaneous is None] == [first]
            assert len(rows) > 1
        assert {row.key: row.value for row in usual if row.value == row.value} == {
            row.key: row.value for row in named if row.value == row.value
        }

    def test_it_must_be_served(self):
        with pytest.raises(UserError, match="no confidence served here is called verbalised; did you mean verbalized"):
            evaluated("zero_shot", "few_shot", confidence="all", primary="verbalised")

    def test_what_cannot_favour_a_system_has_no_simultaneous_interval(self):
        results = evaluated("zero_shot", "few_shot", confidence="llm", plan=Plan(200, seed=7))
        judged = {row.key.quantity for row in results if row.simultaneous}
        assert "cmax" not in judged
        assert "aurc@C_common" in judged
