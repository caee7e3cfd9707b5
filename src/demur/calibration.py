"""Calibration: a fitted calibrator with what it was fitted on, for what, and how well it did. A JSON file."""

from __future__ import annotations

import json
from collections.abc import Mapping  # noqa: TC003  (pydantic reads the annotations)
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, get_args

from pydantic import Field, ValidationError, model_validator

from demur import strict_json
from demur.calibrators import (
    CALIBRATORS,
    IsotonicCalibrator,
    LinearCalibrator,
    LogisticCalibrator,
    TemperatureScalingCalibrator,
)
from demur.errors import UserError, unknown
from demur.strict_model import Count, Part, Share, Time, Tool, one_line, schema_of, WordedWarning
from demur.variants import spoken_share
from demur.write import json_text, write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Method = Literal["temperature_scaling", "platt", "logistic", "linear", "isotonic"]
TargetName = Literal["correctness", "near_correct", "loss"]
Text = Annotated[str, Field(min_length=1)]


class FittingTool(Tool):
    """What made the file, the library it was fitted with among it."""

    scikit_learn: str

    @classmethod
    def here(cls, command: str | None) -> Self:
        """The installation at hand."""
        from importlib.metadata import version  # noqa: PLC0415  (slow to import)

        return cls(**Tool.here(command).model_dump(), scikit_learn=version("scikit-learn"))


class Training(Part):
    """The run it was fitted on, and what was found there."""

    path: str | None
    sha256: str | None
    run_id: str | None
    git_commit: str | None
    mode: str | None
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


class Calibration(Part):
    """A calibrator and everything a reader needs to trust or repeat it."""

    schema_version: Literal["1"] = "1"
    created_at: Time
    tool: FittingTool
    method: Method
    features: Annotated[tuple[Text, ...], Field(strict=False, min_length=1)] | None
    variant: Text | None
    target: TargetName
    model: TemperatureScalingCalibrator | LogisticCalibrator | LinearCalibrator | IsotonicCalibrator
    training: Training
    validation: Validation
    warnings: Annotated[tuple[WordedWarning, ...], Field(strict=False)]

    @model_validator(mode="after")
    def _parts_agree(self) -> Calibration:
        if type(self.model) is not CALIBRATORS[self.method]:
            raise ValueError(f"the model is not one of the method {self.method}")
        if (self.features is None) == (self.variant is None):
            raise ValueError("expected either features or a variant, not both or neither")
        if self.model.features != self.features:
            raise ValueError("the features and those of the model do not match")
        inputs = self.model.inputs
        if inputs > 1 and (self.variant is not None or self.method == "platt" or self.model.one_input):
            raise ValueError(f"{inputs} features, expected one for {self.variant or self.method}")
        if self.target == "loss" and self.method != "linear":
            raise ValueError("the target loss is for the method linear only")
        return self

    def __call__(self, columns: Mapping[str, Floats]) -> Floats:
        """Calibrated confidences of columns given by name: the features, or the variant."""
        wanted = self.features or (self.variant or "",)
        missing = [name for name in wanted if name not in columns]
        if missing:
            raise UserError(f"the calibration needs {missing[0]}, which is missing")
        return self.model(model_inputs(self.method, {name: columns[name] for name in wanted}))

    def save(self, path: str | Path, *, inputs: Iterable[str | Path] = ()) -> Path:
        """Write it as JSON, whole or not at all, and never over the run it was fitted on or another input."""
        return write_whole(path, self.text, inputs=[*self.input_paths, *inputs])

    @property
    def fingerprint(self) -> str:
        """A hash of all that was fitted and found, whenever and by whichever command."""
        chosen = self.model_dump(mode="json", exclude={"created_at", "tool"})
        return strict_json.fingerprint(json_text(chosen).encode())

    def to_json(self) -> dict[str, Any]:
        """The content of the file."""
        return self.model_dump(mode="json")

    @property
    def text(self) -> str:
        """The file, as it is written."""
        return json_text(self.to_json())

    @property
    def input_paths(self) -> list[str]:
        """The file it was fitted on."""
        return [] if self.training.path is None else [self.training.path]


def model_inputs(method: str, columns: Mapping[str, Floats]) -> Mapping[str, Floats]:
    """What the model sees of the columns: temperature takes a probability, which a spoken 1–5 has to be made into."""
    if method != "temperature_scaling":
        return columns
    return {name: spoken_share(v) if name == "verbalized_confidence" else v for name, v in columns.items()}


def load_calibration(path: str | Path) -> Calibration:
    """Read a calibration; anything in it that does not make sense is one line that says what."""
    return strict_json.read_as(path, calibration_of)


def calibration_of(content: Any) -> Calibration:
    """A calibration from parsed JSON."""
    if not isinstance(content, dict) or "method" not in content or not isinstance(content.get("model"), dict):
        raise UserError("not a calibration: expected an object with schema_version, method, model and others")
    if content["method"] not in get_args(Method):
        raise unknown("calibration method", content["method"], get_args(Method))
    try:
        CALIBRATORS[content["method"]].from_json(content["model"])
    except UserError as error:
        raise UserError(f"model: {error}") from None
    try:
        return Calibration.model_validate_json(json.dumps(content))
    except ValidationError as error:
        raise UserError(one_line(error)) from None


def calibration_schema() -> dict[str, Any]:
    """The JSON Schema of the file."""
    return schema_of(Calibration)
