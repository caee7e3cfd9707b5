"""Measures of queries: each figure as a loop, with the other loops people are known to write for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any, Literal

from demur.audit.loops import LOOPS, family, forecasts, number, ranking
from demur.audit.loops.forecasts import detection, ece, threshold_at_fpr
from demur.audit.loops.ranking import Ranked
from demur.audit.loops.registry import mean, ratio
from demur.audit.loops.rows import ranking_row, selection_row
from demur.audit.loops.selection import Shown
from demur.audit.reported.names import AT_DEPTH, ReportedQuantity
from demur.rankings import Query

Column = Literal["ranking", "prob", "selected", "fold"]
SELECTION = frozenset(name for name in LOOPS if family(name) == "selection")
_OTHER_BINS = (5, 10, 15, 20)


@dataclass(frozen=True, slots=True)
class Judged:
    """One query with the rows the loops read; `prob`, `selected` and `fold` may be missing."""

    post: str
    criterion: str
    fold: str | None
    ranking: Ranked
    prob: tuple[float, int] | None
    selected: Shown | None

    @classmethod
    def of(cls, query: Query) -> Judged:
        """From the facts."""
        return cls(
            post=str(query.post),
            criterion=str(query.criterion),
            fold=None if query.fold is None else str(query.fold),
            ranking=ranking_row(query),
            prob=None if query.prob is None else (float(query.prob), int(bool(query.gold))),
            selected=None if query.selected is None else selection_row(query),
        )

    @property
    def gold(self) -> int:
        """How many ids there are to find."""
        return self.ranking.gold


Loop = Callable[[Sequence[Any]], Any]


@dataclass(frozen=True, slots=True)
class ReportedMeasure:
    """A loop over one column of the queries (all of it if None), and the loops it is mistaken for.

    One that is `of_population` is over the queries its section is about, any other over all.
    """

    loop: Loop
    otherwise: Mapping[str, Loop] = field(default_factory=dict)
    column: Column | None = None
    of_population: bool = False

    def rows(self, queries: Sequence[Judged]) -> Sequence[Any]:
        """What the loop reads."""
        column = self.column
        return queries if column in (None, "fold") else [getattr(query, str(column)) for query in queries]


def measure_of(quantity: ReportedQuantity) -> ReportedMeasure:
    """How a figure of queries is recomputed."""
    if quantity.name in AT_DEPTH:
        return _at_depth(quantity.name, quantity.depth)
    if quantity.name in COUNTS:
        return _count(quantity.name)
    if quantity.name in SELECTION:
        loop, otherwise = LOOPS[quantity.name], _OTHER_SELECTIONS.get(quantity.name, {})
        return ReportedMeasure(loop, otherwise, "selected", of_population=True)
    if quantity.name == "has_evidence_rate":
        return ReportedMeasure(
            _rate, {"the rate of queries without evidence": lambda queries: _less(1, _rate(queries))}
        )
    return _of_probability(quantity)


def is_of_queries(quantity: ReportedQuantity) -> bool:
    """Whether a figure is one of rankings."""
    known = quantity.name in (*AT_DEPTH, *COUNTS, *SELECTION, "has_evidence_rate", "skip_no_positives")
    return known or quantity.name in ("auroc", "auprc", "ece", "tpr@fpr=F", "threshold@fpr=F")


_over, _ideal = ranking.over, ranking.ideal
_OTHER_WORTHS: dict[str, dict[str, Callable[[Ranked, int], Any]]] = {
    "recall@K": {
        "other denominator: ÷ min(gold, K), not ÷ gold": lambda row, k: _over(row.hits_within(k), min(row.gold, k)),
    },
    "mrr@K": {
        "not cut at K": lambda row, k: ranking.WORTHS["mrr@K"](row, max(k, len(row.hits)), 0),
    },
    "map@K": {
        "other denominator: ÷ gold, not ÷ min(gold, K)": lambda row, k: _over(row.precisions(k), row.gold),
        "other denominator: ÷ the hits found": lambda row, k: _over(row.precisions(k), row.hits_within(k)),
    },
    "map_trec@K": {
        "other denominator: ÷ min(gold, K), not ÷ gold": lambda row, k: _over(row.precisions(k), min(row.gold, k)),
    },
    "ndcg@K": {
        "other denominator: ideal over all gold, not min(gold, K)": lambda row, k: _over(row.gain(k), _ideal(row.gold)),
        "other denominator: ideal over the hits found": lambda row, k: _over(row.gain(k), _ideal(row.hits_within(k))),
    },
}
_EFFECTIVE = {
    "precision@K": "other denominator: ÷ the number returned, not ÷ K",
    "map@K": "other denominator: K at most the candidates",
    "ndcg@K": "other denominator: K at most the candidates",
}


def _at_depth(figure: str, k: int) -> ReportedMeasure:
    loop = LOOPS[figure]
    otherwise: dict[str, Loop] = {
        way: partial(_mean_worth, worth, k) for way, worth in _OTHER_WORTHS.get(figure, {}).items()
    }
    if figure in _EFFECTIVE:
        otherwise[_EFFECTIVE[figure]] = lambda rows: loop(rows, k, effective=True)
    if figure == "recall@K":
        otherwise["hits of all queries ÷ gold of all queries"] = lambda rows: _pooled(
            [row.hits_within(k) for row in rows], [row.gold for row in rows]
        )
    otherwise["queries without gold counted as 1, not 0"] = lambda rows: mean(
        (loop([row], k) or 0) if row.gold else 1 for row in rows
    )
    return ReportedMeasure(lambda rows: loop(rows, k), otherwise, "ranking", of_population=True)


def _mean_worth(worth: Callable[[Ranked, int], Any], k: int, rows: Sequence[Ranked]) -> Any:
    return mean(worth(row, k) for row in rows)


def _pooled(above: Sequence[int], below: Sequence[int]) -> Any:
    return ratio(Fraction(sum(above)), Fraction(sum(below)))


def _less(whole: Any, part: Any) -> Any:
    return None if part is None else whole - part


def _rate(queries: Sequence[Judged]) -> Any:
    return mean(Fraction(query.gold > 0) for query in queries)


def _f1_of_means(rows: Sequence[Shown]) -> Any:
    recall, precision = number("evidence_recall", rows), number("evidence_precision", rows)
    return None if recall is None or precision is None else _over(2 * recall * precision, recall + precision)


_OTHER_SELECTIONS: dict[str, dict[str, Loop]] = {
    "evidence_recall": {
        "queries without gold counted as 0": lambda rows: mean(_over(row.hits, row.gold) for row in rows),
        "selected gold of all queries ÷ gold of all queries": lambda rows: _pooled(
            [row.hits for row in rows], [row.gold for row in rows]
        ),
    },
    "evidence_precision": {
        "queries with nothing selected counted as 0": lambda rows: mean(_over(row.hits, row.shown) for row in rows),
        "selected gold of all queries ÷ selected of all queries": lambda rows: _pooled(
            [row.hits for row in rows], [row.shown for row in rows]
        ),
    },
    "evidence_f1": {"F1 of the mean recall and precision, not the mean of F1": _f1_of_means},
    "average_k": {
        "queries with nothing selected left out": lambda rows: mean(row.shown for row in rows if row.shown),
    },
}


def _of_probability(quantity: ReportedQuantity) -> ReportedMeasure:
    """A figure of (probability, has evidence)."""
    target, bins, auroc = quantity.number, quantity.depth, partial(detection, "auroc")
    tpr, cut = partial(_at_target, target, 1), partial(_at_target, target, 0)
    dropped = "ROC points on a straight line dropped"
    binnings = {
        "p = 1.0 dropped: the last bin is open": forecasts.open_ended,
        "bins by rounded edges": lambda p, n: n - 1 if p >= 1 else forecasts.open_ended(p, n),
        "bins closed on the right": lambda p, n: sum(p > edge / n for edge in range(1, n)),
    }
    loops: dict[str, tuple[Loop, dict[str, Loop]]] = {
        "auroc": (auroc, {"the queries without evidence taken as the positives": lambda rows: _less(1, auroc(rows))}),
        "auprc": (
            partial(detection, "auprc"),
            {
                "area by trapezoids, not average precision": lambda rows: forecasts.auprc(rows, trapezoids=True),
                "it is the AUROC": auroc,
            },
        ),
        "tpr@fpr=F": (tpr, {dropped: partial(tpr, all_points=False), "it is the threshold": cut}),
        "threshold@fpr=F": (
            cut,
            {
                dropped: partial(cut, all_points=False),
                "the highest threshold that finds as much, not the lowest": partial(_first_threshold, target),
                "1 given where no threshold meets the target": lambda _: 1.0,
                "it is the TPR": tpr,
            },
        ),
        "ece": (
            partial(_ece, bins, forecasts.equal_width),
            {way: partial(_ece, bins, binning) for way, binning in binnings.items()}
            | {f"{other} bins": partial(_ece, other, forecasts.equal_width) for other in _OTHER_BINS},
        ),
    }
    return ReportedMeasure(*loops[quantity.name], column="prob")


def _at_target(target: Fraction, which: int, rows: Sequence[Any], *, all_points: bool = True) -> Any:
    return threshold_at_fpr(rows, target, all_points=all_points)[which] if rows else None


def _first_threshold(target: Fraction, rows: Sequence[Any]) -> Any:
    best = forecasts.last_within(rows, target)
    reached = [point for point in forecasts.roc(rows) or () if best and point.true == best.true]
    return reached[0].threshold if reached else None


def _ece(bins: int, binning: Any, rows: Sequence[Any]) -> Any:
    return ece(rows, bins, binning) if all(0 <= p <= 1 for p, _ in rows) else None


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


def _count(figure: str) -> ReportedMeasure:
    others = {f"it is the count {name}": loop for name, loop in COUNTS.items() if name not in (figure, *_OF_SECTION)}
    column: Column | None = "fold" if figure == "folds" else None
    return ReportedMeasure(COUNTS[figure], others, column, of_population=figure in _OF_SECTION)
