"""Sites: what each holds stays there, and the bytes are those of one table of pseudonyms."""

import contextlib
from concurrent.futures import Executor, Future

import numpy as np
import pytest

import demur as library
from commands import demur
from demur import UserError
from demur.summaries.pseudonyms import pseudonym
from sharded import same_in_both, table, units

SALT = "a secret of one site alone"
HOW = {"confidence": "sure", "resamples": 60, "seed": 7, "created_at": "2026-01-31T12:00:00Z"}
NAMES = ("bergen", "oslo", "tromso")


class Site(Executor):
    """Work in a folder of its own, at once; all that comes back is looked at."""

    def __init__(self, folder, leaves=None):
        self.folder, self.leaves = folder, leaves

    def submit(self, work, *arguments):
        future = Future()
        with contextlib.chdir(self.folder):
            try:
                future.set_result(work(*arguments))
                if self.leaves is not None:
                    self.leaves.append((work.__name__, future.result()))
            except UserError as error:
                future.set_exception(error)
        return future


def hospitals(folder, rows, borders):
    """Rows by who has which clusters, as a summary at each site; and all of them as one table of pseudonyms."""
    users = sorted({row["user"] for row in rows})
    where = {user: NAMES[int(np.searchsorted(borders, place, side="right"))] for place, user in enumerate(users)}
    for name in NAMES:
        (folder / name).mkdir(parents=True)
        table(folder / name / "visits.csv", [row for row in rows if where[row["user"]] == name])
        (folder / name / "salt.txt").write_text(f"{SALT} {name}\n")
        words = ("--column", "cluster=user", "--confidence", "sure", "--site", name, "--salt", "salt.txt")
        made = demur(folder / name, "summarize", "visits.csv", *words, "-o", "run.sum")
        assert made.returncode == 0, made.stderr
    named = [
        {**row, "user": pseudonym(row["user"], name := where[row["user"]], f"{SALT} {name}".encode())} for row in rows
    ]
    return table(folder / "all.csv", named)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    whole = hospitals(folder, units(), (7, 30))
    return folder, same_in_both(library.evaluate({"A": whole}, columns={"cluster": "user"}, **HOW).text)


def evaluated(folder, leaves=None, **how):
    sites = {name: Site(folder / name, leaves) for name in NAMES}
    return library.evaluate({"A": "run.sum"}, **{**HOW, **how}, route="sites", workers=sites)


def test_three_sites_give_the_bytes_of_one_table_of_pseudonyms(data):
    folder, expected = data
    results = evaluated(folder)
    assert same_in_both(results.text) == expected
    assert (results.execution.route, results.execution.shards, results.execution.sites) == ("sites", 3, NAMES)
    assert SALT not in results.text
