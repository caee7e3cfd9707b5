"""The calibration file: a fitted calibrator, the run and the target it was fitted on, and its validation."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, Union

from pydantic import AfterValidator, Field

from demur.confidences.calibration_methods import TARGETS, Calibrator, calibration_method, check_target
from demur.confidences.calibrators import CALIBRATORS
from demur.confidences.variants import spoken_share
from demur.errors import UserError, located, registered
from demur.facts.frames import Tabular
from demur.files import strict_json
from demur.files.strict_model import CheckedPart, Count, Part, Share, Time, Tool, WordedWarning
from demur.files.write import json_text, write_whole
from demur.types import Floats

if TYPE_CHECKING:
    Fitted = Calibrator
else:
    Fitted = Union[tuple(dict.fromkeys(method.calibrator for method in CALIBRATORS.values()))]  # noqa: UP007


Text = Annotated[str, Field(min_length=1)]
# A file has the full name of the method, not an alias.
IsMethod = AfterValidator(lambda name: registered("calibration method", name, CALIBRATORS).name)
IsTarget = AfterValidator(lambda name: registered("target", name, TARGETS).name)
# Names that other scripts give to the parameters, and objects that contain them.
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
_LINKS = {"sigmoid": "logit", "logistic": "logit", "linear": "identity"}
_INSIDE = ("model", "parameters", "params", "calibrator")
_ABOUT_THE_RUN = ("training", "training_metadata", "fitted_on", "provenance", "metadata")
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
    """The run that the calibrator was fitted on, as far as it is known."""

    path: str | None
    sha256: str | None
    run_id: str | None
    git_commit: str | None
    mode: str | None


class Training(FittedOn):
    """The run that the calibrator was fitted on, and the counts of its answered units."""

    n: Annotated[int, Field(ge=1)]
    clusters: Annotated[int, Field(ge=1)]
    positive_rate: Share
    nulls_filled: Mapping[str, Count]
    inputs_distinct: Count
    outputs_distinct: Count


class Quality(Part):
    """How good the numbers are as probabilities of the target; a null has its reason in `undefined`."""

    nll: Annotated[float, Field(ge=0)] | None
    brier: Share | None
    ece: Share | None
    auroc: Share | None
    undefined: Mapping[str, str]


class Validation(Part):
    """Quality before calibration, after it on the training data, and cross-validated on held-out clusters."""

    as_given: Quality | None
    in_sample: Quality
    cross_validated: Quality | None
    folds: Count
    grouped_by: Text
    reason: str | None


class AnyCalibration(CheckedPart):
    """A fitted calibrator, by demur or another script, with what is needed to apply it."""

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
        if self.tool is not None or self.method != "isotonic":  # other scripts fit isotonic regression to losses too
            check_target(method, TARGETS[self.target])

    @property
    def input_paths(self) -> list[str]:
        """The path, in a list, of the file that the calibrator was fitted on."""
        return [] if self.training.path is None else [self.training.path]

    @property
    def input_hashes(self) -> set[str]:
        """The SHA-256, in a set, of the file that the calibrator was fitted on."""
        return set() if self.training.sha256 is None else {self.training.sha256}

    @property
    def input_names(self) -> tuple[str, ...]:
        """The names of the inputs: the features, or the variant."""
        return self.features or (self.variant or "",)

    def __call__(self, columns: Mapping[str, Floats]) -> Floats:
        """Calibrated confidences of columns given by name: the features, or the variant."""
        for name in self.input_names:
            if name not in columns:
                raise UserError(f"the calibration needs {name}, which is missing")
        return self.model(model_inputs(type(self.model), {name: columns[name] for name in self.input_names}))


class Calibration(AnyCalibration, Tabular):
    """A calibrator that demur fitted, with all that is needed to check or repeat the fit."""

    created_at: Time
    tool: FittingTool
    training: Training
    validation: Validation
    warnings: Annotated[tuple[WordedWarning, ...], Field(strict=False)]

    def describe(self) -> Iterator[tuple[str, str]]:
        """The target and the parameters as pairs (name, text)."""
        yield "target", f"{self.target}: {TARGETS[self.target].meaning}"
        yield from self.model.describe(self.input_names)

    def save(self, path: str | Path, *, inputs: Iterable[str | Path] = ()) -> Path:
        """Write the JSON file atomically, and never over the run it was fitted on or another input."""
        return write_whole(path, self.text, inputs=[*self.input_paths, *inputs], hashes=self.input_hashes)

    @property
    def fingerprint(self) -> str:
        """A hash of the content, without the time of creation and the tool."""
        chosen = self.model_dump(exclude={"created_at", "tool"})
        return strict_json.fingerprint(json_text(chosen).encode())

    def to_columns(self) -> dict[str, list[Any]]:
        """The quality as columns, with a row each before calibration, on the training data, and cross-validated."""
        measured = ("as_given", "in_sample", "cross_validated")
        rows = {name: quality for name in measured if (quality := getattr(self.validation, name)) is not None}
        names = [name for name in Quality.model_fields if name != "undefined"]
        return {"measured": [*rows]} | {name: [getattr(row, name) for row in rows.values()] for name in names}

    def to_json(self) -> dict[str, Any]:
        """The content of the file as JSON values."""
        return self.model_dump()

    @property
    def text(self) -> str:
        """The content of the file as JSON text."""
        return json_text(self.to_json())


def model_inputs(calibrator: type[Calibrator], columns: Mapping[str, Floats]) -> Mapping[str, Floats]:
    """Convert inputs for a model: if it takes probabilities, a verbalized confidence of 1–5 is mapped to 0–1."""
    if not calibrator.takes_probabilities:
        return columns
    return {name: spoken_share(v) if name == "verbalized_confidence" else v for name, v in columns.items()}


def load_calibration(path: str | Path) -> AnyCalibration:
    """Read a calibration file of demur or of another script; invalid content is a `UserError`."""
    return strict_json.read_as(path, lambda content: (calibration_of if _is_own(content) else _of_a_script)(content))


def calibration_of(content: Any) -> Calibration:
    """Parse the content of a calibration file written by demur."""
    own = _is_own(content)
    method = registered("calibration method", content["method"], CALIBRATORS)
    if not own or not isinstance(content.get("model"), dict):
        raise UserError("not a calibration of demur: expected an object with schema_version, method, model and others")
    with located("model"):
        model = method.calibrator.from_json(content["model"])
    return Calibration.parsed(content | {"model": model})


def _is_own(content: Any) -> bool:
    if not isinstance(content, dict) or "method" not in content:
        raise UserError("not a calibration: expected an object with method, model and others")
    return isinstance(content.get("tool"), dict)


def _of_a_script(content: Mapping[str, Any]) -> AnyCalibration:
    """A calibration of another script; besides the model, only the run it was fitted on is read."""
    method, parts = calibration_method(content["method"]), _parts(content)
    if method.calibrator is CALIBRATORS["logistic"].calibrator and "identity" in _given("link", parts):
        method = CALIBRATORS["linear"]  # a script that fits losses linearly keeps the name of the method asked for
    model = method.calibrator.from_json(_parameters(method.calibrator, parts))
    if model.features is None:
        raise UserError(f"features is missing: the names of the signals that {method.name} was fitted on")
    sources = [content, *(content.get(name) for name in _ABOUT_THE_RUN)]
    members = {name: value for source in sources if isinstance(source, dict) for name, value in source.items()}
    run = {name: members.get(name) for name in FittedOn.model_fields}
    unknown = dict.fromkeys(("created_at", "tool", "variant"))
    target = content.get("target", method.target)
    members = {"method": method.name, "features": model.features, "target": target, "model": model}
    return AnyCalibration.parsed(unknown | members | {"training": run})


def _parts(content: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    parts = [content, *(content[name] for name in _INSIDE if isinstance(content.get(name), dict))]
    return parts + [part["scaler"] for part in parts if isinstance(part.get("scaler"), dict)]


def _parameters(calibrator: type[Calibrator], parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The parameters that another script wrote, under any of their usual names.

    A temperature is that of the verbalized confidence, unless the file names another feature.
    """
    parameters = {field.name: field.default for field in fields(calibrator) if field.name in ("link", "features")}
    if calibrator.takes_probabilities:
        parameters["features"] = ["verbalized_confidence"]
    for name in (field.name for field in fields(calibrator)):
        given = _given(name, parts)
        if any(value != given[0] for value in given):
            raise UserError(f"{name} appears twice, with different values")
        if given:
            parameters[name] = given[0]
    return parameters


def _given(name: str, parts: Sequence[Mapping[str, Any]]) -> list[Any]:
    names = (name, *_OTHER_NAMES.get(name, ()))
    return [_unwrapped(name, part[other]) for part in parts for other in names if other in part]


def _unwrapped(name: str, value: Any) -> Any:
    """A link by our name; a parameter without the list that scikit-learn puts around an intercept or coefficients."""
    if name == "link" and isinstance(value, str):
        return _LINKS.get(value, value)
    wrapped = isinstance(value, list) and len(value) == 1 and (name in _SCALARS or isinstance(value[0], list))
    return value[0] if wrapped else value
