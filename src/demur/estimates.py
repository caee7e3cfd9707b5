"""Estimates: the numbers of one system, each with its uncertainty, all from one set of draws."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from demur import cautions
from demur.bands import Bands, bands_of, drawn_risks
from demur.curve import Curve
from demur.influence import SLOPES, influences, standard_errors
from demur.intervals import MANY_CLUSTERS, Evidence, Interval, interval
from demur.metrics import Measure
from demur.resample import Plan, as_it_is, bootstrap, leave_one_out
from demur.table import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from demur.cautions import Caution
    from demur.graded import Graded
    from demur.items import Source
    from demur.replicates import Replicates
    from demur.variants import Confidence

    Floats = NDArray[np.float64]

NUMBERS = ("cmax", "aurc", "augrc", "naurc", "eaurc", "eaugrc", *(f"mae@0.{tenth}" for tenth in range(1, 10)))
_CUT_AREAS = ("aurc@0.5", "augrc@0.5")
_ERROR_FREE_BOUND = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """A number, its standard error and its intervals.

    `percentile` is the plain bootstrap interval at 95 %, `recommended` the one that was measured to cover. Both are
    None where the number is undefined, where more than half the replicates lack it, and where no answer has a loss;
    there an `upper_bound` (95 %, one-sided) stands in for the areas. `other_threshold_rate` is the share of replicates
    that set another threshold, `short_domain_rate` of those that end before the coverage of a cut area.
    """

    point: float
    std_error: float
    percentile: Interval | None
    recommended: Interval | None
    drop_rate: float
    evidence: Evidence
    other_threshold_rate: float | None = None
    short_domain_rate: float | None = None
    upper_bound: float | None = None

    def interval(self, method: str, level: float = 0.95) -> Interval | None:
        """The interval by another method, or at another level."""
        return interval(method, self.evidence, level)


@dataclass(frozen=True, slots=True, eq=False)
class Estimates(Mapping[str, Estimate]):
    """Estimates by the name of the number, and what to know about all of them; `bands` of the curve, if asked for."""

    by_name: Mapping[str, Estimate]
    warnings: tuple[Caution, ...]
    clusters: int
    plan: Plan
    bands: Bands | None = None

    def __getitem__(self, name: str) -> Estimate:
        return self.by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_name)

    def __len__(self) -> int:
        return len(self.by_name)

    def __repr__(self) -> str:
        lines = [f"{self.clusters} clusters, {self.plan.n_resamples} resamples, seed {self.plan.seed}"]
        width = max(map(len, self), default=0)
        lines += [f"{name:<{width}}  {_shown(one)}" for name, one in self.items()]
        return "\n".join([*lines, *(f"warning ({w.code}, {w.where}): {w.message}" for w in self.warnings)])


def estimate(
    graded: Graded,
    measures: str | Iterable[str | Measure] | None = None,
    *,
    plan: Plan,
    thorough: bool = False,
    bands: bool = False,
) -> Estimates:
    """Every number of one system with its uncertainty; with `bands`, that of its whole curve too.

    `thorough` also computes what the recommended intervals do not need: analytic errors of every replicate whatever the
    number of clusters, and the numbers with one cluster left out, for the methods `jackknife` and `bca`.
    """
    system = System.of(graded, [*NUMBERS, *_CUT_AREAS] if measures is None else measures, thorough=thorough)
    system = replace(system, with_bands=bands)
    values = bootstrap(system.numbers, system.table, plan=plan)
    alone = leave_one_out(system.numbers, system.table, plan=plan) if thorough else {}
    return system.estimates(values, alone, plan)


@dataclass(frozen=True, slots=True, eq=False)
class System:
    """One system: its exact curve for the numbers, its table for the replicates."""

    curve: Curve
    table: Table
    measures: tuple[Measure, ...]
    thorough: bool = False
    with_bands: bool = False
    side: str = ""
    made_of: Confidence | None = None
    source: Source | None = None

    @classmethod
    def of(
        cls, graded: Graded, measures: str | Iterable[str | Measure], *, thorough: bool = False, side: str = ""
    ) -> System:
        """A system and what is asked of it."""
        names = [measures] if isinstance(measures, str) else measures
        return cls(
            curve=Curve.of(graded),
            table=Table.of(graded),
            measures=tuple(map(Measure.of, names)),
            thorough=thorough,
            side=side,
            made_of=graded.made_of,
            source=graded.items.source if graded.items else None,
        )

    def numbers(self, sample: Replicates) -> dict[str, Any]:
        """Everything a block of replicates is asked for; what serves the intervals stands under names with a space."""
        found: dict[str, Any] = {str(measure): measure(sample) for measure in self.measures}
        for measure in self.measures:
            name, coverage = str(measure), measure.coverage
            if self._needs_errors(measure):
                found[f"error {name}"] = standard_errors(influences(sample, SLOPES[name]), sample.weights)
            if coverage and measure.metric.name == "mae@C":
                found[f"place {name}"] = sample.place_at(coverage)
            elif coverage:
                found[f"short {name}"] = sample.place_at(coverage) >= len(self.table.threshold)
        if self.with_bands and self.curve.defined:
            found |= {f"drawn {name}": risks for name, risks in drawn_risks(self.curve, sample).items()}
        return found

    def _needs_errors(self, measure: Measure) -> bool:
        """Whether an error in every replicate is needed: for the recommended interval, or for thoroughness."""
        if str(measure) not in SLOPES or not self.curve.defined:
            return False
        return self.thorough or (measure.metric.interval == "studentised" and self.table.clusters < MANY_CLUSTERS)

    def estimates(self, values: Mapping[str, Any], alone: Mapping[str, Any], plan: Plan) -> Estimates:
        """Numbers from the curve, uncertainty from the replicates."""
        found = {str(measure): self._estimate(measure, values, alone) for measure in self.measures}
        about = (f"{self.side} clusters".strip(), f"{self.side} confidence".strip())
        warned = [*cautions.about_clusters(self.table, about[0]), *cautions.about_confidence(self.table, about[1])]
        area, random = (float(Measure.of(name)(self.curve)) for name in ("augrc", "augrc_random"))
        warned += cautions.about_order(area, random, about[1])
        warned += cautions.about_calibration(self.made_of, self.source, about[1])
        for measure in self.measures:
            warned += self._cautions(measure, found[str(measure)])
        return Estimates(found, tuple(warned), self.table.clusters, plan, self._bands(values))

    def _bands(self, values: Mapping[str, Any]) -> Bands | None:
        drawn = {name: values[f"drawn {name}"] for name in ("selective", "generalized") if f"drawn {name}" in values}
        return bands_of(self.curve, self.table, drawn) if drawn and self.two_sided else None

    @property
    def two_sided(self) -> bool:
        """Whether losses vary at all: without an error every replicate is 0, which is no interval."""
        return self.table.informative > 0 or self.table.clusters == 1

    def _estimate(self, measure: Measure, values: Mapping[str, Any], alone: Mapping[str, Any]) -> Estimate:
        name = str(measure)
        evidence = Evidence(
            point=float(measure(self.curve)),
            values=values.get(name, np.zeros(0)),
            clusters=self.table.clusters,
            std_error=self._analytic_error(name),
            replicate_std_error=values.get(f"error {name}"),
            left_out=alone.get(name),
            two_sided=self.two_sided or name == "cmax",
        )
        short = values.get(f"short {name}")
        return Estimate(
            **uncertainty(evidence, measure.metric.interval),
            other_threshold_rate=self._other_threshold_rate(measure, values.get(f"place {name}")),
            short_domain_rate=None if short is None else float(np.mean(short)),
            upper_bound=None if self.two_sided else self._upper_bound(name),
        )

    def _other_threshold_rate(self, measure: Measure, places: Floats | None) -> float | None:
        """Among the replicates that reach the coverage, the share that does so elsewhere."""
        if places is None:
            return None
        reached = places[places < len(self.table.threshold)]
        return float(np.mean(reached != self._place(measure))) if len(reached) else 0.0

    def _analytic_error(self, name: str) -> float | None:
        if name not in SLOPES or not self.curve.defined:
            return None
        sample = as_it_is(self.table)
        return float(standard_errors(influences(sample, SLOPES[name]), sample.weights)[0])

    def _place(self, measure: Measure) -> int:
        assert measure.coverage is not None  # noqa: S101  (a mae has one)
        return int(np.searchsorted(self.curve.points.count, measure.coverage.units_needed(self.curve.units)))

    def _upper_bound(self, name: str) -> float | None:
        """One-sided 95 %: with no error among P clusters, an error-prone one is rarer than 1 − 0.05^(1/P)."""
        if name not in ("aurc", "augrc") or self.table.largest_loss is None or not self.curve.defined:
            return None
        rare, reached = 1 - _ERROR_FREE_BOUND ** (1 / self.table.clusters), self.curve.cmax
        worst = self.table.largest_loss / self.table.divisor
        if name == "augrc":
            return float(worst * rare * reached)
        return float(worst * (rare * (1 + math.log(reached / rare)) if rare < reached else reached))

    def _cautions(self, measure: Measure, found: Estimate) -> Iterator[Caution]:
        name = f"{self.side} {measure}".strip()
        if found.other_threshold_rate is not None:
            place = self._place(measure)
            held = np.diff(self.curve.points.count, prepend=0)[place : place + 1].sum() / self.curve.units
            yield from cautions.about_a_target(name, found.drop_rate, found.other_threshold_rate, float(held))
        if found.short_domain_rate is not None:
            yield from cautions.about_a_cut(name, found.short_domain_rate)


def uncertainty(evidence: Evidence, method: str) -> dict[str, Any]:
    """The parts of an estimate that follow from its evidence; many clusters need nothing but the percentile."""
    return {
        "point": evidence.point,
        "std_error": evidence.bootstrap_std_error,
        "percentile": interval("percentile", evidence),
        "recommended": interval("percentile" if evidence.clusters >= MANY_CLUSTERS else method, evidence),
        "drop_rate": evidence.drop_rate,
        "evidence": evidence,
    }


def _shown(one: Estimate) -> str:
    ends = one.recommended
    if ends is None:
        bound = f", at most {one.upper_bound:.3g} (95 %, one-sided)" if one.upper_bound is not None else ""
        return f"{one.point:.6g}, no interval{bound}"
    return f"{one.point:.6g} [{ends.low:.3g}, {ends.high:.3g}] {ends.method}"
