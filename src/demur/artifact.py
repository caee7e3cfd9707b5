"""Artifact: an evaluation as a JSON file. The models check every invariant before a byte is written, and on reading."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field, ValidationError, model_validator

from demur import strict_json
from demur.cautions import Caution  # noqa: TC001  (pydantic reads the annotations)
from demur.errors import UserError
from demur.notebook import html_table
from demur.strict_model import Count, Part, Share, Time, Tool, one_line, schema_of
from demur.write import json_text, write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

Number = float | None
Numbers = Annotated[tuple[float, ...], Field(strict=False)]


class Input(Part):
    """A run that was evaluated."""

    path: str | None
    run_id: str | None
    git_commit: str | None
    mode: str | None
    sha256: str | None


class Sides(Part):
    """A count of the left and of the right run."""

    left: Count
    right: Count


class Population(Part):
    """Who was counted. Of two runs: those who are in both."""

    participants_total: Count
    participants_included: Count
    participants_failed: Count
    items_total: Count
    items_predicted: Count | Sides

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        if self.participants_total != self.participants_included + self.participants_failed:
            raise ValueError("participants_total is not participants_included + participants_failed")
        answered = self.items_predicted
        largest = answered if isinstance(answered, int) else max(answered.left, answered.right)
        if largest > self.items_total:
            raise ValueError("more items are predicted than there are")
        return self


class LossUsed(Part):
    """How wrong an answer is."""

    name: str
    definition: str
    raw_multiplier: int


class Convention(Part):
    """What the numbers rest on, in words."""

    ties: str
    denominator: str
    anchor_at_zero: str
    integration: str


class AreaAt(Part):
    """An area cut at a coverage; `requested` is null where the common coverage of two runs was the default."""

    requested: Share | None
    used: Share
    value: float


class RiskAt(Part):
    """The risk at the first working point that reaches a coverage."""

    requested: Share
    achieved: Share
    value: float


class Interpretation(Part):
    """The excesses as percentages."""

    aurc_gap_pct: Number
    augrc_gap_pct: Number
    achievable_gain_pct: Number


class Ends(Part):
    """An interval and its method."""

    method: str
    low: float
    high: float

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.low > self.high:
            raise ValueError(f"the low end {self.low} lies above the high end {self.high}")
        return self


Pair = Annotated[tuple[float, float], Field(strict=False)]


class Drops(Part):
    """Share of the replicates that do not reach a coverage."""

    mae_at_coverage: Mapping[str, Share]


class Bootstrap(Part):
    """The uncertainty of one run's numbers, by their keys; risks at a coverage stand under `mae_at_coverage`."""

    seed: Count
    n_resamples: Annotated[int, Field(ge=1)]
    kind: Literal["multinomial"] = "multinomial"
    engine: Literal["numpy"] = "numpy"
    ci95: Mapping[str, Pair | Mapping[str, Pair | None] | None]
    ci95_recommended: Mapping[str, Ends | Mapping[str, Ends | None] | None]
    std_error: Mapping[str, Number | Mapping[str, Number]]
    upper_bound95: Mapping[str, float]
    drop_rate: Drops
    short_domain_rate: Share
    ci: Mapping[str, Any] | None

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        for name, value in self.ci95.items():
            nested = value.values() if isinstance(value, Mapping) else [value]
            if any(ends is not None and ends[0] > ends[1] for ends in nested):
                raise ValueError(f"ci95.{name}: the low end lies above the high end")
        for key, asked in (self.ci or {}).items():
            if isinstance(asked, Mapping) and "low" in asked and asked["low"] > asked["high"]:
                raise ValueError(f"ci.{key}: the low end lies above the high end")
        return self


