"""Figures of detection and calibration. A row is (probability, outcome), the outcome from 0 to 1."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import groupby
from typing import NamedTuple

from demur.extensions.audit.retrieval_figures.numbers import Figure, Number

Row = tuple[float, float]
Rows = Sequence[Row]
Binning = Callable[[float, int], int | None]

BINS = 10


class RocPoint(NamedTuple):
    """The numbers of true and false positives at a threshold."""

    threshold: float
    true: int
    false: int


def equal_width(probability: float, bins: int) -> int | None:
    """The index of the bin of equal width; an edge, the double nearest to k/bins, belongs to the bin above it."""
    return sum(probability >= edge / bins for edge in range(1, bins))


def open_ended(probability: float, bins: int) -> int | None:
    """The index of the bin between multiples of 1/bins in floating point; None for 1, which is in no bin."""
    return None if probability >= 1 else sum(probability >= edge * (1 / bins) for edge in range(1, bins))


def ece(rows: Rows, bins: int = BINS, binning: Binning = equal_width) -> float | None:
    """The expected calibration error; a forecast in no bin still counts in the divisor."""
    gaps = [math.fsum(outcome - p for p, outcome in members) for members in binned(rows, bins, binning)]
    return math.fsum(map(abs, gaps)) / len(rows) if rows else None


def auroc(rows: Rows) -> Fraction | None:
    """The share of pairs in which the positive has the larger probability, ties counting one half."""
    points = roc(rows)
    if points is None:
        return None
    ranked, before = Fraction(0), RocPoint(math.inf, 0, 0)
    for point in points:
        ranked += Fraction((point.false - before.false) * (point.true + before.true), 2)
        before = point
    return ranked / (before.true * before.false)


def auprc(rows: Rows, *, trapezoids: bool = False) -> Fraction | None:
    """Average precision, or the area by trapezoids, which some tools report."""
    points = roc(rows)
    if points is None:
        return None
    covered, caught, precision = Fraction(0), 0, Fraction(1)
    for point in points:
        before, precision = precision, Fraction(point.true, point.true + point.false)
        covered += (point.true - caught) * ((before + precision) / 2 if trapezoids else precision)
        caught = point.true
    return covered / caught


def tpr_at_fpr(rows: Rows, rate: Fraction, *, all_points: bool = True) -> Fraction | None:
    """The largest true positive rate with a false positive rate of at most `rate`."""
    points = roc(rows)
    best = points and last_within(rows, rate, all_points=all_points)
    return (Fraction(best.true, points[-1].true) if best else Fraction(0)) if points else None


FIGURES: dict[str, Figure] = {"ece": ece, "auroc": auroc, "auprc": auprc, "tpr@fpr=F": tpr_at_fpr}


def detection(name: str, rows: Rows, *at: Fraction) -> Number | None:
    """A figure of detection by name; with one class, AUROC is 0.5, AUPRC the rate of positives, and TPR 0."""
    value = FIGURES[name](rows, *at)
    if value is not None or not rows:
        return value
    by_convention: dict[str, Number] = {"auroc": 0.5, "auprc": mean_outcome(rows), "tpr@fpr=F": 0.0}
    return by_convention[name]


def threshold_at_fpr(rows: Rows, rate: Fraction, *, all_points: bool = True) -> tuple[float | None, Number, Number]:
    """The lowest threshold with a false positive rate of at most `rate`, and both rates there."""
    points, best = roc(rows), last_within(rows, rate, all_points=all_points)
    if points is None or best is None:
        return None, Fraction(0), Fraction(0)
    return best.threshold, Fraction(best.true, points[-1].true), Fraction(best.false, points[-1].false)


def roc(rows: Rows) -> list[RocPoint] | None:
    """The ROC points of all distinct probabilities, the largest first; None if there is one class."""
    points, true, false = [], 0, 0
    for threshold, group in groupby(sorted(rows, reverse=True), key=lambda row: row[0]):
        outcomes = [outcome for _, outcome in group]
        true, false = true + outcomes.count(1), false + outcomes.count(0)
        points.append(RocPoint(threshold, true, false))
    return points if true and false and true + false == len(rows) else None


def last_within(rows: Rows, rate: Fraction, *, all_points: bool = True) -> RocPoint | None:
    """The last ROC point within a false positive rate; unless `all_points`, without points halfway between others."""
    points = roc(rows) or []
    kept = points if all_points else _without_halfway(points)
    return next((point for point in reversed(kept) if point.false <= rate * points[-1].false), None)


def _without_halfway(points: list[RocPoint]) -> list[RocPoint]:
    """The ROC points without those halfway between their neighbours, which some tools drop."""
    inner = [
        point
        for before, point, after in zip(points, points[1:], points[2:], strict=False)
        if any(after[side] - 2 * point[side] + before[side] for side in (1, 2))
    ]
    return [*points[:1], *inner, *points[1:][-1:]]


def binned(rows: Rows, bins: int, binning: Binning = equal_width) -> list[list[Row]]:
    """The rows of each bin that is not empty."""
    by_bin: dict[int, list[Row]] = {}
    for row in rows:
        index = binning(row[0], bins)
        if index is not None:
            by_bin.setdefault(index, []).append(row)
    return [*by_bin.values()]


def mean_outcome(rows: Rows) -> float:
    """The mean of the outcomes."""
    return math.fsum(outcome for _, outcome in rows) / len(rows)
