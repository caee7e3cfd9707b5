"""Groups of units: the worked example in fractions, laws, intervals by hand, and both files."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest

from demur import UserError
from demur.audit.independent import audited_independently, run_recipes, strata_of_runs
from demur.audit.loops.draws import drawn
from demur.audit.own import audited_runs
from demur.confidences.grading import grade
from demur.facts.groups import REST, GroupColumn, grouping_of
from demur.inference.draws import drawn_within
from demur.inference.key import Group, Key, Minus
from demur.inference.ratios import Ratio
from demur.inference.resample import Plan
from demur.inference.student import t_quantile
from demur.inference.views import CurveView, GroupView
from demur.quantities import Measure
from demur.read import TableOptions, read_table
from demur.results import json_table
from demur.results.groups import GroupSettings
from demur.results.load import results_of
from demur.results.selective import evaluate
from demur.results.settings import Settings

T1 = {
    "cluster": [*"AABBCCDD"],
    "conf": [0.9, 0.9, 0.8, 0.7, 0.7, None, 0.6, None],
    "loss": [0, 1, 0, 0, 1, None, 0, None],
    "site": [*"xxxxyyyy"],
}


LABELS = {"site": "site", "topic": "topic"}


def items_of(table: dict[str, Any], group: dict[str, str], **options: Any) -> Any:
    return read_table(table, instrument=None, options=TableOptions(loss_max=1.0, group=group, **options))


def evaluated(table: dict[str, Any], groups: Any, group: dict[str, str], resamples: int = 50, **settings: Any) -> Any:
    items = items_of(table, group)
    return evaluate(
        items,
        settings=Settings(confidence="conf", groups=groups, **settings),
        plan=Plan(resamples, seed=1),
        created_at="2026-01-31T12:00:00Z",
    )


def values(results: Any, level: str | None, name: str = "site") -> dict[str, float]:
    """Numbers of a group by their quantities, without the threshold, of no difference."""
    rows = results.where(group=Group(name, level), minus=None)
    return {row.key.quantity.partition("@threshold")[0]: row.value for row in rows if row.key.confidence}


def random_table(seed: int, clusters: int = 24, levels: str = "abc", by_unit: bool = False) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    rows: dict[str, list[Any]] = {"cluster": [], "conf": [], "loss": [], "site": []}
    for cluster in range(clusters):
        own, base = rng.choice([*levels]), rng.random() * 0.5
        for _ in range(int(rng.integers(2, 7))):
            sure = round(float(rng.random()), 1)
            loss = None if rng.random() < 0.2 else int(rng.random() < base + 0.5 * (1 - sure))
            site = rng.choice([*levels]) if by_unit else own
            for name, value in zip(rows, (cluster, sure, loss, str(site)), strict=True):
                rows[name].append(value)
    return rows


def test_the_worked_example_at_the_shared_threshold() -> None:
    results = evaluated(T1, ["site"], {"site": "site"}, area_coverage="0.625")
    x, y = values(results, "x"), values(results, "y")
    assert (x["coverage"], x["accepted"], x["units"], x["risk"], x["errors"], x["clusters"]) == (1, 4, 4, F(1, 4), 1, 2)
    assert (y["coverage"], y["accepted"], y["units"], y["risk"], y["loss_sum"]) == (F(1, 4), 1, 4, 1, 1)
    assert results.selective.groups.threshold_of(results.systems[0], "conf") == 0.7
    overall = results[Key(results.systems[0], "risk@threshold=0.7", "conf")]
    assert overall.value == 0.4


def test_where_nothing_of_a_group_is_accepted_its_risk_is_undefined() -> None:
    results = evaluated(T1, GroupSettings("site", threshold=0.8), {"site": "site"})
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
    ("column", "message"),
    [
        (["all"] * 8, "the group site has one level, all: it is everything"),
        ([*"AABBCCDD"], "the group site has a level for each cluster: nothing is grouped by it"),
        ([0.5] * 8, "site holds the number 0.5: cut it, such as site:18,40,65"),
        (["(none)"] * 8, r"site '\(none\)': units without a label are called so, call these otherwise"),
    ],
)
def test_a_grouping_that_groups_nothing_is_refused(column: list[Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        evaluated(T1 | {"site": column}, ["site"], {"site": "site"})


def test_too_many_levels_are_refused_unless_they_are_asked_for() -> None:
    table = {"cluster": [1, 2] * 20, "conf": [0.5] * 40, "loss": [0] * 40, "site": [*range(40)]}
    table["item"] = [*range(40)]
    with pytest.raises(UserError, match="the group site has 40 levels, expected at most 30: --max-groups, or cut"):
        evaluated(table, ["site"], {"site": "site"})
    results = evaluated(table, GroupSettings("site", max_groups=40), {"site": "site"}, resamples=0)
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
    assert results.to_json()["confidence_variants"]["conf"]["by_item"]["q"]["n"] == 4


def sums_at(table: dict[str, Any], threshold: float, inside: Any) -> tuple[list[int], list[int], list[int]]:
    """Losses, accepted and all units of each cluster that holds a unit of a group, by a plain loop."""
    sums: dict[Any, list[int]] = {}
    for cluster, conf, loss, site in zip(*(table[name] for name in ("cluster", "conf", "loss", "site")), strict=True):
        if inside(site):
            own = sums.setdefault(cluster, [0, 0, 0])
            own[2] += 1
            if loss is not None and conf >= threshold:
                own[0], own[1] = own[0] + loss, own[1] + 1
    return tuple([own[place] for own in sums.values()] for place in range(3))  # type: ignore[return-value]


@pytest.mark.parametrize("by_unit", [False, True])
def test_intervals_hold_for_all_judged_groups_at_once_by_the_rule_for_ratios(by_unit: bool) -> None:
    table = random_table(5, clusters=40, by_unit=by_unit)
    settings = GroupSettings("site", threshold=0.4, min_clusters=5)
    results = evaluated(table, settings, {"site": "site"})
    system, ends = results.systems[0], []
    for level in "abc":
        loss, accepted, units = sums_at(table, 0.4, level.__eq__)
        for stem, over, under in (("coverage", accepted, units), ("risk", loss, accepted)):
            row = results[Key(system, f"{stem}@threshold=0.4", "conf", group=Group("site", level))]
            expected, _ = Ratio(np.array(over), np.array(under), maximum=1.0).interval(1 - 0.05 / 3)
            assert row.value == float(F(sum(over), sum(under)))
            assert [row.simultaneous.low, row.simultaneous.high] == pytest.approx([expected.low, expected.high])
            assert row.simultaneous.count == 3
            usual, _ = Ratio(np.array(over), np.array(under), maximum=1.0).interval()
            assert row.recommended.low == pytest.approx(usual.low)
        ends.append((row.simultaneous.low, row.simultaneous.high, row.value))
    worst = results[Key(system, "worst_risk@threshold=0.4", "conf", group=Group("site"))]
    low, high, risk = (max(column) for column in zip(*ends, strict=True))
    assert (worst.value, worst.simultaneous.low, worst.simultaneous.high) == (risk, low, high)


def influence(loss: list[int], accepted: list[int]) -> list[float]:
    risk, total = sum(loss) / sum(accepted), sum(accepted)
    return [(own - risk * count) / total for own, count in zip(loss, accepted, strict=True)]


def test_differences_from_the_rest_and_the_gap_by_hand() -> None:
    table = random_table(6, clusters=40)
    results = evaluated(table, GroupSettings("site", threshold=0.4, min_clusters=5), {"site": "site"})
    system, pairs = results.systems[0], []

    def ends(one: Any, other: Any, level: float) -> tuple[float, float, float]:
        sides = [sums_at(table, 0.4, side)[:2] for side in (one, other)]
        moved = np.array([*influence(*sides[0]), *(-x for x in influence(*sides[1]))])
        clusters, squares, fourths = len(moved), np.sum(moved**2), np.sum(moved**4)  # of either side
        degrees = min(clusters - 1, 2 * squares**2 / (fourths - squares**2 / clusters))
        reach = t_quantile((1 + level) / 2, degrees) * math.sqrt(clusters / (clusters - 1) * squares)
        difference = sum(sides[0][0]) / sum(sides[0][1]) - sum(sides[1][0]) / sum(sides[1][1])
        return difference, difference - reach, difference + reach

    for level in "abc":
        minus = Minus("group", Group("site", REST))
        row = results[Key(system, "risk@threshold=0.4", "conf", group=Group("site", level), minus=minus)]
        expected = ends(level.__eq__, level.__ne__, 1 - 0.05 / 3)
        assert [row.value, row.simultaneous.low, row.simultaneous.high] == pytest.approx(expected, abs=1e-12)
        assert (row.p_value < 0.05) == (row.simultaneous.low > 0 or row.simultaneous.high < 0)
        pairs += [ends(level.__eq__, other.__eq__, 1 - 0.05 / 3) for other in "abc".replace(level, "")]
    gap = results[Key(system, "worst_minus_best@threshold=0.4", "conf", group=Group("site"))]
    low, high = max(max(low, 0) for _, low, _ in pairs), max(high for *_, high in pairs)
    assert [gap.value, gap.simultaneous.low, gap.simultaneous.high] == pytest.approx(
        [max(value for value, *_ in pairs), low, high], abs=1e-12
    )


def test_a_group_that_vanishes_from_draws_is_left_out_of_them() -> None:
    results = evaluated(T1, ["site"], {"site": "site"}, resamples=300)
    gone = sum(not {0, 1} & {*drawn(1, replicate, 4)} for replicate in range(300))
    row = results[Key(results.systems[0], "cmax", "conf", group=Group("site", "x"))]
    assert row.drop_rate == gone / 300
    assert (row.recommended, row.simultaneous, row.percentile) == (None, None, None)
    assert row.no_interval == "too small to judge: 2 clusters"


def test_a_group_of_whole_clusters_has_the_analytic_intervals_it_would_have_alone() -> None:
    table = random_table(8, clusters=30, levels="ab")
    results = evaluated(table, GroupSettings("site", threshold=0.4), {"site": "site"})
    kept = [index for index, site in enumerate(table["site"]) if site == "a"]
    alone = {name: [column[index] for index in kept] for name, column in table.items()}
    other = evaluated(alone, (), {})
    for name in ("cmax", "aurc", "augrc", "eaurc"):
        row = results[Key(results.systems[0], name, "conf", group=Group("site", "a"))]
        same = other[Key(other.systems[0], name, "conf")]
        assert row.value == same.value
        assert row.recommended.method == same.recommended.method
        assert row.interval("analytic").low == pytest.approx(same.interval("analytic").low, rel=1e-12)
        if name == "cmax":
            assert row.recommended.low == pytest.approx(same.recommended.low, rel=1e-12)


def cut_area(units: list[tuple[int, float, int | None]], weights: list[float], end: float, *, selective: bool) -> float:
    """The area of weighted clusters up to a coverage, by a plain loop."""
    total = sum(weights[cluster] for cluster, *_ in units)
    x = risk = area = count = lost = 0.0
    for threshold in sorted({conf for _, conf, loss in units if loss is not None}, reverse=True):
        taken = [(weights[cluster], loss) for cluster, conf, loss in units if loss is not None and conf == threshold]
        count, lost = count + sum(w for w, _ in taken), lost + sum(w * loss for w, loss in taken if loss is not None)
        height = lost / count if selective else lost / total
        before = (height if not x else risk) if selective else risk
        reached = min(count / total, end)
        at_end = before + (height - before) * (reached - x) / (count / total - x)
        area += (reached - x) * (before + at_end) / 2
        x, risk = count / total, height
        if x >= end:
            break
    return area


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", ["aurc@C_common", "augrc@C_common"])
def test_areas_at_the_coverage_all_groups_reach_and_their_influence(seed: int, name: str) -> None:
    """By central differences of a plain loop, with groups of different sizes and a common coverage that moves."""
    rng = np.random.default_rng(seed)

    def unit() -> tuple[int, float, int | None]:
        cluster, confidence, loss = (int(rng.integers(0, most)) for most in (6, 9, 4))
        return cluster, float(confidence), loss if loss < 3 else None

    groups = [[unit() for _ in range(size)] for size in (11, 17, 23)]
    table = {
        "cluster": [c for units in groups for c, *_ in units],
        "conf": [conf for units in groups for _, conf, _ in units],
        "loss": [loss for units in groups for *_, loss in units],
        "site": [site for site, units in zip("abc", groups, strict=True) for _ in units],
    }
    items = read_table(table, instrument=None, options=TableOptions(loss_max=2.0, group={"site": "site"}))
    graded = grade(items, loss=None, confidence="conf")
    views = tuple(CurveView.of(graded.only(items.groups["site"].units(place))) for place in range(3))

    def number(own: int, weights: list[float]) -> float:
        shares = [
            sum(weights[c] for c, _, loss in units if loss is not None) / sum(weights[c] for c, *_ in units)
            for units in groups
        ]
        return cut_area(groups[own], weights, min(shares), selective=name.startswith("aurc"))

    for own in range(3):
        view, measure = GroupView(views, own), Measure.of(name)
        assert measure(view.exact()) == pytest.approx(number(own, [1.0] * 6), rel=1e-12)
        for place, moved in enumerate(measure.influence(view.sample)[:, 0]):
            ends = [number(own, [1.0 + sign * 1e-6 * (place == c) for c in range(6)]) for sign in (-1, 1)]
            assert moved == pytest.approx((ends[1] - ends[0]) / 2e-6, abs=1e-7)


def test_groups_too_small_for_their_risk_are_judged_by_their_coverage_alone() -> None:
    table = random_table(9, clusters=30, levels="ab")
    table["conf"] = [0.1 if site == "a" else 0.9 for site in table["site"]]
    results = evaluated(table, GroupSettings("site", threshold=0.5), {"site": "site"})
    system = results.systems[0]
    keys = [Key(system, f"{stem}@threshold=0.5", "conf", group=Group("site", "a")) for stem in ("risk", "coverage")]
    risk, coverage = (results[key] for key in keys)
    assert (risk.simultaneous, risk.no_interval) == (None, "too small to judge: 0 accepted units")
    assert (coverage.value, coverage.recommended.method) == (0, "cluster_bound")
    assert coverage.simultaneous.count == 2
    worst = results.to_json()["confidence_variants"]["conf"]["groups"]["site"]["worst"]
    assert (worst["level"], worst["ci95"]["count"]) == ("b", 1)


def test_groups_without_a_loss_have_bounds_and_no_difference_from_each_other() -> None:
    table = random_table(14, clusters=40, levels="ab")
    table["loss"] = [None if loss is None else 0 for loss in table["loss"]]
    results = evaluated(table, GroupSettings("site", threshold=0.4), {"site": "site"})
    system, ends = results.systems[0], []
    for level in "ab":
        _, accepted, _ = sums_at(table, 0.4, level.__eq__)
        counts = [count for count in accepted if count]
        row = results[Key(system, "risk@threshold=0.4", "conf", group=Group("site", level))]
        bound = (1 - 0.025 ** (1 / len(counts))) * max(counts) * len(counts) / sum(counts)
        assert (row.simultaneous.low, row.simultaneous.high) == (0, pytest.approx(min(bound, 1), rel=1e-12))
        rest = results[replace(row.key, minus=Minus("group", Group("site", REST)))]
        assert (rest.value, rest.recommended, rest.no_interval) == (0, None, "no answer in its range has a loss")
        ends.append(Ratio(np.zeros(len(counts)), np.array(counts), maximum=1.0).interval(1 - 0.05 / 2)[0].high)
    gap = results[Key(system, "worst_minus_best@threshold=0.4", "conf", group=Group("site"))]
    assert (gap.value, gap.simultaneous.low, gap.simultaneous.high) == (0, 0, pytest.approx(max(ends), rel=1e-12))


def test_both_files_give_back_every_number() -> None:
    items = items_of(random_table(10, clusters=12), {"site": "site"})
    settings = Settings(confidence="conf", groups=["site"], interval="percentile", level=0.9)
    for runs in ([items], [items.labelled("a"), items.labelled("b")], [items, items, items]):
        named = {f"s{place}": run for place, run in enumerate(runs)}
        results = evaluate(named, settings=settings, plan=Plan(20, seed=2))
        back = results_of(json.loads(results.text))
        assert back.text == results.text
        assert {row.key for row in back} == {row.key for row in results}
        for row in results:
            assert repr(back[row.key].simultaneous) == repr(row.simultaneous), row.key
        assert results_of(json.loads(json.dumps(json_table.encoded(results)))).text == results.text
        if len(runs) < 3:
            assert {finding.status for finding in audited_runs(back, runs, None, None)} == {"match"}


@pytest.mark.parametrize("stratify", [None, "site"])
def test_plain_loops_over_the_same_draws_agree_on_every_number_of_a_group(stratify: str | None) -> None:
    table = random_table(13, clusters=11)
    items = items_of(table | {"topic": [*"lmn"] * (len(table["conf"]) // 3) + ["l"] * (len(table["conf"]) % 3)}, LABELS)
    groups = GroupSettings(["site", "topic"], min_clusters=3, stratify=stratify)
    results = evaluate({"s": items}, settings=Settings(confidence="conf", groups=groups), plan=Plan(8, seed=3))
    recipes = run_recipes(results, {"s": items}, None)
    found = audited_independently(results, recipes, strata=strata_of_runs(results, {"s": items}))
    assert {finding.status for finding in found} == {"match"}
    assert sum("topic" in finding.key for finding in found) > 50


def test_an_audit_finds_a_changed_number_of_a_group() -> None:
    results = evaluated(random_table(10), GroupSettings("site", min_clusters=3), {"site": "site"})
    content = results.to_json()
    level = content["confidence_variants"]["conf"]["groups"]["site"]["levels"][1]
    level["risk"] += 0.001
    found = audited_runs(results_of(content), [items_of(random_table(10), {"site": "site"})], None, None)
    assert any("risk@threshold" in finding.key and finding.status == "differs" for finding in found)


def test_the_warnings_say_how_many_groups_were_looked_at_and_which_rest_on_few() -> None:
    results = evaluated(random_table(11), GroupSettings("site", min_clusters=5), {"site": "site"}, resamples=1000)
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
        evaluate({"a": one, "b": other}, settings=Settings(confidence="conf", groups=["site"]), plan=Plan(0, None))


def test_draws_within_strata_hold_as_many_of_each_as_there_are() -> None:
    strata = [0, 1, 0, 2, 1, 1]
    draws = drawn_within(3, np.arange(200), strata)
    counts = np.apply_along_axis(lambda row: np.bincount(np.array(strata)[row], minlength=3), 1, draws)
    assert (counts == [2, 3, 1]).all()
    assert {*draws[:, 5].tolist()} == {3}
    assert np.array_equal(drawn_within(3, np.arange(5), [0] * 6), [drawn(3, b, 6) for b in range(5)])


def test_with_strata_no_group_ever_vanishes_and_the_file_says_so() -> None:
    results = evaluated(T1, GroupSettings("site", stratify="site"), {"site": "site"}, resamples=300)
    rows = results.where(group=Group("site", "x"), quantity="cmax")
    assert rows[0].drop_rate == 0
    assert results.selective.groups.stratified_by == "site"
    with pytest.raises(UserError, match="the group site is not the same within each cluster"):
        evaluated(T1 | {"site": [*"xyxyxyxy"]}, GroupSettings("site", stratify="site"), {"site": "site"})


def test_a_threshold_that_cannot_be_is_told() -> None:
    with pytest.raises(UserError, match=r"no operating point reaches the coverage 0\.9: Cmax is 0\.75"):
        evaluated(T1, GroupSettings("site", at_coverage="0.9"), {"site": "site"})
    with pytest.raises(UserError, match="are both given: leave out one"):
        GroupSettings("site", threshold=0.5, at_coverage="0.5")
    nothing = T1 | {"loss": [None] * 8}
    with pytest.raises(UserError, match="nothing is answered: groups have no threshold to share"):
        evaluated(nothing, ["site"], {"site": "site"})
    given = evaluated(nothing, GroupSettings("site", threshold=0.5), {"site": "site"})
    assert values(given, "x")["coverage"] == 0


def test_without_resamples_there_are_numbers_and_no_intervals() -> None:
    results = evaluated(random_table(12), GroupSettings("site", min_clusters=2), {"site": "site"}, resamples=0)
    assert all(row.simultaneous is None for row in results)
    assert results_of(json.loads(results.text)).text == results.text


def test_a_rest_is_drawn_and_not_reported() -> None:
    results = evaluated(T1, ["site"], {"site": "site"})
    levels = {row.key.group.level for row in results if row.key.group and row.key.group.name == "site"}
    assert levels == {"x", "y", None}
