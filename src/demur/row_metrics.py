"""Metrics of rows: lists of `ItemPrediction` in, plain floats out.

Rows may repeat (a bootstrap sample does). Scores are integers in the instrument's range, None is an abstention. Most
functions are a signature and a sentence: `_of_rows` names the quantity, and computes it.
"""

# mypy: disable-error-code="empty-body"

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np

from demur.columns import Column, State
from demur.coverage import Coverage
from demur.curve import Curve
from demur.errors import UserError, literal, shown
from demur.graded import Clusters, Graded
from demur.instruments import PHQ8, Instrument
from demur.instruments import instrument as instrument_of
from demur.losses import loss as loss_named
from demur.quantities import QUANTITIES, Measure


@dataclass(frozen=True, slots=True)
class ItemPrediction:
    """One item of one participant: the prediction (None: abstained), the truth, and how confident the system was."""

    participant_id: int | str
    item_index: int
    pred: int | None
    gt: int
    confidence: float


@dataclass(frozen=True, slots=True)
class RiskCoverageCurve:
    """Operating points, most confident first: coverage increases, thresholds decrease, the last coverage is cmax."""

    coverage: list[float]
    selective_risk: list[float]
    generalized_risk: list[float]
    threshold: list[float]
    cmax: float


Rows = Sequence[ItemPrediction]
_F = TypeVar("_F", bound=Callable[..., float | None])
_QUANTITY_OF: dict[Callable[..., Any], str] = {}


def _of_rows(quantity: str) -> Callable[[_F], _F]:
    """Make a function of rows from its signature: the quantity of that name, None where it is undefined."""

    def make(declared: _F) -> _F:
        signature = inspect.signature(declared)

        @wraps(declared)
        def compute(*args: Any, **keywords: Any) -> float | None:
            options = signature.bind(*args, **keywords).arguments
            rows = list(options.pop("items"))
            measure, grading = measured_by(compute, options)
            value = float(measure(Curve.of(graded_rows(rows, **grading))))
            return None if math.isnan(value) else value

        _QUANTITY_OF[compute] = quantity
        return cast("_F", compute)

    return make


def is_of_rows(function: object) -> bool:
    """Whether a function of this module computes a quantity."""
    return inspect.isfunction(function) and function in _QUANTITY_OF


def measured_by(function: Callable[..., Any], options: Mapping[str, Any]) -> tuple[Measure, dict[str, Any]]:
    """What a function of rows takes with these options: a measure, and how rows are graded for it."""
    grading = {"loss": "abs"} | dict(options)
    quantity = QUANTITIES[_QUANTITY_OF[function]]
    if quantity.parameter is None:
        return Measure(quantity), grading
    keyword = next(name for name in grading if name.endswith("_coverage"))
    coverage = Coverage.of(grading.pop(keyword))
    return Measure(quantity, coverage, coverage.text), grading


def compute_risk_coverage_curve(items: Rows, *, loss: str, instrument: str | Instrument = PHQ8) -> RiskCoverageCurve:
    """The operating points of the rows.

    >>> rows = [ItemPrediction(1, 0, 2, 2, 2), ItemPrediction(1, 1, 3, 1, 2), ItemPrediction(1, 2, None, 0, 0)]
    >>> compute_risk_coverage_curve(rows, loss="abs").selective_risk
    [1.0]
    """
    curve = Curve.of(graded_rows(list(items), loss, instrument))
    return RiskCoverageCurve(
        coverage=curve.coverage.tolist(),
        selective_risk=curve.selective_risk.tolist(),
        generalized_risk=curve.generalized_risk.tolist(),
        threshold=curve.threshold.tolist(),
        cmax=curve.cmax,
    )


@_of_rows("cmax")
def compute_cmax(items: Rows, *, instrument: str | Instrument = PHQ8) -> float:
    """Share of the rows that are answered."""


@_of_rows("aurc")
def compute_aurc(items: Rows, *, loss: str, instrument: str | Instrument = PHQ8) -> float:
    """Area under the selective risk over [0, Cmax]; 0.0 when nothing is answered."""


@_of_rows("augrc")
def compute_augrc(items: Rows, *, loss: str, instrument: str | Instrument = PHQ8) -> float:
    """Area under the generalized risk over [0, Cmax]; 0.0 when nothing is answered."""


@_of_rows("aurc@C")
def compute_aurc_at_coverage(
    items: Rows, *, max_coverage: float, loss: str, instrument: str | Instrument = PHQ8
) -> float:
    """Area under the selective risk over [0, min(max_coverage, Cmax)]."""


@_of_rows("augrc@C")
def compute_augrc_at_coverage(
    items: Rows, *, max_coverage: float, loss: str, instrument: str | Instrument = PHQ8
) -> float:
    """Area under the generalized risk over [0, min(max_coverage, Cmax)]."""


@_of_rows("risk@C")
def compute_risk_at_coverage(
    items: Rows, *, target_coverage: float, loss: str, instrument: str | Instrument = PHQ8
) -> float | None:
    """Selective risk of the first operating point that reaches the coverage; None where none does."""


@_of_rows("aurc_optimal")
def compute_aurc_optimal(items: Rows, *, loss: str, instrument: str | Instrument = PHQ8) -> float:
    """The AURC of the same losses in the oracle order."""


@_of_rows("augrc_optimal")
def compute_augrc_optimal(items: Rows, *, loss: str, instrument: str | Instrument = PHQ8) -> float:
    """The AUGRC of the same losses in the oracle order."""


@_of_rows("eaurc")
def compute_eaurc(items: Rows, *, loss: str, instrument: str | Instrument = PHQ8) -> float:
    """AURC above that of the oracle order; slightly negative where plateaus make it so."""


@_of_rows("eaugrc")
def compute_eaugrc(items: Rows, *, loss: str, instrument: str | Instrument = PHQ8) -> float:
    """AUGRC above that of the oracle order."""


@_of_rows("aurc_achievable")
def compute_aurc_achievable(items: Rows, *, loss: str, instrument: str | Instrument = PHQ8) -> float:
    """The AURC over the vertices of the curve's lower convex hull."""


def graded_rows(rows: list[ItemPrediction], loss: str, instrument: str | Instrument = PHQ8) -> Graded:
    """Rows with their losses and confidences, checked, and whose they are."""
    chosen, bounds = loss_named(loss), instrument_of(instrument)
    check_rows(rows)

    def position(index: int) -> str:
        row = rows[index]
        return f"row {index} (participant {shown(row.participant_id)}, item {shown(row.item_index)})"

    names = ("gt", "pred", "confidence")
    truth, answer, confidence = (Column.from_sequence([getattr(row, name) for row in rows]) for name in names)
    answered = ~answer.is_(State.NULL)
    score = (bounds.minimum, bounds.maximum)
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


def check_rows(rows: Sequence[object]) -> None:
    """Anything but a row among the rows is an error."""
    for index, row in enumerate(rows):
        if not isinstance(row, ItemPrediction):
            raise UserError(f"row {index} is {literal(row)}, expected an ItemPrediction")
