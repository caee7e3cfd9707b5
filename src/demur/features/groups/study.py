"""Groups in the record of a study: what was asked, their threshold, labels and curves, and the warning of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal

from demur.errors import IncompleteError, shown
from demur.files.strict_model import Count, Declared, Part
from demur.inference.key import Group
from demur.inference.warnings import KINDS, Kind
from demur.results.file_models import Many, Vertices
from demur.results.table import Results

MULTIPLE = "multiple_groups"
KINDS[MULTIPLE] = Kind(
    "groups",
    "{groups} groups and {comparisons} differences are looked at, and one in twenty stands out by luck alone: "
    "judge by the intervals that hold for all groups at once",
    sample=True,
)


class SharedThreshold(Part):
    """The threshold all groups of one system share under one confidence."""

    system: str
    confidence: str
    threshold: float


class GroupingRecord(Part):
    """A grouping of the units: its levels, the column (and file) its labels came from, and how many units have none.

    It is of the `cluster` if all units of every cluster are in one group, and of the `unit` otherwise.
    """

    name: str
    column: str | None
    file: str | None
    kind: Literal["cluster", "unit"]
    levels: Many[str]
    without_label: Count


class GroupCurve(Vertices):
    """Operating points of one group of a system under one confidence: all of them, or some spread evenly."""

    of: ClassVar[str] = "the curve of a group"
    system: str
    confidence: str
    group: Annotated[tuple[str, str], Declared(strict=False)]

    def _mistakes(self) -> Iterator[str]:
        if not len(self.coverage) == len(self.selective_risk) == len(self.generalized_risk):
            yield "the columns of the curve of a group have different lengths"


class GroupsRecord(Part):
    """What was asked about groups: the threshold they share, as given or by a coverage, and who can be judged."""

    threshold: float | None
    at_coverage: str | None
    min_clusters: Count
    max_groups: Count
    stratified_by: str | None
    thresholds: Many[SharedThreshold]
    groupings: Annotated[Many[GroupingRecord], Declared(min_length=1)]
    curves: Many[GroupCurve]

    def threshold_of(self, system: str, confidence: str) -> float:
        """The threshold the groups of a system share."""
        for shared in self.thresholds:
            if (shared.system, shared.confidence) == (system, confidence):
                return shared.threshold
        raise IncompleteError(f"groups: no threshold of {shown(system)}, by {shown(confidence)}")

    def curve_of(self, system: str, confidence: str, group: Group) -> GroupCurve:
        """The curve of one group of a system."""
        for curve in self.curves:
            if (curve.system, curve.confidence, *curve.group) == (system, confidence, *group):
                return curve
        raise IncompleteError(f"groups: no curve of {shown(system)}, by {shown(confidence)}, of {shown(group.level)}")


def groups_of(results: Results) -> GroupsRecord | None:
    """What results record of groups; None if none were asked for."""
    study: Any = results.selective
    record: GroupsRecord | None = study.groups
    return record
