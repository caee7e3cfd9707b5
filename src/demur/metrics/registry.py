"""Metrics by name. A name prints as it is parsed: `aurc`, `aurc@0.5`, `mae@0.3`."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal, Protocol

from demur.coverage import Coverage
from demur.errors import UserError, literal, shown, unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class RiskCoverage(Protocol):
    """What a metric may ask: of one curve, in fractions, or of a block of bootstrap replicates, in arrays."""

    @property
    def coverage_reached(self) -> Any: ...
    @property
    def overall_risk(self) -> Any: ...
    @property
    def generalized_risk_reached(self) -> Any: ...
    @property
    def selective_area(self) -> Any: ...
    @property
    def generalized_area(self) -> Any: ...
    @property
    def optimal_selective_area(self) -> Any: ...
    @property
    def optimal_generalized_area(self) -> Any: ...
    @property
    def achievable_selective_area(self) -> Any: ...
    @property
    def harmonic_area(self) -> Any: ...
    @property
    def pairwise_area(self) -> Any: ...
    def selective_area_upto(self, coverage: Coverage) -> Any: ...
    def generalized_area_upto(self, coverage: Coverage) -> Any: ...
    def risk_at(self, coverage: Coverage) -> Any: ...
    def ratio(self, part: Any, whole: Any) -> Any: ...


@dataclass(frozen=True, slots=True)
class Metric:
    """A registered function of a curve, and what there is to know about it besides its docstring.

    `undefined` says when the value is nan; it is empty for a metric that always has one. `interval` and
    `delta_interval` are the recommended methods for the number and for a paired difference of it.
    """

    name: str
    key: str
    better: Literal["lower", "higher", "neither"]
    undefined: str
    function: Callable[..., Any]
    interval: str = "expanded_percentile"
    delta_interval: str = "expanded_percentile"

    @property
    def at_coverage(self) -> bool:
        """Whether the metric is taken at a coverage."""
        return self.name.endswith("@C")


METRICS: dict[str, Metric] = {}


def metric(
    name: str,
    *,
    key: str,
    better: Literal["lower", "higher", "neither"] = "lower",
    undefined: str = "",
    intervals: tuple[str, str] = ("expanded_percentile", "expanded_percentile"),
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function of a curve (and, for a name that ends in @C, of a coverage) as a metric.

    The function is written once, for fractions and for arrays alike; a fraction it gives is rounded here, once.
    """

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        if name in METRICS or key in {other.key for other in METRICS.values()}:
            raise ValueError(f"the metric {name} or its key {key} is registered already")

        @wraps(function)
        def rounded(curve: RiskCoverage, *coverage: Coverage) -> Any:
            value = function(curve, *coverage)
            return float(value) if isinstance(value, Fraction) else value

        METRICS[name] = Metric(name, key, better, undefined, rounded, *intervals)
        return rounded

    return register


@dataclass(frozen=True, slots=True)
class Measure:
    """A metric ready to be taken: its coverage, where it has one, is fixed.

    >>> str(Measure.of("aurc@0.5")), Measure.of("aurc@0.5").metric.key
    ('aurc@0.5', 'aurc_at_c')
    """

    metric: Metric
    coverage: Coverage | None = None

    @classmethod
    def of(cls, name: str | Measure) -> Measure:
        """Parse a name."""
        if isinstance(name, Measure):
            return name
        if not isinstance(name, str):
            raise UserError(f"metric {literal(name)}, expected a name such as aurc or mae@0.3")
        stem, at, coverage = name.partition("@")
        known = f"{stem}@C" if at else stem
        if known in METRICS:
            return cls(METRICS[known], Coverage.of(coverage) if at else None)
        if at and stem in METRICS:
            raise UserError(f"the metric {stem} is not taken at a coverage, so {shown(name)} is not a metric")
        if f"{stem}@C" in METRICS:
            raise UserError(f"the metric {stem} is taken at a coverage: write {stem}@0.5, for example")
        by_key = next((entry.name for entry in METRICS.values() if entry.key == name), None)
        if by_key:
            raise UserError(f"no metric is called {shown(name)}: that is the artifact key of {by_key}")
        raise unknown("metric", name, METRICS)

    def __str__(self) -> str:
        return self.metric.name if self.coverage is None else f"{self.metric.name[:-1]}{self.coverage.text}"

    def __call__(self, curve: RiskCoverage) -> Any:
        """The number, or an array of them for a block of replicates; nan where it is undefined."""
        return self.metric.function(curve) if self.coverage is None else self.metric.function(curve, self.coverage)


def default_measures() -> Iterator[Measure]:
    """Every metric once: areas cut at half the units, the risk at nine coverages."""
    for entry in METRICS.values():
        if not entry.at_coverage:
            yield Measure(entry)
        elif entry.name == "mae@C":
            yield from (Measure(entry, Coverage.of(f"0.{tenth}")) for tenth in range(1, 10))
        else:
            yield Measure(entry, Coverage.of("0.5"))
