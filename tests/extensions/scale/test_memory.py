"""The memory that an evaluation of a summary takes per entry. numpy reports what it allocates to tracemalloc."""

import tracemalloc

import numpy as np
import pytest

import demur
from demur import read_table
from demur.extensions.scale.summary import Summary, SummaryOptions
from demur.sampling.kernel import KERNELS

pytestmark = pytest.mark.skipif(not KERNELS, reason="there is no kernel here")
ROWS, CLUSTERS = 300_000, 30_000
MOST = 160  # bytes per entry, of which 127 were measured


def facts(rows, clusters):
    """A summary of users with confidences of two decimals, right and wrong answers and abstentions."""
    rng = np.random.default_rng(7)
    user, sure = rng.integers(0, clusters, rows), np.round(rng.beta(4, 1.5, rows), 2)
    loss = np.where(rng.random(rows) < 0.1, np.nan, (rng.random(rows) > sure).astype(np.float64))
    items = read_table({"cluster": user, "sure": sure, "loss": loss}, instrument=None)
    return Summary.of(items, items.losses, SummaryOptions("sure", ["sure"]), "0" * 64).facts()


@pytest.mark.slow
def test_an_entry_takes_few_bytes(monkeypatch):
    monkeypatch.setenv("DEMUR_ENGINE", "c")  # numpy takes 8 bytes for each weight of a cluster in a replicate
    demur.evaluate({"A": facts(1000, 100)}, confidence="sure", resamples=16, seed=7)  # imports what is imported once
    items = facts(ROWS, CLUSTERS)
    tracemalloc.start()
    try:
        demur.evaluate({"A": items}, confidence="sure", plan=demur.Plan(16, seed=7, threads=1))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak / len(items) < MOST, f"{peak / len(items):.0f} bytes per entry"
