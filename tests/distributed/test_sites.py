"""Sites: what each holds stays there, and the bytes are those of one table of pseudonyms."""

import contextlib
import gc
import os
import shutil
import signal
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from dataclasses import fields, is_dataclass

import numpy as np
import pytest

import demur as library
from commands import demur
from demur import UserError
from demur.distributed.ranges import Storage
from demur.distributed.sites import Sites
from demur.sampling.draws import weights
from demur.summaries.about import About
from demur.summaries.file import read_summary
from demur.summaries.summary import ANSWERED
from hospitals import HOW, NAMES, SALT, hospitals, summarize
from sharded import same_in_both, units

PER_CLUSTER = {("open_site", "texts"), ("open_site", "digests"), ("build", "units"), ("build", "answers")}


class Site(Executor):
    """Work in a folder of its own, at once; all that leaves it is noted."""

    def __init__(self, name, folder, leaves=None):
        self.name, self.folder, self.leaves = name, folder, leaves

    def submit(self, work, *arguments):
        future = Future()
        with contextlib.chdir(self.folder):
            try:
                future.set_result(work(*arguments))
                if self.leaves is not None:
                    self.leaves.append((work.__name__, self.name, future.result()))
            except UserError as error:
                future.set_exception(error)
        return future


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    whole = hospitals(folder, units(), (7, 30))
    return folder, same_in_both(library.evaluate({"A": whole}, columns={"cluster": "user"}, **HOW).text)


def evaluated(folder, leaves=None, **how):
    sites = {name: Site(name, folder / name, leaves) for name in NAMES}
    return library.evaluate({"A": "run.sum"}, **{**HOW, **how}, route="sites", workers=sites)


@pytest.fixture(scope="module")
def observed(data, tmp_path_factory):
    """The results, all that left the sites, and where they kept what did not."""
    leaves, scratch = [], tmp_path_factory.mktemp("scratch")
    return evaluated(data[0], leaves, scratch=scratch), leaves, scratch


def test_three_sites_give_the_bytes_of_one_table_of_pseudonyms(data, observed):
    results, _, scratch = observed
    assert same_in_both(results.text) == data[1]
    assert (results.execution.route, results.execution.shards, results.execution.sites) == ("sites", 3, NAMES)
    assert SALT not in results.text
    gc.collect()
    assert not [*scratch.iterdir()]


