"""A signal s, and −s of which lower is surer: the same numbers everywhere, and mirrored thresholds."""

import json
import math

import numpy as np
import pytest

from commands import demur as command
from demur import TableOptions, apply, certify, choose, confidence, grade, load, read_table
from parametrized import parametrize_few
from sections import evaluate

RANDOM = np.random.default_rng(5)
CLUSTERS, SIZE = 14, 6
UNITS = CLUSTERS * SIZE
SURE = RANDOM.integers(1, 9, UNITS) / 8
LOSS = (RANDOM.random(UNITS) < 0.6 - 0.5 * SURE).astype(float)
PLAIN = {
    "cluster": np.repeat([f"c{n:02}" for n in range(CLUSTERS)], SIZE).tolist(),
    "item": [str(n % SIZE) for n in range(UNITS)],
    "loss": [None if n % 11 == 0 else loss for n, loss in enumerate(LOSS.tolist())],
    "sure": SURE.tolist(),
    "site": ["xyz"[n % 3] for n in range(UNITS)],
}
TURNED = PLAIN | {"sure": (-SURE).tolist()}
RATED = {name: PLAIN[name] for name in ("cluster", "item")} | {"loss": (LOSS[::-1]).tolist()}
HOW = {
    "confidence": "sure",
    "loss_max": 1,
    "resamples": 60,
    "seed": 3,
    "labels": {"site": "site"},
    "min_clusters": 2,
    "prices": ["0.1", "0.3"],
    "raters": {"Dr": RATED},
}


def mirrored(name):
    stem, at, threshold = name.partition("@threshold=")
    return name if not at else f"{stem}{at}{0.0 - float(threshold)!r}".removesuffix(".0")


def numbers(results, *, turned=False):
    """Every number by its key, with its threshold, as the plain signal has them."""
    columns = results.to_columns()
    if turned:
        columns["quantity"] = [*map(mirrored, columns["quantity"])]
        columns["threshold"] = [None if each is None else 0.0 - each for each in columns["threshold"]]
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    by_key = {str([row[name] for name in ("system", "quantity", "group", "minus", "confidence")]): row for row in rows}
    assert len(by_key) == len(rows)
    return by_key


def turned_back(threshold):
    return None if threshold is None else 0.0 - threshold


def same(one, two):
    return one == two or (isinstance(one, float) and math.isnan(one) and math.isnan(two))


@pytest.mark.uses("groups", "costs", "raters")
@parametrize_few(
    ("plain", "turned"),
    [
        ({"threshold": 0.5, "handover_threshold": 0.625}, {"threshold": -0.5, "handover_threshold": -0.625}),
        ({"at_coverage": 0.4}, {"at_coverage": 0.4}),
        ({}, {}),
    ],
    1,
)
@pytest.mark.slow
def test_an_evaluation_with_groups_prices_and_raters(plain, turned, tmp_path):
    one = evaluate(PLAIN, **HOW | plain)
    two = evaluate(TURNED, **HOW | turned, lower_is_surer="sure")
    left, right = numbers(one), numbers(two, turned=True)
    assert left.keys() == right.keys()
    for key, row in left.items():
        assert all(same(value, right[key][name]) for name, value in row.items()), (row, right[key])
    for record, other in zip(one.curves.values(), two.curves.values(), strict=True):
        assert [*map(turned_back, other.curve.threshold)] == [*record.curve.threshold]
        assert [*map(turned_back, other.handover["Dr"].threshold)] == [*record.handover["Dr"].threshold]
        ends = [{name: end if name == "a" else turned_back(end) for name, end in at.items()} for at in other.switches]
        assert ends == [*record.switches]
    assert load(two.save(tmp_path / "m.json")).text == two.text


@pytest.mark.uses("groups", "audit")
@pytest.mark.slow
def test_an_audit_of_it(tmp_path):
    written(tmp_path)
    words = ["--confidence", "sure", "--lower-is-surer", "sure", "--group", "site=site", "--threshold", "-0.5"]
    words += ["--seed", "1", "--bootstrap-resamples", "30", "--min-clusters", "2", "--loss-max", "1"]
    made = command(tmp_path, "evaluate", "t.jsonl", *words, "--output", "m.json")
    assert (made.returncode, made.stderr) == (0, "")
    audited = command(tmp_path, "audit", "--data", "t.jsonl", "--reported", "m.json", "--loss-max", "1")
    assert audited.returncode == 0, audited.stdout


def graded(table, *, turned):
    items = read_table(table, options=TableOptions(loss_max=1))
    made = confidence(items, "sure")
    return grade(items, loss=None, confidence=made.turned() if turned else made)


def written(folder):
    rows = [dict(zip(TURNED, row, strict=True)) for row in zip(*TURNED.values(), strict=True)]
    (folder / "t.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))


@pytest.mark.parametrize("target", [{"risk": "0.2"}, {"coverage": "0.5"}, {"errors_per_100": "10"}])
def test_a_rule_that_is_chosen_and_applied(target):
    one = choose(graded(PLAIN, turned=False), **target, seed=1)
    two = choose(graded(TURNED, turned=True), **target, seed=1)
    assert (one.direction, two.direction) == ("at_least", "at_most")
    assert two.threshold == 0.0 - one.threshold
    assert two.chosen.model_copy(update={"threshold": one.threshold}) == one.chosen
    rows = {"sure": PLAIN["sure"], "prediction": PLAIN["loss"]}
    plain, turned = apply(one, rows), apply(two, rows | {"sure": TURNED["sure"]})
    assert plain.decisions == turned.decisions
    assert plain.accepted == one.chosen.accepted


def test_a_rule_that_is_certified():
    how = {"risk": "0.5", "seed": 1, "delta": "0.4", "max_units": SIZE}
    one = certify(graded(PLAIN, turned=False), grid=["0.75", "0.5"], **how)
    two = certify(graded(TURNED, turned=True), grid=["-0.5", "-0.75"], **how)
    assert [each.threshold for each in one.guarantee.tested] == [0.0 - each.threshold for each in two.guarantee.tested]
    assert [each.p for each in one.guarantee.tested] == [each.p for each in two.guarantee.tested]


def test_the_command_chooses_and_applies_too(tmp_path):
    written(tmp_path)
    words = ["--confidence", "sure", "--lower-is-surer", "sure", "--coverage", "0.5", "--seed", "1", "-o", "r.json"]
    chosen = command(tmp_path, "choose", "t.jsonl", *words)
    assert (chosen.returncode, chosen.stderr) == (0, "")
    rule = json.loads((tmp_path / "r.json").read_text())
    assert rule["direction"] == "at_most"
    assert rule["threshold"] == 0.0 - choose(graded(PLAIN, turned=False), coverage="0.5", seed=1).threshold
