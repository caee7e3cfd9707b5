"""Numbers over folds: each fold by itself, their mean and their spread."""

import math
from collections.abc import Iterator
from dataclasses import replace

from demur.inference.estimates import Estimate
from demur.inference.key import Group
from demur.report.retrieval.places import Place, at_depth, by_place, cell, primary_depth, title
from demur.report.sections import Content, section
from demur.report.text import UNDEFINED
from demur.results.table import Results

_MOST_FOLDS = 12


@section("folds", "Folds", task="retrieval", order=80)
def folds(results: Results) -> Content | None:
    """The numbers over folds at the depth of the verdict, or nothing where there are none."""
    names, depth = results.retrieval.folds, primary_depth(results)
    if not names:
        return None
    listed = names if len(names) <= _MOST_FOLDS else ()
    rows = [
        [
            (
                place.title,
                title(mean.key),
                cell(results, results.get(replace(mean.key, group=None))),
                mean_and_spread(mean),
                [_four(results.get(replace(mean.key, group=Group("fold", name)))) for name in listed],
            )
            for place, mean in means_over_folds(results, system)
            if at_depth(mean.key, depth)
        ]
        for system in results.systems
    ]
    return {"count": len(names), "names": listed, "rows": rows} if any(rows) else None


def means_over_folds(results: Results, system: str) -> Iterator[tuple[Place, Estimate]]:
    """Every mean over folds of a system, and where it is listed."""
    for place, means in by_place(results.where(system=system, group=Group("fold"), minus=None)).items():
        yield from ((place, mean) for mean in means)


def _four(estimate: Estimate | None) -> str:
    return UNDEFINED if estimate is None or math.isnan(estimate.value) else f"{estimate.value:.4f}"


def mean_and_spread(mean: Estimate) -> str:
    """The mean over folds and their standard deviation."""
    return UNDEFINED if mean.spread is None else f"{_four(mean)} ± {mean.spread:.4f}"
