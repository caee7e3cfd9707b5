"""Cautions about retrieval: what a reader must know of the queries, the lists and the probabilities, as data."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from demur.cautions import Caution, about_sample
from demur.errors import shown
from demur.retrieval_numbers import POPULATIONS, RetrievalSettings, policies_for
from demur.selection import breaches
from demur.tallies import MICRO

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from demur.rankings import Rankings

_ABOUT_ALL = ("one_cluster", "few_clusters", "unequal_clusters")


def about_queries(rankings: Rankings) -> Iterator[Caution]:
    """Whether there are enough posts, evenly enough, and something to find for every criterion."""
    yield from about_sample(np.bincount(rankings.post), "posts")
    places = range(len(rankings.criteria))
    bare = [place for place in places if not rankings.has_gold[rankings.criterion == place].any()]
    if bare:
        named = ", ".join(shown(rankings.criteria[place]) for place in bare)
        text = f"no query with gold in {named}: the mean over criteria of {POPULATIONS[0]} is without them"
        yield Caution("criterion_without_gold", text, POPULATIONS[0])
    if rankings.fold is not None:
        pairs = np.unique(np.stack([rankings.post, rankings.fold]), axis=1).shape[1]
        if pairs > len(rankings.post_ids):
            text = f"{pairs - len(rankings.post_ids)} posts are in more than one fold: the folds are not independent"
            yield Caution("post_in_several_folds", text, "folds")


def about_lists(name: str, rankings: Rankings, settings: RetrievalSettings) -> Iterator[Caution]:
    """What is unusual about what a system returned, and about what it selected."""
    if rankings.unjudged:
        text = f"{rankings.unjudged} topics of the run are not judged, and not counted"
        yield Caution("unjudged_topics", text, name)
    abstained = int((rankings.candidates == 0).sum())
    if abstained:
        yield Caution("abstained", f"{abstained} queries have an empty list: they count, as 0", name)
    if not len(rankings.hit_rank) and rankings.has_gold.any():
        text = "no id that is ranked is ever a gold id: are they the same ids, joined by | and by nothing else?"
        yield Caution("no_hits", text, name)
    elsewhere = 0 if rankings.selected_elsewhere is None else int((rankings.selected_elsewhere > 0).sum())
    if elsewhere:
        text = f"{elsewhere} queries have selected ids that their lists do not hold: they count as shown"
        yield Caution("selected_not_ranked", text, name)
    broken = len([*breaches(rankings, settings.bounds)])
    if broken:
        text = f"{broken} selections break the bounds on how many ids may be shown"
        yield Caution("selection_bounds", text, name)
    skipped = len(settings.policies) - len(policies_for(rankings, settings))
    if skipped:
        text = f"{skipped} selection policies need scores, and it has none: they are left out"
        yield Caution("no_scores", text, name)


def about_detection(name: str, rankings: Rankings, one_class: tuple[str, ...]) -> Iterator[Caution]:
    """Where the numbers of a detection are conventions, because there is one class only."""
    where = f"{name} detection"
    if MICRO in one_class:
        text = "all queries have evidence, or none has: AUROC, AUPRC and rates are given by convention"
        yield Caution("single_class", text, where)
    elif one_class:
        named = ", ".join(shown(rankings.criteria[int(group)]) for group in one_class)
        text = f"one class only in {named}: their values are conventions, and are in the mean over criteria"
        yield Caution("single_class", text, where)
    if rankings.prob is not None and rankings.fold is not None:
        pairs = {*zip(rankings.fold.tolist(), rankings.has_gold.tolist(), strict=True)}
        alone = 2 * len(rankings.folds) - len(pairs)
        if alone:
            held = f"{alone} of {len(rankings.folds)} folds hold one class only"
            text = f"{held}: their values are conventions, and are in the mean over folds"
            yield Caution("single_class", text, f"{name} folds")


def about_gate(name: str, warnings: Iterable[Caution]) -> Iterator[Caution]:
    """What is to be said of a gate's curve, but for what is said of all posts."""
    for caution in warnings:
        if caution.code not in _ABOUT_ALL:
            yield replace(caution, where=f"{name} gate {caution.where}")
