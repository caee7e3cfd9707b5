"""A Dask cluster of separate processes: the same bytes, also when one of its workers is killed."""

import os
import signal
import threading

import pytest

import demur
from demur import UserError
from demur.extensions.scale.workers import Workers
from sections import evaluate
from sharded import same_in_both, shards, table, units

pytestmark = [pytest.mark.distributed, pytest.mark.filterwarnings("ignore")]
HOW = {
    "columns": {"cluster": "user"},
    "confidence": ["sure", "margin"],
    "resamples": 600,
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
    """Two systems in parts, and the results of their tables on one machine."""
    folder = tmp_path_factory.mktemp("data")
    for number, name in enumerate("AB"):
        rows = units(system=number)
        table(folder / f"{name}.csv", rows)
        shards(folder / name, rows, 8)
    tables = {name: folder / f"{name}.csv" for name in "AB"}
    return folder, same_in_both(evaluate(tables, demur.Groups(sex="sex"), **HOW).text)


def evaluated(folder, cluster):
    scheduler = cluster.scheduler_address.replace("tcp://", "dask://")
    return evaluate({name: folder / name for name in "AB"}, demur.Groups(sex="sex"), **HOW, workers=scheduler)


def test_a_cluster_gives_the_same_bytes(data, cluster):
    folder, expected = data
    assert same_in_both(evaluated(folder, cluster).text) == expected


def test_a_killed_worker_changes_nothing(data, cluster):
    folder, expected = data
    victim = next(iter(cluster.workers.values())).process.process.pid
    threading.Timer(0.3, os.kill, (victim, signal.SIGKILL)).start()
    for _ in range(3):
        assert same_in_both(evaluated(folder, cluster).text) == expected


def test_a_worker_killed_among_the_replicates_changes_nothing(data, cluster):
    folder, _ = data
    tables = {name: folder / f"{name}.csv" for name in "AB"}
    victims = [next(iter(cluster.workers.values())).process.process.pid]

    def kill(_, total):
        if total == HOW["resamples"] and victims:
            os.kill(victims.pop(), signal.SIGKILL)

    def evaluated(**more):
        plan = demur.Plan(HOW["resamples"], seed=7, **more)
        return demur.evaluate(tables, confidence="sure", columns=HOW["columns"], plan=plan).to_columns()

    found = evaluated(workers=cluster.scheduler_address.replace("tcp://", "dask://"), progress=kill)
    assert repr(found) == repr(evaluated())
    assert victims == []


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
