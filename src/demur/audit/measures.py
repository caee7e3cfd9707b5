"""Measures: each figure as a loop over queries, with the other loops people are known to write for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Literal

from demur.audit import detection_loops as detection
from demur.audit import ranked_loops as ranked
from demur.audit.names import CUT_FIGURES, Asked
from demur.audit.ranked_loops import Judged, Loop, mean_over_queries

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_OTHER_BINS = (5, 10, 15, 20)


@dataclass(frozen=True, slots=True)
class Measure:
    """A loop, the loops it is mistaken for, and what it is about.

    `ranks`: it depends on the ranking, so another system has another figure. `of_population`: it is over the queries
    its section is about, and not over all. `needs`: a column it cannot be recomputed without.
    """

    loop: Loop
    otherwise: Mapping[str, Loop] = field(default_factory=dict)
    ranks: bool = False
    of_population: bool = False
    exact: bool = False
    needs: Literal["prob", "selected", "fold"] | None = None

    @property
    def column(self) -> str | None:
        """What it looks at that may be another for each system."""
        return "hits" if self.ranks else self.needs


def measure_of(asked: Asked) -> Measure:
    """How a figure is recomputed."""
    if asked.figure in CUT_FIGURES:
        return _at_depth(asked.figure, asked.depth)
    if asked.figure in COUNTS:
        return _count(asked.figure)
    if asked.figure in _SELECTION:
        return _SELECTION[asked.figure]
    return _DETECTION[asked.figure](asked)


def _at_depth(figure: str, k: int) -> Measure:
    definition = ranked.DEFINITIONS[figure]
    otherwise: dict[str, Loop] = {
        way: mean_over_queries(partial(_worth, loop, k)) for way, loop in ranked.OTHER_WAYS.get(figure, {}).items()
    }
    if figure == "recall":
        otherwise["hits of all queries ÷ gold of all queries"] = partial(ranked.pooled_recall, k=k)
    otherwise["queries without gold counted as 1, not 0"] = ranked.one_without_gold(definition, k)
    loop = mean_over_queries(partial(_worth, definition, k))
    return Measure(loop, otherwise, ranks=True, of_population=True)


def _worth(definition: ranked.AtDepth, k: int, query: Judged) -> float:
    return definition(query, k)


def _pooled(over: Callable[[Judged], int]) -> Loop:
    return partial(ranked.pooled_selection, over=over)


def _of_selection(loop: Loop, otherwise: Mapping[str, Loop]) -> Measure:
    return Measure(loop, otherwise, of_population=True, needs="selected")


_SELECTION = {
    "evidence_recall": _of_selection(
        mean_over_queries(ranked.evidence_recall),
        {
            "queries without gold counted as 0": mean_over_queries(
                lambda query: ranked.evidence_recall(query) if query.gold else 0.0
            ),
            "selected gold of all queries ÷ gold of all queries": _pooled(lambda query: query.gold),
        },
    ),
    "evidence_precision": _of_selection(
        mean_over_queries(ranked.evidence_precision),
        {
            "queries with nothing selected counted as 0": mean_over_queries(
                lambda query: ranked.evidence_precision(query) if ranked.selected_size(query) else 0.0
            ),
            "selected gold of all queries ÷ selected of all queries": _pooled(ranked.selected_size),
        },
    ),
    "evidence_f1": _of_selection(
        mean_over_queries(ranked.evidence_f1),
        {"F1 of the mean recall and precision, not the mean of F1": ranked.f1_of_means},
    ),
    "avg_k": _of_selection(
        mean_over_queries(lambda query: float(ranked.selected_size(query))),
        {
            "queries with nothing selected left out": lambda queries: ranked.mean(
                float(ranked.selected_size(query)) for query in queries if ranked.selected_size(query)
            )
        },
    ),
}


def _auroc(_: Asked) -> Measure:
    return _of_probability(detection.auroc, {"the queries without evidence taken as the positives": _turned})


def _turned(queries: Sequence[Judged]) -> float | None:
    area = detection.auroc(queries)
    return None if area is None else 1 - area


def _auprc(_: Asked) -> Measure:
    return _of_probability(
        detection.auprc,
        {
            "area by trapezoids, not average precision": detection.auprc_by_trapezoids,
            "it is the AUROC": detection.auroc,
        },
    )


def _tpr(asked: Asked) -> Measure:
    target = asked.number
    return _of_probability(
        partial(detection.tpr_at_fpr, target=target),
        {
            "ROC points on a straight line dropped": partial(detection.tpr_at_fpr, target=target, all_points=False),
            "it is the threshold": partial(detection.threshold_at_fpr, target=target),
        },
    )


def _threshold(asked: Asked) -> Measure:
    target = asked.number
    return _of_probability(
        partial(detection.threshold_at_fpr, target=target),
        {
            "ROC points on a straight line dropped": partial(
                detection.threshold_at_fpr, target=target, all_points=False
            ),
            "the highest threshold that finds as much, not the lowest": partial(
                detection.first_threshold_at_fpr, target=target
            ),
            "1 given where no threshold meets the target": lambda _: 1.0,
            "it is the TPR": partial(detection.tpr_at_fpr, target=target),
        },
    )


def _ece(asked: Asked) -> Measure:
    binnings = {
        "p = 1.0 dropped: the last bin is open": detection.open_by_rounded_edge,
        "bins by rounded edges": detection.by_rounded_edge,
        "bins closed on the right": detection.closed_on_the_right,
    }
    otherwise: dict[str, Loop] = {
        way: partial(detection.ece, bins=asked.depth, binning=binning) for way, binning in binnings.items()
    }
    for bins in _OTHER_BINS:
        otherwise[f"{bins} bins"] = partial(detection.ece, bins=bins, binning=detection.by_decimal)
    return _of_probability(partial(detection.ece, bins=asked.depth, binning=detection.by_decimal), otherwise)


def _of_probability(loop: Loop, otherwise: Mapping[str, Loop]) -> Measure:
    return Measure(loop, otherwise, needs="prob")


def _has_evidence_rate(_: Asked) -> Measure:
    return Measure(detection.has_evidence_rate, {"the rate of queries without evidence": _no_evidence_rate})


def _no_evidence_rate(queries: Sequence[Judged]) -> float | None:
    rate = detection.has_evidence_rate(queries)
    return None if rate is None else 1 - rate


_DETECTION: dict[str, Callable[[Asked], Measure]] = {
    "auroc": _auroc,
    "auprc": _auprc,
    "tpr_at_fpr": _tpr,
    "threshold_at_fpr": _threshold,
    "ece": _ece,
    "has_evidence_rate": _has_evidence_rate,
}
COUNTS: dict[str, Loop] = {
    "queries_total": len,
    "queries_with_positives": lambda queries: sum(query.gold > 0 for query in queries),
    "queries_without_positives": lambda queries: sum(query.gold == 0 for query in queries),
    "queries_evaluated": len,
    "queries": len,
    "posts": lambda queries: len({query.post for query in queries}),
    "criteria": lambda queries: len({query.criterion for query in queries}),
    "folds": lambda queries: len({query.fold for query in queries}),
}
_OF_SECTION = ("queries_evaluated", "queries")


def _count(figure: str) -> Measure:
    others = {f"it is the count {name}": loop for name, loop in COUNTS.items() if name not in (figure, *_OF_SECTION)}
    needs: Literal["fold"] | None = "fold" if figure == "folds" else None
    return Measure(COUNTS[figure], others, of_population=figure in _OF_SECTION, exact=True, needs=needs)
