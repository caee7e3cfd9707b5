"""Calibration methods: what every calibrator is and can be asked, and the registry of those there are."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from demur.errors import UserError, and_more, unknown
from demur.strict_model import one_line
from demur.types import Floats


class Calibrator:
    """What all calibrators have in common: they are frozen, and can be written, read and described."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Any]]
    features: tuple[str, ...] | None
    takes_probabilities: ClassVar[bool] = False

    @classmethod
    def fit(cls, features: Any, target: Any) -> Self:
        """A calibrator fitted to features and what came of them."""
        raise NotImplementedError

    @classmethod
    def fit_ranked(cls, features: Any, target: Any, *, falling: bool) -> Self:  # noqa: ARG003  (few need it)
        """The same where it is known whether the target falls as the feature rises."""
        return cls.fit(features, target)

    def __call__(self, features: Any) -> Floats:
        """Numbers from 0 to 1, one for each row of the features."""
        raise NotImplementedError

    def to_json(self) -> dict[str, Any]:
        """The parameters as plain numbers."""
        self._check_fitted()
        return dict(TypeAdapter(type(self)).dump_python(self, mode="json"))

    @classmethod
    def from_json(cls, parameters: Mapping[str, Any]) -> Self:
        """A calibrator from its parameters; each of them must be there and make sense."""
        missing = [field.name for field in fields(cls) if field.name not in parameters]
        if missing:
            raise UserError(and_more(f"{missing[0]} is missing", len(missing)))
        try:
            return TypeAdapter(cls).validate_json(json.dumps(dict(parameters)))
        except ValidationError as error:
            raise UserError(one_line(error)) from None

    @property
    def fitted(self) -> bool:
        """Whether it has parameters to be applied with."""
        return True

    @property
    def inputs(self) -> int:
        """How many features it takes."""
        return len(self.features or (None,))

    def describe(self, names: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Its parameters in words, each with its name; inputs are called by these names."""
        raise NotImplementedError

    def warnings(self, auroc: float | None) -> Iterator[tuple[str, str]]:  # noqa: ARG002  (few need it)
        """What to be careful about in the fit, given how well it tells right from wrong: a code and a sentence each."""
        return iter(())

    @property
    def knots(self) -> tuple[float, ...]:
        """The inputs between which it is linear, if it is made of straight lines."""
        return ()

    def domain(self, low: float, high: float) -> tuple[float, float]:
        """Where it is worth looking at, of an input between these bounds."""
        return low, high

    def _check_fitted(self) -> None:
        if not self.fitted:
            raise UserError(f"this {type(self).__name__} is not fitted: use the one that fit gives")


@dataclass(frozen=True, slots=True)
class CalibrationMethod:
    """A calibrator as `demur calibrate` offers it: what it is called, and which inputs and targets it takes."""

    name: str
    title: str
    calibrator: type[Calibrator]
    aliases: tuple[str, ...] = ()
    several_inputs: bool = False
    binary: bool = True
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
    """The names of all methods, each by its shortest."""
    return [min((method.name, *method.aliases), key=len) for method in CALIBRATORS.values()]


def calibration_method(name: Any) -> CalibrationMethod:
    """The method of that name or alias.

    >>> import demur.calibrators
    >>> calibration_method("temperature").title
    'temperature scaling'
    """
    aliases = {alias: method.name for method in CALIBRATORS.values() for alias in method.aliases}
    known = aliases.get(name, name) if isinstance(name, str) else ""
    if known not in CALIBRATORS:
        raise unknown("calibration method", name, [*aliases, *CALIBRATORS])
    return CALIBRATORS[known]
