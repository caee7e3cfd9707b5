"""Retrieval evaluation: from the facts of one or more systems on the same queries to every number with its uncertainty.

Posts are drawn once for all systems: means, detection and the gate's curve are taken from the same draws.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from demur.cautions import Caution, about_comparisons, about_resamples
from demur.errors import UserError, shown, unknown
from demur.estimates import Estimate, Estimates, System, uncertainty
from demur.intervals import Evidence
from demur.metrics.detection import detection_measures
from demur.no_evidence import Detection, Threshold, forecasts_of, gate_of, thresholds
from demur.rankings import check_same_queries
from demur.resample import Plan, bootstrap_each
from demur.retrieval_cautions import about_detection, about_gate, about_lists, about_queries
from demur.retrieval_numbers import RetrievalSettings, decided_by, means, with_what_follows
from demur.selection import Breach, Policy, breaches
from demur.tallies import MACRO, MICRO, Mean, MeanTable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from demur.rankings import Rankings
    from demur.resample import Job

    Floats = NDArray[np.float64]

_INTERVAL, _DELTA_INTERVAL = "expanded_percentile", "bootstrap_t"
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class OverFolds:
    """One number in every fold: its mean and its population standard deviation, None if a fold has no such number."""

    values: Mapping[str, float | None]

    @property
    def mean(self) -> float | None:
        """The mean over folds."""
        found = self._all
        return None if found is None else math.fsum(found) / len(found)

    @property
    def std(self) -> float | None:
        """The standard deviation over folds, ddof 0."""
        found, mean = self._all, self.mean
        if found is None or mean is None:
            return None
        return math.sqrt(math.fsum((value - mean) ** 2 for value in found) / len(found))

    @property
    def _all(self) -> list[float] | None:
        found = [value for value in self.values.values() if value is not None]
        return found if len(found) == len(self.values) else None


@dataclass(frozen=True, slots=True, eq=False)
class SystemEvaluation:
    """One system: its numbers by path, and what else is known about it."""

    rankings: Rankings
    estimates: Mapping[str, Estimate]
    decided_by: str
    folds: Mapping[str, OverFolds]
    breaches: tuple[Breach, ...]
    thresholds: Mapping[str, Threshold] = field(default_factory=dict)
    one_class: tuple[str, ...] = ()
    gate: Estimates | None = None
    gate_system: System | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RetrievalEvaluation:
    """Every number of every system, their differences from the baseline, and what to be careful about."""

    settings: RetrievalSettings
    plan: Plan
    systems: Mapping[str, SystemEvaluation]
    baseline: str | None
    deltas: Mapping[str, Mapping[str, Estimate]]
    warnings: tuple[Caution, ...]

    def __repr__(self) -> str:
        first = next(iter(self.systems.values())).rankings
        return f"RetrievalEvaluation({', '.join(map(shown, self.systems))}; {first}; {len(self.warnings)} warnings)"


def evaluate_retrieval(
    systems: Mapping[str, Rankings], *, settings: RetrievalSettings | None = None, plan: Plan
) -> RetrievalEvaluation:
    """Evaluate one system, or several on the same queries, each compared with the first or with the `baseline`."""
    settings = settings or RetrievalSettings()
    first = _baseline(systems, settings.baseline)
    for name, rankings in systems.items():
        check_same_queries(systems[first], rankings, (first, name))
    made = {name: _measured(name, rankings, settings) for name, rankings in systems.items()}
    _refuse_useless_policies(systems, settings)
    jobs = {f"{name}/{job}": work for name, one in made.items() for job, work in one.jobs.items()}
    drawn = bootstrap_each(jobs, plan=plan)
    found = {name: one.evaluated(_values(drawn, name), plan) for name, one in made.items()}
    deltas = {
        name: _deltas(made[first], one, _values(drawn, first), _values(drawn, name))
        for name, one in made.items()
        if name != first
    }
    warned = [*about_resamples(plan.n_resamples), *about_queries(systems[first])]
    for name, one in found.items():
        warned += about_lists(name, one.rankings, settings)
        warned += about_detection(name, one.rankings, one.one_class)
        warned += about_gate(name, one.gate.warnings if one.gate else ())
    warned += about_comparisons(sum(map(_tested, deltas.values())))
    return RetrievalEvaluation(settings, plan, found, first if deltas else None, deltas, tuple(warned))


_GATE = "gate"


def _values(drawn: Mapping[str, Mapping[str, Floats]], system: str) -> dict[str, Floats]:
    """What was drawn of one system, by path; the numbers of its gate's curve stand under gate/."""
    jobs = {job.removeprefix(f"{system}/"): found for job, found in drawn.items() if job.startswith(f"{system}/")}
    gate = {f"{_GATE}/{name}": column for name, column in jobs.pop(_GATE, {}).items()}
    return {path: column for found in jobs.values() for path, column in found.items()} | gate


def _refuse_useless_policies(systems: Mapping[str, Rankings], settings: RetrievalSettings) -> None:
    for policy in map(Policy.of, settings.policies):
        if policy.kind.needs_scores and all(rankings.scores is None for rankings in systems.values()):
            raise UserError(f"the policy {policy} needs scores, and no system has any: give a column of them")


def _measured(name: str, rankings: Rankings, settings: RetrievalSettings) -> _Measured:
    try:
        return _Measured.of(rankings, settings)
    except UserError as error:
        raise UserError(f"system {shown(name)}: {error}") from None


def _baseline(systems: Mapping[str, Rankings], asked: str | None) -> str:
    if not systems:
        raise UserError("no system is given: there is nothing to evaluate")
    if asked is not None and asked not in systems:
        raise unknown("system", asked, systems)
    return next(iter(systems)) if asked is None else asked


