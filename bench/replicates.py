"""Bootstrap replicates of a curve: by the numpy engine, an earlier version, and a plain loop.

The whole job is eighteen numbers of a curve, the standard errors of nine of them in every replicate, and both bands.
Fourteen numbers are numbers alone.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
from plain import BUNDLE, plain_bundle, rows_of
from timing import Ratio, against, by_turns

from demur import Graded, Measure, Plan, Table, bootstrap
from demur.extensions.lab.runs import ZERO_SHOT, make_people, run_system
from demur.inference.bands import drawn_risks
from demur.inference.key import Key
from demur.inference.rows import Row
from demur.inference.views import CurveView
from demur.sampling.draws import drawn_clusters
from demur.sampling.resample import Ask, resampled

DISCRETE, CONTINUOUS = "llm_evidence_count", "token_msp"
JOBS = {  # confidence, people of 8 items each, replicates; how much longer the version before the kernel is to take
    "discrete, 41 × 8 units": (DISCRETE, 41, 10_000, "≥ 5"),
    "continuous, 41 × 8 units": (CONTINUOUS, 41, 10_000, "≥ 8"),
    "continuous, 10 000 units": (CONTINUOUS, 1_250, 400, "≥ 20"),
    "continuous, 100 000 units": (CONTINUOUS, 12_500, 32, "≥ 20"),
}
NUMBERS = ["cmax", "aurc", "augrc", "naurc", "naugrc", "eaurc", "eaugrc", "aurc@0.5", "augrc@0.5"]
NUMBERS += [f"risk@0.{tenth}" for tenth in range(1, 10)]


def graded_of(confidence: str, people: int) -> Graded:
    return run_system(make_people(people, seed=1), ZERO_SHOT, seed=1).graded("abs_norm", confidence)


def whole_job(graded: Graded, replicates: int, threads: int = 1) -> Callable[[], object]:
    """Every number, its standard error and the bands, in every replicate."""
    view = CurveView.of(graded)
    rows = [Row.of_curve(Key("", name), view, Measure.of(name)) for name in NUMBERS]
    asks = [Ask(view, partial(row.columns, needs=frozenset({"errors"}))) for row in rows]
    asks.append(Ask(view, partial(drawn_risks, view.curve)))
    return partial(resampled, asks, Plan(replicates, seed=7, threads=threads))


def fourteen_numbers(graded: Graded, replicates: int) -> Callable[[], object]:
    """Fourteen numbers in every replicate."""
    view, measures = CurveView.of(graded), [Measure.of(name) for name in BUNDLE]
    ask = Ask(view, lambda sample: {str(measure): measure(sample) for measure in measures})
    return partial(resampled, [ask], Plan(replicates, seed=7, threads=1))


def _by(engine: str, job: Callable[[], object]) -> Callable[[], object]:
    def work() -> None:
        os.environ["DEMUR_ENGINE"] = engine
        job()
        del os.environ["DEMUR_ENGINE"]

    return work


class Earlier:
    """Jobs of an earlier version, by its own bench in a process that is told when to begin, and tells what it took."""

    def __init__(self, checkout: Path, job: str) -> None:
        environment = os.environ | {"PYTHONPATH": f"{checkout.resolve() / 'src'}"}
        self.process = subprocess.Popen(
            [sys.executable, str(checkout / "bench" / Path(__file__).name), job],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.least = np.inf

    def __call__(self) -> None:
        """Do the job once."""
        assert self.process.stdin is not None  # noqa: S101
        assert self.process.stdout is not None  # noqa: S101
        print(file=self.process.stdin, flush=True)
        self.least = min(self.least, float(self.process.stdout.readline()))

    def ended(self) -> float:
        """The least seconds it took."""
        self.process.communicate()
        return self.least


def serve(name: str) -> None:
    """Do a job for each line that is given, and say how long it took."""
    confidence, people, replicates, _ = JOBS[name]
    job = whole_job(graded_of(confidence, people), replicates)
    for _ in sys.stdin:
        print(by_turns({"": job}, rounds=1)[""], flush=True)


def against_engines(before: Path | None) -> Iterator[Ratio]:
    for name, (confidence, people, replicates, asked) in JOBS.items():
        graded = graded_of(confidence, people)
        job = whole_job(graded, replicates)
        earlier = Earlier(before, name) if before else None
        taken = by_turns({each: _by(each, job) for each in ("c", "numpy")} | ({"earlier": earlier} if earlier else {}))
        ours = f"{taken['c'] / (graded.answered * replicates) * 1e9:.1f} ns per unit and replicate"
        yield from against(f"the whole job, {name}", ours, taken["c"], {"the numpy engine": taken["numpy"]})
        if earlier:
            yield Ratio(f"the whole job, {name}", ours, "demur before", earlier.ended() / taken["c"], asked)


def against_a_plain_loop() -> Iterator[Ratio]:
    """Fourteen numbers by a loop with a new curve for each number of each replicate."""
    run, few, replicates = run_system(make_people(41, seed=1), ZERO_SHOT, seed=1), 60, 10_000
    measures = [Measure.of(name) for name in BUNDLE]
    drawn = drawn_clusters(7, np.arange(few), 41).tolist()
    for confidence, kind in ((DISCRETE, "discrete"), (CONTINUOUS, "continuous")):
        table, people = Table.of(run.graded("abs_norm", confidence)), rows_of(run, confidence)
        ours = partial(bootstrap, lambda sample: {str(m): m(sample) for m in measures}, table)
        expected = [plain_bundle(people, clusters) for clusters in drawn]
        found = ours(plan=Plan(few, seed=7))
        if not np.allclose(np.stack([found[name] for name in BUNDLE], axis=1), expected, rtol=1e-9, equal_nan=True):
            raise SystemExit("the two ways do not agree: nothing to compare")
        fast, loop = by_turns(
            {
                "ours": partial(ours, plan=Plan(replicates, seed=7)),
                "loop": lambda people=people: [plain_bundle(people, row) for row in drawn],
            }
        ).values()
        job, each = f"fourteen numbers, {kind}, 41 × 8 units", fast / replicates
        yield from against(job, f"{each * 1e6:.2f} µs per replicate", each, {"a plain loop": loop / few})


def ratios(before: Path | None) -> Iterator[Ratio]:
    yield from against_engines(before)
    yield from against_a_plain_loop()


if __name__ == "__main__":
    serve(sys.argv[1])
