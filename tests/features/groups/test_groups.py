"""Groups of units: the worked example in fractions, laws, what is refused, and both files."""

from __future__ import annotations

import json
import math
from fractions import Fraction as F
from typing import Any

import pytest

from demur import Group, Groups, Key, Plan, Settings, UserError
from demur.extensions.audit.results_audit import audited_runs
from demur.facts.groupings import GroupColumn
from demur.features.groups.named_groupings import grouping_of
from demur.results import json_table
from demur.results.load import results_of
from demur.results.selective import evaluate
from features.groups.grouped import LABELS, T1, evaluated, items_of, random_table, values
from parametrized import parametrize_few
from results_by_loops import compared, run_recipes, strata_of_runs


def test_the_worked_example_at_the_shared_threshold() -> None:
    results = evaluated(T1, ["site"], {"site": "site"}, area_coverage="0.625")
    x, y = values(results, "x"), values(results, "y")
    assert (x["coverage"], x["accepted"], x["units"], x["risk"], x["errors"], x["clusters"]) == (1, 4, 4, F(1, 4), 1, 2)
    assert (y["coverage"], y["accepted"], y["units"], y["risk"], y["loss_sum"]) == (F(1, 4), 1, 4, 1, 1)
    assert results.selective.groups.threshold_of(results.systems[0], "conf") == 0.7
    overall = results[Key(results.systems[0], "risk@threshold=0.7", "conf")]
    assert overall.value == 0.4


def test_where_nothing_of_a_group_is_accepted_its_risk_is_undefined() -> None:
    results = evaluated(T1, Groups("site", threshold=0.8), {"site": "site"})
    y = values(results, "y")
    assert y["coverage"] == y["accepted"] == 0
    assert math.isnan(y["risk"])
    row = results[Key(results.systems[0], "risk@threshold=0.8", "conf", group=Group("site", "y"))]
    assert row.undefined == "nothing is accepted at this threshold"
    file = results.to_json()["confidence_variants"]["conf"]["groups"]["site"]
    assert file["levels"][1]["risk"] is None


def test_the_worked_example_within_the_groups() -> None:
    """x: (1/2, 1/2) (3/4, 1/3) (1, 1/4); y: (1/4, 1) (1/2, 1/2), as coverage and risk."""
    results = evaluated(T1, ["site"], {"site": "site"})
    x, y = values(results, "x"), values(results, "y")
    assert (x["cmax"], y["cmax"]) == (1, 0.5)
    assert x["aurc"] == float(F(1, 4) + F(1, 4) * (F(1, 2) + F(1, 3)) / 2 + F(1, 4) * (F(1, 3) + F(1, 4)) / 2)
    assert y["aurc"] == F(1, 4) + F(1, 4) * F(3, 4)
    assert (x["augrc"], y["augrc"]) == (F(1, 2) * F(1, 8) + F(1, 2) * F(1, 4), F(1, 4) * F(1, 8) + F(1, 4) * F(1, 4))
    assert (x["aurc@C_common"], y["aurc@C_common"]) == (F(1, 4), y["aurc"])
    assert (x["augrc@C_common"], y["augrc@C_common"]) == (F(1, 16), y["augrc"])
    file = results.to_json()["confidence_variants"]["conf"]["groups"]["site"]
    assert file["c_common"] == 0.5
    assert file["threshold"]["value"] == 0.7
    assert (file["kind"], [level["small"] for level in file["levels"]]) == ("cluster", [True, True])
    assert file["worst"] == {
        "level": None,
        "risk": None,
        "ci95": None,
        "no_interval": "no group is large enough to be judged",
    }


@pytest.mark.slow
def test_relabelling_the_groups_permutes_the_results() -> None:
    table = random_table(3)
    renamed = {"a": "z", "b": "rest", "c": "a"}
    other = table | {"site": [renamed[site] for site in table["site"]]}
    one, two = (evaluated(each, ["site"], {"site": "site"}) for each in (table, other))
    for row in one:
        if row.key.group is None or row.key.group.name != "site":
            continue
        level = row.key.group.level and renamed[row.key.group.level]
        key = Key(row.key.system, row.key.quantity, row.key.confidence, group=Group("site", level), minus=row.key.minus)
        same = two[key]
        assert same.value == row.value or math.isnan(row.value)
        for name in ("recommended", "simultaneous", "percentile"):
            ends, others = getattr(row, name), getattr(same, name)
            assert (ends is None) == (others is None)
            assert ends is None or [ends.low, ends.high] == pytest.approx([others.low, others.high], abs=1e-12)