class Points(Part):
    """The working points, the surest first."""

    coverage: Numbers
    selective_risk: Numbers
    generalized_risk: Numbers
    threshold: Numbers

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if len({len(self.coverage), len(self.selective_risk), len(self.generalized_risk), len(self.threshold)}) > 1:
            raise ValueError("the columns of the curve have different lengths")
        if (np.diff(self.coverage) <= 0).any():
            raise ValueError("the coverages of the curve are not strictly increasing")
        if (np.diff(self.threshold) >= 0).any():
            raise ValueError("the thresholds of the curve are not strictly decreasing")
        return self


class ByItem(Part):
    """One item over all participants: how often it is answered, how wrong the answers are, and which way."""

    n: Count
    answered: Count
    coverage: Share
    risk: Number
    bias: Number


class Histogram(Part):
    """Answers by confidence: how many right and wrong between each edge and the next; abstentions have none."""

    edges: Numbers
    right: Annotated[tuple[Count, ...], Field(strict=False)]
    wrong: Annotated[tuple[Count, ...], Field(strict=False)]
    abstained: Count


class ReliabilityBin(Part):
    """Answers with a confidence from low up to high, and the share of them that was right."""

    low: Share
    high: Share
    count: Count
    said: Share
    came_true: Share


class Reliable(Part):
    """How the confidence does as a probability of being exactly right."""

    ece: Share
    brier: Share
    nll: Number
    bins: Annotated[tuple[ReliabilityBin, ...], Field(strict=False)]


class VariantNumbers(Part):
    """Every number of one run under one confidence."""

    defined: bool
    cmax: Share
    aurc_full: float
    augrc_full: float
    naurc: Number
    naugrc: Number
    aurc_optimal: float
    augrc_optimal: float
    eaurc: float
    eaugrc: float
    aurc_achievable: float
    aurc_random: float
    augrc_random: float
    mae: Number
    interpretation: Interpretation
    aurc_at_c: AreaAt
    augrc_at_c: AreaAt
    mae_at_coverage: Mapping[str, RiskAt | None]
    bootstrap: Bootstrap | None
    nulls_filled: Mapping[str, Count]
    curve: Points
    by_item: Mapping[str, ByItem]
    histogram: Histogram | None
    reliability: Reliable | None

    @model_validator(mode="after")
    def _ends_at_cmax(self) -> Self:
        reached = self.curve.coverage[-1] if self.curve.coverage else 0.0
        if reached != self.cmax:
            raise ValueError(f"the curve ends at {reached}, not at cmax {self.cmax}")
        if self.defined != (self.cmax > 0):
            raise ValueError("defined and cmax do not agree")
        return self

    def sides(self, name: str) -> list[tuple[str, VariantNumbers]]:
        """The one run with its name."""
        return [(name, self)]


class PairedNumbers(Part):
    """Both runs under one confidence."""

    left: VariantNumbers
    right: VariantNumbers

    def sides(self, name: str) -> list[tuple[str, VariantNumbers]]:
        """Each run with a name."""
        return [(f"{name}, left", self.left), (f"{name}, right", self.right)]


class DeltaNumbers(Part):
    """A paired difference, right − left."""

    delta: Number
    ci95: Pair | None
    ci95_recommended: Ends | None
    std_error: Number
    ci: Ends | None
    drop_rate: Share | None
    p_value: Share | None
    favours_left: Share | None
    favours_right: Share | None


class Compared(Part):
    """Whether two runs are compared, on whom, and by how much they differ."""

    enabled: bool
    intersection_only: bool | None = None
    participants_left_only: Count | None = None
    participants_right_only: Count | None = None
    participants_overlap_total: Count | None = None
    participants_overlap_included: Count | None = None
    participants_failed_left: Count | None = None
    participants_failed_right: Count | None = None
    deltas: Mapping[str, Mapping[str, DeltaNumbers | Mapping[str, DeltaNumbers]]] | None = None

    @model_validator(mode="after")
    def _all_or_none(self) -> Self:
        others = [value for name, value in self if name != "enabled"]
        if any((value is None) == self.enabled for value in others):
            raise ValueError("a comparison has all of its members, and no comparison has none")
        return self


class Skipped(Part):
    """A variant that was left out, and why."""

    name: str
    reason: str


