"""The numbers of one system: its views, and the rows that are resampled."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from operator import itemgetter
from typing import Any

import numpy as np

from demur.errors import UserError
from demur.extensions.retrieval.quantities.detection import (
    by_convention,
    detection_measures,
    single_class,
    threshold_at_fpr,
)
from demur.extensions.retrieval.quantities.evidence import Selection
from demur.extensions.retrieval.quantities.ranking import per_query
from demur.extensions.retrieval.quantities.selection import Policy, shown_hits
from demur.extensions.retrieval.rankings import Rankings
from demur.extensions.retrieval.settings import RetrievalSettings
from demur.extensions.retrieval.views import DecisionView, ForecastsView, Mean, MeansView, mean_over
from demur.inference.estimates import Estimate
from demur.inference.key import Group, Key
from demur.inference.rows import Row
from demur.inference.rules import Counted
from demur.inference.views import CurveView, JointView
from demur.quantities import Measure, default_measures, quantities
from demur.quantities.forecasts import Forecasts
from demur.sampling.graded import Clusters, Graded
from demur.types import Flags, Floats

WITH_GOLD, ALL, PROBABILITY = "with_gold", "all", "prob"
CRITERION, FOLD = "criterion", "fold"
_GATE = ("cmax", "aurc", "augrc", "eaurc", "eaugrc", "risk")
_NO_QUERY = "no such query"


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
            for entry in (entry for entry in quantities("curve") if entry.name in _GATE):
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