@pytest.mark.parametrize(
    "column",
    [
        ["all"] * 8,
        [*"AABBCCDD"],
        [0.5] * 8,
        ["(none)"] * 8,
    ],
)
def test_a_grouping_that_groups_nothing_is_refused(column: list[Any], message: str) -> None:
    with pytest.raises(UserError) as refused:
        evaluated(T1 | {"site": column}, ["site"], {"site": "site"})
    message(refused.value)


MANY_SITES = {"cluster": [1, 2] * 20, "conf": [0.5] * 40, "loss": [0] * 40, "site": [*range(40)], "item": [*range(40)]}


def test_too_many_levels_are_refused() -> None:
    told = (
        r"has 40 levels, expected at most 30: allow more, Groups\(max_groups=…\), or cut .*\(NAME='COLUMN:18,40,65'\)$"
    )
    with pytest.raises(UserError, match=told):
        evaluated(MANY_SITES, ["site"], {"site": "site"})


@pytest.mark.slow
def test_many_levels_are_allowed_if_they_are_asked_for() -> None:
    results = evaluated(MANY_SITES, Groups("site", max_groups=40), {"site": "site"}, resamples=0)
    assert len(results.selective.groups.groupings[0].levels) == 40


def test_a_missing_label_is_a_group_of_its_own_and_counted() -> None:
    sites = ["x", "x", None, float("nan"), "", "y", "y", "y"]
    results = evaluated(T1 | {"site": sites}, ["site"], {"site": "site"})
    grouping = results.selective.groups.groupings[0]
    assert (grouping.levels, grouping.without_label, grouping.kind) == (("x", "y", "(none)"), 3, "unit")
    assert values(results, "(none)")["units"] == 3


def test_numbers_are_cut_into_half_open_intervals_and_the_rest() -> None:
    ages = GroupColumn.of("Age:18,40,65").grouping([17, 18, 39.5, 40, 64, 65, 90, None, "20"])
    assert ages.levels == ("[18,40)", "[40,65)", "(other)", "(none)")
    assert ages.index.tolist() == [2, 0, 0, 1, 1, 2, 2, 3, 0]
    assert GroupColumn.of("Age:18,40,65").text == "Age:18,40,65"
    assert GroupColumn.of("a:b", ["a:b"]) == GroupColumn("a:b")
    for wrong in ("Age:18", "Age:40,18", "Age:18,x", "Age:"):
        with pytest.raises(UserError, match="with ascending numbers to cut at"):
            GroupColumn.of(wrong)
    with pytest.raises(UserError, match="Age 'old', expected a number, as it is cut"):
        GroupColumn.of("Age:18,40").grouping(["old"])


def test_items_are_always_a_grouping_and_group_columns_are_no_signals() -> None:
    table = T1 | {"item": [*"qrqrqrqr"], "place": [1, 2] * 4}
    items = items_of(table, {"where": "place"})
    assert [*items.signals] == ["conf", "site"]
    assert grouping_of(items, "item").levels == ("q", "r")
    results = evaluated(table, ["item", "where"], {"where": "place"})
    assert results.selective.groups.groupings[0].kind == "unit"
    assert values(results, "q", "item")["units"] == 4


@pytest.mark.slow
def test_both_files_give_back_every_number() -> None:
    items = items_of(random_table(10, clusters=12), {"site": "site"})
    settings = Settings(confidence="conf", interval="percentile", level=0.9)
    for runs in ([items], [items.labelled("a"), items.labelled("b")], [items, items, items]):
        named = {f"s{place}": run for place, run in enumerate(runs)}
        results = evaluate(named, settings=settings, features=[Groups("site")], plan=Plan(20, seed=2))
        back = results_of(json.loads(results.text))
        assert back.text == results.text
        assert {row.key for row in back} == {row.key for row in results}
        for row in results:
            assert repr(back[row.key].simultaneous) == repr(row.simultaneous), row.key
        assert results_of(json.loads(json.dumps(json_table.encoded(results)))).text == results.text
        if len(runs) < 3:
            assert {finding.status for finding in audited_runs(back, runs, None, None)} == {"match"}


