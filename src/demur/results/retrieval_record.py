"""The record of a retrieval study: its queries, settings and warnings."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from demur.facts.rankings import Rankings
from demur.inference.estimates import Estimate
from demur.inference.key import Key, Pattern
from demur.inference.rows import Contrast
from demur.inference.warnings import (
    FEW_WITH_GOLD,
    ResultWarning,
    about_comparisons,
    about_counts,
    about_resamples,
    about_sample,
    about_view,
)
from demur.quantities import Measure
from demur.quantities.detection import single_class
from demur.quantities.forecasts import Forecasts
from demur.quantities.selection import Policy, breaches
from demur.results.study import RetrievalStudy
from demur.sampling.resample import Plan
from demur.types import Integers, Json

if TYPE_CHECKING:
    from demur.results.retrieval import RetrievalRows, RetrievalSettings

    BySystem = Mapping[str, RetrievalRows]

CONVENTION = {
    "relevance": "binary; a list holds distinct ids, best first",
    "empty_gold": "every ranking quantity is 0 where there is no gold: see with_gold for the queries that have it",
    "map": "map divides by min(gold, K), map_trec by gold",
    "micro": "all queries pooled",
    "macro": "mean over the criteria that have queries in the population",
    "detection": "positive class: the query has evidence; one class: AUROC 0.5, AUPRC the share with evidence, TPR 0",
    "evidence": "with nothing to find, showing nothing counts 1 and anything else 0",
    "folds": "mean and population standard deviation (ddof 0)",
    "cluster": "posts are resampled, with all their queries",
}
_GRADED = "graded; gains are the grades, ids are relevant from a grade of {} on; a list holds distinct ids, best first"
_PERCENTILES = (5, 25, 50, 75, 95)


def retrieval_study(
    by_system: BySystem, baseline: str, estimates: Sequence[Estimate], provenance: Json
) -> RetrievalStudy:
    """Everything a file records besides numbers, curves and warnings; `provenance` says when and by what."""
    first, settings = by_system[baseline].rankings, by_system[baseline].settings
    graded = None if first.grades is None else [*_judgments(first.grades.gold)]
    files = dict.fromkeys((file.path, file.sha256) for system in by_system.values() for file in system.rankings.sources)
    study = RetrievalStudy.made(
        {
            **provenance,
            "inputs": [{"path": path, "sha256": sha256} for path, sha256 in files],
            "baseline": baseline if len(by_system) > 1 else None,
            "convention": CONVENTION | ({"relevance": _GRADED.format(settings.relevance_level)} if graded else {}),
            "systems": [_system(name, rows) for name, rows in by_system.items()],
            "settings": {
                "k": settings.depths,
                "effective_k": settings.effective_k,
                "relevance_level": settings.relevance_level,
                "metrics": settings.metrics or None,
                **asdict(settings.bounds),
                "k_max_ratio": float(settings.bounds.k_max_ratio),
                "policies": settings.policies,
                "gate_threshold": None if settings.threshold is None else float(settings.threshold),
            },
            "posts": len(first.post_ids),
            "queries": len(first),
            "with_gold": int(first.has_gold.sum()),
            "judgments": graded,
            "criteria": [
                {"name": group.level, "queries": int(flags.sum()), "with_gold": int((flags & first.has_gold).sum())}
                for group, flags in by_system[baseline].criteria()
            ],
            "folds": first.folds or (),
            "has_evidence_rate": float(first.has_gold.mean()),
            "reference": settings.reference,
            "reference_ranges": [*_placed(by_system, estimates, settings)],
        }
    )
    return study.signed()


def _judgments(grades: Integers) -> Iterator[Json]:
    for grade, ids in zip(*np.unique(grades, return_counts=True), strict=True):
        yield {"grade": int(grade), "ids": int(ids)}


def _system(name: str, rows: RetrievalRows) -> Json:
    rankings, counts = rows.rankings, rows.rankings.candidates
    percentiles = zip(_PERCENTILES, np.percentile(counts, _PERCENTILES), strict=True)
    selected, with_gold = rankings.selected_count, rankings.has_gold
    return {
        "name": name,
        "abstained": int((counts == 0).sum()),
        "candidates": {
            "minimum": int(counts.min()),
            **{f"p{percent}": float(value) for percent, value in percentiles},
            "maximum": int(counts.max()),
            "mean": float(counts.mean()),
        },
        "empty_decision_by": rows.decided_by,
        "empty_decision": {
            "true_positives": int((rows.empty & ~with_gold).sum()),
            "false_positives": int((rows.empty & with_gold).sum()),
            "false_negatives": int((~rows.empty & ~with_gold).sum()),
        },
        "empty_selections": None if selected is None else int((selected == 0).sum()),
        "breaches": [
            {
                "post": rankings.post_ids[int(rankings.post[query])],
                "criterion": rankings.criteria[int(rankings.criterion[query])],
                "selected": shown,
                "candidates": int(counts[query]),
                "allowed": allowed,
            }
            for query, shown, *allowed in breaches(rankings, rows.settings.bounds)
        ],
    }


def _placed(systems: Iterable[str], estimates: Sequence[Estimate], settings: RetrievalSettings) -> Iterator[Json]:
    """Ranking quantities of the queries with gold, and detection of all queries, with their reference ranges.

    The ranges are for the plain K and two classes; numbers by other conventions are not compared with them.
    """
    by_key = {row.key: row for row in estimates}
    for system in systems:
        for name, known in settings.reference.ranges.items() if settings.reference else ():
            ranking = Measure.of(name).quantity.of == "ranking"
            key = Key(system, name, among="with_gold") if ranking else Key(system, name, "prob")
            row = by_key.get(key)
            if row is None or math.isnan(row.value) or row.by_convention or (ranking and settings.effective_k):
                continue
            figure = {"system": system, "metric": name, "value": row.value}
            yield figure | dict(known) | {"place": known.position(row.value)}


def retrieval_warnings(
    by_system: BySystem, plan: Plan, estimates: Sequence[Estimate], contrasts: Sequence[Contrast]
) -> list[ResultWarning]:
    """The warnings about queries, lists, probabilities, and the differences of the headline number."""
    first = next(iter(by_system.values())).rankings
    warned = [*about_resamples(plan.resamples), *_about_queries(first)]
    for name, system in by_system.items():
        gated = Pattern(system=name, confidence="prob")
        warned += _about_lists(Pattern(system=name), system.rankings, system.settings)
        warned += _about_detection(gated, system.rankings)
        if system.gate is not None:
            warned += [warning for warning in about_view(system.gate, gated) if not warning.of_sample]
    warned += about_counts(contrasts)
    tested = sum(row.recommended is not None for row in estimates if row.key.minus is not None)
    return [*warned, *about_comparisons(tested)]


def _about_queries(rankings: Rankings) -> Iterator[ResultWarning]:
    """Warn of few or unequal posts, of criteria without gold, and of posts in several folds."""
    yield from about_sample(np.bincount(rankings.post))
    holding = len(np.unique(rankings.post[rankings.has_gold]))
    if 0 < holding < FEW_WITH_GOLD:
        yield ResultWarning("few_clusters_with_gold", parameters={"with_gold": holding, "limit": FEW_WITH_GOLD})
    gold = np.bincount(rankings.criterion[rankings.has_gold], minlength=len(rankings.criteria))
    bare = [name for name, count in zip(rankings.criteria, gold, strict=True) if not count]
    if bare:
        yield ResultWarning("criterion_without_gold", Pattern(among="with_gold"), {"criteria": bare})
    if rankings.fold is not None:
        pairs = np.unique(np.stack([rankings.post, rankings.fold]), axis=1).shape[1]
        if pairs > len(rankings.post_ids):
            yield ResultWarning("post_in_several_folds", parameters={"posts": pairs - len(rankings.post_ids)})


def _about_lists(about: Pattern, rankings: Rankings, settings: RetrievalSettings) -> Iterator[ResultWarning]:
    """Warn of unusual lists and selections of a system."""
    if rankings.unjudged:
        yield ResultWarning("unjudged_topics", about, {"topics": rankings.unjudged})
    abstained = int((rankings.candidates == 0).sum())
    if abstained:
        yield ResultWarning("abstained", about, {"queries": abstained})
    if not len(rankings.hit_rank) and rankings.has_gold.any():
        yield ResultWarning("no_hits", about)
    elsewhere = 0 if rankings.selected_elsewhere is None else int((rankings.selected_elsewhere > 0).sum())
    if elsewhere:
        yield ResultWarning("selected_not_ranked", about, {"queries": elsewhere})
    broken = len([*breaches(rankings, settings.bounds)])
    if broken:
        yield ResultWarning("selection_bounds", about, {"selections": broken})
    skipped = sum(Policy.of(name).kind.needs_scores for name in settings.policies) if rankings.scores is None else 0
    if skipped:
        yield ResultWarning("no_scores", about, {"policies": skipped})


def _about_detection(about: Pattern, rankings: Rankings) -> Iterator[ResultWarning]:
    """Warn where detection numbers are conventions because there is only one class."""
    if rankings.prob is None:
        return
    if single_class(Forecasts.of(rankings.prob, rankings.has_gold.astype(np.float64))):
        yield ResultWarning("single_class", about)
    else:
        outcomes = (rankings.has_gold[rankings.criterion == index] * 1 for index in range(len(rankings.criteria)))
        alone = [name for name, outcome in zip(rankings.criteria, outcomes, strict=True) if np.ptp(outcome) == 0]
        if alone:
            yield ResultWarning("single_class", about, {"criteria": alone})
    if rankings.fold is not None:
        pairs = {*zip(rankings.fold.tolist(), rankings.has_gold.tolist(), strict=True)}
        single = 2 * len(rankings.folds) - len(pairs)
        if single:
            yield ResultWarning("single_class", about, {"alone": single, "folds": len(rankings.folds)})
