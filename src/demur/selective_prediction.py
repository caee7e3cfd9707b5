"""The row-by-row API: functions from lists of `ItemPrediction` to plain numbers.

Rows may repeat (a bootstrap sample does). Scores are integers in the instrument's range, None is an abstention. Most
functions are a signature and a quantity; any function of a list of rows can be resampled by participant.
"""

# mypy: disable-error-code="empty-body"

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any, TypeVar, cast

import numpy as np

from demur.errors import UserError, literal, shown
from demur.facts.columns import Column, State, plain
from demur.facts.frames import Record, Tabular
from demur.facts.ids import checked_ids, sorted_ids
from demur.facts.instruments import PHQ8, Instrument
from demur.facts.instruments import instrument as instrument_of
from demur.feature import required
from demur.inference.evidence import Evidence
from demur.inference.intervals import interval
from demur.quantities import Measure, Quantity
from demur.quantities.curve import POINT_COLUMNS, Curve
from demur.quantities.losses import loss as loss_named
from demur.quantities.registry import QUANTITIES
from demur.sampling.coverage import Coverage
from demur.sampling.draws import drawn_clusters
from demur.sampling.graded import Clusters, Graded
from demur.sampling.resample import Plan, bootstrap
from demur.sampling.table import Table
from demur.types import Floats


@dataclass(frozen=True, slots=True)
class ItemPrediction:
    """One item of one participant: the prediction (None if abstained), the truth and the confidence."""

    participant_id: int | str
    item_index: int
    pred: int | None
    gt: int
    confidence: float


@dataclass(frozen=True, slots=True)
class RiskCoverageCurve(Tabular):
    """Operating points, most confident first: coverage increases, thresholds decrease, the last coverage is cmax."""

    coverage: list[float]
    selective_risk: list[float]
    generalized_risk: list[float]
    threshold: list[float]
    cmax: float

    def to_columns(self) -> dict[str, list[Any]]:
        """The operating points as columns."""
        return {name: getattr(self, name) for name in POINT_COLUMNS}


Rows = Sequence[ItemPrediction]
Dicts = Sequence[Mapping[str, Any]]
People = dict[int | str, list[ItemPrediction]]
MetricFunction = Callable[[list[ItemPrediction]], float | None]
Scale = str | Instrument
_F = TypeVar("_F", bound=Callable[..., float | None])
_QUANTITY_OF: dict[Callable[..., Any], Quantity] = {}


def compute_risk_coverage_curve(items: Rows, *, loss: str, instrument: Scale = PHQ8) -> RiskCoverageCurve:
    """Compute the operating points of the rows.

    >>> rows = [ItemPrediction(1, 0, 2, 2, 2), ItemPrediction(1, 1, 3, 1, 2), ItemPrediction(1, 2, None, 0, 0)]
    >>> compute_risk_coverage_curve(rows, loss="abs").selective_risk
    [1.0]
    """
    curve = Curve.of(_graded_rows(list(items), loss, instrument))
    return RiskCoverageCurve(**curve.to_columns(), cmax=curve.cmax)


def _of_rows(declared: _F, name: str) -> _F:
    """A function of rows with the declared signature: the quantity of that name, None where it is undefined."""
    signature, quantity = inspect.signature(declared), QUANTITIES[name]

    @wraps(declared)
    def compute(*args: Any, **keywords: Any) -> float | None:
        options = signature.bind(*args, **keywords).arguments
        measure, graded = _measured(compute, options.pop("items"), options)
        return _or_none(float(measure(Curve.of(graded))))

    compute.__name__ = compute.__qualname__ = f"compute_{name.replace('@C', '_at_coverage')}"
    compute.__doc__ = (quantity.function.__doc__ or "").partition(">>>")[0]
    _QUANTITY_OF[compute] = quantity
    return cast("_F", compute)


def _measured(function: Callable[..., Any], rows: Rows, options: Mapping[str, Any]) -> tuple[Measure, Graded]:
    """What a function of rows takes with these options, and the rows as they are graded for it."""
    quantity, declared = _QUANTITY_OF[function], inspect.signature(function).parameters.values()
    defaults = {each.name: each.default for each in declared if each.default is not each.empty}
    grading, coverage = {"loss": "abs"} | defaults | dict(options), None
    if quantity.parameter is not None:
        coverage = Coverage.of(grading.pop(next(name for name in grading if name.endswith("_coverage"))))
    return Measure(quantity, coverage, coverage.text if coverage else ""), _graded_rows(list(rows), **grading)


def _graded_by(items: Rows, *, instrument: Scale = PHQ8) -> float: ...
def _loss(items: Rows, *, loss: str, instrument: Scale = PHQ8) -> float: ...
def _optimum(items: Rows, *, loss: str = "abs_norm", instrument: Scale = PHQ8) -> float: ...
def _area(items: Rows, *, max_coverage: float, loss: str, instrument: Scale = PHQ8) -> float: ...
def _risk(items: Rows, *, target_coverage: float, loss: str, instrument: Scale = PHQ8) -> float | None: ...


