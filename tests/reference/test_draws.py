"""The brute-force bootstrap of the loops against the intervals of the golden artifacts."""

import json
from pathlib import Path

import pytest

from demur.read import read_run
from reference import number
from reference.confidence import confidence
from reference.draws import ci95, joint_replicates, standard_error
from reference.rows import by_cluster, selective_rows
from reference.selective import PlainCurve

GOLDEN = Path(__file__).parents[1] / "golden"
KEYS = {"cmax": "cmax", "aurc_full": "aurc", "augrc_full": "augrc", "eaurc": "eaurc", "eaugrc": "eaugrc"}


def clusters_of(items, name):
    return by_cluster(items, selective_rows(items, confidence(items, name), "abs_norm"))


@pytest.fixture(scope="module")
def runs():
    return {mode: read_run(GOLDEN / "run.json", mode=mode) for mode in ("zero_shot", "few_shot")}


def artifact(name):
    return json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))


@pytest.mark.slow
def test_intervals_and_standard_errors_of_one_run(runs):
    content = artifact("one")
    items = runs[content["inputs"][0]["mode"]]
    for name, numbers in content["confidence_variants"].items():
        bootstrap, clusters = numbers["bootstrap"], clusters_of(items, name)
        seed, n = bootstrap["seed"], bootstrap["n_resamples"]
        for key, quantity in KEYS.items():
            values = joint_replicates([clusters], quantity, seed, n)
            assert ci95(values) == pytest.approx(bootstrap["ci95"][key], abs=1e-12), (name, key)
            assert standard_error(values) == pytest.approx(bootstrap["std_error"][key], abs=1e-12), (name, key)
        for target, ends in bootstrap["ci95"]["mae_at_coverage"].items():
            values = joint_replicates([clusters], f"risk@{target}", seed, n)
            dropped = sum(value is None for value in values) / n
            assert dropped == bootstrap["drop_rate"]["mae_at_coverage"][target]
            if ends is not None:
                assert ci95(values) == pytest.approx(ends, abs=1e-12), (name, target)


@pytest.mark.slow
def test_differences_of_two_runs_cut_at_the_coverage_both_reach_in_each_replicate(runs):
    content = artifact("paired")
    shared = set.intersection(*(set(items.cluster_ids) for items in runs.values()))
    sides = [runs[source["mode"]].only(shared) for source in content["inputs"]]

    def difference(left, right):
        curves = PlainCurve(left), PlainCurve(right)
        common = min(number("cmax", curve) for curve in curves)
        areas = [number("augrc@C", curve, at=common) for curve in curves]
        return areas[1] - areas[0]

    for name, deltas in content["comparison"]["deltas"].items():
        bootstrap = content["confidence_variants"][name]["left"]["bootstrap"]
        clusters = [clusters_of(items, name) for items in sides]
        values = joint_replicates(clusters, difference, bootstrap["seed"], bootstrap["n_resamples"])
        assert ci95(values) == pytest.approx(deltas["augrc_at_c"]["ci95"], abs=1e-12), name
