"""Calibration: a fitted calibrator with what it was fitted on, for what, and how well it did. A JSON file."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, Union

from pydantic import AfterValidator, Field, ValidationError, model_validator

from demur.confidences.calibrators import CALIBRATORS, CalibrationMethod, Calibrator
from demur.confidences.targets import TARGETS, Target
from demur.confidences.targets import target as target_named
from demur.confidences.variants import spoken_share
from demur.errors import UserError, located, registered
from demur.files import strict_json
from demur.files.strict_model import Count, Part, Share, Time, Tool, WordedWarning, one_line, schema_of
from demur.files.write import json_text, write_whole
from demur.types import Floats

if TYPE_CHECKING:
    Fitted = Calibrator
else:
    Fitted = Union[tuple(dict.fromkeys(method.calibrator for method in CALIBRATORS.values()))]  # noqa: UP007


Text = Annotated[str, Field(min_length=1)]


def _method_name(name: Any) -> str:
    """A file names its method in full, and by no alias."""
    return registered("calibration method", name, CALIBRATORS).name


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
    method: Annotated[str, AfterValidator(_method_name), Field(json_schema_extra={"enum": [*CALIBRATORS]})]
    features: Annotated[tuple[Text, ...], Field(strict=False, min_length=1)] | None
    variant: Text | None
    target: Annotated[
        str, AfterValidator(lambda name: target_named(name).name), Field(json_schema_extra={"enum": [*TARGETS]})
    ]
    model: Fitted
    training: Training
    validation: Validation
    warnings: Annotated[tuple[WordedWarning, ...], Field(strict=False)]

    @model_validator(mode="after")
    def _parts_agree(self) -> Self:
        method = CALIBRATORS[self.method]
        if type(self.model) is not method.calibrator:
            raise ValueError(f"the model is not one of the method {self.method}")
        if (self.features is None) == (self.variant is None):
            raise ValueError("expected either features or a variant, not both or neither")
        if self.model.features != self.features:
            raise ValueError("the features and those of the model do not match")
        inputs = self.model.inputs
        if inputs > 1 and (self.variant is not None or not method.several_inputs):
            raise ValueError(f"{inputs} features, expected one for {self.variant or self.method}")
        check_target(method, TARGETS[self.target])
        return self

    @property
    def input_names(self) -> tuple[str, ...]:
        """What goes in: the features, or the variant."""
        return self.features or (self.variant or "",)

    def describe(self) -> Iterator[tuple[str, str]]:
        """What it predicts and its parameters in words, each with its name."""
        yield "target", f"{self.target}: {TARGETS[self.target].meaning}"
        yield from self.model.describe(self.input_names)

    def __call__(self, columns: Mapping[str, Floats]) -> Floats:
        """Calibrated confidences of columns given by name: the features, or the variant."""
        for name in self.input_names:
            if name not in columns:
                raise UserError(f"the calibration needs {name}, which is missing")
        return self.model(model_inputs(type(self.model), {name: columns[name] for name in self.input_names}))

    def save(self, path: str | Path, *, inputs: Iterable[str | Path] = ()) -> Path:
        """Write it as JSON, whole or not at all, and never over the run it was fitted on or another input."""
        return write_whole(path, self.text, inputs=[*self.input_paths, *inputs], hashes=self.input_hashes)

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

    @property
    def input_hashes(self) -> set[str]:
        """The SHA-256 of that file, by which it is known wherever it is."""
        return set() if self.training.sha256 is None else {self.training.sha256}


def check_target(method: CalibrationMethod, target: Target) -> None:
    """Most methods predict whether something is so: only some predict a number."""
    if method.binary and not target.binary:
        able = " and ".join(name for name, each in CALIBRATORS.items() if not each.binary)
        yes_or_no = " or ".join(name for name, each in TARGETS.items() if each.binary)
        raise UserError(f"the target {target.name} is for the method {able} only; use {yes_or_no}")


def model_inputs(calibrator: type[Calibrator], columns: Mapping[str, Floats]) -> Mapping[str, Floats]:
    """What the model sees of the columns: where it takes a probability, a spoken 1–5 has to be made into one."""
    if not calibrator.takes_probabilities:
        return columns
    return {name: spoken_share(v) if name == "verbalized_confidence" else v for name, v in columns.items()}


def load_calibration(path: str | Path) -> Calibration:
    """Read a calibration; anything in it that does not make sense is one line that says what."""
    return strict_json.read_as(path, calibration_of)


def calibration_of(content: Any) -> Calibration:
    """A calibration from parsed JSON."""
    if not isinstance(content, dict) or "method" not in content or not isinstance(content.get("model"), dict):
        raise UserError("not a calibration: expected an object with schema_version, method, model and others")
    method = CALIBRATORS[_method_name(content["method"])]
    with located("model"):
        method.calibrator.from_json(content["model"])
    try:
        return Calibration.model_validate_json(json.dumps(content))
    except ValidationError as error:
        raise UserError(one_line(error)) from None


def calibration_schema() -> dict[str, Any]:
    """The JSON Schema of the file."""
    return schema_of(Calibration)
