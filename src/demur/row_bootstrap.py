"""Bootstrap of the row API: any function of a list of rows, resampled by participant."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from demur import row_metrics
from demur.columns import Column, plain
from demur.draws import drawn_clusters
from demur.errors import UserError, literal, shown
from demur.intervals import Evidence, interval
from demur.items import checked_ids, sorted_ids
from demur.quantities import Measure
from demur.resample import Plan, bootstrap
from demur.row_metrics import ItemPrediction
from demur.table import Table
from demur.types import Floats

MetricFunction = Callable[[list[ItemPrediction]], float | None]
People = dict[int | str, list[ItemPrediction]]


@dataclass(frozen=True, slots=True)
class BootstrapResult:
    """A number, its 95 % percentile interval and what it rests on. `ci95` is None where there is none."""

    point_estimate: float | None
    ci95: tuple[float, float] | None
    std_error: float | None
    drop_rate: float
    n_resamples: int


@dataclass(frozen=True, slots=True)
class BootstrapDeltaResult:
    """A paired difference, right − left, and the numbers it is between."""

    point_estimate_left: float | None
    point_estimate_right: float | None
    delta_point_estimate: float | None
    ci95: tuple[float, float] | None
    std_error: float | None
    drop_rate: float
    n_resamples: int


def bootstrap_by_participant(
    items: Sequence[ItemPrediction], *, metric_fn: MetricFunction, n_resamples: int, seed: int
) -> BootstrapResult:
    """Resample participants and recompute a function of their rows; None from it means "not reached".

    A function of this package, given as it is or with `functools.partial(compute_aurc, loss="abs")`, is recognised and
    takes the fast way; the draws are the same.

    >>> rows = [ItemPrediction(person, 0, 1, person % 2, 1.0) for person in range(6)]
    >>> aurc = partial(row_metrics.compute_aurc, loss="abs")
    >>> result = bootstrap_by_participant(rows, metric_fn=aurc, n_resamples=1000, seed=1)
    >>> result.point_estimate, [round(end, 3) for end in result.ci95]
    (0.5, [0.167, 0.833])
    """
    plan, people = Plan(n_resamples, seed), _by_participant(items)
    point = _checked(metric_fn(list(items)))
    values = _values(people, items, metric_fn, plan)
    return BootstrapResult(point, *_summary(point, values, len(people)), n_resamples)


def paired_bootstrap_delta_by_participant(
    items_left: Sequence[ItemPrediction],
    items_right: Sequence[ItemPrediction],
    *,
    metric_fn: MetricFunction,
    n_resamples: int,
    seed: int,
) -> BootstrapDeltaResult:
    """Resample the difference right − left of two systems on the same participants and the same draws."""
    plan = Plan(n_resamples, seed)
    left_rows, right_rows = _by_participant(items_left), _by_participant(items_right)
    _check_paired(left_rows, right_rows)
    left, right = _checked(metric_fn(list(items_left))), _checked(metric_fn(list(items_right)))
    delta = None if left is None or right is None else right - left
    values = _values(right_rows, items_right, metric_fn, plan) - _values(left_rows, items_left, metric_fn, plan)
    return BootstrapDeltaResult(left, right, delta, *_summary(delta, values, len(left_rows)), n_resamples)


def _check_paired(left: People, right: People) -> None:
    """The same participants, each with the same items and the same truth on both sides."""
    if left.keys() != right.keys():
        stray = len(left.keys() ^ right.keys())
        raise UserError(f"the two sides hold different participants ({stray} are on one side only)")
    for person, rows in left.items():
        truth = [sorted((row.item_index, row.gt) for row in side) for side in (rows, right[person])]
        if truth[0] != truth[1]:
            raise UserError(f"participant {shown(person)}: items or ground truth differ between the two sides")


def _checked(value: Any) -> float | None:
    """What a metric function gives: a finite number, or None for "not reached"."""
    if value is None:
        return None
    number = Column.of([plain(value)])
    if not number.usable()[0]:
        raise UserError(f"metric_fn gave {literal(value)}, expected a finite number, or None for not reached")
    return float(number.values[0])


def _by_participant(items: Sequence[ItemPrediction]) -> People:
    """Rows of each participant, participants in the order they are drawn in."""
    if not items:
        raise UserError("there are no rows: nothing can be resampled")
    row_metrics.check_rows(items)
    checked_ids([row.participant_id for row in items], "participant")
    rows: People = {person: [] for person in sorted_ids(row.participant_id for row in items)}
    for row in items:
        rows[row.participant_id].append(row)
    return rows


def _values(rows: People, items: Sequence[ItemPrediction], metric_fn: MetricFunction, plan: Plan) -> Floats:
    """The function's value in every replicate; nan where it gives None."""
    if not plan.n_resamples:
        return np.zeros(0)
    recognised = _recognised(metric_fn)
    if recognised is not None:
        measure, grading = recognised
        graded = row_metrics.graded_rows(list(items), **grading)
        return bootstrap(lambda sample: {"value": measure(sample)}, Table.of(graded), plan=plan)["value"]
    assert plan.seed is not None  # noqa: S101  (the plan has checked it)
    people = list(rows.values())
    values = np.empty(plan.n_resamples)
    for replicate in range(plan.n_resamples):
        drawn = drawn_clusters(plan.seed, np.array([replicate]), len(people))[0]
        value = _checked(metric_fn([row for person in drawn.tolist() for row in people[person]]))
        values[replicate] = math.nan if value is None else value
    return values


def _recognised(metric_fn: MetricFunction) -> tuple[Measure, dict[str, Any]] | None:
    """The measure a function of this package stands for, and how it grades rows."""
    function, options = metric_fn, {}
    if isinstance(metric_fn, partial) and not metric_fn.args:
        function, options = metric_fn.func, metric_fn.keywords
    return row_metrics.measured_by(function, options) if row_metrics.is_of_rows(function) else None


def _summary(
    point: float | None, values: Floats, participants: int
) -> tuple[tuple[float, float] | None, float | None, float]:
    """Percentile interval, standard error and drop rate; no interval where the number or most replicates lack."""
    evidence = Evidence(math.nan if point is None else point, values, participants)
    if not len(evidence.reached):
        return None, None, evidence.drop_rate if len(values) else 0.0
    ci95, error = interval("percentile", evidence), evidence.bootstrap_std_error
    return (ci95.low, ci95.high) if ci95 else None, None if math.isnan(error) else error, evidence.drop_rate
