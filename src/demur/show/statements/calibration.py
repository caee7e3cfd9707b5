"""A calibration: what was fitted on what, and which of its numbers to trust."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from demur.confidences.calibration import Calibration
from demur.confidences.calibration_methods import TARGETS
from demur.confidences.calibrators import CALIBRATORS
from demur.drawing.labels import isolated
from demur.errors import harmless
from demur.show.statements.statement import Fact, Statement, counted


@dataclass(frozen=True, slots=True)
class Fitted(Statement):
    """What a calibrator maps to what."""

    method: str
    inputs: tuple[str, ...]
    gives: str

    @property
    def words(self) -> str:
        """The method, its inputs and its output."""
        return f"{self.method} maps {' and '.join(map(isolated, self.inputs))} to {self.gives}"


def fitted(calibration: Calibration) -> Fitted:
    """What a calibration maps to what."""
    title, gives = CALIBRATORS[calibration.method].title, TARGETS[calibration.target].expected
    return Fitted(title, tuple(calibration.input_names), gives)


@dataclass(frozen=True, slots=True)
class FittedOn(Statement):
    """The units a calibrator was fitted on, and the mean of the target there."""

    units: int
    clusters: int
    noun: str
    mean_target: float

    @property
    def words(self) -> str:
        """The counts and the mean."""
        counts = f"{self.units} answered units of {counted(self.clusters, isolated(self.noun))}"
        return f"it was fitted on {counts}; the mean of the target there is {self.mean_target:.1%}"


@dataclass(frozen=True, slots=True)
class DistinctValues(Statement):
    """How many different inputs become how many different confidences."""

    inputs: int
    outputs: int

    @property
    def words(self) -> str:
        """Both numbers."""
        return f"{self.inputs} different inputs become {self.outputs} different confidences"


@dataclass(frozen=True, slots=True)
class NullsFilled(Statement):
    """How many nulls of an input were filled."""

    name: str
    nulls: int

    @property
    def words(self) -> str:
        """The input and the number."""
        return f"of {isolated(self.name)}, {self.nulls} nulls were filled with a cautious value"


def training(calibration: Calibration) -> Iterator[Statement]:
    """What is said of the units a calibration was fitted on."""
    run, noun = calibration.training, calibration.validation.grouped_by
    yield FittedOn(run.n, run.clusters, noun, run.positive_rate)
    yield DistinctValues(run.inputs_distinct, run.outputs_distinct)
    yield from (NullsFilled(name, count) for name, count in run.nulls_filled.items() if count)


@dataclass(frozen=True, slots=True)
class Validation(Fact):
    """In how many folds a calibration was validated, or why it was not."""

    folds: int | None
    noun: str
    reason: str
    label: ClassVar[str] = "Validation"

    @property
    def words(self) -> str:
        """The folds, or the reason."""
        if self.folds is not None:
            return f"{self.folds} folds by {isolated(self.noun)}"
        return f"none: {harmless(self.reason)}" if self.reason else "none"


@dataclass(frozen=True, slots=True)
class NumbersToTrust(Statement):
    """Which of the numbers of a calibration to trust."""

    validation: Validation

    @property
    def words(self) -> str:
        """The advice and its reason."""
        checked, noun = self.validation, isolated(self.validation.noun)
        better = "the numbers in sample are on the data it was fitted on, and better than it will be"
        if checked.folds is not None:
            unseen = f"there each {noun} was judged by a calibrator fitted without it"
            return f"trust the numbers out of {checked.folds} folds: {unseen}; {better}"
        reason = f" ({harmless(checked.reason)})" if checked.reason else ""
        untried = f"the calibrator was not tried on {noun}s it had not seen{reason}"
        return f"trust none of these on new {noun}s: {untried}; {better}"


def validation(calibration: Calibration) -> Validation:
    """How a calibration was validated."""
    checked = calibration.validation
    return Validation(checked.folds if checked.cross_validated else None, checked.grouped_by, checked.reason or "")
