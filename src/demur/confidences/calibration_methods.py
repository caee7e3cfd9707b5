"""The base class of calibrators, the registry of calibration methods, and the targets they can predict."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self, TypeVar, cast

import numpy as np

from demur.errors import UserError, and_more, registered, shown
from demur.facts.columns import Column, check_lengths
from demur.facts.frames import columns_of
from demur.facts.items import Items
from demur.options import as_blank
from demur.quantities.forecasts import checked_outcomes
from demur.quantities.losses import LOSSES
from demur.types import Floats, Integers


class Calibrator:
    """The base class of calibrators, which are frozen, and can be fitted, applied, written, read and described."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Any]]
    features: tuple[str, ...] | None
    takes_probabilities: ClassVar[bool] = False

    @classmethod
    def fit(cls, features: Any, target: Any) -> Self:
        """Fit a calibrator to features and targets."""
        raise NotImplementedError

    def __call__(self, features: Any) -> Floats:
        """Numbers from 0 to 1, one for each row of the features."""
        self._check_fitted()
        names, count = self.features, self.inputs
        given, columns = columns_by_name(features, names)
        if names is not None and given is None:
            raise UserError(f"the features are {', '.join(map(shown, names))}: give them by name, as a dict or a frame")
        if len(columns) != count:
            raise UserError(f"{len(columns)} features, expected {count}")
        if names is None and given is not None and count > 1:
            raise UserError("this calibrator was fitted on a matrix without names: give a matrix, not named columns")
        return self._applied(*columns)

    def _applied(self, *columns: Floats) -> Floats:
        raise NotImplementedError

    def to_json(self) -> dict[str, Any]:
        """The parameters as JSON values."""
        from pydantic import TypeAdapter  # noqa: PLC0415  (large, and not needed for targets)

        self._check_fitted()
        return dict(TypeAdapter(type(self)).dump_python(self, mode="json"))

    @classmethod
    def from_json(cls, parameters: Mapping[str, Any]) -> Self:
        """Build a calibrator from its parameters; raise an error if one is missing or invalid."""
        from pydantic import TypeAdapter, ValidationError  # noqa: PLC0415

        from demur.files.strict_reading import one_line  # noqa: PLC0415

        missing = [field.name for field in fields(cls) if field.name not in parameters]
        if missing:
            raise UserError(and_more(f"{missing[0]} is missing", len(missing)))
        try:
            return TypeAdapter(cls).validate_json(json.dumps(dict(parameters)))
        except ValidationError as error:
            raise UserError(one_line(error)) from None

    @property
    def inputs(self) -> int:
        """The number of features."""
        return len(self.features or (None,))

    def describe(self, names: Sequence[str]) -> Iterator[tuple[str, str]]:
        """The parameters as pairs (name, text); `names` are those of the inputs."""
        raise NotImplementedError

    def warnings(self, auroc: float | None) -> Iterator[tuple[str, str]]:  # noqa: ARG002  (few need it)
        """Warnings about the fit, given its AUROC, as pairs (code, sentence)."""
        return iter(())

    @property
    def knots(self) -> tuple[float, ...]:
        """The inputs at which a piecewise linear calibrator changes slope; empty for any other."""
        return ()

    def domain(self, low: float, high: float) -> tuple[float, float]:
        """The range of inputs to draw, within the given bounds."""
        return low, high

    def _check_fitted(self) -> None:
        if any(getattr(self, field.name) == () for field in fields(self)):
            raise UserError(f"this {type(self).__name__} is not fitted: use the one that fit gives")


@dataclass(frozen=True, slots=True)
class CalibrationMethod:
    """A method of `demur calibrate`: its name, its calibrator, and which inputs and targets it takes.

    The `fit` of a `directed` method takes `increasing`, whether the fit is to rise or to fall.
    """

    name: str
    title: str
    calibrator: type[Calibrator]
    aliases: tuple[str, ...] = ()
    several_inputs: bool = False
    binary: bool = True
    directed: bool = False
    target: str = "correctness"


CALIBRATORS: dict[str, CalibrationMethod] = {}
_C = TypeVar("_C")


def calibrator(name: str, title: str, **declared: Any) -> Callable[[_C], _C]:
    """Register a class as a calibration method; `declared` are the other members of `CalibrationMethod`."""

    def register(cls: _C) -> _C:
        CALIBRATORS[name] = CalibrationMethod(name, title, cast("type[Calibrator]", cls), **declared)
        return cls

    return register


def method_names() -> list[str]:
    """The shortest name of each method."""
    return [min((method.name, *method.aliases), key=len) for method in CALIBRATORS.values()]


