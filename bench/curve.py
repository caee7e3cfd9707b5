"""A curve and every quantity of it for a million units, as multiples of one argsort of their confidences."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable

import numpy as np

from demur import Measure, Scores, risk_coverage
from demur.quantities import default_measures

UNITS = 1_000_000
ROUNDS = 7


def fastest(work: Callable[[], object]) -> float:
    """Seconds of the fastest of a few rounds: what the machine can do when nobody disturbs it."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    rng = np.random.default_rng(0)
    confidence, loss = rng.random(UNITS), rng.integers(0, 4, UNITS)
    hull = [measure for measure in default_measures() if "achievable" in measure.quantity.name]
    others = [measure for measure in default_measures() if measure not in hull]

    def all_but_the_hull() -> Scores:
        return Scores(risk_coverage(confidence, loss=loss), others)

    one_sort = fastest(lambda: np.argsort(confidence))
    curve_only = fastest(lambda: risk_coverage(confidence, loss=loss))
    everything = fastest(all_but_the_hull)
    achievable = fastest(lambda: Measure.of("aurc_achievable")(risk_coverage(confidence, loss=loss))) - curve_only
    tracemalloc.start()
    all_but_the_hull()
    peak = tracemalloc.get_traced_memory()[1]
    print(f"{UNITS:,} distinct confidences; one numpy.argsort = 1 ({one_sort * 1e3:.0f} ms here)")
    print(f"  curve                                    {curve_only / one_sort:6.2f}")
    print(f"  curve and {len(others)} numbers                     {everything / one_sort:6.2f}   (promised: at most 8)")
    print(f"  the achievable area, beside it           {achievable / one_sort:6.2f}")
    print(f"  peak memory, in arrays of that many doubles {peak / (8 * UNITS):.1f}   (promised: at most 20)")


if __name__ == "__main__":
    main()
