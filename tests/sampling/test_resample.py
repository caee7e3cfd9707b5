"""Resampling: reproducible to the byte, right against full enumeration, and clear about misuse."""

import itertools
import os
import subprocess
import sys
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest

from demur import Graded, Measure, Plan, Table, UserError, bootstrap, estimate
from demur.extensions.lab.runs import ZERO_SHOT, make_people, run_system
from demur.sampling.graded import Clusters
from demur.sampling.sample import Sample
from tables import Units

CMAX, AURC, AUGRC = map(Measure.of, ("cmax", "aurc", "augrc"))
NAMES = ["cmax", "aurc", "augrc", "eaurc", "eaugrc", "naurc", "risk@0.3", "aurc@0.5", "augrc@0.5", "aurc_harmonic"]


def fingerprint(graded, **how):
    """Every byte of every replicate, with its own error and with each cluster left out."""
    plan = Plan(60, seed=5, **how)
    studentised, jackknife = (estimate(graded, NAMES, plan=plan, interval=method) for method in ("studentised", "bca"))
    return [
        (
            row.key,
            row.evidence.values.tobytes(),
            row.recommended,
            row.std_error,
            str(row.evidence.replicate_std_error),
            other.evidence.left_out.tobytes(),
        )
        for row, other in zip(studentised, jackknife, strict=True)
    ]


@pytest.fixture(params=["whole, tied", pytest.param("whole, distinct", marks=pytest.mark.slow), "not whole"])
def units(request):
    made = Units.random(17, most=8, whole="not" not in request.param, tied="tied" in request.param)
    return Units(made.owner, made.loss, made.confidence, np.arange(len(made.owner)) % 4 > 0, made.clusters)


HOW = [{"threads": 2, "block": 16}, {"threads": 8, "block": 7}, {"block": 1}, {"block": 59}, {"block": 1000}]


@pytest.mark.parametrize("count", [2, pytest.param(len(HOW), marks=pytest.mark.slow)])
def test_threads_and_blocks_change_no_byte(units, count):
    expected = fingerprint(units.graded())
    for how in HOW[:count]:
        assert fingerprint(units.graded(), **how) == expected, how


@pytest.mark.parametrize("confidence", ["llm_evidence_count", "token_msp"])
@pytest.mark.slow
def test_nor_with_more_clusters_and_answers_than_numpy_adds_in_a_row(confidence):
    graded = run_system(make_people(60, seed=2), ZERO_SHOT, seed=2).graded("abs_norm", confidence)
    expected = fingerprint(graded)
    for how in HOW:
        assert fingerprint(graded, **how) == expected, how


def test_the_order_of_the_rows_changes_no_byte(units):
    shuffled = np.random.default_rng(0).permutation(len(units.owner))
    assert fingerprint(units.graded(shuffled)) == fingerprint(units.graded())


@pytest.mark.slow
def test_the_hash_seed_changes_no_byte():
    code = (
        "from demur.extensions.lab.runs import *; from demur import estimate, Plan;"
        "run = run_system(make_people(9, seed=1), ZERO_SHOT, seed=1);"
        "found = estimate(run.graded('abs', 'token_msp'), plan=Plan(50, seed=1));"
        "print([(row.key, row.value, row.recommended) for row in found])"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("0", "31337")
    }
    assert len(outputs) == 1


def two_answer_two_abstain():
    """Four participants of eight units: two answer everything with loss 1, two say nothing."""
    clusters = Clusters((1, 2, 3, 4), np.full(4, 8), np.repeat([0, 1], 8))
    return Graded(32, np.ones(16, dtype=int), np.ones(16), clusters=clusters)


def every_sample(clusters):
    """Each of the Pᴾ equally likely samples, as weights."""
    rows = itertools.product(range(clusters), repeat=clusters)
    return np.array([np.bincount(row, minlength=clusters) for row in rows], dtype=float)


def test_full_enumeration_gives_the_exact_drop_rate():
    sample = Sample.drawn(Table.of(two_answer_two_abstain()), every_sample(4))
    missed = int(np.isnan(Measure.of("risk@0.6")(sample).value).sum())
    assert Fraction(missed, 4**4) == Fraction(11, 16)
    found = estimate(two_answer_two_abstain(), ["risk@0.6"], plan=Plan(20_000, seed=3))["risk@0.6"]
    assert np.isnan(found.value)
    assert found.drop_rate == pytest.approx(11 / 16, abs=0.01)
    assert found.percentile is found.recommended is None


@pytest.mark.parametrize("clusters", [1, 2, 3, 4])
def test_the_bootstrap_tends_to_the_exact_distribution(clusters):
    units = Units.random(40, most=8, whole=True)
    units = Units(
        np.repeat(np.arange(clusters), 4),
        np.arange(4 * clusters) % 4,
        np.arange(4.0 * clusters) % 5,
        np.ones(4 * clusters, bool),
        clusters,
    )
    table = Table.of(units.graded())
    exact = np.sort(AURC(Sample.drawn(table, every_sample(clusters))).value)
    drawn = bootstrap(lambda sample: {"aurc": AURC(sample)}, table, plan=Plan(40_000, seed=9))["aurc"]
    assert drawn.mean() == pytest.approx(exact.mean(), abs=4 * exact.std() / 200 + 1e-12)
    assert drawn.std() == pytest.approx(exact.std(), rel=0.03, abs=1e-12)
    assert set(np.round(drawn, 12)) <= set(np.round(exact, 12))


