"""Retrieval artifact: a retrieval evaluation as a JSON file, checked before a byte is written, and on reading."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from demur import strict_json
from demur.artifact_numbers import Ends, Number, Pair, Points  # noqa: TC001
from demur.cautions import Caution  # noqa: TC001
from demur.drawing.html import html_table
from demur.errors import UserError, shown
from demur.metrics.retrieval import RankingMeasure
from demur.strict_model import Count, Part, Share, Time, Tool, one_line, schema_of
from demur.write import json_text, write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


class Estimated(Part):
    """A number with its uncertainty. What is undefined is null, with the reason; so is an interval there is none of."""

    value: Number
    reason: str | None
    ci95: Pair | None
    ci95_recommended: Ends | None
    std_error: Number
    drop_rate: Share | None
    no_interval: str | None

    @model_validator(mode="after")
    def _undefined_has_a_reason(self) -> Self:
        if (self.value is None) != (self.reason is not None):
            raise ValueError("a number is given, or a reason why there is none")
        if (self.ci95_recommended is None) != (self.no_interval is not None):
            raise ValueError("an interval is given, or a reason why there is none")
        if self.ci95 is not None and self.ci95[0] > self.ci95[1]:
            raise ValueError("ci95: the low end lies above the high end")
        return self


Estimates = Mapping[str, Estimated]


class CriterionNumbers(Part):
    """One criterion: how many queries, and their numbers."""

    queries: Count
    metrics: Estimates


class PopulationNumbers(Part):
    """Ranking metrics over some of the queries: pooled, averaged over criteria, and criterion by criterion."""

    queries: Count
    micro: Estimates
    macro: Estimates
    per_criterion: Mapping[str, CriterionNumbers]

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        if sum(one.queries for one in self.per_criterion.values()) != self.queries:
            raise ValueError("the queries of the criteria do not add up to queries")
        return self


class ThresholdAt(Part):
    """The probability from which on false alarms stay within a rate; null if no finite one does."""

    threshold: Share | None
    tpr: Share
    fpr: Share


class DetectionNumbers(Part):
    """How well a probability tells queries with evidence from those without."""

    single_class: bool
    has_evidence_rate: Share
    micro: Estimates
    macro: Estimates
    per_criterion: Mapping[str, Estimates]
    single_class_criteria: Annotated[tuple[str, ...], Field(strict=False)]
    threshold_at_fpr: Mapping[str, ThresholdAt]


class GateNumbers(Part):
    """The gate as a selective predictor: what it answers, and how often there is no evidence where it answers."""

    loss: str
    defined: bool
    metrics: Estimates
    upper_bound95: Mapping[str, float]
    curve: Points


class BreachAt(Part):
    """A query for which more or fewer ids are selected than the bounds allow."""

    post: int | str
    criterion: str
    selected: Count
    candidates: Count
    allowed: Annotated[tuple[int, int], Field(strict=False)]


class DynamicK(Part):
    """What is shown of each list: how much evidence, how pure, how many ids, and which selections break the bounds."""

    metrics: Estimates
    abstained: Count
    breaches: Annotated[tuple[BreachAt, ...], Field(strict=False)]


class FoldNumbers(Part):
    """One number over folds: mean and population standard deviation (ddof 0)."""

    mean: Number
    std: Number
    values: Mapping[str, Number]


class CandidateCounts(Part):
    """How many ids the lists hold."""

    minimum: Count
    p5: float
    p25: float
    p50: float
    p75: float
    p95: float
    maximum: Count
    mean: float


class SystemNumbers(Part):
    """Every number of one system."""

    queries_abstained: Count
    candidates: CandidateCounts
    positives_only: PopulationNumbers
    all_queries: PopulationNumbers
    empty_decision_by: Literal["threshold", "selected_ids", "ranked_ids"]
    empty_decision: Estimates
    detection: DetectionNumbers | None
    gate: GateNumbers | None
    dynamic_k: DynamicK | None
    policies: Mapping[str, Estimates]
    folds: Mapping[str, Mapping[str, FoldNumbers]] | None


class DeltaEstimated(Part):
    """A paired difference, the system minus the baseline; `share_above` is the share of draws in which it is above."""

    delta: Number
    reason: str | None
    ci95: Pair | None
    ci95_recommended: Ends | None
    std_error: Number
    share_above: Share | None
    no_interval: str | None


class Placed(Part):
    """A result beside the reference ranges."""

    system: str
    metric: str
    value: float
    baseline: Pair
    good: Pair
    place: str


class QueryCounts(Part):
    """What was asked."""

    posts: Count
    criteria: Count
    queries_total: Count
    queries_with_positives: Count
    queries_without_positives: Count
    folds: Annotated[tuple[str, ...], Field(strict=False)] | None

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        if self.queries_total != self.queries_with_positives + self.queries_without_positives:
            raise ValueError("queries_total is not queries_with_positives + queries_without_positives")
        return self


class Bootstrapped(Part):
    """How posts were resampled."""

    seed: Count
    n_resamples: Annotated[int, Field(ge=1)]
    kind: Literal["multinomial"] = "multinomial"
    cluster: Literal["post"] = "post"


class Used(Part):
    """What was asked for."""

    k: Annotated[tuple[int, ...], Field(strict=False, min_length=1)]
    effective_k: bool
    k_min: int
    hard_cap: int
    k_max_ratio: float
    gate_threshold: float | None
    policies: Annotated[tuple[str, ...], Field(strict=False)]
    baseline: str | None


class File(Part):
    """A file that was read."""

    path: str
    sha256: str


class RetrievalMetrics(Part):
    """The whole file."""

    schema_version: Literal["1"] = "1"
    kind: Literal["retrieval"] = "retrieval"
    created_at: Time
    tool: Tool
    inputs: Annotated[tuple[File, ...], Field(strict=False)]
    settings: Used
    bootstrap: Bootstrapped | None
    convention: Mapping[str, str]
    queries: QueryCounts
    systems: Annotated[Mapping[str, SystemNumbers], Field(min_length=1)]
    deltas: Mapping[str, Mapping[str, Mapping[str, DeltaEstimated]]]
    reference_ranges: Annotated[tuple[Placed, ...], Field(strict=False)]
    warnings: Annotated[tuple[Caution, ...], Field(strict=False)]

    @model_validator(mode="after")
    def _parts_agree(self) -> Self:
        for name, system in self.systems.items():
            if system.all_queries.queries != self.queries.queries_total:
                raise ValueError(f"{name}: all_queries is not over all queries")
            if system.positives_only.queries != self.queries.queries_with_positives:
                raise ValueError(f"{name}: positives_only is not over the queries with gold")
        if set(self.deltas) - set(self.systems) or (self.settings.baseline is None) == bool(self.deltas):
            raise ValueError("differences are those of systems from the baseline")
        if self.settings.baseline is not None and self.settings.baseline not in self.systems:
            raise ValueError(f"the baseline {shown(self.settings.baseline)} is none of the systems")
        return self

    @model_validator(mode="after")
    def _every_system_has_the_same_numbers(self) -> Self:
        first = next(iter(self.systems.values())).positives_only
        for measure in first.micro:
            RankingMeasure.of(measure)
        if any(f"ndcg@{k}" not in first.micro for k in self.settings.k):
            raise ValueError("there is no nDCG at each k of the settings")
        for name, system in self.systems.items():
            for found in (system.positives_only, system.all_queries):
                if found.per_criterion.keys() != first.per_criterion.keys():
                    raise ValueError(f"{shown(name)}: the criteria are not those of the first system")
                groups = (found.micro, found.macro, *(one.metrics for one in found.per_criterion.values()))
                if any(one.keys() != first.micro.keys() for one in groups):
                    raise ValueError(f"{shown(name)}: the ranking metrics are not the same everywhere")
        return self

    def to_json(self) -> dict[str, Any]:
        """The content of the file."""
        return self.model_dump(mode="json")

    def __repr__(self) -> str:
        asked = self.queries
        return f"RetrievalMetrics({asked.queries_total} queries of {asked.posts} posts; {', '.join(self.systems)})"

    __str__ = __repr__

    def _repr_html_(self) -> str:
        names = [*next(iter(self.systems.values())).positives_only.micro]
        rows = [
            (metric, *(_shown(one.positives_only.micro[metric].value) for one in self.systems.values()))
            for metric in names
        ]
        return html_table(("queries with gold", *self.systems), rows, repr(self))

    @property
    def fingerprint(self) -> str:
        """A hash of the result, whenever and by whichever command it was made."""
        return strict_json.fingerprint(json_text(self.model_dump(mode="json", exclude={"created_at", "tool"})).encode())

    def save(self, path: str | Path, *, inputs: Iterable[str | Path] = ()) -> Path:
        """Write it as JSON, whole or not at all, and never over a file it was made from or another input."""
        return write_whole(path, json_text(self.to_json()), inputs=[*(one.path for one in self.inputs), *inputs])


def _shown(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def load_retrieval(path: str | Path) -> RetrievalMetrics:
    """Read a retrieval artifact back; anything in it that does not hold together is one line that says what."""
    return strict_json.read_as(path, retrieval_metrics_of)


def retrieval_metrics_of(content: Any) -> RetrievalMetrics:
    """A retrieval artifact from parsed JSON."""
    if not isinstance(content, dict) or content.get("kind") != "retrieval":
        raise UserError("not a retrieval artifact: expected an object with kind retrieval, systems …")
    try:
        return RetrievalMetrics.model_validate_json(json.dumps(content))
    except ValidationError as error:
        raise UserError(one_line(error)) from None


def retrieval_schema() -> dict[str, Any]:
    """The JSON Schema of the file."""
    return schema_of(RetrievalMetrics)
