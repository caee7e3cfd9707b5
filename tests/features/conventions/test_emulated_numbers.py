"""Numbers of other conventions in results: rows of their own, in files of both kinds, and none where nobody asked."""

import itertools
import json
import math
from fractions import Fraction as F

import pytest

import demur
from commands import ROOT
from conventions import RANGES, SORTED
from demur import Key, UserError, read_table
from demur.features.conventions.emulations import EMULATIONS
from demur.quantities.signature import Signature
from demur.results.load import results_of
from parametrized import parametrize_few
from reference.selective import PlainCurve
from results_by_loops import run_recipes
from sections import evaluate

T1 = {
    "document": [*"aabbccdd"],
    "loss": [0, 1, 0, 0, 1, None, 0, None],
    "sure": [0.9, 0.9, 0.8, 0.7, 0.7, None, 0.6, None],
    "unsure": [0.1, 0.2, 0.3, 0.4, 0.5, None, 0.6, None],
}
GRADED = T1 | {"loss": [0, 3, 0, 2, 1, None, 0, None]}


def asked(data, **options):
    return evaluate(data, **{"confidence": "sure", "resamples": 20, "seed": 1} | options)


@pytest.fixture(scope="module")
def one():
    return asked(T1, names=[*EMULATIONS])


def test_the_rows_are_those_of_the_worked_table(one):
    for (convention, name), values in SORTED.items():
        row = one.get(Key(one.systems[0], name, "sure", convention=convention))
        if row is not None:
            assert row.value == pytest.approx(float(values["T1"][0]), nan_ok=True)
        ends = RANGES.get(("T1", convention, name))
        assert ends is None or row.over_ties == tuple(map(pytest.approx, map(float, ends)))
    assert {row.no_interval for row in one if row.key.convention} == {"a number of another convention is a point alone"}
    assert {row.recommended for row in one if row.key.convention} == {None}


def test_without_conventions_there_are_none_and_our_rows_are_the_same(one):
    plain = asked(T1)
    assert not any(row.key.convention for row in plain)
    ours = [(row.key, repr(row.value), row.percentile) for row in one if not row.key.convention]
    assert ours == [(row.key, repr(row.value), row.percentile) for row in plain]
    assert "emulated" not in plain.text
    assert '"conventions"' not in plain.text


def test_a_number_without_a_convention_is_ours(one):
    assert one["aurc"].value == 151 / 480
    assert one.one(quantity="aurc", convention="geifman").value == pytest.approx(43 / 120)


NAMED = {"cluster": [*"aaab"], "item": ["2", "10", "i", "1"], "loss": [0, 1, 0, 1], "sure": [0.9] * 4}


@pytest.mark.parametrize("rows", [*itertools.permutations(range(4))][::5])
def test_the_order_of_rows_is_that_of_clusters_and_items_not_of_the_file(rows):
    shuffled = {name: [column[row] for row in rows] for name, column in NAMED.items()}
    results = asked(shuffled, names=["prefix-mean"], resamples=0)
    row = results.one(quantity="aurc", convention="prefix-mean")
    assert row.value == float(F(2, 3))  # the last row is surest
    recipe = run_recipes(results, {results.systems[0]: read_table(shuffled)}, None)[row.key]
    assert recipe.loop(PlainCurve([unit for cluster in recipe.tables[0].clusters for unit in cluster])) == F(2, 3)


@parametrize_few("systems", [1, 2, 3], 2)
@parametrize_few("data", [T1, GRADED], 1, ids=["0/1", "graded"])
def test_files_of_both_kinds_hold_them_and_are_read_back(systems, data):
    made = asked({f"s{n}": data for n in range(systems)}, names=[*EMULATIONS])
    read = results_of(json.loads(made.text))
    assert read.text == made.text
    for row in made:
        other = read[row.key]
        for name in ("over_ties", "undefined", "remark", "no_interval") if row.key.convention else ():
            assert getattr(other, name) == getattr(row, name), (row.key, name)
        assert other.value == pytest.approx(row.value, abs=0, nan_ok=True)
    assert {row.key for row in read} == {row.key for row in made}
    assert read.study.conventions == tuple(EMULATIONS)


def test_why_there_is_no_number_is_in_the_file():
    members = json.loads(asked(GRADED, names=["torch-uncertainty", "geifman"]).text)
    emulated = members["confidence_variants"]["sure"]["emulated"]
    assert emulated["torch-uncertainty"]["aurc"] == {
        "value": None,
        "range": None,
        "order_dependent": False,
        "note": "torch-uncertainty has 0/1 errors only",
    }
    assert emulated["geifman"]["eaurc"]["note"].startswith("the closed form of the optimum")


def test_nothing_answered_is_undefined_everywhere():
    silent = T1 | {"loss": [None] * 8, "sure": [None] * 8}
    rows = [row for row in asked(silent, names=[*EMULATIONS], loss="given") if row.key.convention]
    assert rows
    assert all(math.isnan(row.value) and row.undefined == "nothing is answered" for row in rows)


def test_a_signal_of_which_lower_is_surer_is_turned():
    turned = {**T1, "sure": [None if sure is None else -sure for sure in T1["sure"]]}
    one, other = (asked(T1, names="geifman"), asked(turned, names="geifman", lower_is_surer="sure"))
    key = {"quantity": "aurc", "convention": "geifman"}
    assert one.one(**key).value == other.one(**key).value


def test_an_unknown_convention_is_told_with_the_keyword():
    with pytest.raises(
        UserError, match="no convention is called torch; did you mean|no convention is called torch; there"
    ):
        asked(T1, names="torch")


def test_the_signature_is_of_the_study():
    made = asked(T1, confidence=["sure", "unsure"])
    line = Signature.parse(made.study.convention["signature"])
    assert (line.conf, line.boot, line.cluster, line.loss) == ("many", "cluster.20.s1", "cluster", "given")
    assert made.study.signature("sure").conf == "sure"
    narrowed = made.narrowed("unsure")
    assert narrowed.study.signature().conf == Signature.parse(narrowed.study.convention["signature"]).conf == "unsure"
    assert asked(T1, resamples=0, seed=None).study.signature().boot == "none"


@pytest.mark.parametrize(
    ("data", "options", "loss"),
    [
        ({"document": ["a"], "score": [1], "sure": [0.5]}, {}, "given.1-score"),
        ({"document": ["a"], "truth": ["x"], "prediction": ["y"], "sure": [0.5]}, {"loss": "zero_one"}, "zero_one"),
        ({"document": ["a"], "truth": [1], "prediction": [2], "sure": [0.5]}, {"loss": "abs"}, "abs"),
    ],
)
def test_the_loss_is_in_the_signature(data, options, loss):
    assert asked(data, **options).study.signature().loss == loss


def test_a_normalised_loss_is_with_its_range():
    made = demur.evaluate(
        demur.read_run(ROOT / "tests" / "golden" / "run.json", mode="zero_shot"),
        settings=demur.Settings(confidence="llm"),
        plan=demur.Plan(0, None),
    )
    assert made.study.signature().loss == "abs_norm.3"
