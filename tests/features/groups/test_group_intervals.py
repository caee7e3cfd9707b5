"""Groups of units: intervals that hold for all of them at once, by hand and within strata."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest

from demur import Group, Groups, Key, Measure, Minus, TableOptions, UserError, grade, read_table
from demur.features.groups.rows import REST, GroupView
from demur.inference.ratios import Ratio
from demur.inference.student import t_quantile
from demur.inference.views import CurveView
from demur.sampling.draws import drawn_within
from features.groups.grouped import T1, evaluated, random_table
from parametrized import parametrize_few
from reference.draws import drawn


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


@parametrize_few("by_unit", [False, True], 1)
def test_intervals_hold_for_all_judged_groups_at_once_by_the_rule_for_ratios(by_unit: bool) -> None:
    table = random_table(5, clusters=40, by_unit=by_unit)
    settings = Groups("site", threshold=0.4, min_clusters=5)
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
    results = evaluated(table, Groups("site", threshold=0.4, min_clusters=5), {"site": "site"})
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


@pytest.mark.slow
def test_a_group_of_whole_clusters_has_the_analytic_intervals_it_would_have_alone() -> None:
    table = random_table(8, clusters=30, levels="ab")
    results = evaluated(table, Groups("site", threshold=0.4), {"site": "site"})
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
        assert float(measure(view.exact()).value[0]) == pytest.approx(number(own, [1.0] * 6), rel=1e-12)
        for place, moved in enumerate(measure(view.sample).influence[:, 0]):
            ends = [number(own, [1.0 + sign * 1e-6 * (place == c) for c in range(6)]) for sign in (-1, 1)]
            assert moved == pytest.approx((ends[1] - ends[0]) / 2e-6, abs=1e-7)


@pytest.mark.slow
def test_groups_too_small_for_their_risk_are_judged_by_their_coverage_alone() -> None:
    table = random_table(9, clusters=30, levels="ab")
    table["conf"] = [0.1 if site == "a" else 0.9 for site in table["site"]]
    results = evaluated(table, Groups("site", threshold=0.5), {"site": "site"})
    system = results.systems[0]
    keys = [Key(system, f"{stem}@threshold=0.5", "conf", group=Group("site", "a")) for stem in ("risk", "coverage")]
    risk, coverage = (results[key] for key in keys)
    assert (risk.simultaneous, risk.no_interval) == (None, "too small to judge: 0 accepted units")
    assert (coverage.value, coverage.recommended.method) == (0, "cluster_bound")
    assert coverage.simultaneous.count == 2
    worst = results.to_json()["confidence_variants"]["conf"]["groups"]["site"]["worst"]
    assert (worst["level"], worst["ci95"]["count"]) == ("b", 1)


@pytest.mark.slow
def test_groups_without_a_loss_have_bounds_and_no_difference_from_each_other() -> None:
    table = random_table(14, clusters=40, levels="ab")
    table["loss"] = [None if loss is None else 0 for loss in table["loss"]]
    results = evaluated(table, Groups("site", threshold=0.4), {"site": "site"})
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


def test_draws_within_strata_hold_as_many_of_each_as_there_are() -> None:
    strata = [0, 1, 0, 2, 1, 1]
    draws = drawn_within(3, np.arange(200), strata)
    counts = np.apply_along_axis(lambda row: np.bincount(np.array(strata)[row], minlength=3), 1, draws)
    assert (counts == [2, 3, 1]).all()
    assert {*draws[:, 5].tolist()} == {3}
    assert np.array_equal(drawn_within(3, np.arange(5), [0] * 6), [drawn(3, b, 6) for b in range(5)])


def test_with_strata_no_group_ever_vanishes_and_the_file_says_so() -> None:
    results = evaluated(T1, Groups("site", stratify="site"), {"site": "site"}, resamples=300)
    rows = results.where(group=Group("site", "x"), quantity="cmax")
    assert rows[0].drop_rate == 0
    assert results.selective.groups.stratified_by == "site"
    with pytest.raises(UserError, match="the group site is not the same within each cluster"):
        evaluated(T1 | {"site": [*"xyxyxyxy"]}, Groups("site", stratify="site"), {"site": "site"})