class Case(Part):
    """One unit, by its names alone."""

    participant: int | str
    item: str


class Cases(Part):
    """Whom to look at: failed participants, and for each variant the surest answers that are wrong."""

    failed: Annotated[tuple[int | str, ...], Field(strict=False)]
    confident_errors: Mapping[str, Annotated[tuple[Case, ...], Field(strict=False)]]


class Metrics(Part):
    """The whole file."""

    schema_version: Literal["1"] = "1"
    created_at: Time
    tool: Tool
    inputs: Annotated[tuple[Input, ...], Field(strict=False, min_length=1, max_length=2)]
    population: Population
    loss: LossUsed
    convention: Convention
    confidence_variants: Mapping[str, VariantNumbers | PairedNumbers]
    skipped_variants: Annotated[tuple[Skipped, ...], Field(strict=False)]
    comparison: Compared
    warnings: Annotated[tuple[Caution, ...], Field(strict=False)]
    cases: Cases

    @model_validator(mode="after")
    def _parts_agree(self) -> Self:
        if len(self.inputs) != (2 if self.comparison.enabled else 1):
            raise ValueError(f"{len(self.inputs)} inputs do not go with comparison.enabled {self.comparison.enabled}")
        wanted = PairedNumbers if self.comparison.enabled else VariantNumbers
        if any(type(one) is not wanted for one in self.confidence_variants.values()):
            raise ValueError("the variants of a comparison have a left and a right, and others have not")
        for name, entry in self.confidence_variants.items():
            if any(
                sum(item.n for item in one.by_item.values()) != self.population.items_total
                for _, one in entry.sides(name)
            ):
                raise ValueError(f"items_total is not the number of items of {name}")
        included = self.comparison.participants_overlap_included
        if included is not None and included != self.population.participants_included:
            raise ValueError("participants_overlap_included is not population.participants_included")
        return self

    def to_json(self) -> dict[str, Any]:
        """The content of the file."""
        return self.model_dump(mode="json")

    def __repr__(self) -> str:
        people, names = self.population, ", ".join(self.confidence_variants)
        return f"Metrics({people.participants_included} participants, {len(self.inputs)} runs; {names})"

    __str__ = __repr__

    def _repr_html_(self) -> str:
        keys = ("cmax", "aurc_full", "augrc_full", "eaugrc")
        rows = [
            (name, *(f"{getattr(one, key):.4g}" for key in keys))
            for label, entry in self.confidence_variants.items()
            for name, one in entry.sides(label)
        ]
        return html_table(("variant", *keys), rows, repr(self))

    @property
    def fingerprint(self) -> str:
        """A hash of the result, whenever and by whichever command it was made."""
        return strict_json.fingerprint(json_text(self.model_dump(mode="json", exclude={"created_at", "tool"})).encode())

    def save(self, path: str | Path, *, inputs: Iterable[str | Path] = ()) -> Path:
        """Write it as JSON, whole or not at all, and never over a run it was made from or another input."""
        runs = [one.path for one in self.inputs if one.path]
        return write_whole(path, json_text(self.to_json()), inputs=[*runs, *inputs])


def load(path: str | Path) -> Metrics:
    """Read an artifact back; anything in it that does not hold together is one line that says what."""
    data = strict_json.read_bytes(path)
    try:
        return metrics_of(strict_json.loads(strict_json.decode(data)))
    except UserError as error:
        raise error.in_file(path) from None


def metrics_of(content: Any) -> Metrics:
    """An artifact from parsed JSON."""
    if not isinstance(content, dict) or "confidence_variants" not in content:
        raise UserError("not a metrics artifact: expected an object with schema_version, confidence_variants …")
    try:
        return Metrics.model_validate_json(json.dumps(content))
    except ValidationError as error:
        raise UserError(one_line(error)) from None


def metrics_schema() -> dict[str, Any]:
    """The JSON Schema of the file."""
    return schema_of(Metrics)
