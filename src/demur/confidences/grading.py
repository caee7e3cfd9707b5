"""Grading: the loss and the confidence of every answered unit, computed from a run or from columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from demur.confidences.serving import confidence as confidence_named
from demur.confidences.variants import Confidence
from demur.errors import UserError, check_kind, literal, unknown
from demur.facts.codes import Codes
from demur.facts.columns import Column, State, check_lengths, is_null, plain_values
from demur.facts.compact_array import CompactArray
from demur.facts.frames import columns_of, library_of
from demur.facts.ids import checked_ids
from demur.facts.instruments import Instrument
from demur.facts.instruments import instrument as instrument_of
from demur.facts.items import Items
from demur.facts.labels import Spelling
from demur.facts.losses import Losses
from demur.quantities import Measure, Scores
from demur.quantities.curve import Curve
from demur.quantities.losses import LOSSES, LossFunction, loss_of, needs_number, unnamed_loss
from demur.quantities.losses import loss as loss_named
from demur.sampling.graded import Clusters, Graded
from demur.types import Flags

if TYPE_CHECKING:
    from demur.confidences.calibration import AnyCalibration

Values = list[Any] | NDArray[Any]


def grade(items: Items, *, loss: str | None, confidence: Any, calibration: AnyCalibration | None = None) -> Graded:
    """Compute the loss and the confidence of every answered unit of a run.

    The default loss is `given` for a table of losses, `abs_norm` with an instrument, and `zero_one` of texts, or of 0
    and 1; of other numbers it must be named. The confidence is the name of a variant or of a signal, a `Confidence`, or
    a column of one number per unit in the order of the items. Calibrated variants need the `calibration`.
    """
    check_kind("grade", items, Items, "read_items(path) or read_table(frame) makes it; columns are for grade_units")
    name, answered = loss_of(items, loss), items.answered
    made_of = confidence if isinstance(confidence, Confidence) else None
    if isinstance(confidence, str):
        made_of = confidence_named(items, confidence, calibration)
    elif calibration is not None:
        raise UserError("a calibration goes with the name of a variant, not with confidences")
    column = Column.from_sequence(made_of.values if made_of else confidence)
    if len(column) != len(items):
        raise UserError(f"{len(column)} confidences, expected one for each of {len(items)} units")
    column.refuse(answered & ~column.usable(), "confidence", "a finite number", items.place)
    losses = losses_of(items, name)
    # A summary may have tens of millions of entries, with few distinct losses, confidences and counts.
    stored = CompactArray.of if items.count is not None else np.asarray
    return Graded(
        units=items.units,
        loss=stored(losses.numerators[answered]),
        confidence=stored(column.values[answered]),
        divisor=losses.divisor,
        abstained_nan=items.abstained_nan,
        loss_name=name,
        largest_loss=losses.largest,
        items=items,
        made_of=made_of,
        count=None if items.count is None else stored(items.count[answered]),
        library=items.source.library if items.source else "",
        clusters=Clusters(ids=items.cluster_ids, units=items.cluster_sizes(), of_answer=items.cluster[answered]),
    )


def losses_of(items: Items, name: str) -> Losses:
    """The loss of every unit, as the table has it or computed by name; it is defined only for answered units."""
    if items.losses is not None:
        return items.losses
    chosen, bounds = loss_named(name), items.instrument
    numerators = chosen.numerators(items.truth, items.answer)
    return Losses(numerators, chosen.divisor(bounds), chosen.largest(bounds), chosen.definition(bounds), True, name)  # noqa: FBT003


def grade_units(  # noqa: PLR0913  (each is a column or says how to read one)
    confidence: Any,
    *,
    loss: Any = None,
    truth: Any = None,
    prediction: Any = None,
    clusters: Any = None,
    data: Any = None,
    instrument: str | Path | Instrument | None = None,
) -> Graded:
    """Compute losses and confidences of units given as columns of equal length.

    Give either `loss` as a column of numbers, or `truth` and `prediction` and the name of a loss. It may be left out
    with an instrument (`abs`) and where all truths and predictions are 0 or 1 (`zero_one`).
    None or NaN as a loss or a prediction is an abstention, and its confidence is ignored. `clusters` has the sampled
    unit that each row belongs to, for example a participant's id; without it every unit is a cluster of its own. With
    `data`, a frame or a dict of columns, columns may be given by name. An `instrument` bounds the scores, and a
    normalised loss divides by its range. For `zero_one` without one, truths and predictions may be any labels.

    With `data` the `Items` of a reader, `confidence` is a signal's name or a column, and `loss` a name.

    >>> answers = {"truth": [2, 1, 1, 0], "prediction": [2, 3, 1, None], "loss": "abs"}
    >>> units = grade_units([2, 2, 1, 0], **answers, clusters=["a", "a", "b", "b"])
    >>> units.answered, units.clusters.ids
    (3, ('a', 'b'))
    """
    if isinstance(data, Items):
        if any(given is not None for given in (truth, prediction, clusters, instrument)):
            raise UserError("items bring their own truth, predictions, clusters and instrument: leave those out")
        return grade(data, loss=loss_of(data, loss, usual="abs"), confidence=confidence)
    column, frame = _column_finder(data), {"library": library_of(data, confidence, loss, truth, prediction)}
    _check_same_index(confidence, loss, truth, prediction, clusters)
    ids = None if clusters is None else checked_ids(column(clusters), "cluster")
    if truth is None and prediction is None:
        if loss is None or (isinstance(loss, str) and data is None):
            raise UserError("give a column of losses, or truth and prediction and the name of a loss")
        if instrument is not None:
            raise UserError("an instrument bounds truth and prediction; a column of losses has no use for it")
        return _graded(_given_losses(column(loss)), column(confidence), ids, {"loss_name": "as given", **frame})
    if truth is None or prediction is None:
        raise UserError("truth and prediction come together; or give a column of losses alone")
    if loss is not None and not isinstance(loss, str):
        raise UserError(f"with truth and prediction, loss is a name: one of {', '.join(LOSSES)}")
    bounds = None if instrument is None else instrument_of(instrument)
    chosen, losses = _losses(column(truth), column(prediction), loss, bounds)
    facts = {"divisor": chosen.divisor(bounds), "loss_name": chosen.name, "largest_loss": chosen.largest(bounds)}
    return _graded(losses, column(confidence), ids, facts | frame)


def risk_coverage(confidence: Any, **columns: Any) -> Curve:
    """Compute the risk–coverage curve of units given as columns; the arguments are those of `grade_units`.

    >>> risk_coverage(confidence=[2, 2, 1, 0], truth=[2, 1, 1, 0], prediction=[2, 3, 1, None], loss="abs")
    Curve(2 operating points, 4 units, 3 answered, Cmax 0.75)
    """
    return Curve.of(grade_units(confidence, **columns))


def measure(confidence: Any, *, metrics: str | Iterable[str | Measure] | None = None, **columns: Any) -> Scores:
    """Compute the metrics of units given as columns: all registered ones, or those named.

    The other arguments are those of `grade_units`.

    >>> measure([2, 2, 1, 0], loss=[0, 2, 0, None], metrics=["aurc", "augrc"])["augrc"]
    0.25
    """
    return Scores(risk_coverage(confidence, **columns), metrics)


def _column_finder(data: Any) -> Callable[[Any], Values]:
    """The function that gives the values of a column, which is a name in `data` or the values themselves."""
    if data is None:
        return plain_values
    columns = columns_of(data)

    def find(given: Any) -> Values:
        if not isinstance(given, str):
            return plain_values(given)
        if given not in columns:
            raise unknown("column of data", given, columns)
        return plain_values(columns[given])

    return find


def _check_same_index(*columns: Any) -> None:
    """Refuse pandas series with different indexes: columns are matched by position, which would ignore them."""
    indexes = [column.index for column in columns if hasattr(getattr(column, "index", None), "equals")]
    if any(not index.equals(indexes[0]) for index in indexes[1:]):
        raise UserError("the pandas columns have different indexes; align them first, or pass values (to_numpy())")


def _given_losses(values: Values) -> Column:
    """A column of losses; a bool is a loss of 0 or 1."""
    if isinstance(values, list) and any(type(value) is bool for value in values):
        values = [int(value) if type(value) is bool else value for value in values]
    losses = Column.from_sequence(values)
    wrong = ~(losses.usable() | losses.abstains())
    losses.refuse(wrong, "loss", "a finite number, or None or NaN for an abstention", _unit)
    return losses


def _losses(
    truth: Values, prediction: Values, name: str | None, bounds: Instrument | None
) -> tuple[LossFunction, Column]:
    """The loss, and its numerators; null or NaN where there is no prediction."""
    check_lengths({"truth": truth, "prediction": prediction})
    right, answer = Column.from_sequence(truth), Column.from_sequence(prediction)
    named = None if name is None else loss_named(name)
    if bounds is None and (right.other is not None or answer.other is not None):
        flags = all((column.is_flag() | column.abstains()).all() for column in (right, answer))
        if named.of_labels if named else flags:
            right, answer = _label_numbers(list(truth), list(prediction))
        _refuse_texts(right, answer, name)
    expected = bounds.score if bounds else "a finite number"

    def good(column: Column) -> Flags:
        return column.within(bounds.minimum, bounds.maximum, whole=True) if bounds else column.usable()

    right.refuse(~good(right), "truth", expected, _unit)
    wrong = ~(good(answer) | answer.abstains())
    answer.refuse(wrong, "prediction", f"{expected}, or None or NaN for an abstention", _unit)
    usual = named or loss_named("abs" if bounds else unnamed_loss(right.values, answer.values[~answer.abstains()]))
    numerators = np.where(answer.abstains(), np.nan, usual.numerators(right.values, answer.values))
    return usual, Column(numerators, answer.state)


def _refuse_texts(truth: Column, prediction: Column, loss: str | None) -> None:
    for column in (truth, prediction):
        for unit in np.flatnonzero(column.is_other(lambda value: isinstance(value, str)))[:1].tolist():
            raise needs_number(_unit(unit), str(column.cell(unit)), loss)


def _label_numbers(truth: list[Any], prediction: list[Any]) -> tuple[Column, Column]:
    """Truths and predictions with each distinct label replaced by a number."""
    labels = [label for label in (*truth, *prediction) if not is_null(label)]
    if len(kinds := {type(label) for label in labels}) > 1:
        named = " and ".join(sorted(kind.__name__ for kind in kinds))
        raise UserError(f"labels are of different types ({named}): 1 and '1' would never be equal")
    columns = Codes.of(truth), Codes.of(prediction)
    texts = Spelling.of(*columns).texts(*columns)
    try:
        number = {label: index for index, label in enumerate(dict.fromkeys(label for own in texts for label in own))}
    except TypeError:
        raise UserError(f"labels must be numbers, texts or other hashable values, not {literal(labels[0])}") from None
    numbers = ([label if is_null(label) else number[label] for label in own] for own in texts)
    right, answer = map(Column.of, numbers)
    return right, answer


def _graded(losses: Column, confidence: Values, ids: list[int | str] | None, facts: Mapping[str, Any]) -> Graded:
    check_lengths({"units": losses, "confidence": confidence, "clusters": losses if ids is None else ids})
    if not len(losses):
        raise UserError("the columns are empty: there is nothing to evaluate")
    abstained, ranking = losses.abstains(), Column.from_sequence(confidence)
    ranking.refuse(~(ranking.usable() | abstained), "confidence", "a finite number", _unit)
    units = len(losses)
    with np.errstate(over="ignore"):
        too_large = ~abstained & np.isinf(losses.values * float(units) ** 2)
    losses.refuse(too_large, "loss", f"one small enough to be summed over {units} units", _unit)
    if ids is None:
        clusters = Clusters(range(units), np.ones(units, dtype=np.int64), np.flatnonzero(~abstained))
    else:
        clusters = Clusters.of(ids, ~abstained)
    return Graded(
        units=units,
        loss=losses.values[~abstained],
        confidence=ranking.values[~abstained],
        abstained_nan=int(np.count_nonzero(abstained & losses.is_(State.NUMBER))),
        clusters=clusters,
        **facts,
    )


def _unit(index: int) -> str:
    return f"unit {index} (from 0)"
