"""Blocks of replicates by workers: whatever is resampled, the bytes are those of one process."""

import os
import pickle

import numpy as np
import pytest

import demur
import raters
from demur import QUANTITIES, Conventions, Costs, Groups, Measure, Plan, Table, UserError
from demur.sampling.kernel import KERNELS
from sent import ByBytes
from sharded import shards, table, units


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("systems")
    for number, name in enumerate("ABC"):
        rows = units(rows=400, system=number)
        table(folder / f"{name}.csv", rows)
        shards(folder / name, rows, 2 + number)
    return folder


def evaluated(systems, *features, workers=1, interval=None, progress=None):
    return demur.evaluate(
        systems,
        *features,
        columns={"cluster": "user"},
        confidence=["sure", "margin"],
        reading=demur.ReadingOptions(loss_max=1.0),
        settings=demur.Settings(created_at="2026-01-31T12:00:00Z", interval=interval),
        plan=Plan(300, seed=7, workers=workers, progress=progress),
    ).text


def test_systems_signals_groups_and_prices_can_be_sent_as_bytes(folder):
    systems = {name: folder / f"{name}.csv" for name in "ABC"}
    what = Groups(sex="sex", stratify="sex"), Costs("0.1", "0.3"), Conventions("fd-shifts")
    pool, told = ByBytes(), []
    expected = evaluated(systems, *what, interval="bca")
    assert evaluated(systems, *what, interval="bca", workers=pool, progress=lambda *done: told.append(done)) == expected
    replicates, clusters = -(-300 // 16), -(-40 // 16)  # bca leaves out each cluster in turn
    assert pool.tasks == replicates + clusters
    assert (told[0], told[-1]) == ((16, 300), (300, 300))


def test_raters_and_points_can_be_sent_as_bytes():
    pool = ByBytes()
    found = raters.evaluated(raters.everybody(), plan=Plan(400, seed=7, workers=pool)).to_columns()
    assert repr(found) == repr(raters.evaluated(raters.everybody()).to_columns())
    assert pool.tasks == 400 // 16


@pytest.mark.slow
def test_processes_resample_systems_in_parts_to_the_same_bytes(folder):
    systems = {name: folder / name for name in "ABC"}
    assert evaluated(systems, Groups(sex="sex"), workers=2) == evaluated(systems, Groups(sex="sex"))


def test_work_that_cannot_be_sent_is_one_line():
    rows = Table.of(demur.Graded(4, np.array([0, 2, 0]), np.array([2.0, 2.0, 1.0])))
    with pytest.raises(UserError, match=r"other processes cannot be sent the work .*: use functions of modules"):
        demur.bootstrap(lambda sample: {"cmax": Measure.of("cmax")(sample)}, rows, plan=Plan(20, seed=1, workers=2))


def test_a_table_is_sent_without_what_follows_from_it(folder):
    items = demur.read_table(folder / "A.csv", instrument=None, columns={"cluster": "user"})
    rows = Table.of(demur.grade(items, loss=None, confidence=demur.confidence(items, "sure")))
    before = len(pickle.dumps(rows))
    demur.bootstrap(lambda sample: {"aurc": Measure.of("aurc")(sample)}, rows, plan=Plan(20, seed=1))
    assert len(vars(rows)) > len(rows.__getstate__())
    assert len(pickle.dumps(rows)) == before


def test_a_quantity_that_a_worker_does_not_know_is_named(monkeypatch):
    sent = pickle.dumps(Measure.of("aurc@0.5"))
    assert pickle.loads(sent) == Measure.of("aurc@0.5")
    monkeypatch.delitem(QUANTITIES, "aurc@C")
    with pytest.raises(UserError, match="the quantity aurc@C is not known to a worker: define it in a module"):
        pickle.loads(sent)


class OnNumpy(ByBytes):
    """Workers that compute with numpy."""

    def submit(self, *given):
        before = os.environ.get("DEMUR_ENGINE")
        os.environ["DEMUR_ENGINE"] = "numpy"
        try:
            return super().submit(*given)
        finally:
            os.environ.pop("DEMUR_ENGINE") if before is None else os.environ.update(DEMUR_ENGINE=before)


@pytest.mark.skipif(not KERNELS, reason="there is no kernel here")
def test_a_worker_with_another_engine_is_refused(folder, monkeypatch):
    monkeypatch.setenv("DEMUR_ENGINE", "c")
    with pytest.raises(UserError, match="a worker computes with numpy, and this process with c: .* DEMUR_ENGINE alike"):
        evaluated({"A": folder / "A.csv"}, workers=OnNumpy())
