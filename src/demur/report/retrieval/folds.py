"""Numbers over folds: each fold by itself, their mean and their spread."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from demur.inference.key import Group
from demur.report.retrieval.places import at_depth, by_place, cell, primary_depth, title
from demur.report.sections import section
from demur.report.text import UNDEFINED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from demur.inference.estimates import Estimate
    from demur.results.table import Results

FOLD = Group("fold")
_MOST_FOLDS = 12


@dataclass(frozen=True, slots=True)
class FoldRow:
    """One number: pooled with its interval by post, mean and deviation over folds, and fold by fold."""

    place: str
    title: str
    pooled: str
    over_folds: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Folds:
    """The folds, by name where they are few, and the rows of every system."""

    count: int
    names: tuple[str, ...]
    rows: tuple[tuple[FoldRow, ...], ...]


@section("folds", "Folds", task="retrieval", order=80)
def folds(results: Results) -> Folds | None:
    """The numbers over folds, or nothing where there are none."""
    names = results.retrieval.folds
    if not names or not results.where(group=FOLD):
        return None
    listed = names if len(names) <= _MOST_FOLDS else ()
    return Folds(len(names), listed, tuple(tuple(_rows(results, system, listed)) for system in results.systems))


def _rows(results: Results, system: str, names: tuple[str, ...]) -> Iterator[FoldRow]:
    for place, means in by_place(results.where(system=system, group=FOLD, minus=None)).items():
        for mean in means:
            if at_depth(mean.key, primary_depth(results)):
                pooled = results.get(replace(mean.key, group=None))
                values = tuple(_in_fold(results, mean, name) for name in names)
                yield FoldRow(place.title, title(mean.key), cell(results, pooled), mean_and_spread(mean), values)


def _in_fold(results: Results, mean: Estimate, fold: str) -> str:
    estimate = results.get(replace(mean.key, group=Group("fold", fold)))
    return UNDEFINED if estimate is None or math.isnan(estimate.value) else f"{estimate.value:.4f}"


def mean_and_spread(mean: Estimate) -> str:
    """The mean over folds and their standard deviation."""
    if mean.spread is None or math.isnan(mean.value):
        return UNDEFINED
    return f"{mean.value:.4f} ± {mean.spread:.4f}"
