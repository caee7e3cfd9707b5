"""Retrieval: the evaluation of any number of systems on the same queries.

Posts are drawn once for all systems: means over queries, detection and the gate's curve are taken from the same draws.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from demur.errors import UserError, check_kind, literal, located, shown
from demur.facts.rankings import Rankings, check_same_queries, checked_level
from demur.inference.estimates import Estimate
from demur.inference.key import Group, Key
from demur.inference.rows import Row, baseline_of, contrasts_with
from demur.inference.rules import Counted
from demur.inference.sums import DecisionView, ForecastsView, Mean, MeansView, mean_over
from demur.inference.uncertainty import Headline, estimated
from demur.inference.views import CurveView, JointView
from demur.quantities import Measure, default_measures, quantities
from demur.quantities.detection import by_convention, detection_measures, single_class, threshold_at_fpr
from demur.quantities.evidence import Selection
from demur.quantities.forecasts import Forecasts
from demur.quantities.ranking import checked_depth, per_query, ranking_measures
from demur.quantities.selection import Bounds, Policy, shown_hits
from demur.results.curves import points
from demur.results.parts import CurveRecord
from demur.results.reference import KnownRanges
from demur.results.retrieval_record import retrieval_study, retrieval_warnings
from demur.results.study import metric_of_verdict
from demur.results.table import Results, provenance
from demur.sampling.graded import Clusters, Graded
from demur.sampling.resample import Plan
from demur.types import Flags, Floats

DEPTHS = (1, 3, 5, 10)
WITH_GOLD, ALL, PROBABILITY = "with_gold", "all", "prob"
CRITERION, FOLD = "criterion", "fold"
_NO_QUERY = "no such query"
_HOW_TO_RANK = "read_queries(path) makes one by system; rankings_of(gold, ranked) makes the Rankings of one"


@dataclass(frozen=True, slots=True)
class RetrievalSettings:
    """What to compute. The gate lets evidence through from the probability `threshold` on.

    Ids count as relevant from the grade `relevance_level` on, for every quantity but the nDCG, whose gains are the
    grades.

    `metrics` names the ranking quantities to report, as ndcg@10 or as nDCG@10, P@5, AP; without it all are reported at
    all `depths`. Results are held against the ranges of a `reference`, if one is given.

    Without a threshold a query counts as answered with nothing if nothing is selected, or, where there is no selection,
    if nothing is ranked. Systems are compared with the `baseline`, the first if none is named.
    """

    depths: Sequence[int] = DEPTHS
    effective_k: bool = False
    bounds: Bounds = field(default_factory=Bounds)
    policies: Sequence[str] = ()
    threshold: float | None = None
    baseline: str | None = None
    relevance_level: int = 1
    metrics: Sequence[str] = ()
    reference: KnownRanges | None = None

    def __post_init__(self) -> None:
        if self.metrics:
            chosen = ranking_measures(self.metrics)
            object.__setattr__(self, "metrics", tuple(map(str, chosen)))
            object.__setattr__(self, "depths", [measure.value for measure in chosen if measure.value is not None])
        object.__setattr__(self, "depths", tuple(sorted({checked_depth(k) for k in self.depths})))
        if not self.depths and not self.metrics:
            raise UserError("no depth is given: expected at least one k, such as 10")
        checked_level(self.relevance_level)
        object.__setattr__(self, "policies", tuple(dict.fromkeys(str(Policy.of(name)) for name in self.policies)))
        if self.threshold is not None and not (isinstance(self.threshold, (int, float)) and 0 <= self.threshold <= 1):
            raise UserError(f"threshold {literal(self.threshold)}, expected a number from 0 to 1")

    @property
    def measures(self) -> list[Measure]:
        """The chosen ranking quantities, or every one at every depth."""
        if self.metrics:
            return ranking_measures(self.metrics)
        return [Measure(entry, k, str(k)) for entry in quantities("ranking") for k in self.depths]


def evaluate_retrieval(
    systems: Mapping[str, Rankings],
    *,
    settings: RetrievalSettings | None = None,
    plan: Plan,
    created_at: str | None = None,
    command: str | None = None,
    also_read: Sequence[str | Path] = (),
) -> Results:
    """Evaluate one system, or several on the same queries, each compared with the first or with the `baseline`."""
    settings = settings or RetrievalSettings()
    check_kind("evaluate_retrieval", systems, Mapping, _HOW_TO_RANK)
    for rankings in systems.values():
        check_kind("evaluate_retrieval", rankings, Rankings, _HOW_TO_RANK)
    if not systems:
        raise UserError("no system is given: there is nothing to evaluate")
    baseline = baseline_of(systems, settings.baseline)
    for name, rankings in systems.items():
        if rankings is not systems[baseline]:
            check_same_queries(systems[baseline], rankings, (baseline, name))
    for policy in map(Policy.of, settings.policies):
        if policy.kind.needs_scores and all(rankings.scores is None for rankings in systems.values()):
            raise UserError(f"the policy {policy} needs scores, and no system has any: give a column of them")
    plan = plan.settled(len(systems[baseline]))
    at_level = {name: rankings.at_level(settings.relevance_level) for name, rankings in systems.items()}
    by_system = {name: RetrievalRows(name, rankings, settings) for name, rankings in at_level.items()}
    rows: list[Row] = []
    for name, system in by_system.items():
        with located(f"system {shown(name)}"):
            rows += system.rows()
    contrasts = [*contrasts_with(rows, baseline, partial(_comparable, by_system))]
    headline = Key("", metric_of_verdict([*map(str, settings.measures)]), among=WITH_GOLD)
    of_headline = [contrast for contrast in contrasts if replace(contrast.key, system="", minus=None) == headline]
    estimates, _ = estimated(rows, contrasts, plan=plan, headline=Headline(headline))
    folds = [row for system in by_system.values() for row in system.fold_estimates()]
    numbers = [by_system[row.key.system].located(row) for row in estimates]
    study = retrieval_study(by_system, baseline, numbers, provenance(plan, created_at, command, also_read))
    library = next((rankings.library for rankings in at_level.values() if rankings.library), "")
    curves = {
        (name, PROBABILITY): CurveRecord.made({"defined": curve.defined, "curve": points(curve)}).of_library(library)
        for name, curve in ((name, system.gate.curve) for name, system in by_system.items() if system.gate)
    }
    warned = retrieval_warnings(by_system, plan, estimates, of_headline)
    return Results([*numbers, *folds], study, curves, warned, library)


def _comparable(by_system: Mapping[str, RetrievalRows], row: Row, other: Row) -> bool:
    """Whether a difference of two systems means something.

    Not criterion by criterion: those differences are many and small, and invite picking the one that stands out. Not of
    one gate with itself, and not of two empty decisions that are taken by different rules.
    """
    system, baseline = by_system[row.key.system], by_system[other.key.system]
    if row.key.group is not None and row.key.group.level is not None:
        return False
    if row.key.confidence == PROBABILITY:
        return not np.array_equal(system.probability, baseline.probability)
    return other.measure.quantity.of != "decision" or system.decided_by == baseline.decided_by


@dataclass(frozen=True, eq=False)
class RetrievalRows:
    """One system: the views of its numbers, and the rows."""

    name: str
    rankings: Rankings
    settings: RetrievalSettings

    @cached_property
    def values(self) -> Mapping[Measure, Floats]:
        """Every ranking quantity of every query."""
        return per_query(self.rankings, self.settings.measures, effective=self.settings.effective_k)

    @cached_property
    def selections(self) -> Mapping[Measure, Floats]:
        """Every selection quantity: of the system's own selection, and of each policy it can serve."""
        rankings, shown_by = self.rankings, dict[str, Selection]()
        if rankings.selected_count is not None and rankings.selected_hits is not None:
            shown_by[""] = Selection(rankings.gold_count, rankings.selected_count, rankings.selected_hits)
        for policy in map(Policy.of, self.settings.policies):
            if rankings.scores is not None or not policy.kind.needs_scores:
                count = policy.chosen(rankings, self.settings.bounds)
                shown_by[f"@{policy}"] = Selection(rankings.gold_count, count, shown_hits(rankings, count))
        return {
            Measure.of(f"{entry.stem}{end}"): entry.function(selection)
            for end, selection in shown_by.items()
            for entry in quantities("selection")
        }

    @cached_property
    def empty(self) -> Flags:
        """Which queries are answered with nothing: those below the threshold, and those with an empty list."""
        rankings, threshold = self.rankings, self.settings.threshold
        if threshold is None:
            return np.equal(rankings.candidates if rankings.selected_count is None else rankings.selected_count, 0)
        if rankings.prob is None:
            raise UserError("a threshold needs probabilities: there are none in the column prob")
        return np.equal(rankings.candidates, 0) | np.less(rankings.prob, threshold)

    @cached_property
    def gate(self) -> CurveView | None:
        """The gate as a selective predictor: it answers the most likely queries first, and errs where there is no gold.

        A query with an empty list is an abstention whatever its probability.
        """
        rankings, answered = self.rankings, self.rankings.candidates > 0
        if rankings.prob is None:
            return None
        return CurveView.of(
            Graded(
                units=len(rankings),
                loss=(~rankings.has_gold[answered]).astype(np.int64),
                confidence=rankings.prob[answered],
                loss_name="no evidence there",
                clusters=Clusters(rankings.post_ids, np.bincount(rankings.post), rankings.post[answered]),
                largest_loss=1,
            )
        )

    @property
    def probability(self) -> Floats:
        """The probability of evidence of every query."""
        return np.zeros(0) if self.rankings.prob is None else self.rankings.prob

    @property
    def decided_by(self) -> str:
        """What decides whether a query is answered with nothing: the gate's threshold, the selection, or the list."""
        if self.settings.threshold is not None:
            return "threshold"
        return "ranked_ids" if self.rankings.selected_count is None else "selected_ids"

    @property
    def populations(self) -> dict[str, Flags]:
        """The populations of a mean: the queries with gold, and all queries."""
        return {WITH_GOLD: self.rankings.has_gold, ALL: np.ones(len(self.rankings), bool)}

    def criteria(self) -> Iterator[tuple[Group, Flags]]:
        """The queries of each criterion."""
        for index, name in enumerate(self.rankings.criteria):
            yield Group(CRITERION, name), self.rankings.criterion == index

    def rows(self) -> Iterator[Row]:
        """Every number that is resampled."""
        for among in self.populations:
            yield from self._ranking_rows(among)
        yield from self._mean_rows(self.selections, ALL, {None: self.populations[ALL]})
        view = DecisionView.of(self.rankings.post_ids, self.rankings.post, self.empty, ~self.rankings.has_gold)
        for measure in default_measures("decision"):
            yield self._row(Key(self.name, str(measure)), view, measure, measure, entries=view.entries)
        if self.gate is not None:
            yield from self._detection_rows()
            for entry in quantities("curve", "gate"):
                key = Key(self.name, entry.name, PROBABILITY)
                row = Row.of_curve(key, self.gate, Measure(entry), must_vary="difference")
                yield row.by_resampling if entry.sums else row

    def _row(self, key: Key, view: Any, measure: Measure, number: Callable[[Any], Any], **changes: Any) -> Row:
        point, quantity = float(number(view.exact())[0]), measure.quantity
        low, high = quantity.limits(math.inf, 1.0) if quantity.limits else (-math.inf, math.inf)
        counted = Counted("clusters_with_gold", self._posts_with_gold(key.group), low=low, high=high)
        row = Row(key, view, measure, number, point, *quantity.intervals, counted=counted, must_vary="always")
        return replace(row, **changes)

    def _posts_with_gold(self, group: Group | None) -> int:
        """The number of posts with a gold query, of one criterion if the group names it."""
        inside = self.rankings.has_gold
        if group is not None and group.level is not None:
            inside = inside & (self.rankings.criterion == self.rankings.criteria.index(group.level))
        return len(np.unique(self.rankings.post[inside]))

    def _ranking_rows(self, among: str) -> Iterator[Row]:
        """The ranking rows: pooled, of each criterion, and averaged over the criteria."""
        inside = self.populations[among]
        groups: dict[Group | None, Flags] = {None: inside}
        groups |= {group: inside & flags for group, flags in self.criteria()}
        rows = [*self._mean_rows(self.values, among, groups)]
        yield from rows
        for measure in self.values:
            key = Key(self.name, str(measure), among=among, group=Group(CRITERION))
            names = [(group, measure) for group in groups if group]
            view: Any = rows[0].view
            known = {"influence": partial(view.influence, names), "entries": partial(view.entries, names)}
            yield self._row(key, view, measure, partial(_mean_column, names), **known)

    def _mean_rows(
        self, columns: Mapping[Measure, Floats], among: str, groups: Mapping[Group | None, Flags]
    ) -> Iterator[Row]:
        means: dict[Hashable, Mean] = {
            (group, measure): Mean(column, inside)
            for group, inside in groups.items()
            for measure, column in columns.items()
        }
        if not means:
            return
        view = MeansView.of(self.rankings.post_ids, self.rankings.post, means)
        for group in groups:
            for measure in columns:
                key = Key(self.name, str(measure), among=among, group=group)
                name: Hashable = (group, measure)
                known: dict[str, Any] = {"influence": partial(view.influence, [name])}
                known |= {"entries": partial(view.entries, [name]), "sums": partial(view.column, name)}
                yield self._row(key, view, measure, itemgetter(name), **known)

    def _forecasts(self, inside: Flags) -> ForecastsView:
        outcome = self.rankings.has_gold[inside].astype(np.float64)
        return ForecastsView.of(self.rankings.post_ids, self.rankings.post[inside], self.probability[inside], outcome)

    def _detection_rows(self) -> Iterator[Row]:
        views: dict[Group | None, ForecastsView] = {None: self._forecasts(self.populations[ALL])}
        views |= {group: self._forecasts(flags) for group, flags in self.criteria()}
        over_criteria = JointView(tuple(view for group, view in views.items() if group))
        for measure in detection_measures():
            number = partial(by_convention, measure)
            for group, view in views.items():
                key = Key(self.name, str(measure), PROBABILITY, group=group)
                alone = single_class(view.forecasts) and measure.quantity.convention is not None
                known = _of_forecasts([view], measure)
                yield self._row(key, view, measure, number, by_convention=alone, **known)
            key = Key(self.name, str(measure), PROBABILITY, group=Group(CRITERION))
            known = _of_forecasts([view for group, view in views.items() if group], measure)
            yield self._row(key, over_criteria, measure, partial(_mean_number, number), **known)

    def located(self, row: Estimate) -> Estimate:
        """Add the reason to an undefined mean, and threshold and false positive rate to a true positive rate."""
        if math.isnan(row.value) and not row.undefined:
            return replace(row, undefined=_NO_QUERY)
        measure = Measure.of(row.key.quantity)
        if measure.quantity.parameter is None or measure.quantity.of != "forecasts" or row.key.group or row.key.minus:
            return row
        threshold, _, rate = threshold_at_fpr(self._forecasts(self.populations[ALL]).forecasts, measure.value)
        return replace(row, at=rate, threshold=threshold)

    def fold_estimates(self) -> Iterator[Estimate]:
        """Every pooled number in every fold by itself, their mean, and their standard deviation (ddof 0)."""
        if self.rankings.fold is None:
            return
        by_fold = {name: self._in_fold(self.rankings.fold == index) for index, name in enumerate(self.rankings.folds)}
        for key in next(iter(by_fold.values())):
            values = [numbers[key] for numbers in by_fold.values()]
            for name, value in zip(by_fold, values, strict=True):
                undefined = _NO_QUERY if math.isnan(value) else ""
                yield Estimate(replace(key, group=Group(FOLD, name)), value, undefined=undefined)
            undefined = "a fold has no such query" if any(map(math.isnan, values)) else ""
            mean = math.nan if undefined else math.fsum(values) / len(values)
            spread = None if undefined else math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))
            yield Estimate(replace(key, group=Group(FOLD)), mean, spread=spread, undefined=undefined)

    def _in_fold(self, in_fold: Flags) -> dict[Key, float]:
        values: dict[Key, float] = {}
        for among, inside in self.populations.items():
            columns = self.values if among == WITH_GOLD else {**self.values, **self.selections}
            for measure, column in columns.items():
                values[Key(self.name, str(measure), among=among)] = Mean(column, inside & in_fold).value
        post, without = self.rankings.post[in_fold], ~self.rankings.has_gold[in_fold]
        decision = DecisionView.of(self.rankings.post_ids, post, self.empty[in_fold], without).exact()
        for measure in default_measures("decision"):
            values[Key(self.name, str(measure))] = float(measure(decision)[0])
        if self.gate is not None:
            forecasts = self._forecasts(in_fold).forecasts
            for measure in detection_measures():
                values[Key(self.name, str(measure), PROBABILITY)] = float(by_convention(measure, forecasts)[0])
        return values


def _of_forecasts(views: Sequence[ForecastsView], measure: Measure) -> dict[str, Any]:
    """The entries of the clusters, and their influence on the mean of a number over several views."""

    def entries() -> Floats:
        return np.concatenate([np.insert(view.entries(), 1, index, axis=1) for index, view in enumerate(views)])

    if measure.quantity.influence is None:
        return {"entries": entries}
    return {
        "entries": entries,
        "influence": lambda: np.mean([view.influence(measure.quantity) for view in views], axis=0),
    }


def _mean_column(names: Sequence[Hashable], columns: Mapping[Hashable, Floats]) -> Floats:
    return mean_over([columns[name] for name in names])


def _mean_number(number: Callable[[Forecasts], Floats], samples: Sequence[Forecasts]) -> Floats:
    return mean_over([number(forecasts) for forecasts in samples])
