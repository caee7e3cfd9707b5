"""Sites as workers of a Dask cluster: processes in folders of their own, which may be killed."""

import os
import signal
import subprocess
import sys
from unittest import mock

import pytest

import demur as library
from demur import UserError
from demur.distributed import sites
from demur.evaluation.answering import evaluate_data
from demur.evaluation.voice import Call
from hospitals import HOW, NAMES, hospitals
from sharded import same_in_both, units

pytestmark = [pytest.mark.distributed, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    whole = hospitals(folder, units(), (7, 30))
    return folder, same_in_both(library.evaluate({"A": whole}, columns={"cluster": "user"}, **HOW).text)


@pytest.fixture(scope="module")
def cluster(data):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=None) as made,
        distributed.Client(made, set_as_default=False) as client,
    ):
        words = ("-m", "distributed.cli.dask_worker", made.scheduler_address, "--nthreads", "1", "--no-dashboard")
        started = {
            name: subprocess.Popen(
                [sys.executable, *words, "--name", name], cwd=data[0] / name, stderr=subprocess.DEVNULL
            )
            for name in NAMES
        }
        client.wait_for_workers(len(NAMES))
        yield client, started
        for process in started.values():
            process.terminate()
        for process in started.values():
            process.wait()


def evaluated(client, **how):
    scheduler = client.scheduler.address.replace("tcp://", "dask://")
    said = {**HOW, "route": "sites", "workers": scheduler, **how}
    return evaluate_data([{"A": "run.sum"}], said, Call({}, {}))


def process_of(client, site):
    """The process that works at a site."""
    workers = client.scheduler_info(n_workers=-1)["workers"]
    [address] = [address for address, worker in workers.items() if worker["name"] == site]
    return client.run(os.getpid, workers=[address])[address]


def test_workers_in_folders_of_their_own_give_the_bytes_of_one_table(data, cluster):
    assert same_in_both(evaluated(cluster[0]).text) == data[1]


def test_a_site_may_start_its_worker_again(data, cluster):
    client, _ = cluster
    killed = []

    def kill(done, total):
        if done == total == len(NAMES) and not killed:  # the sites are open, and the passes begin
            killed.append(process_of(client, "oslo"))
            os.kill(killed[0], signal.SIGKILL)

    results = evaluated(client, progress=kill)
    assert killed
    assert same_in_both(results.text) == data[1]


def test_a_site_that_does_not_come_back_is_named(cluster, tmp_path):
    client, started = cluster

    def leave(done, total):
        if done == total == len(NAMES):
            started["tromso"].terminate()
            started["tromso"].wait()

    with (
        mock.patch.object(sites, "_RESTART", 1.0),
        pytest.raises(UserError, match="tromso: its worker is gone: start it there again"),
    ):
        evaluated(client, progress=leave, scratch=tmp_path)  # where what it kept is found
