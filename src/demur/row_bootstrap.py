"""Bootstrap of the row API: any function of a list of rows, resampled by participant."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from demur import row_metrics
from demur.coverage import Coverage
from demur.draws import drawn_clusters
from demur.errors import UserError, literal, shown
from demur.intervals import MOST_DROPPED
from demur.items import checked_ids, sorted_ids
from demur.quantities import QUANTITIES, Measure
from demur.resample import Plan, bootstrap
from demur.row_metrics import ItemPrediction
from demur.table import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MetricFunction = Callable[[list[ItemPrediction]], float | None]
People = dict[int | str, list[ItemPrediction]]

# Which metric a function of ours computes; the keyword that holds its coverage, where it has one.
_OURS: dict[Callable[..., Any], tuple[str, str | None]] = {
    row_metrics.compute_cmax: ("cmax", None),
    row_metrics.compute_aurc: ("aurc", None),
    row_metrics.compute_augrc: ("augrc", None),
    row_metrics.compute_aurc_optimal: ("aurc_optimal", None),
    row_metrics.compute_augrc_optimal: ("augrc_optimal", None),
    row_metrics.compute_eaurc: ("eaurc", None),
    row_metrics.compute_eaugrc: ("eaugrc", None),
    row_metrics.compute_aurc_achievable: ("aurc_achievable", None),
    row_metrics.compute_aurc_at_coverage: ("aurc@C", "max_coverage"),
    row_metrics.compute_augrc_at_coverage: ("augrc@C", "max_coverage"),
    row_metrics.compute_risk_at_coverage: ("risk@C", "target_coverage"),
}


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
    >>> found = bootstrap_by_participant(rows, metric_fn=aurc, n_resamples=1000, seed=1)
    >>> found.point_estimate, [round(end, 3) for end in found.ci95]
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
    """The same for the difference right − left of two systems on the same participants and the same draws."""
    plan = Plan(n_resamples, seed)
    left_rows, right_rows = _by_participant(items_left), _by_participant(items_right)
    _refuse_unpaired(left_rows, right_rows)
    left, right = _checked(metric_fn(list(items_left))), _checked(metric_fn(list(items_right)))
    delta = None if left is None or right is None else right - left
    values = _values(right_rows, items_right, metric_fn, plan) - _values(left_rows, items_left, metric_fn, plan)
    return BootstrapDeltaResult(left, right, delta, *_summary(delta, values, len(left_rows)), n_resamples)


def _refuse_unpaired(left: People, right: People) -> None:
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
    number = None if value is None else row_metrics.finite_number(value)
    if value is not None and number is None:
        raise UserError(f"metric_fn gave {literal(value)}, expected a finite number, or None for not reached")
    return number


def _by_participant(items: Sequence[ItemPrediction]) -> People:
    """Rows of each participant, participants in the order they are drawn in."""
    if not items:
        raise UserError("there are no rows: nothing can be resampled")
    row_metrics.refuse_other_rows(items)
    checked_ids([row.participant_id for row in items], "participant")
    rows: People = {person: [] for person in sorted_ids(row.participant_id for row in items)}
    for row in items:
        rows[row.participant_id].append(row)
    return rows


def _values(rows: People, items: Sequence[ItemPrediction], metric_fn: MetricFunction, plan: Plan) -> Floats:
    """The function's value in every replicate; nan where it gives None."""
    if not plan.n_resamples:
        return np.zeros(0)
    ours = _recognised(metric_fn)
    if ours is not None:
        measure, options = ours
        graded = row_metrics.graded_rows(list(items), **options)
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
    """The measure a function of ours stands for, and how it grades rows."""
    function: Callable[..., Any] = metric_fn
    keywords: dict[str, Any] = {}
    if isinstance(metric_fn, partial) and not metric_fn.args:
        function, keywords = metric_fn.func, dict(metric_fn.keywords)
    name, coverage_keyword = _OURS.get(function, (None, None)) if isinstance(function, FunctionType) else (None, None)
    if name is None or (coverage_keyword and coverage_keyword not in keywords):
        return None
    coverage = Coverage.of(keywords.pop(coverage_keyword)) if coverage_keyword else None
    return Measure(QUANTITIES[name], coverage, coverage.text if coverage else ""), {"loss": "abs"} | keywords


def _summary(
    point: float | None, values: Floats, participants: int
) -> tuple[tuple[float, float] | None, float | None, float]:
    """Percentile interval, standard error and drop rate; no interval where the number or most replicates lack."""
    reached = values[~np.isnan(values)]
    drop_rate = float(np.isnan(values).mean()) if len(values) else 0.0
    if participants == 1 and point is not None and len(reached):
        return (point, point), 0.0, drop_rate  # every replicate is the sample itself
    error = float(np.std(reached, ddof=1)) if len(reached) > 1 else None
    if point is None or not len(reached) or drop_rate > MOST_DROPPED:
        return None, error, drop_rate
    low, high = np.quantile(reached, [0.025, 0.975])
    return (float(low), float(high)), error, drop_rate