@dataclass(frozen=True, slots=True, eq=False)
class _Measured:
    """One system before resampling: its numbers as the data give them, and the jobs that draw them again."""

    rankings: Rankings
    settings: RetrievalSettings
    points: Mapping[str, float]
    jobs: Mapping[str, Job]
    one_class: tuple[str, ...] = ()
    gate: System | None = None

    @classmethod
    def of(cls, rankings: Rankings, settings: RetrievalSettings) -> _Measured:
        """Take every number once."""
        given, criteria = means(rankings, settings), len(rankings.criteria)
        averages = with_what_follows({name: np.array([mean.value]) for name, mean in given.items()}, settings, criteria)
        table = MeanTable.of(rankings.post_ids, rankings.post, given)
        jobs: dict[str, Job] = {"means": (lambda drawn: with_what_follows(drawn, settings, criteria), (table,))}
        points = {name: float(value[0]) for name, value in averages.items()}
        if rankings.prob is None:
            return cls(rankings, settings, points, jobs)
        told, gate = Detection.of(rankings), gate_of(rankings)
        jobs |= {"detection": (told.numbers, told.tables), _GATE: (gate.numbers, (gate.table,))}
        return cls(rankings, settings, {**points, **told.points}, jobs, told.one_class, gate)

    def evaluated(self, values: Mapping[str, Any], plan: Plan) -> SystemEvaluation:
        """The same with uncertainty."""
        clusters = len(self.rankings.post_ids)
        by_convention = tuple(f"detection/{group}/" for group in self.one_class)
        found = {
            path: _estimate(point, values.get(path), clusters, _INTERVAL, known=not path.startswith(by_convention))
            for path, point in self.points.items()
        }
        gate = {path.removeprefix(f"{_GATE}/"): one for path, one in values.items() if path.startswith(f"{_GATE}/")}
        return SystemEvaluation(
            rankings=self.rankings,
            estimates=found,
            decided_by=decided_by(self.rankings, self.settings),
            folds=_over_folds(self.rankings, self.settings),
            breaches=tuple(breaches(self.rankings, self.settings.bounds)),
            thresholds=thresholds(self.rankings),
            one_class=self.one_class,
            gate=None if self.gate is None else self.gate.estimates(gate, {}, plan),
            gate_system=self.gate,
        )

    def comparable(self, other: _Measured) -> dict[str, float]:
        """The numbers a difference from another system says something about.

        Not criterion by criterion: those differences are many and small, and invite picking the one that stands out.
        Not of one gate with itself, and not of two empty decisions that are taken by different rules.
        """
        points = dict(self.points)
        if self.gate is not None:
            points |= {f"{_GATE}/{measure}": float(measure(self.gate.curve)) for measure in self.gate.measures}
        ours, theirs = self.rankings.prob, other.rankings.prob
        same_gate = ours is not None and theirs is not None and np.array_equal(ours, theirs)
        same_rule = decided_by(self.rankings, self.settings) == decided_by(other.rankings, other.settings)
        left_out: tuple[str, ...] = ("detection/", f"{_GATE}/") if same_gate else ()
        left_out += () if same_rule else ("empty_decision/",)
        return {
            path: point
            for path, point in points.items()
            if not path.startswith(left_out) and not path.split("/")[1].isdigit()
        }


def _estimate(point: float, values: Floats | None, clusters: int, method: str, *, known: bool = True) -> Estimate:
    """A number with its uncertainty. Replicates that are all the same are no interval, and neither is a convention."""
    drawn = np.zeros(0) if values is None else values
    reached = drawn[~np.isnan(drawn)]
    varies = clusters == 1 or bool(len(reached) and reached.max() - reached.min() > ROUNDING)
    return Estimate(**uncertainty(Evidence(point, drawn, clusters, two_sided=varies and known), method))


def _deltas(
    first: _Measured, other: _Measured, before: Mapping[str, Floats], after: Mapping[str, Floats]
) -> dict[str, Estimate]:
    """Every number both systems have: the one minus the baseline, on the same queries in the same draws."""
    left, right = first.comparable(other), other.comparable(first)
    return {
        path: _estimate(
            right[path] - left[path],
            after[path] - before[path] if path in after and path in before else None,
            len(first.rankings.post_ids),
            _DELTA_INTERVAL,
        )
        for path in left
        if path in right
    }


def _tested(deltas: Mapping[str, Estimate]) -> int:
    return sum(one.recommended is not None for one in deltas.values())


def _over_folds(rankings: Rankings, settings: RetrievalSettings) -> dict[str, OverFolds]:
    """Every number of all queries together, in every fold by itself."""
    if rankings.fold is None:
        return {}
    given, criteria = means(rankings, settings), len(rankings.criteria)
    by_fold: dict[str, dict[str, float]] = {}
    for place, name in enumerate(rankings.folds):
        here = rankings.fold == place
        inside = {path: np.array([Mean(mean.values, mean.among & here).value]) for path, mean in given.items()}
        found = {path: float(value[0]) for path, value in with_what_follows(inside, settings, criteria).items()}
        if rankings.prob is not None:
            forecasts = forecasts_of(rankings, here)
            found |= {f"detection/{MICRO}/{one}": float(one(forecasts)[0]) for one in detection_measures()}
        by_fold[name] = found
    pooled = [
        path for path in by_fold[rankings.folds[0]] if not path.split("/")[1].isdigit() and f"/{MACRO}/" not in path
    ]
    return {
        path.replace(f"/{MICRO}/", "/"): OverFolds({fold: _number(found[path]) for fold, found in by_fold.items()})
        for path in pooled
    }


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