@parametrize_few("stratify", [None, "site"], 1)
@pytest.mark.slow
def test_plain_loops_over_the_same_draws_agree_on_every_number_of_a_group(stratify: str | None) -> None:
    table = random_table(13, clusters=11)
    items = items_of(table | {"topic": [*"lmn"] * (len(table["conf"]) // 3) + ["l"] * (len(table["conf"]) % 3)}, LABELS)
    groups = Groups("site", "topic", min_clusters=3, stratify=stratify)
    results = evaluate({"s": items}, settings=Settings(confidence="conf"), features=[groups], plan=Plan(8, seed=3))
    recipes = run_recipes(results, {"s": items}, None)
    found = compared(results, recipes, strata=strata_of_runs(results, {"s": items}))
    assert all(one.agrees for one in found)
    assert sum("topic" in one.name for one in found) > 50


@pytest.mark.slow
def test_an_audit_finds_a_changed_number_of_a_group() -> None:
    results = evaluated(random_table(10), Groups("site", min_clusters=3), {"site": "site"})
    content = results.to_json()
    level = content["confidence_variants"]["conf"]["groups"]["site"]["levels"][1]
    level["risk"] += 0.001
    found = audited_runs(results_of(content), [items_of(random_table(10), {"site": "site"})], None, None)
    assert any("risk@threshold" in finding.key and finding.status == "differs" for finding in found)


@pytest.mark.slow
def test_the_warnings_say_how_many_groups_were_looked_at_and_which_rest_on_few() -> None:
    results = evaluated(random_table(11), Groups("site", min_clusters=5), {"site": "site"}, resamples=1000)
    (many,) = [warning for warning in results.warnings if warning.code == "multiple_groups"]
    assert many.parameters == {"groups": 3, "comparisons": 6}
    few = [warning for warning in results.warnings if warning.about.group is not None]
    assert {warning.code for warning in few} == {"few_informative_clusters"}
    back = results_of(json.loads(results.text))
    assert [warning.about for warning in back.warnings if warning.about.group] == [each.about for each in few]


def test_systems_that_are_compared_must_agree_on_the_groups() -> None:
    one = items_of(T1, {"site": "site"})
    other = items_of(T1 | {"site": [*"xxxxyyyx"]}, {"site": "site"})
    with pytest.raises(UserError, match="cluster D, 2: site is y in a and x in b"):
        evaluate(
            {"a": one, "b": other}, settings=Settings(confidence="conf"), features=[Groups("site")], plan=Plan(0, None)
        )


@pytest.mark.slow
def test_a_threshold_that_cannot_be_is_told() -> None:
    with pytest.raises(UserError, match=r"no operating point reaches the coverage 0\.9: Cmax is 0\.75"):
        evaluated(T1, Groups("site", at_coverage="0.9"), {"site": "site"})
    with pytest.raises(UserError, match="are both given: leave out one"):
        Groups("site", threshold=0.5, at_coverage="0.5")
    nothing = T1 | {"loss": [None] * 8}
    with pytest.raises(UserError, match="nothing is answered: groups have no threshold to share"):
        evaluated(nothing, ["site"], {"site": "site"})
    given = evaluated(nothing, Groups("site", threshold=0.5), {"site": "site"})
    assert values(given, "x")["coverage"] == 0


def test_without_resamples_there_are_numbers_and_no_intervals() -> None:
    results = evaluated(random_table(12), Groups("site", min_clusters=2), {"site": "site"}, resamples=0)
    assert all(row.simultaneous is None for row in results)
    assert results_of(json.loads(results.text)).text == results.text


def test_a_rest_is_drawn_and_not_reported() -> None:
    results = evaluated(T1, ["site"], {"site": "site"})
    levels = {row.key.group.level for row in results if row.key.group and row.key.group.name == "site"}
    assert levels == {"x", "y", None}
