"""Workers: whoever they are and whatever becomes of them, the bytes are the same."""

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from operator import mul

import pytest

from commands import demur
from demur import UserError
from demur.extensions.scale.workers import Workers
from demur.workers import hired
from sections import evaluate
from sharded import same_in_both, shards, table, units

HOW = {"columns": {"cluster": "user"}, "confidence": "sure", "resamples": 60, "seed": 7}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder, rows = tmp_path_factory.mktemp("data"), units()
    table(folder / "A.csv", rows)
    shards(folder / "A", rows, 8)
    return folder, same_in_both(evaluate({"A": folder / "A.csv"}, **HOW, created_at=WHEN).text)


WHEN = "2026-01-31T12:00:00Z"


def test_any_executor_will_do(data):
    folder, expected = data
    with ThreadPoolExecutor(3) as pool:
        results = evaluate({"A": folder / "A"}, **HOW, created_at=WHEN, workers=pool)
    assert same_in_both(results.text) == expected
    assert (results.execution.shards, results.execution.route) == (8, "summaries")
    assert results.execution.left_out[0] == "by_item"


def test_progress_is_by_part():
    told = []
    with hired(1, 10) as workers:
        assert workers.each(mul, [3, 1, 2], lambda done, total: told.append((done, total))) == [30, 10, 20]
    assert told == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize("workers", [0, "two", "dask://", "tcp://here:1", -1, 1.5])
def test_workers_are_a_number_or_a_scheduler(data, workers):
    with pytest.raises(UserError, match=r"expected a number of processes, or dask://SCHEDULER:PORT"):
        evaluate(data[0] / "A", **HOW, workers=workers)


def test_a_mistake_in_a_part_is_told_with_its_name(data):
    folder, _ = data
    (folder / "bad").mkdir()
    (folder / "bad" / "one.csv").write_text("user,loss,sure\na,0,0.5\n")
    (folder / "bad" / "two.csv").write_text("user,loss,sure\na,0,high\n")
    with (
        ThreadPoolExecutor(2) as pool,
        pytest.raises(UserError, match=r"bad/two\.csv: sure: .* 'high', expected a finite"),
    ):
        evaluate(folder / "bad", **HOW, workers=pool)


def dies_once(mark, task):
    """Work whose process is killed the first time that it comes to the third task."""
    if task == 3 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.01)
    return task * task


def dies(*_):
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow
def test_what_a_killed_worker_had_is_done_again(tmp_path):
    assert Workers(2, tmp_path / "died").each(dies_once, [*range(12)]) == [n * n for n in range(12)]
    assert (tmp_path / "died").exists()


@pytest.mark.slow
def test_workers_that_always_die_are_told():
    with pytest.raises(UserError, match="the workers die before they finish a part"):
        Workers(2, None).each(dies, [1, 2])


@pytest.mark.slow
def test_processes_give_the_same_bytes(data):
    folder, expected = data
    results = evaluate({"A": folder / "A"}, **HOW, created_at=WHEN, workers=2)
    assert same_in_both(results.text) == expected
    outcome = demur(
        folder, "summarize", "A", "--column", "cluster=user", "--confidence", "sure", "-o", "two.sum", "--workers", "2"
    )
    assert outcome.returncode == 0
    demur(folder, "summarize", "A", "--column", "cluster=user", "--confidence", "sure", "-o", "one.sum")
    assert (folder / "one.sum").read_bytes() == (folder / "two.sum").read_bytes()


def held_back(*_):
    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="no process has a mask here")
@pytest.mark.slow
def test_a_worker_is_not_interrupted_while_it_starts_and_this_process_can_be_afterwards():
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    with Workers(2, None) as workers:
        assert workers.each(held_back, [1, 2]) == [True, True]
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == before
