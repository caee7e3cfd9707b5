"""Data that several files of these tests audit reports against."""

import pytest

from demur.extensions.audit.reported.reading import queries_to_audit, runs_to_audit
from demur.extensions.lab.runs import simulated_run
from pipeline import as_csv
from reported_queries import QUERIES
from runs import written


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("audit")
    written(made, simulated_run(20, seed=1, failures=2), "run.json")
    return made


@pytest.fixture(scope="module")
def both(folder):
    return runs_to_audit([folder / "run.json"])


@pytest.fixture(scope="module")
def both_queries(tmp_path_factory):
    return queries_to_audit(written(tmp_path_factory.mktemp("audit"), as_csv(QUERIES), "per_query.csv"))
