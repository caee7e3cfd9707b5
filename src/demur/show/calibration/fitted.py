"""The sections of the page of a calibration: what was fitted, how it was validated, and the calibration map."""

import math

import numpy as np

from demur.confidences.calibration import Calibration, Quality
from demur.confidences.calibrators import CALIBRATORS
from demur.confidences.fitting import QUALITY
from demur.confidences.variants import VARIANTS
from demur.drawing.confidence import calibration_map
from demur.drawing.labels import isolated
from demur.drawing.risk_coverage import MOST_MARKERS
from demur.drawing.system_styles import STYLES
from demur.errors import UserError
from demur.facts.signals import SIGNALS
from demur.quantities.registry import QUANTITIES
from demur.show.names import NamedSystem
from demur.show.sections import Content, carried, definition, section
from demur.show.statements import calibration as statements
from demur.show.statements.population import training_source
from demur.show.statements.warnings import Warned, recorded_warnings
from demur.show.text import decimals
from demur.types import Floats

_POINTS = 121


def inputs_in_words(calibration: Calibration) -> str:
    """The names of the inputs, joined as in a sentence."""
    return " and ".join(isolated(name) for name in calibration.input_names)


def calibration_name(calibration: Calibration) -> tuple[NamedSystem, ...]:
    """The heading of the page: the calibration in place of a list of systems."""
    name = f"{CALIBRATORS[calibration.method].title} of {inputs_in_words(calibration)}"
    return (NamedSystem(name, f"{name[:1].upper()}{name[1:]}", name, STYLES[0].style),)


@section("fitted", "What was fitted", task="calibration", order=10)
def fitted(calibration: Calibration) -> Content:
    """The section on what was fitted: the calibrator in words, and its parameters."""
    parameters = [(isolated(name), text) for name, text in calibration.describe()]
    return {
        "headline": statements.fitted(calibration),
        "statements": [*statements.training(calibration)],
        "parameters": parameters,
    }


@section("validation", "Which numbers to trust", task="calibration", order=20)
def validated(calibration: Calibration) -> Content:
    """The section on quality: before calibration, in sample and cross-validated, with advice on which to trust."""
    checked = calibration.validation
    columns: dict[str, Quality] = {"as given": checked.as_given} if checked.as_given else {}
    columns["in sample"] = checked.in_sample
    if checked.cross_validated:
        columns[f"out of {checked.folds} folds"] = checked.cross_validated
    reasons = {name: reason for quality in columns.values() for name, reason in quality.undefined.items()}
    directions = {name: "higher" if QUANTITIES[name].better == "higher" else "lower" for name in QUALITY}
    return {
        "advice": statements.NumbersToTrust(statements.validation(calibration)),
        "columns": [*columns],
        "rows": [
            (name, f"{better} is better", [decimals(getattr(quality, name)) for quality in columns.values()])
            for name, better in directions.items()
        ],
        "undefined": [f"{name} is not defined: {reason}" for name, reason in reasons.items()],
    }


@section("map", "The map", task="calibration", order=15)
def drawn_map(calibration: Calibration) -> Content | None:
    """The section with the calibration map and a table of values; None unless there is one input."""
    if calibration.model.inputs != 1:
        return None
    (name,) = calibration.input_names
    across = _inputs(calibration, name)
    if across is None:
        return None
    try:
        up = calibration({name: across})
    except UserError:
        return None
    knots = bool(calibration.model.knots)
    inputs, outputs = across.tolist(), up.tolist()
    listed = [*zip(inputs, outputs, strict=True)][:: 1 if knots else (_POINTS - 1) // 10]
    rows = [(f"{x:.6g}", f"{y:.4g}") for x, y in listed] if len(listed) <= MOST_MARKERS else []
    picture = calibration_map(inputs, outputs, isolated(name), knots=knots)
    return {"svg": picture.svg, "takeaway": picture.words, "source": isolated(name), "rows": rows}


def _inputs(calibration: Calibration, name: str) -> Floats | None:
    """The inputs at which the map is drawn: its knots, or a grid over the range of the input."""
    model = calibration.model
    if model.knots:
        return np.array(model.knots) if math.isfinite(model.knots[-1] - model.knots[0]) else None
    declared = VARIANTS.get(name) or SIGNALS.get(name)
    low, high = model.domain(declared.low, declared.high) if declared else model.domain(-math.inf, math.inf)
    return np.linspace(low, high, _POINTS) if low < high and math.isfinite(high - low) else None


@section("warnings", "Warnings", task="calibration", order=40)
def warnings(calibration: Calibration) -> list[Warned] | None:
    """The section of warnings; None if there are none."""
    return recorded_warnings(calibration.warnings) or None


@section("methods", "Methods and provenance", task="calibration", order=50)
def fitting_provenance(calibration: Calibration) -> Content:
    """The section with the definitions of the quality measures, and the embedded file."""
    return {
        "definitions": [definition(QUANTITIES[name]) for name in QUALITY],
        "source": training_source(calibration),
        "validation": statements.validation(calibration),
        "carried": carried(calibration, "calibrator", recorded_warnings(calibration.warnings)),
    }