compute_cmax = _of_rows(_graded_by, "cmax")
_aurc = _of_rows(_loss, "aurc")
compute_augrc = _of_rows(_loss, "augrc")
compute_aurc_at_coverage = _of_rows(_area, "aurc@C")
compute_augrc_at_coverage = _of_rows(_area, "augrc@C")
compute_risk_at_coverage = _of_rows(_risk, "risk@C")
compute_aurc_optimal = _of_rows(_optimum, "aurc_optimal")
compute_augrc_optimal = _of_rows(_optimum, "augrc_optimal")
compute_aurc_optimal_regression = compute_aurc_optimal
compute_eaurc = _of_rows(_loss, "eaurc")
compute_eaugrc = _of_rows(_loss, "eaugrc")
compute_aurc_achievable = _of_rows(_loss, "aurc_achievable")


def compute_aurc(items: Rows | Dicts, *, loss: str | None = None, instrument: Scale = PHQ8) -> float:
    """Area under the risk–coverage curve (`aurc`).

    Of dicts with `score` (None: abstained), `ground_truth` and `confidence`, and without a loss, it is the convention
    `item-by-item`, an older definition: absolute errors, every answer an operating point, equal confidences in the
    order of the list, and nothing below the first point.

    >>> rows = [ItemPrediction(1, 0, 1, 2, 0.9), ItemPrediction(1, 1, 2, 2, 0.5)]
    >>> compute_aurc(rows, loss="abs")
    0.875
    >>> compute_aurc([{"score": row.pred, "ground_truth": row.gt, "confidence": row.confidence} for row in rows])
    0.375
    """
    rows = list(items)
    if loss is not None:
        return _aurc(cast("Rows", rows), loss=loss, instrument=instrument)
    if not rows or not all(isinstance(row, Mapping) for row in rows):
        raise UserError("no loss is given: compute_aurc needs one, as loss='abs', unless its rows are dicts")
    graded = _graded_rows([*map(_row_of, range(len(rows)), cast("Dicts", rows))], "abs", instrument)
    if not graded.answered:
        return 0.0
    emulations = required("conventions", "compute_aurc of dicts without a loss").load("emulations")
    number: float = emulations.EMULATIONS["item-by-item"].emulated("aurc", emulations.Answers(graded)).value
    return number


_QUANTITY_OF[compute_aurc] = QUANTITIES["aurc"]


def _row_of(index: int, row: Mapping[str, Any]) -> ItemPrediction:
    missing = [key for key in ("score", "ground_truth") if key not in row]
    if row.get("score") is not None and "confidence" not in row:
        missing.append("confidence")
    if missing:
        raise UserError(f"row {index} has no {missing[0]}, expected score (None: abstained), ground_truth, confidence")
    return ItemPrediction(index, 0, row["score"], row["ground_truth"], row.get("confidence", 0.0))


def _graded_rows(rows: list[ItemPrediction], loss: str, instrument: Scale = PHQ8) -> Graded:
    """Rows with their losses and confidences, checked, and whose they are."""
    chosen, bounds = loss_named(loss), instrument_of(instrument)
    _check_rows(rows)

    def position(index: int) -> str:
        row = rows[index]
        return f"row {index} (participant {shown(row.participant_id)}, item {shown(row.item_index)})"

    cells = ([getattr(row, name) for row in rows] for name in ("gt", "pred", "confidence"))
    truth, answer, confidence = map(Column.from_sequence, cells)
    answered, score = ~answer.is_(State.NULL), (bounds.minimum, bounds.maximum)
    truth.refuse(~truth.within(*score, whole=True), "gt", bounds.score, position)
    answer.refuse(answered & ~answer.within(*score, whole=True), "pred", f"{bounds.score} or None", position)
    confidence.refuse(answered & ~confidence.usable(), "confidence", "a finite number", position)
    scores = (column.values[answered].astype(np.int64) for column in (truth, answer))
    return Graded(
        units=len(rows),
        loss=chosen.numerators(*scores),
        confidence=confidence.values[answered],
        divisor=chosen.divisor(bounds),
        loss_name=loss,
        clusters=Clusters.of([row.participant_id for row in rows], answered),
        largest_loss=chosen.largest(bounds),
    )


def _check_rows(rows: Sequence[object]) -> None:
    for index, row in enumerate(rows):
        if not isinstance(row, ItemPrediction):
            advice = "; only compute_aurc without a loss takes dicts" if isinstance(row, Mapping) else ""
            raise UserError(f"row {index} is {literal(row)}, expected an ItemPrediction{advice}")


@dataclass(frozen=True, slots=True)
class BootstrapResult(Record):
    """A number with its 95 % percentile interval and counts of resamples; `ci95` is None if there is none."""

    point_estimate: float | None
    ci95: tuple[float, float] | None
    std_error: float | None
    drop_rate: float
    n_resamples: int