def calibration_method(name: Any) -> CalibrationMethod:
    """The method with a name or an alias.

    >>> import demur.confidences.calibrators
    >>> calibration_method("temperature").title
    'temperature scaling'
    """
    methods = {known: method for method in CALIBRATORS.values() for known in (method.name, *method.aliases)}
    return registered("calibration method", name, methods)


_WITHIN_A_POINT = "the chance of being right to within a point"
_CLOSENESS = "an expected closeness, 1 where nothing is wrong"


@dataclass(frozen=True, slots=True)
class Target:
    """The outcome that a calibrated confidence predicts: a number from 0 to 1 per answer, 0 or 1 if `binary`.

    `expected` says in words what its prediction means.
    """

    name: str
    meaning: str
    expected: str
    values: Callable[[Items], Floats]
    binary: bool = True


def _error(items: Items) -> Integers:
    if not items.has_scores:
        raise UserError(
            "the target is about scores, and this table has none: use correctness, or loss where it gives losses"
        )
    return np.asarray(np.abs(items.answer - items.truth)[items.answered])


def _right(items: Items) -> Floats:
    return items.right[items.answered].astype(np.float64)


def _near(items: Items) -> Floats:
    return (_error(items) <= 1).astype(np.float64)


def _closeness(items: Items) -> Floats:
    if items.losses is None:
        return 1 - _error(items) / LOSSES["abs_norm"].divisor(items.instrument)
    if items.losses.largest is None:
        raise UserError(
            f"the target loss needs the largest loss there can be: give it, {as_blank('loss_max')}, or use correctness"
        )
    return np.asarray(1 - items.losses.numerators[items.answered] / items.losses.largest)


_ALL = (
    Target("correctness", "1 if pred = gt, else 0", "the chance of being right", _right),
    Target("near_correct", "1 if abs(pred - gt) ≤ 1, else 0", _WITHIN_A_POINT, _near),
    Target("loss", "1 - abs(pred - gt) / range", _CLOSENESS, _closeness, binary=False),
)
TARGETS = {target.name: target for target in _ALL}


def check_target(method: CalibrationMethod, target: Target) -> None:
    """Raise an error if a method that needs targets of 0 or 1 is given others."""
    if method.binary and not target.binary:
        methods = " and ".join(name for name, other in CALIBRATORS.items() if not other.binary)
        targets = " or ".join(name for name, other in TARGETS.items() if other.binary)
        raise UserError(f"the target {target.name} is for the method {methods} only; use {targets}")


def columns_by_name(features: Any, names: Sequence[str] | None = None) -> tuple[tuple[str, ...] | None, list[Floats]]:
    """The names of the features (None for a matrix) and their columns; only those in `names`, if given."""
    if not isinstance(features, Mapping) and not hasattr(features, "columns"):
        return None, _unnamed(features)
    named = columns_of(features)
    wanted = tuple(named) if names is None else tuple(names)
    if not wanted:
        raise UserError("there are no features")
    missing = [name for name in wanted if name not in named]
    if missing:
        raise UserError(and_more(f"the feature {shown(missing[0])} is missing", len(missing)))
    columns = [_numbers(shown(name), named[name]) for name in wanted]
    check_lengths(dict(zip(wanted, columns, strict=True)))
    return wanted, columns


def _unnamed(features: Any) -> list[Floats]:
    try:
        shape = np.shape(features)
    except ValueError:  # rows of different lengths
        shape = ()
    if len(shape) == 1:
        return [_numbers("feature", features)]
    if len(shape) != 2 or not shape[1]:  # noqa: PLR2004
        expected = "one column, or one row per unit and one column per feature"
        raise UserError(f"features of shape {shape}, expected {expected}")
    return [_numbers(f"feature {number}", column) for number, column in enumerate(np.asarray(features).T, 1)]


def _numbers(name: str, values: Any) -> Floats:
    column = Column.from_sequence(values)
    column.refuse(~column.usable(), name, "a finite number", lambda row: f"row {row + 1}")
    if not len(column):
        raise UserError("there are no units to calibrate on")
    return column.values


def training_rows(
    features: Any, target: Any, *, binary: bool, several: bool = False
) -> tuple[tuple[str, ...] | None, list[Floats], Floats]:
    """Names and columns of the features, and the targets, sorted so that the order of rows has no effect."""
    names, columns = columns_by_name(features)
    if len(columns) != 1 and not several:
        raise UserError(f"{len(columns)} features, expected one")
    outcome = checked_outcomes(target)
    if binary and not np.isin(outcome, (0, 1)).all():
        needed = "this calibrator needs such a target (correctness, near_correct)"
        raise UserError(f"the targets are not all 0 or 1: {needed}")
    check_lengths({"features": columns[0], "targets": outcome})
    order = np.lexsort((outcome, *columns))
    return names, [column[order] for column in columns], outcome[order]
