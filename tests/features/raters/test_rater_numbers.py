"""Raters and published points: the worked example to the last fraction, every resample of it, and what is said."""

import math
from fractions import Fraction as F
from itertools import product

import numpy as np
import pytest

from demur import (
    Group,
    Key,
    TableOptions,
    grade,
    read_table,
    typed_point,
)
from demur.facts.alignment import aligned
from demur.features.raters.comparators import Comparators
from demur.features.raters.comparison import Comparison
from demur.features.raters.gaps import ANSWERED_BY, both_key, gap_key, handed_key, system_key
from demur.features.raters.intervals import wilson
from demur.inference.views import CurveView
from demur.sampling.sample import Sample
from four_clusters import LOSS, SURE, system
from raters import RATED, evaluated, everybody, rater
from reference import number


@pytest.fixture(scope="module")
def results():
    return evaluated(everybody())


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


def _drawn(view, weights):
    return view.join([Sample.drawn(member.table, weights) for member in view.members])


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
    sides = contrast.row, contrast.subtracted
    values = np.subtract(*(side.number(_drawn(side.view, drawn)).value for side in sides))
    wanted = [float(value) if isinstance(value, F) else math.nan for value in expected]
    assert values == pytest.approx(wanted, abs=1e-12, nan_ok=True)


def sample_of(view, drawn):
    """The replicates of one system, or of one that is cut where another ends."""
    if isinstance(view, CurveView):
        return Sample.drawn(view.table, drawn)
    return view.join([Sample.drawn(member.table, drawn) for member in view.members])


def evaluated_others():
    """Everybody beside the system, before anything is resampled."""

    views = {"sure": {"sys": CurveView.of(grade(system(), loss=None, confidence="sure"))}}
    return Comparison.of(Comparators({"Rater A": rater()}), aligned({"sys": system()}), views, "given", {"sys"})


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
    others = Comparison.of(Comparators({"r": rated}), aligned({"s": items}), views, "given", {"s"})
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
    perfect = evaluated(Comparators(points=[typed_point("P: units=40, answered=30, loss=0")]))
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
    alone = evaluated(Comparators({"Rater A": rater()}))
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
