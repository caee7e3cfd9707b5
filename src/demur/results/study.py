"""Studies: the record of what was evaluated and how, apart from the numbers, as models of the file."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Literal, Self

from demur.facts.losses import COLUMN, GIVEN
from demur.files.strict_model import SPARSE, Count, Declared, Part, Share, Time, Tool
from demur.inference.key import Key
from demur.quantities import Measure, Quantity, quantities
from demur.quantities.conventions.signature import MANY, NONE, OF_SCORES, Signature
from demur.quantities.losses import LOSSES
from demur.quantities.registry import COMMON, CUT
from demur.results import parts
from demur.results.groups import GroupsRecord
from demur.results.parts import Many, Name
from demur.results.reference import KnownRanges

PARTICIPANT = "participant"
AREA = "augrc"
SIGNATURE = "signature"
_USUAL_DEPTH = 10
_IN_WORDS = ("ties", "denominator", "anchor_at_zero", "integration")


class Study(Part):
    """The members of the record that both tasks share."""

    created_at: Time
    tool: Tool
    execution: Annotated[parts.Execution | None, SPARSE] = None
    inputs: Many[parts.Input]
    also_read: Many[parts.AlsoRead] = ()
    baseline: str | None
    bootstrap: parts.Bootstrap | None
    requested: parts.RequestedInterval | None = None
    convention: Mapping[str, str]

    def _with(self, line: Signature) -> Self:
        """The same with its signature recorded."""
        return self.model_copy(update={"convention": {**self.convention, SIGNATURE: str(line)}})

    def _boot(self, drawn: str) -> str:
        return f"{drawn}.{self.bootstrap.n_resamples}.s{self.bootstrap.seed}" if self.bootstrap else NONE


def reported(cut: str, coverages: Sequence[str]) -> Iterator[tuple[Quantity, str, str]]:
    """All reported numbers of a curve: quantity, name, and coverage if any."""
    for entry in (entry for entry in quantities("curve") if entry.reported):
        if entry.parameter is None:
            yield entry, entry.name, ""
        elif entry.parameter is CUT:
            yield entry, f"{entry.stem}@{cut}", ""
        else:
            yield from ((entry, f"{entry.stem}@{text}", text) for text in coverages)


def metric_of_verdict(names: Sequence[str]) -> str:
    """The metric that decides between rankings: nDCG at 10, or at the largest depth; else the first.

    >>> metric_of_verdict(["ndcg@3", "ndcg@5", "mrr"]), metric_of_verdict(["map_trec", "mrr"])
    ('ndcg@5', 'map_trec')
    """
    measures = [measure for measure in map(Measure.of, names) if measure.quantity.stem == "ndcg"]
    by_depth = {math.inf if measure.value is None else measure.value: str(measure) for measure in measures}
    return (by_depth.get(_USUAL_DEPTH) or by_depth[max(by_depth)]) if by_depth else names[0]


def signed_loss(loss: parts.Loss) -> str:
    """The name of a loss in a signature."""
    if loss.name == GIVEN:
        return GIVEN if loss.definition.startswith(COLUMN) else OF_SCORES
    normalised = loss.name in LOSSES and LOSSES[loss.name].normalised
    return f"{loss.name}.{loss.raw_multiplier}" if normalised else loss.name


class SelectiveSystem(Part):
    """One system: answered units, clusters it failed on, and clusters that only it lacks or has.

    Where repeats of a question were put together, `rows` counts all of them, and `rows_failed` those that failed.
    """

    name: str
    answered: Count
    failed: Count
    not_in_all: Count = 0
    units_failed: Annotated[Count | None, SPARSE] = None
    failed_by_cause: Annotated[Many[parts.Cause] | None, SPARSE] = None
    rows: Annotated[Count | None, SPARSE] = None
    rows_failed: Annotated[Count | None, SPARSE] = None
    needless_abstentions: parts.Declined | None = None


class SelectiveStudy(Study):
    """The record of an evaluation of systems that may abstain."""

    task: Literal["selective"] = "selective"
    noun: str = PARTICIPANT
    systems: Annotated[Many[SelectiveSystem], Declared(min_length=1)]
    clusters_total: Count
    clusters_included: Count
    units: Count
    intersection_only: bool
    loss: parts.Loss
    confidences: Annotated[Many[str], Declared(min_length=1)]
    skipped: Many[parts.Skipped]
    coverages: Many[str]
    area_coverage: str | None
    groups: Annotated[GroupsRecord | None, SPARSE] = None
    failed: Many[Name]
    failed_units: Annotated[Literal["drop", "abstain"] | None, SPARSE] = None
    excluded: Annotated[Many[str] | None, SPARSE] = None
    probabilities: Annotated[Many[str] | None, SPARSE] = None
    repeats: Annotated[Literal["units", "first", "vote"] | None, SPARSE] = None
    confident_errors: Many[parts.ConfidentErrors]
    abstention_costs: Annotated[Many[str] | None, SPARSE] = None
    cross_fit: Annotated[int | None, SPARSE] = None
    conventions: Annotated[Many[str] | None, SPARSE] = None
    external_points: Annotated[Many[parts.ExternalPoint] | None, SPARSE] = None
    margin: Annotated[float | None, SPARSE] = None
    handover_threshold: Annotated[float | None, SPARSE] = None

    def signed(self, *, independent: bool) -> Self:
        """A copy with the signature recorded; `independent` rows have no cluster."""
        return self._with(self.signature().under({"cluster": NONE, "boot": self._boot("item")} if independent else {}))

    def signature(self, confidence: str | None = None) -> Signature:
        """The signature of the definition that the numbers follow, for all confidences or for one."""
        independent = f"|cluster:{NONE}|" in self.convention.get(SIGNATURE, "")
        names = [confidence] if confidence is not None else self.confidences
        return Signature(
            loss=signed_loss(self.loss),
            cluster=NONE if independent else self.noun,
            conf=names[0] if len(names) == 1 else MANY,
            boot=self._boot("item" if independent else "cluster"),
            v=self.tool.version,
        )

    @property
    def clusters_failed(self) -> int:
        """The number of clusters that failed in at least one system."""
        return self.clusters_total - self.clusters_included

    @property
    def cut(self) -> str:
        """The coverage at which areas end, as spelled in names of quantities."""
        return COMMON if self.area_coverage is None else self.area_coverage

    @property
    def headline(self) -> Key:
        """The key, without a system, of the number that systems are compared by, fixed before computing."""
        return Key("", f"{AREA}@{self.cut}", self.confidences[0])

    def names(self, shown: str) -> list[str]:
        """The names of the quantities shown in one section or table."""
        cells = reported(self.cut, self.coverages)
        return [name for entry, name, coverage in cells if shown in entry.shown and not coverage]

    @property
    def names_at_coverages(self) -> list[str]:
        """The names of the quantities at the requested coverages."""
        return [name for _, name, coverage in reported(self.cut, self.coverages) if coverage]

    def _mistakes(self) -> Iterator[str]:
        for name in _IN_WORDS:
            if name not in self.convention:
                yield f"the convention lacks {name}"
        if self.clusters_total < self.clusters_included:
            yield "participants_total is not participants_included + participants_failed"
        if len(self.inputs) != len(self.systems):
            yield f"{len(self.inputs)} inputs for {len(self.systems)} systems"
        if any(system.answered > self.units for system in self.systems):
            yield "more items are predicted than there are"


class CandidateCounts(Part):
    """Percentiles of the number of ids in the ranked lists."""

    minimum: Count
    p5: float
    p25: float
    p50: float
    p75: float
    p95: float
    maximum: Count
    mean: float


class EmptyDecision(Part):
    """How often "no evidence here" is right (true positives), wrong, and missing where it would be right."""

    true_positives: Count
    false_positives: Count
    false_negatives: Count


class RetrievalSystem(Part):
    """One system: what it returned, what decides that there is no evidence, and which selections break the bounds."""

    name: str
    abstained: Count
    candidates: CandidateCounts
    empty_decision_by: Literal["threshold", "selected_ids", "ranked_ids"]
    empty_decision: EmptyDecision | None = None
    empty_selections: Count | None
    breaches: Many[parts.Breach]


class SettingsUsed(Part):
    """The settings of a retrieval evaluation."""

    k: Annotated[tuple[Annotated[int, Declared(ge=1, le=10**8)], ...], Declared(strict=False)]
    metrics: Annotated[Many[str] | None, SPARSE] = None
    effective_k: bool
    relevance_level: Annotated[int, Declared(ge=1)] = 1
    k_min: int
    hard_cap: int
    k_max_ratio: float
    gate_threshold: float | None
    policies: Many[str]

    @property
    def verdict_metric(self) -> str:
        """The metric of the verdict."""
        return metric_of_verdict(self.metrics or [f"ndcg@{k}" for k in self.k])

    def _mistakes(self) -> Iterator[str]:
        if not (self.k or self.metrics):
            yield "neither a depth nor a metric was requested"
        for name in self.metrics or ():
            Measure.of(name, "ranking")


class CriterionCounts(Part):
    """One criterion: how many queries, and how many of them have gold."""

    name: str
    queries: Count
    with_gold: Count


class GradeCount(Part):
    """The number of judgments with one grade above 0."""

    grade: Annotated[int, Declared(ge=1)]
    ids: Annotated[int, Declared(ge=1)]


class PlacedFigure(Part):
    """A result beside the reference ranges."""

    system: str
    metric: str
    value: float
    baseline: parts.Pair
    good: parts.Pair
    place: str


class RetrievalStudy(Study):
    """The record of an evaluation of evidence retrieval."""

    task: Literal["retrieval"] = "retrieval"
    noun: str = "post"
    systems: Annotated[Many[RetrievalSystem], Declared(min_length=1)]
    settings: SettingsUsed
    posts: Count
    queries: Count
    with_gold: Count
    judgments: Annotated[Many[GradeCount] | None, SPARSE] = None
    criteria: Many[CriterionCounts]
    folds: Many[str]
    has_evidence_rate: Share
    reference: Annotated[KnownRanges | None, SPARSE] = None
    reference_ranges: Many[PlacedFigure]

    def signed(self) -> Self:
        """A copy with the signature recorded."""
        return self._with(self.signature())

    def signature(self) -> Signature:
        """The signature of the definition that the numbers follow; queries are the units, and posts the clusters."""
        drawn = {"boot": self._boot("cluster"), "v": self.tool.version}
        return Signature(loss=OF_SCORES, unit="query", cluster=self.noun, opt=NONE, hull=NONE, conf=MANY, **drawn)

    def _mistakes(self) -> Iterator[str]:
        if sum(criterion.queries for criterion in self.criteria) != self.queries:
            yield "the queries of the criteria do not add up to queries"
        if sum(criterion.with_gold for criterion in self.criteria) != self.with_gold:
            yield "the queries with gold of the criteria do not add up to with_gold"
        for counts in (system.empty_decision for system in self.systems if system.empty_decision):
            if counts.true_positives + counts.false_negatives != self.queries - self.with_gold:
                yield "the true positives and false negatives do not add up to the queries without gold"
            if counts.false_positives > self.with_gold:
                yield "more false positives than queries with gold"
        if len({system.name for system in self.systems}) < len(self.systems):
            yield "two systems have the same name"
