"""A Dask cluster of separate processes: the same bytes, also when one of its workers is killed."""

import os
import signal
import threading

import pytest

from demur import UserError
from demur.extensions.scale.workers import Workers
from sections import evaluate
from sharded import same_in_both, shards, table, units

pytestmark = [pytest.mark.distributed, pytest.mark.filterwarnings("ignore")]
HOW = {
    "columns": {"cluster": "user"},
    "confidence": "sure",
    "resamples": 60,
    "seed": 7,
    "created_at": "2026-01-31T12:00:00Z",
}


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    made = distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None)
    with made:
        yield made


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder, rows = tmp_path_factory.mktemp("data"), units()
    table(folder / "A.csv", rows)
    shards(folder / "A", rows, 8)
    return folder, same_in_both(evaluate({"A": folder / "A.csv"}, **HOW).text)


def evaluated(folder, cluster):
    scheduler = cluster.scheduler_address.replace("tcp://", "dask://")
    return evaluate({"A": folder / "A"}, **HOW, workers=scheduler)


def test_a_cluster_gives_the_same_bytes(data, cluster):
    folder, expected = data
    assert same_in_both(evaluated(folder, cluster).text) == expected


def test_a_killed_worker_changes_nothing(data, cluster):
    folder, expected = data
    victim = next(iter(cluster.workers.values())).process.process.pid
    threading.Timer(0.3, os.kill, (victim, signal.SIGKILL)).start()
    for _ in range(3):
        assert same_in_both(evaluated(folder, cluster).text) == expected


def dies(*_):
    os.kill(os.getpid(), signal.SIGKILL)


def test_work_that_kills_its_workers_is_one_line():
    distributed, dask = pytest.importorskip("distributed"), pytest.importorskip("dask")
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as made,
        Workers(made.scheduler_address.replace("tcp://", "dask://"), None) as workers,
        pytest.raises(UserError, match="the workers die before they finish a part"),
    ):
        workers.each(dies, [1])
