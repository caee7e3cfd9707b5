"""Models of the parts of a result about groups of units: the settings, and the numbers of the nested file."""

from collections.abc import Collection, Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal

from demur.files.strict_model import Count, Declared, Part, Share
from demur.results.parts import Many, Number, Pair, Vertices
from demur.types import Json

HELD: Any = Declared(default_factory=dict, exclude_if=lambda value: not value)  # a member left out where it is empty


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
        return next(
            shared.threshold for shared in self.thresholds if (shared.system, shared.confidence) == (system, confidence)
        )


class Ends(Part):
    """An interval and its method; what was counted to choose it, and what the ends were before they were cut off."""

    model_config: ClassVar = {"json_schema_serialization_defaults_required": False}

    method: str
    low: float
    high: float
    decided_by: str | None = None
    count: Count | None = None
    degrees: float | None = None
    skipped: Share | None = None
    clipped: Many[str] | None = None
    unclipped: Pair | None = None
    note: str | None = None

    def model_dump(self, *, exclude: Collection[str] = ()) -> Json:
        """The members that are not null."""
        return {name: value for name, value in super().model_dump(exclude=exclude).items() if value is not None}

    def _mistakes(self) -> Iterator[str]:
        if self.low > self.high:
            yield f"the low end {self.low} lies above the high end {self.high}"


class GroupNumbers(Part):
    """What is known of the uncertainty of the numbers beside it, by their names."""

    std_error: Annotated[Mapping[str, float], HELD]
    drop_rate: Annotated[Mapping[str, Share], HELD]
    upper_bound95: Annotated[Mapping[str, float], HELD]
    p_value: Annotated[Mapping[str, Share], HELD]
    share_above: Annotated[Mapping[str, Share], HELD]
    share_below: Annotated[Mapping[str, Share], HELD]
    ci95: Annotated[Mapping[str, Pair], HELD]
    ci95_recommended: Annotated[Mapping[str, Ends], HELD]
    ci95_simultaneous: Annotated[Mapping[str, Ends], HELD]
    ci: Annotated[Mapping[str, Ends], HELD]
    no_interval: Annotated[Mapping[str, str], HELD]
    not_requested: Annotated[Mapping[str, str], HELD]


class AtThreshold(GroupNumbers):
    """Coverage and risk at the threshold that all groups share, or by how much they differ."""

    coverage: Number
    risk: Number


class AllAtThreshold(AtThreshold):
    """The threshold, and what it does to all units."""

    value: float


class WithinGroup(GroupNumbers):
    """A group by its own curve; areas at_c are cut at c_common, which all groups reach that answer anything."""

    cmax: Share
    aurc: float
    augrc: float
    eaurc: float
    aurc_at_c: float
    augrc_at_c: float


class GroupLevel(AtThreshold):
    """One group; one that is `small` is too small to be judged by its risk."""

    level: str
    clusters: Count
    units: Count
    answered: Count
    accepted: Count
    errors: Count
    loss_sum: float
    small: bool
    vs_rest: AtThreshold
    within: WithinGroup


class WorstGroup(Part):
    """The group with the highest risk of those that are judged."""

    level: str | None
    risk: Number
    ci95: Ends | None
    no_interval: str | None


class GroupGap(Part):
    """The highest risk minus the lowest, and whose they are."""

    levels: Annotated[tuple[str, str], Declared(strict=False)] | None
    value: Number
    ci95: Ends | None
    no_interval: str | None


class GroupedNumbers(Part):
    """One grouping of the units, of one run under one confidence."""

    kind: str
    threshold: AllAtThreshold
    levels: Many[GroupLevel]
    worst: WorstGroup
    gap: GroupGap
    c_common: Share
