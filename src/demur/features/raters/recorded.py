"""What results record of raters and published points: the points, the margin, and the hand-over curves."""

from collections.abc import Mapping, Sequence
from typing import Any

from demur.features.raters.models import ExternalPoint, HandoverCurve
from demur.results.file_models import CurveRecord
from demur.results.table import Results


def points_of(results: Results) -> Sequence[ExternalPoint]:
    """The raters, forced runs and published points."""
    study: Any = results.selective
    return study.external_points or ()


def margin_of(results: Results) -> float | None:
    """How much a system's risk may exceed a rater's; None if that was not tested."""
    study: Any = results.selective
    return study.margin  # type: ignore[no-any-return]


def handover_of(record: CurveRecord) -> Mapping[str, HandoverCurve]:
    """The hand-over curve to each rater."""
    curve: Any = record
    return curve.handover or {}
