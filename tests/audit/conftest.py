"""Data that several files of these tests audit reports against."""

import pytest

from demur.extensions.audit.reported.reading import runs_to_audit
from demur.extensions.lab.runs import simulated_run
from runs import written


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("audit")
    written(made, simulated_run(20, seed=1, failures=2), "run.json")
    return made


@pytest.fixture(scope="module")
def both(folder):
    return runs_to_audit([folder / "run.json"])
