"""The study of an evaluation of retrieval: what was evaluated and how, besides the numbers, as models of its file."""

import math
from collections.abc import Iterator, Sequence
from typing import Annotated, Literal, Self

from demur.errors import UserError
from demur.extensions.retrieval.reference_ranges import KnownRanges
from demur.extensions.retrieval.warnings import subject_of
from demur.files.strict_model import SPARSE, Count, Declared, Part, Share
from demur.inference.warnings import ResultWarning
from demur.quantities import Measure
from demur.quantities.signature import MANY, NONE, OF_SCORES, Signature
from demur.results.file_models import Many, Name, Pair
from demur.results.json_table import TableParts
from demur.results.study import EvaluatedSystem, Study
from demur.results.table import Results

_USUAL_DEPTH = 10


def metric_of_verdict(names: Sequence[str]) -> str:
    """The metric that decides between rankings: nDCG at 10, or at the largest depth; else the first.

    >>> metric_of_verdict(["ndcg@3", "ndcg@5", "mrr"]), metric_of_verdict(["map_trec", "mrr"])
    ('ndcg@5', 'map_trec')
    """
    measures = [measure for measure in map(Measure.of, names) if measure.quantity.stem == "ndcg"]
    by_depth = {math.inf if measure.value is None else measure.value: str(measure) for measure in measures}
    return (by_depth.get(_USUAL_DEPTH) or by_depth[max(by_depth)]) if by_depth else names[0]


class Breach(Part):
    """A query for which more or fewer ids are selected than the bounds allow."""

    post: Name
    criterion: str
    selected: Count
    candidates: Count
    allowed: Annotated[tuple[int, int], Declared(strict=False)]


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


class RetrievalSystem(EvaluatedSystem):
    """One system: what it returned, what decides that there is no evidence, and which selections break the bounds."""

    abstained: Count
    candidates: CandidateCounts
    empty_decision_by: Literal["threshold", "selected_ids", "ranked_ids"]
    empty_decision: EmptyDecision | None = None
    empty_selections: Count | None
    breaches: Many[Breach]


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
    baseline: Pair
    good: Pair
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

    @property
    def clusters(self) -> int:
        """How many posts there are."""
        return self.posts

    def signed(self) -> Self:
        """A copy with the signature recorded."""
        return self._with(self.signature())

    def signature(self) -> Signature:
        """The signature of the definition that the numbers follow; queries are the units, and posts the clusters."""
        drawn = {"boot": self._boot("cluster"), "v": self.tool.version}
        return Signature(loss=OF_SCORES, unit="query", cluster=self.noun, opt=NONE, hull=NONE, conf=MANY, **drawn)

    def warning_subject(self, warning: ResultWarning) -> str:
        """The system and what of it, or what of the queries, a warning is about."""
        return subject_of(warning)

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


class RetrievalFile(TableParts, RetrievalStudy):
    """The results of any number of retrieval systems."""


def study_of(results: Results) -> RetrievalStudy:
    """The study of results of retrieval; an error for others."""
    if not isinstance(results.study, RetrievalStudy):
        raise UserError("these are results of answers, not of retrieval")
    return results.study
