"""Fitting of a calibrator on a run, and its cross-validation over clusters."""

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic import ValidationError

from demur.confidences.calibration import Calibration, FittingTool, Quality, Training, Validation, model_inputs
from demur.confidences.calibration_methods import (
    TARGETS,
    CalibrationMethod,
    Calibrator,
    calibration_method,
    check_target,
)
from demur.confidences.calibrators import CALIBRATORS
from demur.confidences.serving import calibration_inputs
from demur.confidences.variants import MERGED, VARIANTS, check_probabilities, distinct
from demur.errors import UserError, check_kind, literal, registered, shown, unknown
from demur.facts.items import Items
from demur.facts.signals import SIGNALS
from demur.files.strict_model import WordedWarning, now
from demur.files.strict_reading import one_line
from demur.quantities import Measure, quantities
from demur.quantities.calibration import rank_sums
from demur.quantities.forecasts import Forecasts
from demur.types import Floats, Indices

FOLDS = 5
_FEWEST_FOLDS = 2
QUALITY = tuple(entry.name for entry in quantities("forecasts", "validation"))


@dataclass(frozen=True, slots=True, eq=False)
class _Task:
    """A method, its inputs by name, and the targets of the answered units."""

    items: Items
    method: CalibrationMethod
    variant: str | None
    columns: Mapping[str, Floats]
    nulls_filled: Mapping[str, int]
    target: str
    outcome: Floats

    @property
    def only(self) -> str | None:
        """The name of the input, if there is only one."""
        return next(iter(self.columns)) if len(self.columns) == 1 else None

    @property
    def falling(self) -> bool:
        """Whether the only input is a signal of which lower means more confident."""
        return self.only in SIGNALS and self.variant is None and SIGNALS[self.only].lower_is_more_confident

    def given(self, rows: Any = slice(None)) -> Any:
        """The inputs of some units: features by name, or a variant as one column without a name."""
        columns = {name: column[rows] for name, column in self.columns.items()}
        return columns if self.variant is None else columns[self.variant]

    def fitted(self, rows: Any = slice(None)) -> Calibrator:
        """The calibrator fitted on some units."""
        direction = {"increasing": not self.falling} if self.method.directed else {}
        return self.method.calibrator.fit(self.given(rows), self.outcome[rows], **direction)


def calibrate(  # noqa: PLR0913  (each is a choice of the user)
    items: Items,
    *,
    method: str,
    features: Sequence[str] | None = None,
    variant: str | None = None,
    target: str | None = None,
    folds: int = FOLDS,
    created_at: str | None = None,
    command: str | None = None,
) -> Calibration:
    """Fit a calibrator on the answered units of a run.

    Give `features`, names of signals, or `variant`, a confidence variant to turn into a probability. The default target
    is `correctness`, or `loss` for the method `linear`. The quality is measured on the training data, and by
    cross-validation over folds of clusters.
    """
    check_kind("calibrate", items, Items, "read_items(path) or read_table(frame) makes it")
    task = _task(items, method, features, variant, target)
    calibrator = task.fitted()
    values = calibrator(task.given())
    training = Training(
        **{name: getattr(items.source, name, None) for name in ("path", "sha256", "run_id", "git_commit", "mode")},
        n=len(values),
        clusters=len(np.unique(items.cluster[items.answered])),
        positive_rate=float(task.outcome.mean()),
        nulls_filled=dict(task.nulls_filled),
        inputs_distinct=distinct(task.columns.values()),
        outputs_distinct=distinct([values]),
    )
    try:
        return Calibration(
            created_at=now() if created_at is None else created_at,
            tool=FittingTool.installed(command),
            method=task.method.name,
            features=tuple(task.columns) if variant is None else None,
            variant=variant,
            target=task.target,
            model=calibrator,
            training=training,
            validation=_validation(task, values, folds),
            warnings=tuple(
                WordedWarning(code=code, message=text, where=task.only or "features")
                for code, text in _warnings(task, calibrator, values)
            ),
        )
    except ValidationError as error:
        raise UserError(one_line(error)) from None


def quality(probability: Floats, outcome: Floats, fold: Indices | None = None) -> Quality:
    """Measure how good probabilities are: four numbers, with a reason for each undefined one.

    The AUROC compares ranks only within a `fold`. Each fold has a calibrator of its own, and one that was fitted
    without the clusters that were right most often gives lower values to all: compared across folds, right answers
    would seem to be ranked last.
    """
    forecasts = Forecasts.of(probability, outcome)
    values = {name: float(Measure.of(name)(forecasts)[0]) for name in QUALITY}
    if fold is not None:
        sums = [rank_sums(Forecasts.of(probability[fold == n], outcome[fold == n])) for n in np.unique(fold)]
        ranked, pairs = (sum(float(column[0]) for column in columns) for columns in zip(*sums, strict=True))
        values["auroc"] = ranked / pairs if pairs and forecasts.binary else math.nan
    undefined = {name: Measure.of(name).quantity.undefined for name, value in values.items() if math.isnan(value)}
    return Quality(**(values | dict.fromkeys(undefined)), undefined=undefined)


