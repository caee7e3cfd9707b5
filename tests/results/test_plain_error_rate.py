"""The risk of all answers: its interval and its paired difference, in the table, the file, the console and the page."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student

import demur
from commands import demur as command
from demur import Key, Minus, load
from demur.show.console import evaluation_text
from parametrized import parametrize_few
from reference.draws import ci95, joint_replicates, standard_error
from sections import evaluate

HOW = {"confidence": "sure", "resamples": 200, "seed": 7, "loss_max": 1.0}


def rows(seed, wrong=0.2, declined=0.0, clusters=30):
    rng = np.random.default_rng(seed)
    owner = np.sort(rng.integers(0, clusters, 5 * clusters))
    loss = [None if rng.random() < declined else int(rng.random() < wrong) for _ in owner]
    return {"cluster": owner.tolist(), "loss": loss, "sure": rng.random(len(owner)).round(2).tolist()}


def by_cluster(table):
    groups = {}
    for owner, loss, sure in zip(*table.values(), strict=True):
        groups.setdefault(owner, []).append((loss, sure))
    return [groups[owner] for owner in sorted(groups)]


def plain_influences(table):
    """The mean loss, and each cluster's (sum − mean · answers) / all answers; clusters without answers last, as 0."""
    sums = [[loss for loss, _ in group if loss is not None] for group in by_cluster(table)]
    total = sum(map(len, sums))
    mean = sum(map(sum, sums)) / total
    return mean, [(sum(own) - mean * len(own)) / total for own in sums], sum(map(bool, sums))


def spread(influences, clusters):
    """The standard error of influences, and its degrees of freedom by their kurtosis."""
    squares, fourths = (math.fsum(u**power for u in influences) for power in (2, 4))
    beyond = fourths - squares**2 / clusters
    degrees = min(clusters - 1, 2 * squares**2 / beyond) if beyond > 0 else clusters - 1
    return math.sqrt(squares * clusters / (clusters - 1)), degrees


@parametrize_few("declined", [0.0, 0.6], 1)
def test_the_intervals_are_those_of_plain_loops(declined):
    table = rows(1, declined=declined)
    found = evaluate(table, **HOW)["risk"]
    mean, influences, clusters = plain_influences(table)
    error, degrees = spread(influences, clusters)
    reach = student.ppf(0.975, degrees) * error / (mean * (1 - mean))
    ends = [1 / (1 + math.exp(-(math.log(mean / (1 - mean)) + sign * reach))) for sign in (-1, 1)]
    assert found.value == pytest.approx(mean, rel=1e-14)
    assert found.recommended.method == "analytic_logit"
    assert [found.recommended.low, found.recommended.high] == pytest.approx(ends, rel=1e-9)
    drawn = joint_replicates([by_cluster(table)], "risk", 7, 200)
    assert [found.percentile.low, found.percentile.high] == pytest.approx(ci95(drawn), rel=1e-12)
    assert found.std_error == pytest.approx(standard_error(drawn), rel=1e-12)


@pytest.mark.slow
def test_the_paired_difference_is_that_of_plain_loops():
    tables = rows(1), {**rows(1), "loss": rows(2, wrong=0.35)["loss"]}
    found = evaluate(dict(zip("AB", tables, strict=True)), **HOW)
    delta = found[Key("B", "risk", "sure", minus=Minus("system", "A"))]
    (left, of_left, clusters), (right, of_right, _) = map(plain_influences, tables)
    error, degrees = spread([b - a for a, b in zip(of_left, of_right, strict=True)], clusters)
    reach = student.ppf(0.975, degrees) * error
    assert delta.value == pytest.approx(right - left, rel=1e-12)
    assert [delta.recommended.low, delta.recommended.high] == pytest.approx(
        [right - left - reach, right - left + reach], rel=1e-9
    )
    assert delta.p_value == pytest.approx(2 * student.sf(abs(right - left) / error, degrees), rel=1e-9)
    assert delta.simultaneous is None, "it is not among the differences that decide"
    row = next(line for line in evaluation_text(found).splitlines() if line.startswith("  risk  "))
    assert f"{delta.value:.4g} [{delta.recommended.low:.3g}, {delta.recommended.high:.3g}]" in row
    assert "better" not in row


