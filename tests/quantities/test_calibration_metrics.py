"""Calibration metrics: exact values, laws, a slow reference, scikit-learn, and what a bootstrap sample holds."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

from demur import Measure, Plan, UserError, compute_binary_nll, compute_ece, read_table, reliability
from demur.extensions.lab.runs import ZERO_SHOT, make_people, run_system
from demur.quantities import quantities
from demur.quantities.forecasts import Forecasts
from demur.sampling.draws import weights
from parametrized import parametrize_few

NAMES = [entry.name for entry in quantities("forecasts", "calibration")]


def score(name, p, y, n_bins=10):
    return float(Measure.of(name, "forecasts")(Forecasts.of(p, y, n_bins))[0])


@pytest.mark.parametrize(
    ("p", "y", "expected"),
    [
        ([1, 1, 0.5], [0, 0, 1], Fraction(5, 6)),
        ([0.3, 0.25], [1, 0], Fraction(19, 40)),
        ([0.1 * 3, 0.25], [1, 0], Fraction(19, 40)),
        ([0.0, 1.0], [0, 1], 0),
        ([0.0, 1.0], [1, 0], 1),
        ([0.7, 0.6], [1, 0], Fraction(9, 20)),
        ([0.65, 0.6], [1, 0], Fraction(1, 8)),
        ([0.5] * 4, [1, 1, 0, 0], 0),
    ],
)
def test_ece_by_hand(p, y, expected):
    assert compute_ece(p, y) == pytest.approx(float(expected), abs=1e-15)


def test_ece_of_the_pitfalls_is_exact_and_the_open_bin_is_an_option():
    assert compute_ece([1, 1, 0.5], [0, 0, 1]) == 5 / 6
    assert compute_ece([1, 1, 0.5], [0, 0, 1], last_bin="open") == 1 / 6
    assert compute_ece([0.3, 0.25], [1, 0]) == 19 / 40
    assert compute_ece([0.3, 0.25], [1, 0], last_bin="open") == pytest.approx(9 / 40), "as numpy.linspace bins it"


@pytest.mark.parametrize("n_bins", [1, 2, 3, 7, 10, 15, 100])
def test_every_edge_belongs_to_the_bin_above_it(n_bins):
    edges = [k / n_bins for k in range(n_bins + 1)]
    assert Forecasts.of(edges, [1] * len(edges), n_bins).bin_of.tolist() == [*range(n_bins), n_bins - 1]
    below = [math.nextafter(edge, 0) for edge in edges[1:]]
    assert Forecasts.of(below, [1] * n_bins, n_bins).bin_of.tolist() == [*range(n_bins)]


def reference_ece(p, y, n_bins, *, closed=True):
    """The definition, one bin and one unit at a time, in fractions.

    The edges are decimals read as doubles; with an open last bin they are those of the pipelines that have one.
    """
    total = Fraction(0)
    edges = [k / n_bins for k in range(n_bins + 1)] if closed else np.linspace(0, 1, n_bins + 1).tolist()
    for k in range(n_bins):
        low, high = edges[k : k + 2]
        last = closed and k == n_bins - 1
        inside = [(Fraction(a), Fraction(b)) for a, b in zip(p, y) if low <= a < high or (last and a == 1)]
        if inside:
            total += abs(sum(b for _, b in inside) - sum(a for a, _ in inside))
    return total / len(p)


shares = st.one_of(st.floats(0, 1), st.integers(0, 10).map(lambda tenth: tenth / 10))
forecasts = st.lists(st.tuples(shares, st.integers(0, 1)), min_size=1, max_size=30)


@given(forecasts, st.integers(1, 20))
def test_ece_is_the_slow_reference(pairs, n_bins):
    p, y = zip(*pairs)
    assert compute_ece(p, y, n_bins=n_bins) == pytest.approx(float(reference_ece(p, y, n_bins)), abs=1e-14)
    opened = float(reference_ece(p, y, n_bins, closed=False))
    assert compute_ece(p, y, n_bins=n_bins, last_bin="open") == pytest.approx(opened, abs=1e-14)


@given(forecasts)
def test_scikit_learn_agrees(pairs):
    p, y = map(list, zip(*pairs))
    assert score("brier", p, y) == pytest.approx(brier_score_loss(y, p, pos_label=1), abs=1e-14)
    inside = np.clip(p, 1e-5, 1 - 1e-5)
    assert compute_binary_nll(inside, y) == pytest.approx(log_loss(y, inside, labels=[0, 1]), rel=1e-12)
    if 0 < sum(y) < len(y):
        assert score("auroc", p, y) == pytest.approx(roc_auc_score(y, p), abs=1e-14)
    else:
        assert math.isnan(score("auroc", p, y))


def test_likelihood_by_hand():
    assert compute_binary_nll([0.5, 0.5], [1, 0]) == pytest.approx(math.log(2), rel=1e-15)
    assert compute_binary_nll([1.0, 0.0], [1, 0]) == 0
    assert compute_binary_nll([0.0], [1]) == -math.log(1e-6), "a certain mistake is bad, not infinitely bad"
    assert compute_binary_nll([1.0], [0]) == -math.log(1e-6)


@given(forecasts, st.integers(1, 12))
def test_the_brier_score_is_the_sum_of_its_parts(pairs, n_bins):
    p, y = zip(*pairs)
    part = {name: score(f"brier_{name}", p, y, n_bins) for name in ("reliability", "resolution", "uncertainty")}
    within = score("brier_within_bins", p, y, n_bins)
    total = part["reliability"] - part["resolution"] + part["uncertainty"] + within
    assert score("brier", p, y) == pytest.approx(total, abs=1e-14)
    rate = sum(y) / len(y)
    assert part["uncertainty"] == pytest.approx(rate * (1 - rate), abs=1e-15)
    if len({*Forecasts.of(p, y, n_bins).bin_of.tolist()}) == len(set(p)):
        assert within == pytest.approx(0, abs=1e-14), "a probability a bin leaves nothing within"


def test_the_decomposition_by_hand():
    p, y = [0.2] * 4 + [0.9] * 4, [0, 0, 0, 1, 1, 1, 1, 0]
    assert score("brier_reliability", p, y) == pytest.approx((0.05**2 + 0.15**2) / 2, abs=1e-15)
    assert score("brier_resolution", p, y) == pytest.approx(1 / 16, abs=1e-15)
    assert score("brier_uncertainty", p, y) == 1 / 4


def test_bins_of_equal_mass_by_hand():
    p, y = [0.01, 0.02, 0.03, 0.04, 0.9, 0.9], [0, 0, 1, 1, 1, 1]
    assert score("ece_adaptive", p, y, 3) == pytest.approx((0.03 + 1.93 + 0.2) / 6, abs=1e-15)
    assert score("ece", p, y, 3) == pytest.approx((1.9 + 0.2) / 6, abs=1e-15)


def test_ties_are_in_the_bin_of_their_middle():
    assert score("ece_adaptive", [0.1, 0.9, 0.9, 0.9], [1, 0, 0, 0], 2) == pytest.approx((0.9 + 2.7) / 4)


@given(forecasts, st.integers(1, 8))
def test_bins_of_equal_mass_are_those_of_a_slow_reference(pairs, n_bins):
    bins = {}
    for p, y in pairs:
        below, equal = sum(a < p for a, _ in pairs), sum(a == p for a, _ in pairs)
        place = math.floor(Fraction(2 * below + equal, 2) * n_bins / len(pairs))
        bins.setdefault(place, []).append(Fraction(y) - Fraction(p))
    expected = sum(abs(sum(gaps)) for gaps in bins.values()) / len(pairs)
    assert score("ece_adaptive", *zip(*pairs), n_bins) == pytest.approx(float(expected), abs=1e-14)
    if len({p for p, _ in pairs}) == len(pairs):
        sizes = [len(bins.get(place, [])) for place in range(n_bins)]
        assert max(sizes) - min(sizes) <= 1


soft_forecasts = st.lists(st.tuples(shares, st.sampled_from([0, 1 / 3, 2 / 3, 1])), min_size=1, max_size=30)


@given(st.one_of(forecasts, soft_forecasts), st.randoms())
def test_the_order_of_the_rows_changes_no_bit(pairs, random):
    shuffled = pairs.copy()
    random.shuffle(shuffled)
    for name in NAMES:
        one, other = (score(name, *zip(*rows)) for rows in (pairs, shuffled))
        assert one == other or (math.isnan(one) and math.isnan(other))


def test_nor_does_the_order_of_outcomes_whose_sum_depends_on_it():
    assert (0.1 + 0.2) + 0.3 != 0.1 + (0.2 + 0.3)
    for name in ("ece", "brier", "brier_resolution"):
        assert len({score(name, [0.5] * 3, outcome) for outcome in itertools.permutations((0.1, 0.2, 0.3))}) == 1


@given(forecasts)
def test_duplicating_every_forecast_changes_nothing(pairs):
    for name in NAMES:
        one, twice = (score(name, *zip(*rows)) for rows in (pairs, pairs + pairs))
        assert one == pytest.approx(twice, abs=1e-14, nan_ok=True)


@pytest.mark.parametrize(
    ("p", "y", "n_bins"),
    [
        ([1.5], [1], 10),
        ([0.5, math.nan], [1, 0], 10),
        ([0.5, None], [1, 0], 10),
        ([True], [1], 10),
        ([-0.1, -0.2], [1, 0], 10),
        ([0.5], [2], 10),
        ([0.5], ["yes"], 10),
        ([0.5], [1, 0], 10),
        ([], [], 10),
        ([0.5], [1], 0),
        ([0.5], [1], 10_001),
        ([0.5], [1], 10.0),
        ([0.5], [1], True),
    ],
)
def test_what_is_no_forecast(p, y, n_bins, message):
    with pytest.raises(UserError) as refused:
        compute_ece(p, y, n_bins=n_bins)
    message(refused.value)


def test_outcomes_may_be_true_and_false_and_options_are_checked():
    assert compute_ece([0.5, 0.5], [True, False]) == compute_ece([0.5, 0.5], np.array([True, False])) == 0
    with pytest.raises(UserError, match="last_bin 'half', expected closed or open"):
        compute_ece([0.5], [1], last_bin="half")
    with pytest.raises(UserError, match="not all 0 or 1"):
        compute_binary_nll([0.5], [0.5])


class TestReliability:
    def test_the_table_counts_every_forecast_once(self):
        found = reliability([0.05, 0.95, 1.0, 1.0], [0, 1, 1, 0])
        assert [(b.low, b.high, b.count) for b in found.bins] == [(0, 0.1, 1), (0.9, 1, 3)]
        assert found.bins[1].mean_predicted == pytest.approx(2.95 / 3)
        assert found.bins[1].fraction_correct == 2 / 3
        assert found.bins[1].gap == pytest.approx(2 / 3 - 2.95 / 3)
        assert "4 forecasts, 50.0% correct" in repr(found)
        assert found._repr_html_().startswith("<div><svg")

    def test_from_the_items_of_a_reader(self):
        run = run_system(make_people(20, seed=1), ZERO_SHOT, seed=1)
        items = run.items()
        right = (run.answer == run.people.truth)[run.answered]
        by_hand = reliability(run.signals["token_msp"][run.answered], right)
        found = reliability("token_msp", data=items)
        assert found.scores == by_hand.scores
        near = reliability("token_msp", data=items, target="near_correct").scores
        assert near["brier_uncertainty"] != found.scores["brier_uncertainty"]
        soft = reliability("token_msp", data=items, target="loss")
        assert soft.reasons == {
            "nll": "the outcomes are not all 0 or 1",
            "auroc": "the outcomes are not all 0 or 1, or all the same",
        }
        error = np.abs(run.answer - run.people.truth)[run.answered]
        squared = (run.signals["token_msp"][run.answered] - (1 - error / 3)) ** 2
        assert soft.scores["brier"] == pytest.approx(squared.mean(), rel=1e-12)

    def test_abstentions_have_no_forecast(self):
        assert reliability([0.5, 0.9], [1, None]).forecasts.total.tolist() == [1]

    @parametrize_few("target", ["correctness", "loss"], 1)
    def test_replicates_are_the_metrics_of_what_was_drawn(self, target):
        items = run_system(make_people(9, seed=3), ZERO_SHOT, seed=3).items()
        found = reliability("verbalized", data=items, target=target)
        estimates = found.estimate(plan=Plan(25, seed=5))
        outcome = (items.answer == items.truth) if target == "correctness" else 1 - abs(items.answer - items.truth) / 3
        spoken = (items.signals["verbalized_confidence"].values - 1) / 4
        for replicate, drawn in enumerate(weights(5, np.arange(25), 9)):
            held = [np.flatnonzero(items.answered & (items.cluster == c)) for c in range(9)]
            rows = np.concatenate([held[c] for c in np.repeat(range(9), drawn.astype(int))])
            for name in NAMES:
                expected = score(name, spoken[rows], outcome[rows])
                assert estimates[name].evidence.values[replicate] == pytest.approx(expected, abs=1e-12, nan_ok=True)

    def test_blocks_and_threads_change_no_bit(self):
        found = reliability("token_msp", data=run_system(make_people(15, seed=2), ZERO_SHOT, seed=2).items())
        plans = (Plan(200, seed=1), Plan(200, seed=1, block=7), Plan(200, seed=1, block=33, threads=3))
        values = [found.estimate(plan=plan) for plan in plans]
        for name in NAMES:
            assert len({one[name].evidence.values.tobytes() for one in values}) == 1

    def test_a_replicate_without_a_forecast_is_dropped(self):
        table = {"cluster": [1, 2], "item": ["a", "a"], "truth": [0, 0], "prediction": [0, None], "sure": [0.5, 0.5]}
        found = reliability("sure", data=read_table(table, instrument=None)).estimate(plan=Plan(400, seed=1))
        assert {row.drop_rate for row in found if row.key.quantity != "auroc"} == {found["ece"].drop_rate}
        assert found["ece"].drop_rate == pytest.approx(1 / 4, abs=0.07)
        assert [w.code for w in found.warnings] == ["few_clusters"]

    @pytest.mark.parametrize(
        "call",
        [
            lambda items: reliability("llm", data=items),
            lambda items: reliability("verbalized", [1], data=items),
            lambda items: reliability("verbalized", data=items, target="right"),
            lambda _: reliability([0.5]),
            lambda _: reliability([1.5], [1]),
            lambda _: reliability([0.5], [1], calibration=object()),
            lambda items: reliability("verbalized", data=items).estimate(["eec"], plan=Plan(2, seed=1)),
        ],
    )
    def test_what_makes_no_sense(self, call, message):
        with pytest.raises(UserError) as refused:
            call(run_system(make_people(4, seed=1), ZERO_SHOT, seed=1).items())
        message(refused.value)