def _task(items: Items, method: str, features: Sequence[str] | None, variant: str | None, target: str | None) -> _Task:
    wanted = calibration_method(method)
    predicted = registered("target", wanted.target if target is None else target, TARGETS)
    check_target(wanted, predicted)
    if not items.answered.any():
        raise UserError("no unit is answered: there is nothing to calibrate on")
    if (features is None) == (variant is None):
        raise UserError("give either features or a variant to calibrate, not both or neither")
    if variant is not None and variant not in VARIANTS and not str(variant).startswith("secondary:"):
        if variant in items.signals:
            raise UserError(f"{shown(variant)} is a signal: give it as a feature")
        raise unknown("confidence variant to calibrate", variant, VARIANTS)
    columns, filled = calibration_inputs(items, features, variant)
    if len(columns) > 1 and not wanted.several_inputs:
        methods = " and ".join(name for name, other in CALIBRATORS.items() if other.several_inputs)
        raise UserError(f"{len(columns)} features, expected one for {wanted.name}; {methods} take several")
    inputs = model_inputs(wanted.calibrator, columns)
    if wanted.calibrator.takes_probabilities:
        single = {name: other.calibrator for name, other in CALIBRATORS.items() if not other.several_inputs}
        others = " or ".join(name for name, kind in single.items() if not kind.takes_probabilities)
        hint = f"; {wanted.title} takes probabilities, for other numbers take {others}"
        check_probabilities(items, *next(iter(inputs.items())), hint)
    return _Task(items, wanted, variant, inputs, filled, predicted.name, predicted.values(items))


def fold_of(ids: Sequence[int | str], folds: int) -> Indices:
    """The fold of each cluster: the rank of the SHA-256 of its id among all of them, modulo the number of folds.

    The folds depend on no library, seed or order of rows, so that the same clusters are always split alike.

    >>> fold_of([300, 301, 302, 303], 2).tolist()
    [1, 0, 1, 0]
    """
    digests = [hashlib.sha256(str(name).encode()).hexdigest() for name in ids]
    return np.argsort(np.argsort(digests)) % folds


def _validation(task: _Task, values: Floats, folds: int) -> Validation:
    unseen, fold, reason = _out_of_fold(task, folds)
    known = VARIANTS.get(task.only or "") if task.variant is not None else SIGNALS.get(task.only or "")
    declared = known.is_probability if known else task.only in task.items.probabilities
    probability = task.method.calibrator.takes_probabilities or declared
    return Validation(
        as_given=quality(task.columns[task.only], task.outcome) if task.only and probability else None,
        in_sample=quality(values, task.outcome),
        cross_validated=None if reason else quality(unseen, task.outcome, fold),
        folds=0 if reason else int(fold.max()) + 1,
        grouped_by=task.items.noun,
        reason=reason,
    )


def _out_of_fold(task: _Task, folds: int) -> tuple[Floats, Indices, str | None]:
    """Each unit's value by a calibrator fitted without its fold, the folds, and the reason if a fit is impossible."""
    if type(folds) is not int or folds < _FEWEST_FOLDS:
        raise UserError(f"folds {literal(folds)}, expected an integer, {_FEWEST_FOLDS} or more")
    clusters, position = np.unique(task.items.cluster[task.items.answered], return_inverse=True)
    parts, values = min(folds, len(clusters)), np.empty(len(position))
    fold = fold_of([task.items.cluster_ids[cluster] for cluster in clusters], parts)[position]
    if parts < _FEWEST_FOLDS:
        return values, fold, "only one cluster has answers: there are no others to try it on"
    for unseen in (fold == number for number in range(parts)):
        try:
            values[unseen] = task.fitted(~unseen)(task.given(unseen))
        except UserError as error:
            return values, fold, f"a fold cannot be fitted: {error}"
    return values, fold, None


def _warnings(task: _Task, calibrator: Calibrator, values: Floats) -> Iterator[tuple[str, str]]:
    yield from calibrator.warnings(quality(values, task.outcome).auroc)
    inputs, outputs = distinct(task.columns.values()), distinct([values])
    if outputs < inputs:
        yield "merged_plateaus", MERGED.format(inputs=inputs, outputs=outputs)
    if task.only is not None:
        column = task.columns[task.only]
        change = values[column.argmax()] - values[column.argmin()]
        if change > 0 if task.falling else change < 0:
            yield "reversed_ranking", "the fit goes against the input: more confident answers were right less often"
