"""Passes: entries stay with the workers, and the bytes are those of the ordinary evaluation."""

import errno
import multiprocessing
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from unittest import mock

import numpy as np
import pytest

import demur as library
from commands import demur
from demur.distributed import passes, ranges
from demur.evaluation.answering import evaluate_data
from demur.evaluation.voice import Call
from demur.quantities import registry
from sharded import same_in_both, shards, table, units

HOW = {
    "columns": {"cluster": "user"},
    "confidence": "sure",
    "resamples": 60,
    "seed": 7,
    "created_at": "2026-01-31T12:00:00Z",
}
WORDS = ("--column", "cluster=user", "--confidence", "sure", "--seed", "7", "--bootstrap-resamples", "20")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder, rows = tmp_path_factory.mktemp("data"), units()
    table(folder / "A.csv", rows)
    for number in (1, 3):
        shards(folder / f"in-{number}", rows, number)
    return folder, same_in_both(library.evaluate({"A": folder / "A.csv"}, **HOW).text)


@pytest.mark.parametrize("number", [1, 3])
def test_shards_in_passes_give_the_bytes_of_the_whole_table(data, number):
    folder, expected = data
    results = library.evaluate({"A": folder / f"in-{number}"}, **HOW, route="passes")
    assert same_in_both(results.text) == expected
    assert (results.execution.shards, results.execution.route) == (number, "passes")


def test_ranges_of_clusters_are_drawn_and_added_as_one(tmp_path):
    rng = np.random.default_rng(2)
    rows = [
        {"user": int(user), "loss": int(rng.random() < 0.3), "sure": int(rng.integers(40)) / 40}
        for user in rng.integers(0, 9000, 14_000)
    ]
    table(tmp_path / "A.csv", rows)
    shards(tmp_path / "parts", rows, 2)
    how = {**HOW, "resamples": 12, "loss_max": 1.0}
    expected = same_in_both(library.evaluate({"A": tmp_path / "A.csv"}, **how).text)
    with mock.patch.object(passes, "_ENTRIES", 2000), ThreadPoolExecutor(2) as pool:
        results = library.evaluate({"A": tmp_path / "parts"}, **how, route="passes", workers=pool)
    assert same_in_both(results.text) == expected


@pytest.mark.parametrize("answering", [0, 300])
def test_ranges_or_systems_that_answer_nothing_have_the_bytes_of_the_whole_table(tmp_path, answering):
    rows = [
        {"user": user, "loss": user % 2 if user >= 4500 - answering else "", "sure": user % 7} for user in range(4500)
    ]
    table(tmp_path / "A.csv", rows)
    shards(tmp_path / "parts", rows, 2)
    how = {**HOW, "resamples": 4}
    expected = same_in_both(library.evaluate({"A": tmp_path / "A.csv"}, **how).text)
    with mock.patch.object(passes, "_ENTRIES", 2000):
        results = library.evaluate({"A": tmp_path / "parts"}, **how, route="passes")
    assert same_in_both(results.text) == expected


def test_lower_may_be_surer_and_bins_are_those_of_all_parts(tmp_path):
    rng = np.random.default_rng(3)
    rows = [{"user": i % 50, "loss": int(rng.random() < 0.3), "sure": repr(rng.random())} for i in range(5000)]
    table(tmp_path / "A.csv", rows)
    shards(tmp_path / "parts", rows, 3)
    how = {**HOW, "resamples": 12, "lower_is_surer": "sure"}
    both = [library.evaluate({"A": tmp_path / "parts"}, **how, route=route) for route in ("summaries", "passes")]
    assert same_in_both(both[0].text) == same_in_both(both[1].text)
    assert both[1].curves["A", "sure"].bins.number <= 4096


def test_a_weight_may_be_larger_than_a_byte(tmp_path):
    draw, own = ranges.Draw(1, 0, 3, 4), ranges.Range(ranges.Storage(str(tmp_path)), 1, 3)
    with mock.patch.object(ranges, "weights", lambda _, numbers, clusters: np.full((len(numbers), clusters), 300.0)):
        for block in draw.blocks:
            ranges.draw_weights((ranges.Range(own.storage, 0, 4), block))
    assert own.weights(draw, slice(0, 2)).tolist() == [[300] * 3] * 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--group", "sex=sex"), "passes cannot evaluate groups or costs of abstention"),
        (("--abstention-cost", "0.1", "--loss-max", "1"), "passes cannot evaluate groups or costs of abstention"),
        (("--confidence", "sure,margin"), "passes rank by one signal"),
        (("--interval", "bca"), "clusters cannot be left out in turn in passes"),
        (("--route", "detour"), "no route is called detour"),
        (("--scratch", "nowhere"), "nowhere: cannot be written (No such file or directory): name another, --scratch"),
        (("B=in-1",), "passes are for one folder of parts"),
    ],
)
def test_what_passes_cannot_do_is_refused_by_name(data, words, message):
    folder, _ = data
    outcome = demur(folder, "evaluate", "A=in-3", *WORDS, "--route", "passes", *words)
    assert (outcome.returncode, message in outcome.stderr) == (2, True), outcome.stderr


def test_a_full_disk_is_one_line(data, tmp_path):
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    with mock.patch.object(ranges.np, "save", side_effect=full):
        outcome = demur(data[0], "evaluate", "A=in-3", *WORDS, "--route", "passes", "--scratch", tmp_path)
    assert (outcome.returncode, outcome.stderr.count("\n")) == (2, 1)
    assert "cannot be written (No space left on device): name another, --scratch" in outcome.stderr
    assert not [*tmp_path.iterdir()]


@pytest.mark.slow
def test_a_worker_that_is_killed_in_a_pass_changes_nothing(data):
    folder, expected = data
    killed = []

    def kill(done, total):
        if done == total and not killed:  # the parts are read, and the passes begin
            killed.append(multiprocessing.active_children()[0].pid)
            os.kill(killed[0], signal.SIGKILL)

    said = {**HOW, "workers": 2, "route": "passes", "progress": kill}
    results = evaluate_data([{"A": folder / "in-3"}], said, Call({}, {}))
    assert killed
    assert same_in_both(results.text) == expected


@pytest.mark.slow
def test_processes_give_the_same_bytes(data):
    folder, expected = data
    results = library.evaluate({"A": folder / "in-3"}, **HOW, route="passes", workers=2)
    assert same_in_both(results.text) == expected


def test_an_influence_that_is_an_array_is_refused_and_not_taken_for_0(data, monkeypatch):
    monkeypatch.setattr(registry, "QUANTITIES", dict(registry.QUANTITIES))

    def influence(sample):
        return sample.table.cluster_answers[:, None] / sample.units

    @registry.quantity("own_cmax", of="curve", intervals=("mean", "difference"), influence=influence)
    def own_cmax(curve):
        """Share of the units that are answered."""
        return curve.coverage_reached

    with pytest.raises(library.UserError, match="an array cannot be shared out: take route summaries"):
        library.evaluate({"A": data[0] / "in-3"}, **HOW, route="passes")
