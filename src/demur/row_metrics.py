"""Metrics of rows: lists of `ItemPrediction` in, plain floats out.

Rows may repeat (a bootstrap sample does). Scores are integers in the instrument's range, None is an abstention.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from demur.coverage import Coverage
from demur.curve import Curve
from demur.errors import UserError, literal, shown
from demur.graded import Clusters, Graded
from demur.instruments import PHQ8, Instrument
from demur.instruments import instrument as instrument_of
from demur.losses import loss as loss_named
from demur.quantities import areas, excess, operating

LossName = Literal["abs", "abs_norm", "zero_one"]


@dataclass(frozen=True, slots=True)
class ItemPrediction:
    """One item of one participant: what was predicted (None: abstained), what is true, and how sure the system was."""

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


def compute_risk_coverage_curve(
    items: Rows, *, loss: LossName, instrument: str | Instrument = PHQ8
) -> RiskCoverageCurve:
    """The operating points of the rows.

    >>> rows = [ItemPrediction(1, 0, 2, 2, 2), ItemPrediction(1, 1, 3, 1, 2), ItemPrediction(1, 2, None, 0, 0)]
    >>> compute_risk_coverage_curve(rows, loss="abs").selective_risk
    [1.0]
    """
    curve = _curve(items, loss, instrument)
    return RiskCoverageCurve(
        coverage=curve.coverage.tolist(),
        selective_risk=curve.selective_risk.tolist(),
        generalized_risk=curve.generalized_risk.tolist(),
        threshold=curve.threshold.tolist(),
        cmax=curve.cmax,
    )


def compute_cmax(items: Rows, *, instrument: str | Instrument = PHQ8) -> float:
    """Share of the rows that are answered."""
    return float(areas.cmax(_curve(items, "abs", instrument)))


def compute_aurc(items: Rows, *, loss: LossName, instrument: str | Instrument = PHQ8) -> float:
    """Area under the selective risk over [0, Cmax]; 0.0 when nothing is answered."""
    return float(areas.aurc(_curve(items, loss, instrument)))


def compute_augrc(items: Rows, *, loss: LossName, instrument: str | Instrument = PHQ8) -> float:
    """Area under the generalized risk over [0, Cmax]; 0.0 when nothing is answered."""
    return float(areas.augrc(_curve(items, loss, instrument)))


def compute_aurc_at_coverage(
    items: Rows, *, max_coverage: float, loss: LossName, instrument: str | Instrument = PHQ8
) -> float:
    """Area under the selective risk over [0, min(max_coverage, Cmax)]."""
    return float(operating.aurc_at(_curve(items, loss, instrument), Coverage.of(max_coverage)))


def compute_augrc_at_coverage(
    items: Rows, *, max_coverage: float, loss: LossName, instrument: str | Instrument = PHQ8
) -> float:
    """Area under the generalized risk over [0, min(max_coverage, Cmax)]."""
    return float(operating.augrc_at(_curve(items, loss, instrument), Coverage.of(max_coverage)))


def compute_risk_at_coverage(
    items: Rows, *, target_coverage: float, loss: LossName, instrument: str | Instrument = PHQ8
) -> float | None:
    """Selective risk of the first operating point that reaches the coverage; None where none does."""
    value = operating.risk_at(_curve(items, loss, instrument), Coverage.of(target_coverage))
    return None if math.isnan(value) else value


def compute_aurc_optimal(items: Rows, *, loss: LossName, instrument: str | Instrument = PHQ8) -> float:
    """The AURC of the same losses in the oracle order."""
    return float(excess.aurc_optimal(_curve(items, loss, instrument)))


def compute_augrc_optimal(items: Rows, *, loss: LossName, instrument: str | Instrument = PHQ8) -> float:
    """The AUGRC of the same losses in the oracle order."""
    return float(excess.augrc_optimal(_curve(items, loss, instrument)))


def compute_eaurc(items: Rows, *, loss: LossName, instrument: str | Instrument = PHQ8) -> float:
    """AURC above that of the oracle order; slightly negative where plateaus make it so."""
    return float(excess.eaurc(_curve(items, loss, instrument)))


def compute_eaugrc(items: Rows, *, loss: LossName, instrument: str | Instrument = PHQ8) -> float:
    """AUGRC above that of the oracle order."""
    return float(excess.eaugrc(_curve(items, loss, instrument)))


def compute_aurc_achievable(items: Rows, *, loss: LossName, instrument: str | Instrument = PHQ8) -> float:
    """The AURC over the vertices of the curve's lower convex hull."""
    return float(excess.aurc_achievable(_curve(items, loss, instrument)))


def _curve(items: Rows, loss: str, instrument: str | Instrument) -> Curve:
    return Curve.of(graded_rows(list(items), loss, instrument))


def graded_rows(rows: list[ItemPrediction], loss: str, instrument: str | Instrument = PHQ8) -> Graded:
    """Rows with their losses and confidences, checked, and whose they are."""
    chosen, bounds = loss_named(loss), instrument_of(instrument)
    refuse_other_rows(rows)
    truth, answer, confidence = [], [], []
    for position, row in enumerate(rows):
        gt = _score(row.gt, "gt", row, position, bounds)
        if row.pred is not None:
            truth.append(gt)
            answer.append(_score(row.pred, "pred", row, position, bounds))
            confidence.append(_confidence(row, position))
    losses = chosen.numerators(np.array(truth, dtype=np.int64), np.array(answer, dtype=np.int64))
    sureness = np.array(confidence, dtype=np.float64)
    owner = [row.participant_id for row in rows]
    return Graded(
        units=len(rows),
        loss=losses,
        confidence=sureness,
        divisor=chosen.divisor(bounds),
        loss_name=loss,
        clusters=Clusters.of(owner, np.array([row.pred is not None for row in rows], dtype=bool)),
        largest_loss=chosen.largest(bounds),
    )


def refuse_other_rows(rows: Sequence[object]) -> None:
    """Anything but a row among the rows is an error."""
    for position, row in enumerate(rows):
        if not isinstance(row, ItemPrediction):
            raise UserError(f"row {position} is {literal(row)}, expected an ItemPrediction")


def _score(value: object, name: str, row: ItemPrediction, position: int, instrument: Instrument) -> int:
    number = finite_number(value)
    if number is None or not number.is_integer() or not instrument.minimum <= number <= instrument.maximum:
        expected = instrument.score if name == "gt" else f"{instrument.score} or None"
        raise UserError(f"{_place(row, position)}: {name} {literal(value)}, expected {expected}")
    return int(number)


def _confidence(row: ItemPrediction, position: int) -> float:
    number = finite_number(row.confidence)
    if number is None:
        raise UserError(f"{_place(row, position)}: confidence {literal(row.confidence)}, expected a finite number")
    return number


def finite_number(value: object) -> float | None:
    """The value as a finite double; None for a bool, for what is no number, and for what no double can hold."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    rounded = isinstance(value, (int, np.integer)) and number != value
    return number if math.isfinite(number) and not rounded else None


def _place(row: ItemPrediction, position: int) -> str:
    return f"row {position} (participant {shown(row.participant_id)}, item {shown(row.item_index)})"