def test_the_mean_of_augrc_over_all_samples_is_known():
    """Equal clusters: (1 − 1/P)·AUGRC + (1/P)·the mean of each cluster's AUGRC alone."""
    made = Units(np.repeat(np.arange(4), 3), np.arange(12) % 4, np.arange(12.0) * 7 % 5, np.arange(12) % 5 > 0, 4)
    table = Table.of(made.graded())
    over_all = AUGRC(Sample.drawn(table, every_sample(4))).value.mean()
    whole = AUGRC(Sample.data(table)).value[0]
    alone = AUGRC(Sample.drawn(table, np.eye(4))).value.mean()
    assert over_all == pytest.approx(3 / 4 * whole + alone / 4, rel=1e-12)


def test_a_statistic_of_ones_own_over_two_tables():
    people = make_people(12, seed=1)
    tables = [Table.of(run_system(people, ZERO_SHOT, seed=s).graded("abs", "token_msp")) for s in (1, 2)]
    found = bootstrap(lambda a, b: {"more": CMAX(a) - CMAX(b)}, *tables, plan=Plan(40, seed=1))
    assert found["more"].shape == (40,)
    with pytest.raises(UserError, match="different clusters"):
        bootstrap(lambda *_: {}, tables[0], Table.of(two_answer_two_abstain()), plan=Plan(4, seed=1))
    with pytest.raises(UserError, match="at least one table"):
        bootstrap(dict, plan=Plan(4, seed=1))


def test_a_statistic_gives_one_number_per_replicate():
    table = Table.of(two_answer_two_abstain())
    for wrong, message in (
        (lambda _: {"x": 1.0}, r"gives x the shape \(\), expected \(4,\)"),
        (lambda _: {"x": np.zeros(3)}, r"gives x the shape \(3,\), expected \(4,\)"),
        (lambda _: [1.0], "gives a dict of arrays"),
    ):
        with pytest.raises(UserError, match=message):
            bootstrap(wrong, table, plan=Plan(4, seed=1))
    with pytest.raises(UserError, match="at least one table, made by Table.of"):
        bootstrap(lambda _: {}, two_answer_two_abstain(), plan=Plan(4, seed=1))


def test_clusters_that_do_not_add_up_are_refused():
    for clusters, message in (
        (Clusters((1, 2), np.array([1, 2]), np.array([0, 1])), "clusters of 3 units and 2 answers, expected 4 and 2"),
        (Clusters((1, 2), np.array([2, 2]), np.array([0])), "clusters of 4 units and 1 answers"),
    ):
        with pytest.raises(UserError, match=message):
            Graded(4, np.array([1, 0]), np.array([1.0, 2.0]), clusters=clusters)
    with pytest.raises(UserError, match="distinct and sorted"):
        Clusters((2, 1), np.array([1, 1]), np.array([0]))
    with pytest.raises(UserError, match="a cluster that does not exist"):
        Clusters((1, 2), np.array([1, 1]), np.array([2]))
    with pytest.raises(UserError, match="1 cluster sizes for 2 clusters"):
        Clusters((1, 2), np.array([1]), np.array([0]))


def test_progress_is_told_block_by_block():
    told = []
    plan = Plan(25, seed=1, block=10, progress=lambda done, total: told.append((done, total)))
    bootstrap(lambda sample: {"cmax": CMAX(sample)}, Table.of(two_answer_two_abstain()), plan=plan)
    assert told == [(10, 25), (20, 25), (25, 25)]


def test_no_resamples_need_no_seed_and_give_points_only():
    found = estimate(two_answer_two_abstain(), ["aurc"], plan=Plan(0, seed=None))["aurc"]
    assert (found.value, found.percentile, found.recommended) == (0.5, None, None)


@pytest.mark.parametrize(
    "how",
    [
        {"resamples": -1, "seed": 1},
        {"resamples": 1.5, "seed": 1},
        {"resamples": 10, "seed": None},
        {"resamples": 10, "seed": -3},
        {"resamples": 10, "seed": 1, "threads": 0},
        {"resamples": 10, "seed": 1, "block": 0},
    ],
)
def test_a_plan_that_cannot_be_carried_out(how, message):
    with pytest.raises(UserError) as refused:
        Plan(**how)
    message(refused.value)


def test_no_clusters_is_an_error():
    with pytest.raises(UserError, match="there are no clusters"):
        Table.of(Graded(0, np.zeros(0), np.zeros(0)))


@pytest.mark.slow
def test_memory_is_a_block_at_a_time():
    people = make_people(2_000, seed=1)
    graded = run_system(people, ZERO_SHOT, seed=1).graded("abs", "token_msp")
    tracemalloc.start()
    estimate(graded, ["aurc", "augrc", "eaurc"], plan=Plan(400, seed=1), interval="bca")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 150e6
