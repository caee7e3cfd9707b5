"""Retrieval evaluation: from the facts of one or more systems on the same queries to every number with its uncertainty.

Posts are drawn once for all systems: means, detection and the gate's curve are taken from the same draws.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from demur.cautions import Caution, about_comparisons, about_resamples, about_sample
from demur.errors import UserError, shown, unknown
from demur.estimates import Estimate, Estimates, System, uncertainty
from demur.intervals import Evidence
from demur.metrics.detection import detection_measures
from demur.metrics.retrieval import per_query
from demur.no_evidence import Detection, Threshold, forecasts_of, gate_of, thresholds
from demur.rankings import refuse_other_queries
from demur.resample import Plan, bootstrap_each
from demur.retrieval_numbers import POPULATIONS, RetrievalSettings, means, populations, with_what_follows
from demur.selection import Breach, breaches
from demur.tallies import Mean, MeanTable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from demur.rankings import Rankings
    from demur.resample import Job

    Floats = NDArray[np.float64]

_INTERVAL, _DELTA_INTERVAL = "expanded_percentile", "bootstrap_t"


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
        refuse_other_queries(systems[first], rankings, (first, name))
    made = {name: _measured(name, rankings, settings) for name, rankings in systems.items()}
    jobs = {f"{name}/{job}": work for name, one in made.items() for job, work in one.jobs.items()}
    drawn = bootstrap_each(jobs, plan=plan)
    values = {
        name: {path: column for job in one.jobs for path, column in drawn[f"{name}/{job}"].items() if job != _GATE}
        for name, one in made.items()
    }
    found = {name: one.evaluated(values[name], drawn.get(f"{name}/{_GATE}", {}), plan) for name, one in made.items()}
    deltas = {
        name: _deltas(made[first].points, made[name].points, values[first], values[name], len(systems[first].post_ids))
        for name in systems
        if name != first
    }
    warned = (*_warnings(found, plan), *about_comparisons(sum(map(_tested, deltas.values()))))
    return RetrievalEvaluation(settings, plan, found, first if deltas else None, deltas, warned)


_GATE = "gate"


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

    def evaluated(self, values: Mapping[str, Any], gate: Mapping[str, Any], plan: Plan) -> SystemEvaluation:
        """The same with uncertainty."""
        clusters = len(self.rankings.post_ids)
        by_convention = {f"detection/{group}/" for group in self.one_class}
        found = {
            path: _estimate(
                point, values.get(path), clusters, _INTERVAL, known=not path.startswith(tuple(by_convention))
            )
            for path, point in self.points.items()
        }
        return SystemEvaluation(
            rankings=self.rankings,
            estimates=found,
            folds=_over_folds(self.rankings, self.settings),
            breaches=tuple(breaches(self.rankings, self.settings.bounds)),
            thresholds=thresholds(self.rankings),
            one_class=self.one_class,
            gate=None if self.gate is None else self.gate.estimates(gate, {}, plan),
            gate_system=self.gate,
        )


def _estimate(point: float, values: Floats | None, clusters: int, method: str, *, known: bool = True) -> Estimate:
    """A number with its uncertainty. Replicates that are all the same are no interval, and neither is a convention."""
    drawn = np.zeros(0) if values is None else values
    reached = drawn[~np.isnan(drawn)]
    varies = clusters == 1 or bool(len(reached) and reached.max() > reached.min())
    return Estimate(**uncertainty(Evidence(point, drawn, clusters, two_sided=varies and known), method))


def _deltas(
    left: Mapping[str, float],
    right: Mapping[str, float],
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    clusters: int,
) -> dict[str, Estimate]:
    """Every number both systems have: the one minus the baseline, on the same queries in the same draws.

    Not criterion by criterion: those differences are many and small, and invite picking the one that stands out.
    """
    return {
        path: _estimate(
            right[path] - left[path],
            after[path] - before[path] if path in after and path in before else None,
            clusters,
            _DELTA_INTERVAL,
        )
        for path in left
        if path in right and not path.split("/")[1].isdigit()
    }


def _tested(deltas: Mapping[str, Estimate]) -> int:
    return sum(one.recommended is not None for one in deltas.values())


def _over_folds(rankings: Rankings, settings: RetrievalSettings) -> dict[str, OverFolds]:
    """Ranking metrics of both populations, and detection, in every fold."""
    if rankings.fold is None:
        return {}
    inside = {name: rankings.fold == place for place, name in enumerate(rankings.folds)}
    values = per_query(rankings, settings.measures, effective=settings.effective_k)
    found: dict[str, OverFolds] = {}
    for population, among in populations(rankings).items():
        for name, column in values.items():
            each = {fold: Mean(column, among & here).value for fold, here in inside.items()}
            found[f"{population}/{name}"] = OverFolds({fold: _number(value) for fold, value in each.items()})
    if rankings.prob is not None:
        forecasts = {fold: forecasts_of(rankings, here) for fold, here in inside.items()}
        for measure in detection_measures():
            found[f"detection/{measure}"] = OverFolds({fold: measure.point(one) for fold, one in forecasts.items()})
    return found


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def _warnings(found: Mapping[str, SystemEvaluation], plan: Plan) -> list[Caution]:
    first = next(iter(found.values())).rankings
    warned = [*about_resamples(plan.n_resamples), *about_sample(np.bincount(first.post), "posts")]
    warned += _about_populations(first)
    for name, one in found.items():
        warned += [Caution("unjudged_topics", text, name) for text in one.rankings.warnings]
        abstained = int((one.rankings.candidates == 0).sum())
        if abstained:
            warned.append(Caution("abstained", f"{abstained} queries have an empty list: they count, as 0", name))
        if "micro" in one.one_class:
            text = "all queries have evidence, or none has: AUROC, AUPRC and rates are given by convention"
            warned.append(Caution("single_class", text, f"{name} detection"))
        elif one.one_class:
            named = ", ".join(shown(one.rankings.criteria[int(group)]) for group in one.one_class)
            text = f"one class only in {named}: their values are conventions, and are in the mean over criteria"
            warned.append(Caution("single_class", text, f"{name} detection"))
        if one.breaches:
            text = f"{len(one.breaches)} selections break the bounds on how many ids may be shown"
            warned.append(Caution("selection_bounds", text, name))
    return warned


def _about_populations(rankings: Rankings) -> list[Caution]:
    warned = []
    bare = [
        place for place in range(len(rankings.criteria)) if not rankings.has_gold[rankings.criterion == place].any()
    ]
    if bare:
        named = ", ".join(shown(rankings.criteria[place]) for place in bare)
        text = f"no query with gold in {named}: the mean over criteria of {POPULATIONS[0]} is without them"
        warned.append(Caution("criterion_without_gold", text, POPULATIONS[0]))
    if rankings.fold is not None:
        pairs = np.unique(np.stack([rankings.post, rankings.fold]), axis=1).shape[1]
        if pairs > len(rankings.post_ids):
            text = f"{pairs - len(rankings.post_ids)} posts are in more than one fold: the folds are not independent"
            warned.append(Caution("post_in_several_folds", text, "folds"))
    return warned
