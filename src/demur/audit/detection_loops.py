"""Detection loops: how well a probability tells the queries with evidence from those without."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from demur.audit.ranked_loops import mean

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from demur.audit.ranked_loops import Judged


class Step(NamedTuple):
    """What is at or above a threshold: queries with evidence and queries without."""

    threshold: float
    with_evidence: int
    without: int


def has_evidence_rate(queries: Sequence[Judged]) -> float | None:
    """The share of queries with gold."""
    return mean(float(query.gold > 0) for query in queries)


def auroc(queries: Sequence[Judged]) -> float | None:
    """The chance that a query with evidence has the larger probability; equal ones count half, one class is 0.5."""
    steps = _steps(queries)
    if not steps or not steps[-1].with_evidence or not steps[-1].without:
        return 0.5 if steps else None
    area, before = 0.0, Step(math.inf, 0, 0)
    for step in steps:
        area += (step.without - before.without) * (step.with_evidence + before.with_evidence) / 2
        before = step
    return area / (before.with_evidence * before.without)


def auprc(queries: Sequence[Judged]) -> float | None:
    """Average precision; with one class the share of queries with evidence."""
    return _over_recall(queries, lambda _, now: now)


def auprc_by_trapezoids(queries: Sequence[Judged]) -> float | None:
    """The area under straight lines between the points, which no threshold reaches."""
    return _over_recall(queries, lambda before, now: (before + now) / 2)


def _over_recall(queries: Sequence[Judged], height: Callable[[float, float], float]) -> float | None:
    steps = _steps(queries)
    if not steps or not steps[-1].with_evidence or not steps[-1].without:
        return has_evidence_rate(queries)
    area, found, precision = 0.0, 0, 1.0
    for step in steps:
        before, precision = precision, step.with_evidence / (step.with_evidence + step.without)
        area += (step.with_evidence - found) * height(before, precision)
        found = step.with_evidence
    return area / found


def tpr_at_fpr(queries: Sequence[Judged], target: Fraction, *, all_points: bool = True) -> float:
    """The largest share of queries with evidence found while false alarms stay within the target; one class is 0."""
    best = _last_within(queries, target, all_points=all_points)
    return best.with_evidence / sum(query.gold > 0 for query in queries) if best else 0.0


def fpr_within(queries: Sequence[Judged], target: Fraction) -> float:
    """The share of false alarms at that threshold; 0 where there is none."""
    best = _last_within(queries, target)
    return best.without / sum(query.gold == 0 for query in queries) if best else 0.0


def threshold_at_fpr(queries: Sequence[Judged], target: Fraction, *, all_points: bool = True) -> float | None:
    """The lowest threshold whose false alarms stay within the target; None where no probability is one."""
    best = _last_within(queries, target, all_points=all_points)
    return None if best is None or math.isinf(best.threshold) else best.threshold


def first_threshold_at_fpr(queries: Sequence[Judged], target: Fraction) -> float | None:
    """The highest threshold that finds as much as the lowest does."""
    best = _last_within(queries, target)
    reached = (step for step in _steps(queries) if best and step.with_evidence == best.with_evidence)
    return next((step.threshold for step in reached), None)


def _last_within(queries: Sequence[Judged], target: Fraction, *, all_points: bool = True) -> Step | None:
    steps = _steps(queries)
    if not steps or not steps[-1].with_evidence or not steps[-1].without:
        return None
    allowed = target * steps[-1].without
    best = Step(math.inf, 0, 0)
    for step in steps if all_points else _corners(steps):
        if step.without <= allowed:
            best = step
    return best


def _corners(steps: Sequence[Step]) -> list[Step]:
    """The points a curve keeps when those on a straight line between their neighbours are dropped."""
    kept = [*steps[:1]]
    for before, step, after in zip(steps, steps[1:], steps[2:], strict=False):
        turns = [after[side] - 2 * step[side] + before[side] for side in (1, 2)]
        if any(turns):
            kept.append(step)
    return [*kept, *steps[1:][-1:]]


def _steps(queries: Sequence[Judged]) -> list[Step]:
    """What each different probability, from the largest down, finds when it is the threshold."""
    counts: dict[float, list[int]] = {}
    for query in queries:
        if query.prob is not None:
            counts.setdefault(query.prob, [0, 0])[query.gold == 0] += 1
    steps, found, alarms = [], 0, 0
    for threshold in sorted(counts, reverse=True):
        found += counts[threshold][0]
        alarms += counts[threshold][1]
        steps.append(Step(threshold, found, alarms))
    return steps


def ece(queries: Sequence[Judged], bins: int, binning: Callable[[float, int], int | None]) -> float | None:
    """How far probabilities and outcomes are apart, bin by bin; what falls in no bin still counts in the divisor."""
    probabilities = [query.prob for query in queries if query.prob is not None]
    if not probabilities or not all(0 <= prob <= 1 for prob in probabilities):
        return None
    gaps = [0.0] * bins
    for query in queries:
        place = None if query.prob is None else binning(query.prob, bins)
        if place is not None and query.prob is not None:
            gaps[place] += (query.gold > 0) - query.prob
    return math.fsum(map(abs, gaps)) / len(probabilities)


def by_decimal(prob: float, bins: int) -> int | None:
    """The bin of the number as it prints, so that 0.3 opens the fourth of ten; 1 is in the last."""
    return min(int(Fraction(repr(prob)) * bins), bins - 1)


def by_rounded_edge(prob: float, bins: int) -> int | None:
    """The bin by edges that are multiples of 1/bins in floating point; 1 is in the last."""
    place = open_by_rounded_edge(prob, bins)
    return bins - 1 if place is None else place


def open_by_rounded_edge(prob: float, bins: int) -> int | None:
    """The same, but the last bin is open and 1 is in none."""
    edges = [*(number * (1 / bins) for number in range(bins)), 1.0]
    for place in range(bins):
        if edges[place] <= prob < edges[place + 1]:
            return place
    return None


def closed_on_the_right(prob: float, bins: int) -> int | None:
    """The bin of the number as it prints, when bins hold their upper edge and 0 is in the first."""
    return max(math.ceil(Fraction(repr(prob)) * bins) - 1, 0)
