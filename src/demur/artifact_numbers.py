"""The numbers of an artifact: what it holds of one run under one confidence, and of a difference."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field, TypeAdapter, ValidationError, model_validator

from demur.errors import literal
from demur.strict_model import Count, Part, Share, one_line

if TYPE_CHECKING:
    from demur.intervals import Interval

Number = float | None
Numbers = Annotated[tuple[float, ...], Field(strict=False)]


class AreaAt(Part):
    """An area cut at a coverage; `requested` is null where the common coverage of two runs was the default."""

    requested: Share | None
    used: Share
    value: float


class RiskAt(Part):
    """The risk at the first working point that reaches a coverage."""

    requested: Annotated[float, Field(gt=0, le=1)]
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
_ASKED = TypeAdapter(dict[str, Ends | dict[str, Ends | None] | None])


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
        return self

    @model_validator(mode="after")
    def _nested_where_risks_are(self) -> Self:
        for name in ("ci95", "ci95_recommended"):
            _only_risks_are_nested(name, getattr(self, name))
        return self

    @model_validator(mode="after")
    def _asked_holds_together(self) -> Self:
        asked = dict(self.ci or {})
        level = asked.pop("level", None)
        if self.ci is not None and not (isinstance(level, float) and 0 < level < 1):
            raise ValueError(f"ci.level: expected a number between 0 and 1, not {literal(level)}")
        for name in ("interval", "undefined"):
            asked.pop(name, None)
        try:
            _ASKED.validate_python(asked)
        except ValidationError as error:
            raise ValueError(f"ci.{one_line(error)}") from None
        _only_risks_are_nested("ci", {key: Ends(**ends) if _is_ends(ends) else ends for key, ends in asked.items()})
        return self


def _is_ends(value: Any) -> bool:
    return isinstance(value, Mapping) and set(value) == set(Ends.model_fields)


def _only_risks_are_nested(name: str, found: Mapping[str, Any]) -> None:
    for key, value in found.items():
        if isinstance(value, Mapping) != (key == "mae_at_coverage"):
            raise ValueError(f"{name}.{key}: only mae_at_coverage holds an interval for each coverage")


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


class Bends(Part):
    """Where a curve bends: between two of its points the generalized risk is a straight line."""

    coverage: Numbers
    selective_risk: Numbers
    generalized_risk: Numbers

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if len({len(self.coverage), len(self.selective_risk), len(self.generalized_risk)}) > 1:
            raise ValueError("the columns of the best order have different lengths")
        if (np.diff(self.coverage, prepend=0) <= 0).any():
            raise ValueError("the coverages of the best order are not strictly increasing from 0")
        return self


class Reference(Part):
    """What to hold a curve against: the same losses in the best order."""

    oracle: Bends


class Band(Part):
    """Ends of a risk at each coverage: of an interval there, and of a band that holds at all of them at once."""

    low: Numbers
    high: Numbers
    low_simultaneous: Numbers
    high_simultaneous: Numbers

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        columns = (self.low, self.high, self.low_simultaneous, self.high_simultaneous)
        if len(set(map(len, columns))) > 1:
            raise ValueError("the columns of a band have different lengths")
        for low, high in (columns[:2], columns[2:]):
            if np.greater(low, high).any():
                raise ValueError("the low end of a band lies above its high end")
        return self


class Bands(Part):
    """How far the curve may be off, at working points of it: all of them, or some spread evenly."""

    level: Share
    coverage: Annotated[tuple[float, ...], Field(strict=False, min_length=1)]
    selective_risk: Band
    generalized_risk: Band

    @model_validator(mode="after")
    def _as_long(self) -> Self:
        if any(len(band.low) != len(self.coverage) for band in (self.selective_risk, self.generalized_risk)):
            raise ValueError("a band has not as many ends as there are coverages")
        if (np.diff(self.coverage) <= 0).any():
            raise ValueError("the coverages of the bands are not strictly increasing")
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

    @model_validator(mode="after")
    def _edges_around_bars(self) -> Self:
        if not len(self.edges) - 1 == len(self.right) == len(self.wrong) > 0:
            raise ValueError("a histogram has one edge more than bars, and a bar of right and of wrong answers each")
        return self


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
    reference: Reference | None = None
    bands: Bands | None = None
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

    @model_validator(mode="after")
    def _best_order_where_there_is_a_curve(self) -> Self:
        if self.reference is not None and bool(self.reference.oracle.coverage) != bool(self.curve.coverage):
            raise ValueError("the best order has a bend where the curve has a point, and none where it has none")
        return self

    @model_validator(mode="after")
    def _bands_hold_the_curve(self) -> Self:
        if self.bands is None:
            return self
        if not set(self.bands.coverage) <= set(self.curve.coverage):
            raise ValueError("a coverage of the bands is none of the curve")
        places = np.searchsorted(self.curve.coverage, self.bands.coverage)
        for name in ("selective_risk", "generalized_risk"):
            risk, band = np.array(getattr(self.curve, name))[places], getattr(self.bands, name)
            if ((risk < band.low_simultaneous) | (risk > band.high_simultaneous)).any():
                raise ValueError(f"the {name} of the curve leaves its simultaneous band")
        return self

    def with_interval(self, key: str) -> tuple[float | None, Ends | None]:
        """The number under a key, and its recommended interval."""
        value = getattr(self, key)
        ends = self.bootstrap.ci95_recommended.get(key) if self.bootstrap else None
        return value.value if isinstance(value, AreaAt) else value, ends if isinstance(ends, Ends) else None

    def sides(self, name: str) -> list[tuple[str, VariantNumbers]]:
        """The one run with its name."""
        return [(name, self)]


class PairedNumbers(Part):
    """Both runs under one confidence."""

    left: VariantNumbers
    right: VariantNumbers

    @model_validator(mode="after")
    def _same_coverages(self) -> Self:
        if set(self.left.mae_at_coverage) != set(self.right.mae_at_coverage):
            raise ValueError("the risks of left and right are at different coverages")
        return self

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


def json_number(value: float) -> float | None:
    """A number as a file holds it: null where it is undefined."""
    return None if math.isnan(value) else float(value)


def json_pair(ends: Interval | None) -> tuple[float, float] | None:
    """An interval as its two ends."""
    return None if ends is None else (ends.low, ends.high)


def json_ends(ends: Interval | None) -> dict[str, Any] | None:
    """An interval with its method."""
    return None if ends is None else {"method": ends.method, "low": ends.low, "high": ends.high}