@dataclass(frozen=True, slots=True)
class BootstrapDeltaResult(Record):
    """A paired difference, right − left, with its interval and the numbers of both sides."""

    point_estimate_left: float | None
    point_estimate_right: float | None
    delta_point_estimate: float | None
    ci95: tuple[float, float] | None
    std_error: float | None
    drop_rate: float
    n_resamples: int


def bootstrap_by_participant(items: Rows, *, metric_fn: MetricFunction, n_resamples: int, seed: int) -> BootstrapResult:
    """Resample participants and recompute a function of their rows; None from it means "not reached".

    A function of this package, given as it is or with `functools.partial(compute_aurc, loss="abs")`, is recognised and
    takes the fast way; the draws are the same.

    >>> rows = [ItemPrediction(person, 0, 1, person % 2, 1.0) for person in range(6)]
    >>> aurc = partial(compute_aurc, loss="abs")
    >>> result = bootstrap_by_participant(rows, metric_fn=aurc, n_resamples=1000, seed=1)
    >>> result.point_estimate, [round(end, 3) for end in result.ci95]
    (0.5, [0.167, 0.833])
    """
    plan, people = Plan(n_resamples, seed), _by_participant(items)
    point = _number(metric_fn(list(items)))
    values = _values(people, items, metric_fn, plan)
    return BootstrapResult(*_summary(point, values, len(people)), n_resamples)


def paired_bootstrap_delta_by_participant(
    items_left: Rows, items_right: Rows, *, metric_fn: MetricFunction, n_resamples: int, seed: int
) -> BootstrapDeltaResult:
    """Resample the difference right − left of two systems on the same participants."""
    plan = Plan(n_resamples, seed)
    left_rows, right_rows = _by_participant(items_left), _by_participant(items_right)
    if left_rows.keys() != right_rows.keys():
        stray = len(left_rows.keys() ^ right_rows.keys())
        raise UserError(f"the two sides hold different participants ({stray} are on one side only)")
    for person in left_rows:
        truth = [sorted((row.item_index, row.gt) for row in side[person]) for side in (left_rows, right_rows)]
        if truth[0] != truth[1]:
            raise UserError(f"participant {shown(person)}: items or ground truth differ between the two sides")
    left, right = _number(metric_fn(list(items_left))), _number(metric_fn(list(items_right)))
    values = _values(right_rows, items_right, metric_fn, plan) - _values(left_rows, items_left, metric_fn, plan)
    summary = _summary(right - left, values, len(left_rows))
    return BootstrapDeltaResult(_or_none(left), _or_none(right), *summary, n_resamples)


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value


def _number(value: Any) -> float:
    """What a metric function gives: a finite number, or None for "not reached", which is nan here."""
    if value is None:
        return math.nan
    number = Column.of([plain(value)])
    if not number.usable()[0]:
        raise UserError(f"metric_fn gave {literal(value)}, expected a finite number, or None for not reached")
    return float(number.values[0])


def _by_participant(items: Rows) -> People:
    """Rows of each participant, participants in the order they are drawn in."""
    if not items:
        raise UserError("there are no rows: nothing can be resampled")
    _check_rows(items)
    checked_ids([row.participant_id for row in items], "participant")
    rows: People = {person: [] for person in sorted_ids(row.participant_id for row in items)}
    for row in items:
        rows[row.participant_id].append(row)
    return rows


def _values(rows: People, items: Rows, metric_fn: MetricFunction, plan: Plan) -> Floats:
    """The function's value in every replicate; nan where it gives None."""
    if not plan.resamples:
        return np.zeros(0)
    function, options = metric_fn, {}
    if isinstance(metric_fn, partial) and not metric_fn.args:
        function, options = metric_fn.func, metric_fn.keywords
    if inspect.isfunction(function) and function in _QUANTITY_OF:
        measure, graded = _measured(function, items, options)
        return bootstrap(lambda sample: {"value": measure(sample)}, Table.of(graded), plan=plan)["value"]
    assert plan.seed is not None  # noqa: S101  (the plan has checked it)
    people, values = list(rows.values()), np.empty(plan.resamples)
    for replicate in range(plan.resamples):
        drawn = drawn_clusters(plan.seed, np.array([replicate]), len(people))[0]
        values[replicate] = _number(metric_fn([row for person in drawn.tolist() for row in people[person]]))
    return values


def _summary(
    point: float, values: Floats, participants: int
) -> tuple[float | None, tuple[float, float] | None, float | None, float]:
    """The number, its percentile interval and standard error, None where there is none, and the drop rate."""
    evidence = Evidence(point, values, participants)
    if not len(evidence.reached):
        return _or_none(point), None, None, evidence.drop_rate if len(values) else 0.0
    ci95 = interval("percentile", evidence)
    ends = ci95.ends if ci95 else None
    return _or_none(point), ends, _or_none(evidence.bootstrap_std_error), evidence.drop_rate
