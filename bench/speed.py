"""How fast replicates are, as ratios with what else computes them: python bench/speed.py [OLD_CHECKOUT].

Every ratio is of CPU times in one run, which take turns, so that whatever else the machine does falls on both. The
whole job is eighteen numbers of a curve, the standard errors of nine of them in every replicate, and both bands. scipy
bootstraps a single AURC of units without clusters, in a loop or vectorised. The table is the one of docs/speed.md.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from demur import Graded, Measure, Plan, Table, bootstrap
from demur.inference.bands import drawn_risks
from demur.inference.draws import drawn_clusters
from demur.inference.key import Key
from demur.inference.resample import Ask, resampled
from demur.inference.rows import Row
from demur.inference.views import CurveView
from demur.simulate.runs import ZERO_SHOT, make_people, run_system

ROUNDS = 5
HERE = Path(__file__).parents[1]
DISCRETE, CONTINUOUS = "llm_evidence_count", "token_msp"
JOBS = {  # confidence, people of 8 items each, replicates
    "discrete, 41 × 8": (DISCRETE, 41, 10_000),
    "continuous, 41 × 8": (CONTINUOUS, 41, 10_000),
    "continuous, 10 000": (CONTINUOUS, 1_250, 400),
    "continuous, 100 000": (CONTINUOUS, 12_500, 32),
}
NUMBERS = ["cmax", "aurc", "augrc", "naurc", "naugrc", "eaurc", "eaugrc", "aurc@0.5", "augrc@0.5"]
NUMBERS += [f"risk@0.{tenth}" for tenth in range(1, 10)]
SCIPY_UNITS = 328, 10_000


@contextmanager
def engine(name: str) -> Iterator[None]:
    """What computes, for a while."""
    os.environ["DEMUR_ENGINE"] = name
    yield
    del os.environ["DEMUR_ENGINE"]


def cpu(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def graded_of(confidence: str, people: int) -> Graded:
    return run_system(make_people(people, seed=1), ZERO_SHOT, seed=1).graded("abs_norm", confidence)


def whole_job(graded: Graded, replicates: int, threads: int = 1) -> Callable[[], object]:
    """Every number, its standard error and the bands, in every replicate."""
    view = CurveView.of(graded)
    rows = [Row.of_curve(Key("", name), view, Measure.of(name)) for name in NUMBERS]
    asks = [Ask(view, partial(row.columns, needs=frozenset({"errors"})), *_coverages(row)) for row in rows]
    asks.append(Ask(view, partial(drawn_risks, view.curve)))
    return partial(resampled, asks, Plan(replicates, seed=7, threads=threads))


def _coverages(row: Row) -> list[object]:
    return [row.coverages] if hasattr(row, "coverages") else []  # an older checkout knows of none


def in_old_checkout(checkout: Path, job: str) -> float:
    """The best CPU time of one job by an older checkout, in a process of its own."""
    environment = os.environ | {"PYTHONPATH": str(checkout.resolve() / "src")}
    done = subprocess.run(
        [sys.executable, __file__, "--job", job], env=environment, check=True, capture_output=True, text=True
    )
    return float(done.stdout)


def best_of_job(name: str) -> float:
    confidence, people, replicates = JOBS[name]
    job = whole_job(graded_of(confidence, people), replicates)
    return min(cpu(job) for _ in range(ROUNDS))


def against_engines(old: Path | None) -> Iterator[tuple[str, ...]]:
    for name, (confidence, people, replicates) in JOBS.items():
        graded = graded_of(confidence, people)
        job, taken = whole_job(graded, replicates), {"c": [], "numpy": [], "old": []}
        for _ in range(ROUNDS):
            for each in ("c", "numpy"):
                with engine(each):
                    taken[each].append(cpu(job))
            if old is not None:
                taken["old"].append(in_old_checkout(old, name))
        cell = min(taken["c"]) / (graded.answered * replicates) * 1e9
        ratio = f"{min(taken['numpy']) / min(taken['c']):.1f}"
        before = f"{min(taken['old']) / min(taken['c']):.1f}" if taken["old"] else "–"
        yield name, f"{cell:.1f} ns", f"numpy engine {ratio} ×", f"older checkout {before} ×"


def against_a_plain_loop() -> Iterator[tuple[str, ...]]:
    """Fourteen numbers by a loop with a new curve for each number of each replicate."""
    from plain import BUNDLE, plain_bundle, rows_of  # noqa: PLC0415

    run, few, replicates = run_system(make_people(41, seed=1), ZERO_SHOT, seed=1), 60, 10_000
    measures = [Measure.of(name) for name in BUNDLE]
    drawn = drawn_clusters(7, np.arange(few), 41).tolist()
    for confidence in (DISCRETE, CONTINUOUS):
        table, people = Table.of(run.graded("abs_norm", confidence)), rows_of(run, confidence)
        ours = partial(bootstrap, lambda sample: {str(m): m(sample) for m in measures}, table)
        expected = [plain_bundle(people, clusters) for clusters in drawn]
        found = ours(plan=Plan(few, seed=7))
        if not np.allclose(np.stack([found[name] for name in BUNDLE], axis=1), expected, rtol=1e-9, equal_nan=True):
            raise SystemExit("the two ways do not agree: nothing to compare")
        loop, fast = [], []
        for _ in range(ROUNDS):
            loop.append(cpu(lambda people=people: [plain_bundle(people, row) for row in drawn]) / few)
            fast.append(cpu(lambda ours=ours: ours(plan=Plan(replicates, seed=7))) / replicates)
        yield (
            f"fourteen numbers, {confidence}",
            f"{min(fast) * 1e6:.2f} µs",
            f"plain loop {min(loop) / min(fast):.0f} ×",
        )


def aurc_of_sorted(loss: np.ndarray, confidence: np.ndarray, axis: int = -1) -> np.ndarray:
    """One AURC without ties, as users of scipy vectorise it."""
    order = np.argsort(-confidence, axis=axis)
    risk = np.cumsum(np.take_along_axis(loss, order, axis=axis), axis=axis) / np.arange(1, loss.shape[axis] + 1)
    return np.mean(risk, axis=axis)


def against_scipy() -> Iterator[tuple[str, ...]]:
    """Scipy has one AURC, for data without ties; ours is that AURC, fourteen numbers, or the whole job."""
    from plain import BUNDLE  # noqa: PLC0415
    from scipy import stats  # noqa: PLC0415

    replicates, measures = 2_000, [Measure.of(name) for name in BUNDLE]
    for size in SCIPY_UNITS:
        rng = np.random.default_rng(0)
        confidence, loss, few = rng.random(size), rng.integers(0, 2, size).astype(float), max(40, 200_000 // size)
        graded, plan = Graded(size, loss, confidence), Plan(replicates, seed=7)
        jobs = {
            "one AURC": partial(bootstrap, lambda sample: {"": sample.selective_area}, Table.of(graded), plan=plan),
            "fourteen numbers": partial(
                bootstrap, lambda sample: {str(m): m(sample) for m in measures}, Table.of(graded), plan=plan
            ),
            "the whole job": whole_job(graded, replicates),
        }
        forms = {
            name: partial(
                stats.bootstrap,
                (loss, confidence),
                aurc_of_sorted,
                vectorized=name == "vectorised",
                batch=100,
                paired=True,
                n_resamples=few,
                method="percentile",
                rng=rng,
            )
            for name in ("loop", "vectorised")
        }
        taken: dict[str, list[float]] = {name: [] for name in (*jobs, *forms)}
        for _ in range(ROUNDS):
            for name, work in (jobs | forms).items():
                taken[name].append(cpu(work) / (replicates if name in jobs else few))
        for name in jobs:
            ours = min(taken[name])
            ratios = (f"scipy's {form} of one AURC {min(taken[form]) / ours:.1f} ×" for form in forms)
            yield f"{name}, {size} units", f"{ours * 1e6:.2f} µs", *ratios


def on_two_cores() -> Iterator[tuple[str, ...]]:
    """Wall time on one thread over that on two: of no use on a busy machine."""
    for name in ("continuous, 41 × 8", "continuous, 100 000"):
        confidence, people, replicates = JOBS[name]
        graded, times = graded_of(confidence, people), {}
        for threads in (1, 2) * ROUNDS:
            start = time.perf_counter()
            whole_job(graded, replicates, threads)()
            times[threads] = min(times.get(threads, np.inf), time.perf_counter() - start)
        yield name, "wall time", f"second core {times[1] / times[2]:.2f} ×"


def main(old: Path | None) -> None:
    print("| | ours | the others take |\n|---|---|---|")
    for part in (against_engines(old), against_a_plain_loop(), against_scipy(), on_two_cores()):
        for name, ours, *others in part:
            print(f"| {name} | {ours} | {'; '.join(others)} |", flush=True)
    absent = [name for name in ("fd_shifts", "ranx", "pytrec_eval") if find_spec(name) is None]
    print(f"\nRankings: bench/retrieval.py. Not installed here: {', '.join(absent) or 'nothing'}.")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--job"]:
        print(best_of_job(sys.argv[2]))
    else:
        main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
