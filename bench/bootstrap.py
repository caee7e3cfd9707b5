"""The bootstrap, as a multiple of what it replaces: a plain loop per replicate, and scipy's bootstrap."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from demur import Curve, Graded, ItemPrediction, Measure, Plan, Table, bootstrap, estimate
from demur.inference.draws import drawn_clusters
from demur.simulate.runs import ZERO_SHOT, Run, make_people, run_system

RESAMPLES = 10_000
GRID = [f"0.{tenth}" for tenth in range(1, 10)]
BUNDLE = ["cmax", "aurc", "augrc", "aurc@0.5", "augrc@0.5", *(f"risk@{c}" for c in GRID)]  # fourteen numbers


def seconds(work: Callable[[], object], rounds: int = 3) -> float:
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def plain_curve(items: list[ItemPrediction]) -> list[tuple[float, float, float]]:
    """Operating points as one writes them the first time: filter, sort, walk the plateaus."""
    predicted = [item for item in items if item.pred is not None]
    predicted.sort(key=lambda item: item.confidence, reverse=True)
    points: list[tuple[float, float, float]] = []
    total, position = 0.0, 0
    while position < len(predicted):
        confidence = predicted[position].confidence
        while position < len(predicted) and predicted[position].confidence == confidence:
            total += abs((predicted[position].pred or 0) - predicted[position].gt) / 3
            position += 1
        points.append((position / len(items), total / position, total / len(items)))
    return points


def plain_area(points: list[tuple[float, float, float]], column: int, end: float) -> float:
    if not points:
        return 0.0
    area, x0, y0 = 0.0, 0.0, points[0][1] if column == 1 else 0.0
    for point in points:
        x1, y1 = point[0], point[column]
        if x1 > end:
            cut = y0 + (y1 - y0) * (end - x0) / (x1 - x0)
            return area + (end - x0) * (y0 + cut) / 2
        area += (x1 - x0) * (y0 + y1) / 2
        x0, y0 = x1, y1
    return area


def plain_bundle(people: list[list[ItemPrediction]], drawn: list[int]) -> list[float]:
    """Fourteen numbers of one replicate; rows regrouped and the curve rebuilt for each, as separate functions do."""
    values = []
    for index in range(len(BUNDLE)):
        points = plain_curve([row for person in drawn for row in people[person]])
        if index == 0:
            values.append(points[-1][0] if points else 0.0)
        elif index in (1, 2):
            values.append(plain_area(points, index, 2.0))
        elif index in (3, 4):
            values.append(plain_area(points, index - 2, 0.5))
        else:
            values.append(next((risk for c, risk, _ in points if c >= float(GRID[index - 5])), np.nan))
    return values


def rows_of(run: Run, confidence: str) -> list[list[ItemPrediction]]:
    people, items = run.answered.shape
    ranked_by = run.signals[confidence].tolist()
    answers = np.where(run.answered, run.answer, -1).tolist()
    return [
        [
            ItemPrediction(
                p, i, None if answers[p][i] < 0 else answers[p][i], int(run.people.truth[p, i]), ranked_by[p][i]
            )
            for i in range(items)
        ]
        for p in range(people)
    ]


def against_a_plain_loop(confidence: str, promised: int) -> None:
    run, few = run_system(make_people(41, seed=1), ZERO_SHOT, seed=1), 60
    graded, people = run.graded("abs_norm", confidence), rows_of(run, confidence)
    table, plan = Table.of(graded), Plan(RESAMPLES, seed=7)
    measures = [Measure.of(name) for name in BUNDLE]

    def bundle() -> dict[str, np.ndarray]:
        return bootstrap(lambda sample: {str(m): m(sample) for m in measures}, table, plan=plan)

    drawn = drawn_clusters(7, np.arange(few), 41).tolist()
    replicates = bundle()
    for row, expected in enumerate(plain_bundle(people, clusters) for clusters in drawn):
        if not np.allclose([replicates[name][row] for name in BUNDLE], expected, rtol=1e-9, equal_nan=True):
            raise SystemExit("the two ways do not agree: nothing to compare")
    plain = seconds(lambda: [plain_bundle(people, row) for row in drawn], 3) / few * RESAMPLES
    numbers, everything = seconds(bundle, 7), seconds(lambda: estimate(graded, BUNDLE, plan=plan), 7)
    print(f"  {confidence:20} {plain / numbers:6.0f} times faster ({numbers * 1e3:.0f} ms; promised: {promised})")
    print(f"  {'':20} {plain / everything:6.0f} with analytic errors in every replicate and all intervals too")


def against_scipy() -> None:
    from scipy import stats  # noqa: PLC0415

    size, few = 10_000, 20
    rng = np.random.default_rng(0)
    graded = Graded(size, rng.integers(0, 4, size), rng.integers(0, 50, size).astype(float))

    def tie_aware_aurc(loss: np.ndarray, confidence: np.ndarray) -> float:
        return float(Curve.of(Graded(len(loss), loss, confidence)).selective_area)

    data = (graded.loss, graded.confidence)
    scipys = (
        seconds(
            lambda: stats.bootstrap(
                data, tie_aware_aurc, paired=True, vectorized=False, n_resamples=few, method="percentile", rng=rng
            ),
            1,
        )
        / few
    )
    ours = seconds(lambda: estimate(graded, ["aurc"], plan=Plan(200, seed=1)), 1) / 200
    print(f"  scipy.stats.bootstrap with a tie-aware AURC, N = {size:,}: {scipys / ours:.1f} times faster")


def growth() -> None:
    """The same fourteen numbers at three sizes, and what the largest takes in memory with all resamples."""
    first = 0.0
    measures = [Measure.of(name) for name in BUNDLE]
    for people, resamples in ((41, RESAMPLES), (1_250, 1_000), (12_500, RESAMPLES)):
        graded = run_system(make_people(people, seed=1), ZERO_SHOT, seed=1).graded("abs_norm", "token_msp")
        table, plan = Table.of(graded), Plan(resamples, seed=1)
        taken = seconds(partial(bootstrap, lambda sample: {str(m): m(sample) for m in measures}, table, plan=plan), 1)
        cell = taken / (graded.units * resamples)
        first = first or cell
        print(f"  N = {graded.units:7,}: {cell * 1e9:5.1f} ns per unit and replicate, {cell / first:.2f} × the first")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(f"  peak memory of the process, N = 100,000 and {RESAMPLES:,} resamples: {peak} MB (promised: under 500 MB)")


def main() -> None:
    print(f"41 × 8 units, {RESAMPLES:,} resamples, {len(BUNDLE)} numbers, against a loop with a new curve for each:")
    against_a_plain_loop("llm_evidence_count", promised=300)
    against_a_plain_loop("token_msp", promised=200)
    print("growth, continuous confidence:")
    growth()
    print("against scipy:")
    against_scipy()


if __name__ == "__main__":
    main()
