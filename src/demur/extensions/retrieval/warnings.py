"""The warnings of an evaluation of retrieval: about queries, lists, selections and probabilities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from demur.extensions.retrieval.quantities.detection import single_class
from demur.extensions.retrieval.quantities.selection import Policy, breaches
from demur.inference.key import Pattern
from demur.inference.warnings import (
    KINDS,
    Kind,
    ResultWarning,
    about_comparisons,
    about_counts,
    about_resamples,
    about_sample,
    about_view,
)
from demur.quantities.forecasts import Forecasts

if TYPE_CHECKING:
    from demur.extensions.retrieval.rankings import Rankings
    from demur.extensions.retrieval.rows import RetrievalRows
    from demur.extensions.retrieval.settings import RetrievalSettings
    from demur.inference.estimates import Estimate
    from demur.inference.rows import Contrast
    from demur.sampling.resample import Plan

FEW_WITH_GOLD = 20
KINDS |= {
    "few_clusters_with_gold": Kind(
        "with gold", "{with_gold} posts hold a query with gold: below {limit} intervals are rough"
    ),
    "criterion_without_gold": Kind(
        "with gold", "no query with gold in {criteria}: the mean over criteria of the queries with gold is without them"
    ),
    "post_in_several_folds": Kind("folds", "{posts} posts are in more than one fold: the folds are not independent"),
    "unjudged_topics": Kind("", "{topics} topics of the run are not judged, and not counted"),
    "abstained": Kind("", "{queries} queries have an empty list: they count, as 0"),
    "no_hits": Kind(
        "", "no id that is ranked is ever a gold id: are they the same ids, joined by | and by nothing else?"
    ),
    "selected_not_ranked": Kind(
        "", "{queries} queries have selected ids that their lists do not hold: they count as shown"
    ),
    "selection_bounds": Kind("", "{selections} selections break the bounds on how many ids may be shown"),
    "no_scores": Kind("", "{policies} selection policies need scores, and it has none: they are left out"),
    "single_class": Kind(
        "detection",
        "all queries have evidence, or none has: AUROC, AUPRC and rates are given by convention",
        given={
            "criteria": "one class only in {criteria}: their values are conventions, and are in the mean over criteria",
            "folds": "{alone} of {folds} folds hold one class only: their values are conventions, and are in the mean "
            "over folds",
        },
    ),
}


def subject_of(warning: ResultWarning) -> str:
    """What a warning is about: the system and what of it, or what of the queries."""
    system, subject = warning.about.system, warning.subject
    if system is None:
        return "posts" if subject == "clusters" else subject
    gate = "gate " if subject in ("clusters", "confidence") else ""
    return f"{system} {gate}{'folds' if 'folds' in warning.parameters else subject}".strip()


def retrieval_warnings(
    by_system: Mapping[str, RetrievalRows], plan: Plan, estimates: Sequence[Estimate], contrasts: Sequence[Contrast]
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
