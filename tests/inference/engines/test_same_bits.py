"""The kernel gives what numpy gives, to the last bit: by every instruction set, in any block, on any threads."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import demur
from demur import Plan
from demur.inference.engines import prepared_kernel
from demur.inference.engines.kernel import KERNELS, Kernel
from demur.sampling.resample import resampled
from demur.simulate import FEW_SHOT, ZERO_SHOT, make_people, run_system
from engine_cases import SWEPT, assert_same_bits, compared, engine, everything, random_graded, random_systems
from seeds import seeds

_kernel = pytest.importorskip("demur.inference.engines._kernel", reason="there is no kernel here")
SETS = list(KERNELS)


@pytest.mark.parametrize("seed", seeds(6, 16))
def test_every_number_of_every_replicate_is_the_same(seed):
    compared(seed, SETS)


@pytest.mark.parametrize(("threads", "block"), [(2, None), (8, 7), (1, 1), (1, 33)])
def test_threads_and_blocks_change_nothing(threads, block):
    compared(21, SETS[-1:], threads=threads, block=block)


def test_more_clusters_than_are_summed_at_a_time_change_nothing():
    compared(5, SETS, units=9000, resamples=20)


@pytest.mark.parametrize("seed", range(6))
def test_clusters_that_are_looked_at_a_window_at_a_time_change_nothing(seed):
    clusters, rng = 16_390, np.random.default_rng(seed)  # two windows of _kernel.c, and a few
    owner, sure = rng.integers(0, clusters, 2 * clusters), rng.integers(0, 101, 2 * clusters) / 100
    systems = [random_graded(rng, len(owner), owner, clusters) for _ in range(2)]
    systems = [replace(graded, confidence=sure[: len(graded.loss)]) for graded in systems]
    names = "cmax aurc augrc eaurc eaugrc aurc@0.5"
    compared(seed, SETS, systems=(systems, None), names=names, resamples=10)


def artifact(path):
    people = make_people(12, seed=0)
    runs = {"a": run_system(people, ZERO_SHOT, seed=0).items(), "b": run_system(people, FEW_SHOT, seed=1).items()}
    demur.evaluate(runs, seed=7, resamples=200, created_at="2026-01-31T12:00:00Z").save(path)
    content = json.loads(path.read_text("utf-8"))
    return content.pop("execution")["engine"], json.dumps(content)


def test_files_are_the_same_but_for_who_computed_them(tmp_path):
    with engine("numpy"):
        by_numpy, expected = artifact(tmp_path / "numpy.json")
    with engine("c"):
        by_kernel, content = artifact(tmp_path / "c.json")
    assert (by_numpy, by_kernel[0]) == ("numpy", "c")
    assert content == expected


def test_weights_that_no_byte_holds_are_left_to_numpy(monkeypatch):
    with engine("c"):
        prepared = prepared_kernel()
    assert prepared.packed(np.array([[255.0, 0.0]])).rows.tolist() == [[255.0, 0.0]]
    for odd in (256.0, 0.5, -1.0):
        assert prepared.packed(np.array([[odd, 1.0]])) is None
    systems, _ = random_systems(3)
    with engine("numpy"):
        expected = everything(systems, Plan(40, seed=3))
    monkeypatch.setattr(Kernel, "draw", lambda *_: None)
    with engine("c"):
        assert_same_bits(everything(systems, Plan(40, seed=3)), expected)


@pytest.mark.parametrize("threads", [1, 2])
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


def steps(begin=(0, 1, 3), cluster=(0, 0, 1), count=(1.0, 1.0, 1.0), clusters=2):
    arrays = np.array(begin, np.int64), np.array(cluster, np.int32), np.array(count), np.zeros(len(count))
    return _kernel.steps(*arrays, np.ones(clusters), True, 0.0)


@pytest.mark.parametrize(
    "wrong",
    [
        {"begin": (1, 1, 3)},
        {"begin": (0, 4, 3)},
        {"begin": (0, 1, 2)},
        {"begin": ()},
        {"cluster": (0, 0, 2)},
        {"cluster": (0, -1, 0)},
        {"cluster": (0, 0)},
        {"count": (1.0,)},
        {"clusters": 0},
    ],
)
def test_a_table_whose_indices_leave_it_is_refused(wrong):
    with pytest.raises(ValueError, match="steps: |expected"):
        steps(**wrong)


def test_arrays_of_other_sizes_are_refused_and_not_written():
    table, tiles, short = steps(), np.zeros((1, 2, 16), np.uint8), np.full(3, 7.0)
    size, state, row = (2, 4), np.zeros(2 * 5 * 16), np.zeros(4)
    levels, tables, none = np.zeros(2), np.zeros((2, 9)), np.zeros(0)
    of_table, of_none = (0, table, tiles, *size), (0, None, tiles, *size)
    calls = [
        lambda: _kernel.sweep(*of_table, 16, short),
        lambda: _kernel.sweep(*of_none, 16, short),
        lambda: _kernel.sweep(*of_table, 0, short),
        lambda: _kernel.sweep(*of_table, 65, short),
        lambda: _kernel.sweep(0, table, tiles, 2, 17, 16, short),
        lambda: _kernel.sweep(0, table, tiles, 3, 4, 16, short),
        lambda: _kernel.sweep(0, table, tiles, 2, -1, 16, short),
        lambda: _kernel.find(*of_table, 16, state, row, none, short),
        lambda: _kernel.find(*of_table, 16, state, short, none, short),
        lambda: _kernel.find(*of_table, 16, state, row, row, np.zeros((2, 4))),
        lambda: _kernel.oracle(*of_table, 0, levels, tables, short),
        lambda: _kernel.oracle(*of_none, 0, levels, tables, np.zeros(16)),
        lambda: _kernel.oracle(*of_table, 0, levels[:1], tables, np.zeros(16)),
        lambda: _kernel.sums(*of_none, 0, short, row),
        lambda: _kernel.influences(*of_none, 0, short, np.zeros(0), [SUM]),
        lambda: _kernel.influences(*of_none, 0, row, np.zeros(0), [SUM, SUM]),
        lambda: _kernel.influences(*of_none, 0, row, short, [SUM]),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="expected|beyond"):
            call()
    with pytest.raises(TypeError):
        _kernel.sweep(*of_table, 16)
    assert (short == 7).all()


def area(leader=0, moves=0, end=0.0, table=None, lift=None):
    return 0, 1, True, moves, 0, leader, table or TABLE, np.full(4, end), *np.zeros((7, 4)), lift


def oracle_risks(held=2, length=2000, levels=2):
    return 1, 0, True, 0, 0, 0, TABLE, *np.zeros((2, 4)), np.zeros(held), np.zeros(levels), np.zeros((2, length))


def added(flag=0, to=0, numbers=2, factor=4, more=None, more_factor=None):
    return 2, flag, True, to, 0, 0, None, np.zeros(numbers), np.zeros(factor), more, more_factor


def apart(a=0, b=0, times=4):
    return 3, 0, True, a, b, 0, None, np.zeros(times)


TABLE, SUM = steps(), added()


@pytest.mark.parametrize(
    "nodes",
    [
        [area(end=3.0)],
        [area(end=-1.0)],
        [area(end=np.nan)],
        [area(leader=1)],
        [area(leader=-1)],
        [SUM, area(leader=0)],
        [area(), area(table=steps())],
        [area()] * 9,
        [area(moves=0, lift=np.zeros(4))],
        [area(moves=-1)],
        [area(table=steps(clusters=3))],
        [area()[:-1]],
        [apart()],
        [SUM, apart(b=1)],
        [SUM, apart(times=3)],
        [added(flag=1)],
        [SUM, added(flag=1, to=1)],
        [added(numbers=3)],
        [added(factor=2)],
        [added(more=np.zeros(3), more_factor=np.zeros(4))],
        [added(more=np.zeros(2), more_factor=np.zeros(3))],
        [(5, *SUM[1:])],
        [(-1, *SUM[1:])],
        [(4, *SUM[1:8])],
        [oracle_risks(held=3)],
        [oracle_risks(levels=3)],
        [oracle_risks(length=600)],
    ],
)
def test_nodes_that_lead_beyond_their_arrays_are_refused(nodes):
    tiles = np.full((1, 2, 16), 200, np.uint8)
    with pytest.raises(ValueError, match="expected|beyond the table"):
        _kernel.influences(0, None, tiles, 2, 4, 0, np.zeros((len(nodes), 4)), np.zeros(0), nodes)


@pytest.mark.parametrize("nodes", [None, [None], [()], [SUM[:6]], [(*area()[:6], None, *area()[7:])]])
def test_what_is_no_node_is_refused(nodes):
    with pytest.raises((TypeError, ValueError)):
        _kernel.influences(0, None, np.zeros((1, 2, 16), np.uint8), 2, 4, 0, np.zeros((1, 4)), np.zeros(0), nodes)


def test_tables_too_short_for_the_counts_are_refused():
    tiles = np.full((1, 2, 16), 200, np.uint8)
    with pytest.raises(ValueError, match="beyond the table"):
        _kernel.oracle(0, steps(), tiles, 2, 16, 0, np.zeros(2), np.zeros((2, 600)), np.zeros((4, 16)))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(20))
def test_five_hundred_data_sets_give_the_same_bits(part):
    for seed in range(100 + 25 * part, 125 + 25 * part):
        compared(seed, [SETS[seed % len(SETS)]], threads=(1, 2, 8)[seed % 3], resamples=20, names=SWEPT)


@pytest.mark.slow
@pytest.mark.parametrize(("units", "resamples"), [(10_000, 33), (100_000, 17), (1_000_000, 2)])
def test_large_data_give_the_same_bits(units, resamples):
    compared(units, SETS[-1:], units=units, resamples=resamples, names="aurc augrc eaurc aurc@0.5 risk@0.3")


SCARCE = """
import resource, numpy as np
from demur.inference.engines import _kernel
n = 4_000_000
arrays = np.arange(n + 1), np.zeros(n, np.int32), np.ones(n), np.zeros(n)
table = _kernel.steps(*arrays, np.ones(1), False, 0.0)
tiles, rows = np.ones((1, 1, 16), np.uint8), (*np.zeros((2, 16)), np.zeros(1), np.zeros(n), np.zeros((2, n + 1)))
risks = 1, 0, True, 0, 0, 0, table, *rows
size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + 20_000_000,) * 2)
for call in (
    lambda: _kernel.influences(0, None, tiles, 1, 16, 0, np.zeros(16), np.zeros(0), [risks]),
    lambda: _kernel.steps(*arrays, np.ones(1), False, 0.0),
):
    try:
        call()
    except MemoryError:
        print("no memory")
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits memory as Linux does")
@pytest.mark.skipif("libasan" in os.environ.get("LD_PRELOAD", ""), reason="the sanitizer has limits of its own")
def test_without_memory_there_is_a_memory_error():
    done = subprocess.run([sys.executable, "-c", SCARCE], check=True, capture_output=True, text=True)
    assert done.stdout == "no memory\n" * 2
