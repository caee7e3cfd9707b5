"""The kernel gives what numpy gives to rounding, and the same bits by every instruction set, in blocks, on threads."""

import json

import numpy as np
import pytest

import demur
from demur import Measure, Plan
from demur.extensions.lab import FEW_SHOT, ZERO_SHOT, make_people, run_system
from demur.sampling.engine import chosen_kernel
from demur.sampling.kernel import KERNELS, Kernel
from demur.sampling.resample import Ask, replicates_of, resampled
from demur.sampling.table import Table
from engine_cases import SWEPT, assert_same_bits, compared, engine, everything, random_systems
from parametrized import parametrize_few
from seeds import seeds

pytestmark = pytest.mark.skipif(not KERNELS, reason="there is no kernel here")
SETS = list(KERNELS)


@parametrize_few("seed", seeds(6, 16), 2)
def test_every_number_of_every_replicate_is_that_of_numpy(seed):
    compared(seed, SETS)


@parametrize_few(("threads", "block"), [(2, None), (8, 7), (1, 1), (1, 33)], 1)
def test_threads_and_blocks_change_nothing(threads, block):
    compared(21, SETS[-1:], threads=threads, block=block)


@pytest.mark.slow
def test_more_clusters_than_are_summed_at_a_time_change_nothing():
    compared(5, SETS, units=9000, resamples=20)


def artifact(path):
    people = make_people(12, seed=0)
    runs = {"a": run_system(people, ZERO_SHOT, seed=0).items(), "b": run_system(people, FEW_SHOT, seed=1).items()}
    demur.evaluate(runs, settings=demur.Settings(created_at="2026-01-31T12:00:00Z"), seed=7, resamples=200).save(path)
    content = json.loads(path.read_text("utf-8"))
    return content.pop("execution")["engine"], json.dumps(content)


def close(found, expected):
    """The same words, and numbers that are equal to rounding."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        found, expected = [*found.values()], [*expected.values()]
    if isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected):
            close(one, other)
    else:
        assert found == (pytest.approx(expected, rel=1e-10, abs=1e-12) if isinstance(expected, float) else expected)


@pytest.mark.slow
def test_files_are_the_same_but_for_who_computed_them(tmp_path):
    with engine("numpy"):
        by_numpy, expected = artifact(tmp_path / "numpy.json")
    with engine("c"):
        by_kernel, content = artifact(tmp_path / "c.json")
    assert (by_numpy, by_kernel[0]) == ("numpy", "c")
    close(json.loads(content), json.loads(expected))


@pytest.mark.slow
def test_weights_that_no_byte_holds_are_left_to_numpy(monkeypatch):
    with engine("c"):
        kernel = chosen_kernel()
    assert kernel.packed(np.array([[255.0, 0.0]])).rows.tolist() == [[255.0, 0.0]]
    for odd in (256.0, 0.5, -1.0):
        assert kernel.packed(np.array([[odd, 1.0]])) is None
    systems, _ = random_systems(3)
    with engine("numpy"):
        expected = everything(systems, Plan(40, seed=3))
    for name in ("drawn", "packed"):
        monkeypatch.setattr(Kernel, name, lambda *_: None)
    with engine("c"):
        assert_same_bits(everything(systems, Plan(40, seed=3)), expected)


@parametrize_few("threads", [1, 2], 1)
def test_an_interrupt_stops_between_blocks(threads):
    systems, _ = random_systems(3)
    stopped = []

    def stop(done, total):
        stopped.append((done, total))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        everything(systems, Plan(400, seed=3, block=16, threads=threads, progress=stop))
    assert stopped == [(16, 400)]
    assert resampled([], Plan(3, seed=1)) == []


def test_blocks_of_replicates_can_be_computed_anywhere():
    systems, strata = random_systems(8)
    plan, aurc = Plan(50, seed=8, strata=strata), Measure.of("aurc")
    ask = Ask(Table.of(systems[0]), lambda sample: {"": aurc(sample)})
    for name in ("numpy", *SETS):
        with engine(name):
            whole = resampled([ask], plan)[0][""]
            parts = [replicates_of([ask], plan, range(*ends))[0][""] for ends in ((33, 50), (0, 1), (1, 33))]
        assert np.array_equal(np.concatenate([parts[1], parts[2], parts[0]]), whole)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(20))
def test_five_hundred_data_sets_give_the_same_numbers(part):
    for seed in range(100 + 25 * part, 125 + 25 * part):
        compared(seed, [SETS[seed % len(SETS)]], threads=(1, 2, 8)[seed % 3], resamples=20, names=SWEPT)


@pytest.mark.slow
@pytest.mark.parametrize(("units", "resamples"), [(10_000, 33), (100_000, 17), (1_000_000, 2)])
def test_large_data_give_the_same_numbers(units, resamples):
    compared(units, SETS[-1:], units=units, resamples=resamples, names="aurc augrc eaurc aurc@0.5 risk@0.3")