KINDS_OF_DATA = {
    "one confidence": [{**row, "sure": 1} for row in units(seed=4, rows=200)],
    "two confidences": [{**row, "sure": n % 2} for n, row in enumerate(units(seed=4, rows=200))],
    "a site that answers nothing": [{**row, "loss": "" if row["user"] < "u12" else row["loss"]} for row in units()],
    "no answers": [{"user": n // 5, "loss": "", "sure": n % 3} for n in range(30)],
    "no losses": [{"user": n // 5, "loss": 0, "sure": n % 3} for n in range(30)],
    "a cluster at each site": [{"user": n, "loss": n % 2, "sure": n % 3} for n in range(3)],
}


@pytest.mark.slow
@pytest.mark.parametrize("rows", KINDS_OF_DATA.values(), ids=KINDS_OF_DATA)
def test_any_data_at_sites_have_the_bytes_of_one_table(tmp_path, rows):
    whole = hospitals(tmp_path, rows, (1, 2) if len(rows) == len(NAMES) else (2, 4))
    expected = library.evaluate({"A": whole}, columns={"cluster": "user"}, **HOW)
    assert same_in_both(evaluated(tmp_path).text) == same_in_both(expected.text)


@pytest.mark.slow
def test_bins_are_those_of_all_sites_and_lower_may_be_surer(tmp_path):
    rng = np.random.default_rng(3)
    rows = [{"user": n % 50, "loss": int(rng.random() < 0.3), "sure": repr(rng.random())} for n in range(6000)]
    hospitals(tmp_path, rows, (5, 20), "--lower-is-surer", "sure")
    demur(tmp_path, "summarize", *(f"{name}/run.sum" for name in NAMES), "-o", "all.sum")
    how = {"lower_is_surer": "sure"}
    expected = library.evaluate({"A": tmp_path / "all.sum"}, **HOW, **how)
    assert expected.curves["A", "sure"].bins.number <= 4096
    assert same_in_both(evaluated(tmp_path, **how).text) == same_in_both(expected.text)


def test_a_block_of_clusters_goes_on_at_the_next_site(tmp_path):
    rng = np.random.default_rng(2)
    rows = [
        {"user": int(user), "loss": int(rng.integers(4)) / 10, "sure": int(rng.integers(9)) / 9}
        for user in [*range(4300), *rng.integers(0, 4300, 1500)]
    ]
    whole = hospitals(tmp_path, rows, (150, 4200))
    expected = library.evaluate({"A": whole}, columns={"cluster": "user"}, **{**HOW, "resamples": 8})
    assert same_in_both(evaluated(tmp_path, resamples=8).text) == same_in_both(expected.text)


def arrays(value, name=""):
    """Every array in what a worker returns, with its name."""
    if isinstance(value, np.ndarray):
        yield name, value
    elif isinstance(value, dict):
        yield from (found for key, each in value.items() for found in arrays(each, str(key)))
    elif is_dataclass(value):
        yield from (found for field in fields(value) for found in arrays(getattr(value, field.name), field.name))
    elif isinstance(value, (list, tuple)):
        names = getattr(value, "_fields", [name] * len(value))
        yield from (found for each, key in zip(value, names, strict=True) for found in arrays(each, key))
    else:
        assert value is None or isinstance(value, (int, str, About)), f"{name}: {value!r}"


def test_what_leaves_a_site_has_a_number_for_a_cluster_or_for_a_confidence_but_never_for_both(observed):
    results, leaves, _ = observed
    confidences = len(results.curves["A", "sure"].curve.coverage)
    losses, drawn, of_site = 5, HOW["resamples"], {"bergen": 7, "oslo": 23, "tromso": 10}
    summed = {(steps, columns) for steps in (confidences, losses) for columns in (1, drawn)}
    added = {(powers, columns) for powers in (1, 2) for columns in (1, drawn, confidences)}
    shapes = {(0,), (1,), (drawn,), (confidences,), (confidences * losses,)} | summed | added
    assert not {*of_site.values()} & {length for shape in shapes for length in shape}
    for work, site, made in leaves:
        for name, array in arrays(made):
            if (work, name) in PER_CLUSTER:
                assert array.shape in {(0,), (of_site[site],)}, (work, name)  # none failed
            elif name in ("sure", "losses"):
                assert (array == np.unique(array)).all(), (work, name)
            else:
                assert array.shape in shapes, (work, name, array.shape)
            assert name != "digests" or not array.any()  # of truths
    works = {"open_site", "build", "draw_weights", "sums", "totals", "weighted", "close_site"}
    assert {work for work, _, _ in leaves} == works


def test_a_coordinator_who_solves_equations_learns_what_a_pseudonym_holds(data, observed):
    """As the documentation says: sums in as many replicates as a site has clusters are enough."""
    [summed] = [made for work, site, made in observed[1] if (work, site) == ("sums", "bergen") and made.units.size > 1]
    drawn = weights(HOW["seed"], np.arange(HOW["resamples"]), 40)[:, :7]
    solved = np.linalg.lstsq(drawn, summed.plateaus[0].T, rcond=None)[0]
    summary = read_summary(data[0] / "bergen" / "run.sum")[0]
    for cluster, counts in enumerate(np.rint(solved).astype(int)):
        held = summary.of_clusters(cluster, cluster + 1)
        assert counts.sum() == held.count[held.columns[1] == ANSWERED].sum()
    assert np.abs(solved - np.rint(solved)).max() < 1e-9


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda site: (site / "run.sum").unlink(), r"oslo: run\.sum: cannot be read"),
        (lambda site: shutil.copy(site / "visits.csv", site / "run.sum"), r"oslo: run\.sum: not a summary"),
        (lambda site: summarize(site), r"oslo: run\.sum: its ids may be names: write pseudonyms"),
        (lambda site: summarize(site, "--site", "bergen", "--salt", "salt.txt"), "its ids are among those of another"),
        (lambda site: shutil.copy(site / "../bergen/run.sum", site), r"the same part is in bergen: .* and oslo: "),
        (lambda site: summarize(site, "--site", "oslo", "--salt", "salt.txt", "--bins", "9"), "the number of bins"),
    ],
)
def test_a_site_that_cannot_take_part_is_named(data, tmp_path, change, message):
    shutil.copytree(data[0], tmp_path / "sites")
    change(tmp_path / "sites" / "oslo")
    with pytest.raises(UserError, match=message):
        evaluated(tmp_path / "sites")


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"workers": 3}, "sites are workers that have data of their own: "),
        ({"workers": {}}, "no site is connected"),
        ({"group": {"sex": "sex"}}, "passes cannot evaluate groups or costs of abstention"),
        ({"lower_is_surer": "sure"}, "sure: the summaries rank in the other direction; summarize with"),
        ({"columns": {"cluster": "user"}}, "A: facts that are read already have no use for columns"),
        ({"interval": "jackknife"}, "clusters cannot be left out in turn in passes"),
        ({"scratch": "no/such/folder"}, "bergen: .*no/such/folder: cannot be written"),
    ],
)
def test_what_sites_cannot_do_is_refused_by_name(data, how, message):
    folder, _ = data
    sites = {name: Site(name, folder / name) for name in NAMES}
    with pytest.raises(UserError, match=message):
        library.evaluate({"A": "run.sum"}, **{**HOW, "route": "sites", "workers": sites, **how})


def test_the_command_says_what_sites_are(data):
    outcome = demur(data[0], "evaluate", "A=run.sum", "--route", "sites", "--workers", "2", "--seed", "7")
    assert (outcome.returncode, outcome.stderr.count("\n")) == (2, 1)
    assert "--workers dask://SCHEDULER:PORT" in outcome.stderr


def killed_once(task):
    if task[0].site == "oslo":
        os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow
def test_what_a_killed_coordinator_left_is_removed_days_later_and_nothing_else(data, tmp_path):
    folder, expected = data
    left, running, named = (tmp_path / f"demur-{name}" for name in ("0123456789abcdef", "fedcba9876543210", "results"))
    for path, days in ((left, 4), (running, 2), (named, 400)):
        path.mkdir()
        (path / "0-units.npy").write_bytes(b"")
        os.utime(path, (time.time() - days * 86_400,) * 2)
    assert same_in_both(evaluated(folder, scratch=tmp_path).text) == expected
    gc.collect()
    assert sorted(tmp_path.iterdir()) == sorted([running, named])


def test_a_site_whose_worker_died_is_named():
    with ProcessPoolExecutor(1) as one, ProcessPoolExecutor(1) as other, Sites({"bergen": one, "oslo": other}) as sites:
        tasks = [(Storage("", name), 1) for name in sites.names]
        with pytest.raises(UserError, match="oslo: its worker is gone: start it there again"):
            sites.each(killed_once, tasks)