@pytest.mark.slow
def test_systems_that_answer_different_shares_are_not_compared_by_it():
    found = evaluate({"A": rows(1), "B": rows(1, declined=0.3)}, **HOW)
    row = next(line for line in evaluation_text(found).splitlines() if line.startswith("  risk  "))
    assert row.endswith("not comparable: Cmax differs")
    assert "not comparable: Cmax differs" in demur.report_html(found)


ANSWERED_BY_ONE = {"cluster": [1, 1, 2, 3], "loss": [0, 1, None, None], "sure": [0.9, 0.8, 0.7, 0.6]}


@parametrize_few(
    ("table", "recommended", "percentile", "reason"),
    [
        (rows(1, wrong=0), ("cluster_bound", 0.0), None, ""),
        (rows(1, wrong=1), ("cluster_bound", None), (1.0, 1.0), ""),
        (rows(1, declined=1), None, None, "there is no number"),
        (ANSWERED_BY_ONE, None, None, "one cluster holds all of it"),
        ({**ANSWERED_BY_ONE, "cluster": [1, 1, 1, 1]}, ("percentile", 0.5), (0.5, 0.5), ""),
        (
            {**ANSWERED_BY_ONE, "cluster": [1, 1, 1, 1], "loss": [0, 0, None, 0]},
            None,
            None,
            "one cluster holds all of it",
        ),
    ],
    3,
)
def test_at_the_edges(table, recommended, percentile, reason):
    found = evaluate(table, **HOW)["risk"]
    assert (found.percentile and (found.percentile.low, found.percentile.high)) == percentile
    assert found.no_interval == reason
    if recommended is None:
        assert found.recommended is None
        return
    method, low = recommended
    assert found.recommended.method == method
    assert found.recommended.low <= found.value <= found.recommended.high
    assert low is None or found.recommended.low == low
    assert found.recommended.low < found.recommended.high or method == "percentile"


def test_it_is_the_interval_that_the_page_shows_at_the_last_operating_point():
    found = evaluate(rows(3, declined=0.2), **HOW)
    ends = found["risk"].recommended
    [record] = found.curves.values()
    shown = record.risk_intervals.low[-1], record.risk_intervals.high[-1]
    assert shown == pytest.approx((ends.low, ends.high), rel=1e-12)


@pytest.mark.slow
def test_without_a_largest_loss_it_is_on_the_log_scale():
    table = rows(1)
    found = evaluate(table, **{**HOW, "loss_max": None})["risk"]
    assert found.recommended.method == "analytic_log"
    none = evaluate(rows(1, wrong=0), **{**HOW, "loss_max": None})["risk"]
    assert (none.recommended, none.percentile, none.no_interval) == (None, None, "no answer in its range has a loss")


@parametrize_few("method", ["jackknife", "bca", "studentised", "percentile", "analytic"], 2)
def test_other_intervals_can_be_asked_for(method):
    found = evaluate(rows(1, declined=0.1), **HOW, interval=method)["risk"]
    assert found.requested.low < found.value < found.requested.high


def saved(folder, *systems):
    for place, name in enumerate(systems, 1):
        pd.DataFrame(rows(1, wrong=0.1 * place)).to_csv(folder / f"{name}.csv", index=False)
    return evaluate({name: folder / f"{name}.csv" for name in systems}, **HOW).save(folder / "m.json")


def test_the_file_holds_it(tmp_path):
    path = saved(tmp_path, "A", "B")
    content = json.loads(path.read_text())
    side, delta = content["confidence_variants"]["sure"]["left"], content["comparison"]["deltas"]["sure"]["mae"]
    for member in ("ci95", "ci95_recommended", "std_error"):
        assert side["bootstrap"][member]["mae"] is not None
    assert delta["delta"] == content["confidence_variants"]["sure"]["right"]["mae"] - side["mae"]
    assert delta["ci95_recommended"]["low"] < delta["delta"] < delta["ci95_recommended"]["high"]
    assert (delta["favours_left"], delta["favours_right"]) == (None, None)
    again = load(path)
    assert again.to_json() == content


@pytest.mark.slow
def test_tables_and_the_page_show_it(tmp_path):
    path = saved(tmp_path, "A", "B")
    found = load(path)
    delta = found[Key("B", "risk", "sure", minus=Minus("system", "A"))]
    ends = delta.recommended
    told = command(tmp_path, "table", "m.json", "--format", "markdown").stdout
    assert "| sure | risk | " in told
    assert f"{delta.value:.4f} [{ends.low:.4f}, {ends.high:.4f}]" in told
    assert "Risk of all answers" in demur.report_html(found)
