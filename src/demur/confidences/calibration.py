"""Calibration: a fitted calibrator with what it was fitted on, for what, and how well it did. A JSON file."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, Union

from pydantic import AfterValidator, Field, ValidationError

from demur.confidences.calibration_methods import TARGETS, Calibrator, calibration_method, check_target
from demur.confidences.calibrators import CALIBRATORS
from demur.confidences.variants import spoken_share
from demur.errors import UserError, located, registered
from demur.facts.tabular import Tabular
from demur.files import strict_json
from demur.files.strict_model import CheckedPart, Count, Part, Share, Time, Tool, WordedWarning
from demur.files.strict_reading import one_line, schema_of
from demur.files.write import json_text, write_whole
from demur.types import Floats

if TYPE_CHECKING:
    Fitted = Calibrator
else:
    Fitted = Union[tuple(dict.fromkeys(method.calibrator for method in CALIBRATORS.values()))]  # noqa: UP007


Text = Annotated[str, Field(min_length=1)]
# A file names its method in full, by no alias.
IsMethod = AfterValidator(lambda name: registered("calibration method", name, CALIBRATORS).name)
IsTarget = AfterValidator(lambda name: registered("target", name, TARGETS).name)
# What other scripts call the parameters, and the objects they keep them in.
_OTHER_NAMES = {
    "features": ("feature_names",),
    "temperature": ("T",),
    "mean": ("means", "mean_", "feature_means", "scaler_mean"),
    "scale": ("std", "stds", "scale_", "feature_stds", "scaler_scale"),
    "coefficients": ("coef", "coef_", "weights"),
    "intercept": ("intercept_", "bias"),
    "x": ("x_thresholds", "X_thresholds_"),
    "y": ("y_thresholds", "y_thresholds_"),
}
_INSIDE = ("model", "parameters", "params", "calibrator")
_SCALARS = ("temperature", "intercept")


class FittingTool(Tool):
    """The software that wrote the file, and the library that fitted the calibration."""

    scikit_learn: str

    @classmethod
    def installed(cls, command: str | None) -> Self:
        """The versions that are installed, and the command that is recorded."""
        from importlib.metadata import version  # noqa: PLC0415  (slow to import)

        return cls(**Tool.installed(command).model_dump(), scikit_learn=version("scikit-learn"))


class FittedOn(Part):
    """The run it was fitted on, as far as it is known."""

    path: str | None
    sha256: str | None
    run_id: str | None
    git_commit: str | None
    mode: str | None


class Training(FittedOn):
    """The run it was fitted on, and what was found there."""

    n: Annotated[int, Field(ge=1)]
    clusters: Annotated[int, Field(ge=1)]
    positive_rate: Share
    nulls_filled: Mapping[str, Count]
    inputs_distinct: Count
    outputs_distinct: Count


class Quality(Part):
    """How good the numbers are as probabilities of the target. What is null has its reason under `undefined`."""

    nll: Annotated[float, Field(ge=0)] | None
    brier: Share | None
    ece: Share | None
    auroc: Share | None
    undefined: Mapping[str, str]


class Validation(Part):
    """The same four numbers three times: before, on the data it was fitted on, and on people it had not seen."""

    as_given: Quality | None
    in_sample: Quality
    cross_validated: Quality | None
    folds: Count
    grouped_by: Text
    reason: str | None


class AnyCalibration(CheckedPart):
    """A calibrator as it is applied, by whomever it was fitted."""

    schema_version: Literal["1"] = "1"
    created_at: Time | None
    tool: FittingTool | None
    method: Annotated[str, IsMethod, Field(json_schema_extra={"enum": [*CALIBRATORS]})]
    features: Annotated[tuple[Text, ...], Field(strict=False, min_length=1)] | None
    variant: Text | None
    target: Annotated[str, IsTarget, Field(json_schema_extra={"enum": [*TARGETS]})]
    model: Fitted
    training: FittedOn

    def _mistakes(self) -> Iterator[str]:
        method, inputs = CALIBRATORS[self.method], self.model.inputs
        if type(self.model) is not method.calibrator:
            yield f"the model is not one of the method {self.method}"
        if (self.features is None) == (self.variant is None):
            yield "expected either features or a variant, not both or neither"
        if self.model.features != self.features:
            yield "the features and those of the model do not match"
        if inputs > 1 and (self.variant is not None or not method.several_inputs):
            yield f"{inputs} features, expected one for {self.variant or self.method}"
        check_target(method, TARGETS[self.target])

    @property
    def input_paths(self) -> list[str]:
        """The file it was fitted on."""
        return [] if self.training.path is None else [self.training.path]

    @property
    def input_hashes(self) -> set[str]:
        """The SHA-256 of that file, by which it is known wherever it is."""
        return set() if self.training.sha256 is None else {self.training.sha256}

    @property
    def input_names(self) -> tuple[str, ...]:
        """What goes in: the features, or the variant."""
        return self.features or (self.variant or "",)

    def __call__(self, columns: Mapping[str, Floats]) -> Floats:
        """Calibrated confidences of columns given by name: the features, or the variant."""
        for name in self.input_names:
            if name not in columns:
                raise UserError(f"the calibration needs {name}, which is missing")
        return self.model(model_inputs(type(self.model), {name: columns[name] for name in self.input_names}))


class Calibration(AnyCalibration, Tabular):
    """A calibrator and everything a reader needs to trust or repeat it."""

    created_at: Time
    tool: FittingTool
    training: Training
    validation: Validation
    warnings: Annotated[tuple[WordedWarning, ...], Field(strict=False)]

    def describe(self) -> Iterator[tuple[str, str]]:
        """What it predicts and its parameters in words, each with its name."""
        yield "target", f"{self.target}: {TARGETS[self.target].meaning}"
        yield from self.model.describe(self.input_names)

    def save(self, path: str | Path, *, inputs: Iterable[str | Path] = ()) -> Path:
        """Write it as JSON, whole or not at all, and never over the run it was fitted on or another input."""
        return write_whole(path, self.text, inputs=[*self.input_paths, *inputs], hashes=self.input_hashes)

    @property
    def fingerprint(self) -> str:
        """A hash of all that was fitted and found, whenever and by whichever command."""
        chosen = self.model_dump(exclude={"created_at", "tool"})
        return strict_json.fingerprint(json_text(chosen).encode())

    def to_columns(self) -> dict[str, list[Any]]:
        """How good the numbers are before, on the data it was fitted on, and on clusters it had not seen."""
        measured = ("as_given", "in_sample", "cross_validated")
        rows = {name: quality for name in measured if (quality := getattr(self.validation, name)) is not None}
        names = [name for name in Quality.model_fields if name != "undefined"]
        return {"measured": [*rows]} | {name: [getattr(row, name) for row in rows.values()] for name in names}

    def to_json(self) -> dict[str, Any]:
        """The content of the file."""
        return self.model_dump()

    @property
    def text(self) -> str:
        """The file, as it is written."""
        return json_text(self.to_json())


def model_inputs(calibrator: type[Calibrator], columns: Mapping[str, Floats]) -> Mapping[str, Floats]:
    """What the model sees of the columns: where it takes a probability, a spoken 1–5 has to be made into one."""
    if not calibrator.takes_probabilities:
        return columns
    return {name: spoken_share(v) if name == "verbalized_confidence" else v for name, v in columns.items()}


def load_calibration(path: str | Path) -> AnyCalibration:
    """Read a calibration of demur or of another script; anything in it that does not make sense is one line."""
    return strict_json.read_as(path, lambda content: (calibration_of if _is_own(content) else _of_a_script)(content))


def calibration_of(content: Any) -> Calibration:
    """A calibration that demur wrote, from parsed JSON."""
    own = _is_own(content)
    method = registered("calibration method", content["method"], CALIBRATORS)
    if not own or not isinstance(content.get("model"), dict):
        raise UserError("not a calibration of demur: expected an object with schema_version, method, model and others")
    with located("model"):
        model = method.calibrator.from_json(content["model"])
    try:
        return Calibration.model_validate(content | {"model": model})
    except ValidationError as error:
        raise UserError(one_line(error)) from None


def _is_own(content: Any) -> bool:
    if not isinstance(content, dict) or "method" not in content:
        raise UserError("not a calibration: expected an object with method, model and others")
    return isinstance(content.get("tool"), dict)


def _of_a_script(content: Mapping[str, Any]) -> AnyCalibration:
    """A calibration another script wrote; of how it was fitted, only the run is looked for."""
    method = calibration_method(content["method"])
    model = method.calibrator.from_json(_parameters(method.calibrator, content))
    if model.features is None:
        raise UserError(f"features is missing: the names of the signals that {method.name} was fitted on")
    sources = [content, *(content.get(name) for name in ("training", "provenance", "metadata"))]
    members = {name: value for source in sources if isinstance(source, dict) for name, value in source.items()}
    run = {name: members.get(name) for name in FittedOn.model_fields}
    try:
        return AnyCalibration(
            created_at=None,
            tool=None,
            method=method.name,
            features=model.features,
            variant=None,
            target=content.get("target", method.target),
            model=model,
            training=FittedOn(**run),
        )
    except ValidationError as error:
        raise UserError(one_line(error)) from None


def _parameters(calibrator: type[Calibrator], content: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters another script wrote, by any of their usual names, at the top or in the objects it keeps them in.

    A temperature is that of the verbalized confidence, unless the file names another feature.
    """
    parts = [content, *(content[name] for name in _INSIDE if isinstance(content.get(name), dict))]
    parts += [part["scaler"] for part in parts if isinstance(part.get("scaler"), dict)]
    parameters = {field.name: field.default for field in fields(calibrator) if field.name in ("link", "features")}
    if calibrator.takes_probabilities:
        parameters["features"] = ["verbalized_confidence"]
    for name in (field.name for field in fields(calibrator)):
        names = (name, *_OTHER_NAMES.get(name, ()))
        given = [_unwrapped(name, part[other]) for part in parts for other in names if other in part]
        if any(value != given[0] for value in given):
            raise UserError(f"{name} appears twice, with different values")
        if given:
            parameters[name] = given[0]
    return parameters


def _unwrapped(name: str, value: Any) -> Any:
    """scikit-learn keeps one intercept as a list of one, and one row of coefficients as a matrix."""
    wrapped = isinstance(value, list) and len(value) == 1 and (name in _SCALARS or isinstance(value[0], list))
    return value[0] if wrapped else value


def calibration_schema() -> dict[str, Any]:
    """The JSON Schema of the file."""
    return schema_of(Calibration)
