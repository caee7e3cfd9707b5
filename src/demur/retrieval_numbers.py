"""Retrieval numbers: everything one system is measured by, as means over queries and what follows from means."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from demur.errors import UserError, literal
from demur.metrics.forecasts import over
from demur.metrics.retrieval import RANKING_METRICS, RankingMeasure, checked_depth, per_query
from demur.selection import Bounds, Policy, evidence, shown_hits
from demur.tallies import MACRO, MICRO, Mean, mean_over

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from demur.rankings import Rankings

    Floats = NDArray[np.float64]

POPULATIONS = ("positives_only", "all_queries")
DEPTHS = (1, 3, 5, 10)


@dataclass(frozen=True, slots=True)
class RetrievalSettings:
    """What to compute. `threshold` says from which probability on the gate lets evidence through.

    Without a threshold a query counts as answered with nothing if nothing is selected, or, where there is no
    selection, if nothing is ranked.
    """

    depths: Sequence[int] = DEPTHS
    effective_k: bool = False
    bounds: Bounds = field(default_factory=Bounds)
    policies: Sequence[str] = ()
    threshold: float | None = None
    baseline: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "depths", tuple(sorted({checked_depth(k) for k in self.depths})))
        if not self.depths:
            raise UserError("no depth is given: expected at least one k, such as 10")
        object.__setattr__(self, "policies", tuple(dict.fromkeys(str(Policy.of(name)) for name in self.policies)))
        if self.threshold is not None and not (isinstance(self.threshold, (int, float)) and 0 <= self.threshold <= 1):
            raise UserError(f"threshold {literal(self.threshold)}, expected a number from 0 to 1")

    @property
    def measures(self) -> list[RankingMeasure]:
        """Every ranking metric at every depth."""
        return [RankingMeasure(metric, k) for metric in RANKING_METRICS.values() for k in self.depths]


def populations(rankings: Rankings) -> dict[str, NDArray[np.bool_]]:
    """Whom a mean is over: the queries with gold, and all queries."""
    return dict(zip(POPULATIONS, (rankings.has_gold, np.ones(len(rankings), bool)), strict=True))


def means(rankings: Rankings, settings: RetrievalSettings) -> dict[str, Mean]:
    """Every mean of one system by its path: population/micro/name, population/criterion number/name, and so on."""
    found: dict[str, Mean] = {}
    values = per_query(rankings, settings.measures, effective=settings.effective_k)
    for population, among in populations(rankings).items():
        groups = {MICRO: among}
        groups |= {str(place): among & (rankings.criterion == place) for place in range(len(rankings.criteria))}
        for group, inside in groups.items():
            found |= {f"{population}/{group}/{name}": Mean(column, inside) for name, column in values.items()}
    return found | _dynamic_k(rankings, settings) | _empty_decision(rankings, settings)


def _dynamic_k(rankings: Rankings, settings: RetrievalSettings) -> dict[str, Mean]:
    selections = {}
    if rankings.selected_count is not None and rankings.selected_hits is not None:
        selections["dynamic_k"] = rankings.selected_count, rankings.selected_hits
    for policy in policies_for(rankings, settings):
        shown = policy.chosen(rankings, settings.bounds)
        selections[f"policies/{policy}"] = shown, shown_hits(rankings, shown)
    everyone = populations(rankings)["all_queries"]
    return {
        f"{place}/{name}": Mean(column, everyone)
        for place, (shown, hits) in selections.items()
        for name, column in evidence(rankings.gold_count, shown, hits).items()
    }


def policies_for(rankings: Rankings, settings: RetrievalSettings) -> list[Policy]:
    """The policies that were asked for and that a system can serve: without scores only some."""
    asked = map(Policy.of, settings.policies)
    return [policy for policy in asked if rankings.scores is not None or not policy.kind.needs_scores]


def decided_by(rankings: Rankings, settings: RetrievalSettings) -> str:
    """What decides whether a query is answered with nothing: the gate's threshold, the selection, or the list."""
    if settings.threshold is not None:
        return "threshold"
    return "ranked_ids" if rankings.selected_count is None else "selected_ids"


def _returned(rankings: Rankings, settings: RetrievalSettings) -> NDArray[np.bool_]:
    """Which queries evidence is returned for. A gate that is open returns nothing of an empty list."""
    there = rankings.candidates > 0
    if settings.threshold is None:
        return there if rankings.selected_count is None else rankings.selected_count > 0
    if rankings.prob is None:
        raise UserError("a threshold needs probabilities: there are none in the column prob")
    return there & (rankings.prob >= settings.threshold)


def _empty_decision(rankings: Rankings, settings: RetrievalSettings) -> dict[str, Mean]:
    """The decision that there is no evidence: how often it is right, and how often it is missed."""
    empty, none_there = ~_returned(rankings, settings), ~rankings.has_gold
    everyone = populations(rankings)["all_queries"]
    right = (empty & none_there).astype(np.float64)
    return {
        "empty_decision/precision": Mean(right, empty),
        "empty_decision/recall": Mean(right, none_there),
        "empty_decision/false_evidence_rate": Mean((~empty).astype(np.float64), none_there),
        "share/right": Mean(right, everyone),
        "share/empty": Mean(empty.astype(np.float64), everyone),
        "share/none_there": Mean(none_there.astype(np.float64), everyone),
    }


def with_what_follows(found: Mapping[str, Floats], settings: RetrievalSettings, criteria: int) -> dict[str, Any]:
    """Means, and the numbers made of them: the mean over criteria, and the F1 of the empty decision."""
    made = dict(found)
    for population in POPULATIONS:
        for measure in map(str, settings.measures):
            columns = [found[f"{population}/{place}/{measure}"] for place in range(criteria)]
            made[f"{population}/{MACRO}/{measure}"] = mean_over(columns)
    made["empty_decision/f1"] = over(2 * found["share/right"], found["share/empty"] + found["share/none_there"])
    return {name: value for name, value in made.items() if not name.startswith("share/")}
