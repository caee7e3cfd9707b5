"""Kinds: the three artifacts a page can be made of, how a file is told to be one of them, and what its page holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from demur import strict_json
from demur.artifact import Metrics, metrics_of
from demur.calibration import Calibration, calibration_of
from demur.errors import UserError
from demur.report.calibration_page import calibration_side, drawn_map, fitted, fitting_provenance, validated
from demur.report.closer import by_item, cases
from demur.report.curves import curves
from demur.report.forest import forests
from demur.report.operating import operating, operating_data
from demur.report.overview import counted, overview
from demur.report.provenance import provenance
from demur.report.rankings_compared import rankings_compared
from demur.report.retrieval_closer import criteria, folds
from demur.report.retrieval_detection import detection
from demur.report.retrieval_differences import system_differences
from demur.report.retrieval_overview import asked, retrieval_overview
from demur.report.retrieval_provenance import retrieval_provenance
from demur.report.retrieval_shown import what_is_shown
from demur.report.sides import sides_of
from demur.report.signals_compared import signals
from demur.report.systems import systems_of
from demur.retrieval_artifact import RetrievalMetrics, retrieval_metrics_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

Reportable = Metrics | RetrievalMetrics | Calibration


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page: its place in the navigation, its template, and what the template shows.

    A section whose content is None is left out.
    """

    anchor: str
    title: str
    content: Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of artifact: its templates and scripts, what it sets side by side, and what can be switched."""

    name: str
    folder: str
    sections: tuple[Section, ...]
    scripts: tuple[str, ...]
    sides: Callable[[Any], Any]
    switched: Callable[[Any], list[str]]
    made_from: Callable[[Any], Sequence[str | None]]
    data: Callable[[Any], Any] = lambda _: None


EVALUATION = Kind(
    name="evaluation",
    folder="",
    sections=(
        Section("verdict", "Verdict", overview),
        Section("counted", "Who was counted", counted),
        Section("curves", "Risk and coverage", curves),
        Section("operating", "Operating point", operating),
        Section("differences", "Paired differences", forests),
        Section("signals", "Which signal", signals),
        Section("items", "By item", by_item),
        Section("cases", "Cases", cases),
        Section("methods", "Methods and provenance", provenance),
    ),
    scripts=("copy.js", "script.js"),
    sides=sides_of,
    switched=lambda metrics: [*metrics.confidence_variants],
    made_from=lambda metrics: [one.path for one in metrics.inputs],
    data=operating_data,
)

RETRIEVAL = Kind(
    name="retrieval",
    folder="retrieval/",
    sections=(
        Section("verdict", "Verdict", retrieval_overview),
        Section("counted", "Who was counted", asked),
        Section("rankings", "Rankings", rankings_compared),
        Section("criteria", "By criterion", criteria),
        Section("detection", "No evidence here", detection),
        Section("shown", "What is shown", what_is_shown),
        Section("differences", "Paired differences", system_differences),
        Section("folds", "Folds", folds),
        Section("methods", "Methods and provenance", retrieval_provenance),
    ),
    scripts=("copy.js",),
    sides=systems_of,
    switched=lambda metrics: [*metrics.systems],
    made_from=lambda metrics: [one.path for one in metrics.inputs],
)

CALIBRATION = Kind(
    name="calibration",
    folder="calibration/",
    sections=(
        Section("fitted", "What was fitted", fitted),
        Section("validation", "Which numbers to trust", validated),
        Section("map", "The map", drawn_map),
        Section("warnings", "Warnings", lambda calibration: calibration.warnings or None),
        Section("methods", "Methods and provenance", fitting_provenance),
    ),
    scripts=("copy.js",),
    sides=calibration_side,
    switched=lambda _: [],
    made_from=lambda calibration: [calibration.training.path],
)

_KINDS: dict[type, Kind] = {Metrics: EVALUATION, RetrievalMetrics: RETRIEVAL, Calibration: CALIBRATION}


def kind_of(artifact: Reportable) -> Kind:
    """The kind of an artifact."""
    return _KINDS[type(artifact)]


def read_reportable(path: str | Path) -> tuple[Reportable, str]:
    """An artifact of any kind, and the SHA-256 of its bytes; what is none of them is one line that says so."""
    data = strict_json.read_bytes(path)
    try:
        return reportable_of(strict_json.loads(strict_json.decode(data))), strict_json.fingerprint(data)
    except UserError as error:
        raise error.in_file(path) from None


def reportable_of(content: Any) -> Reportable:
    """An artifact of any kind from parsed JSON."""
    members = content if isinstance(content, dict) else {}
    if members.get("kind") == "retrieval":
        return retrieval_metrics_of(content)
    if "confidence_variants" in members:
        return metrics_of(content)
    if "method" in members and "model" in members:
        return calibration_of(content)
    raise UserError("not an artifact: expected what demur evaluate, demur retrieval or demur calibrate writes")
