"""Conventions for figures of rankings: the definition, and known alternatives to it."""

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

from demur.extensions.audit.reported.names import AT_DEPTH, ReportedQuantity
from demur.extensions.audit.retrieval_figures import FIGURES, ranking, selection
from demur.extensions.audit.retrieval_figures import detection as forecasts
from demur.extensions.audit.retrieval_figures.detection import detection, ece, threshold_at_fpr
from demur.extensions.audit.retrieval_figures.numbers import mean, percentile, ratio
from demur.extensions.audit.retrieval_figures.ranking import Ranked, discounted, ideal, over

Loop = Callable[..., Any]
OF_SECTION = ("queries_evaluated", "queries")
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
_OF_PROBABILITY = ("auroc", "auprc", "ece", "tpr@fpr=F", "threshold@fpr=F")
_OF_WHOLE_ROWS = ("has_evidence_rate", "empty_prevalence", "skip_no_positives")
_OTHER_BINS = (5, 10, 15, 20)
_LINSPACE = "bins by the rounded edges of numpy.linspace: 0.3 is below its own"
_HIGHEST = 60
_LAST_OPEN = "p = 1.0 dropped: the last bin is open"


def conventions_of(quantity: ReportedQuantity) -> dict[str, Loop]:
    """The functions of rows that may give a figure, by description; the definition has an empty one."""
    name, at = quantity.name, quantity.depth if quantity.name.endswith("@K") else quantity.number
    if name in COUNTS:
        others = {f"it is the count {other}": COUNTS[other] for other in COUNTS if other not in (name, *OF_SECTION)}
        return {"": COUNTS[name], **others}
    if name == "ece":
        return {text: _binned(binning, bins) for text, (binning, bins) in _binnings(quantity.depth).items()}
    table: dict[str, Loop] = {
        "": lambda rows, *at: FIGURES[name](rows, *at if "@" in name else ()),
        **_OTHERS.get(name, {}),
    }
    if name in _EFFECTIVE:
        table[_EFFECTIVE[name]] = lambda rows, k: FIGURES[name](rows, k, effective=True)
    if name.endswith("@K"):
        table["queries without gold counted as 1, not 0"] = lambda rows, k: mean(
            (FIGURES[name]([row], k) or 0) if row.gold else 1 for row in rows
        )
    return {text: lambda rows, loop=loop: loop(rows, at) for text, loop in table.items()}


def column_of(name: str) -> str | None:
    """The part of a query's row that a figure is computed from; None if it needs the whole row."""
    if name in (*AT_DEPTH, "candidates@P"):
        return "ranking"
    if name in _OF_PROBABILITY:
        return "prob"
    return "selected" if name in selection.FIGURES else None


def is_of_queries(name: str) -> bool:
    """Whether a figure is one of rankings."""
    return column_of(name) is not None or name in (*COUNTS, *_OF_WHOLE_ROWS)


def _mean_of(worth: Callable[[Any, int], Any]) -> Loop:
    return lambda rows, k: mean(worth(row, k) for row in rows)


def _pooled(parts: Iterable[int], wholes: Iterable[int]) -> Any:
    return ratio(Fraction(sum(parts)), Fraction(sum(wholes)))


def _less(whole: Any, part: Any) -> Any:
    return None if part is None else whole - part


def _rate(queries: Any, _: Any = None) -> Any:
    return mean(Fraction(query.gold > 0) for query in queries)


def _f1_of_means(rows: Any, _: Any) -> Any:
    recall, precision = FIGURES["evidence_recall"](rows), FIGURES["evidence_precision"](rows)
    return None if recall is None or precision is None else over(2 * recall * precision, recall + precision)


def _at_target(index: int, *, all_points: bool = True) -> Loop:
    return lambda rows, rate: threshold_at_fpr(rows, rate, all_points=all_points)[index] if rows else None


def _first_threshold(rows: Any, rate: Fraction) -> Any:
    best = forecasts.last_within(rows, rate)
    return next((point.threshold for point in forecasts.roc(rows) or () if best and point.true == best.true), None)


def _binnings(bins: int) -> Mapping[str, tuple[forecasts.Binning, int]]:
    return {
        "": (forecasts.equal_width, bins),
        _LINSPACE: (lambda p, n: n - 1 if p >= 1 else forecasts.open_ended(p, n), bins),
        _LAST_OPEN: (lambda p, n: None if p >= 1 else forecasts.equal_width(p, n), bins),
        f"{_LINSPACE}, and {_LAST_OPEN}": (forecasts.open_ended, bins),
        "bins closed on the right": (lambda p, n: sum(p > edge / n for edge in range(1, n)), bins),
        **{f"{other} bins": (forecasts.equal_width, other) for other in _OTHER_BINS},
    }


def _binned(binning: forecasts.Binning, bins: int) -> Loop:
    return lambda rows: ece(rows, bins, binning) if all(0 <= p <= 1 for p, _ in rows) else None


def _exponential(row: Ranked, k: int) -> Any:
    gains, best = ([2 ** min(grade, _HIGHEST) - 1 for grade in grades] for grades in (row.grades, row.judged))
    return over(discounted(gains[:k]), discounted(sorted(best, reverse=True)[:k]))


_BY_SMALLER, _BY_GOLD = "other denominator: ÷ min(gold, K), not ÷ gold", "other denominator: ÷ gold, not ÷ min(gold, K)"
_CANDIDATES, _STRAIGHT = "other denominator: K at most the candidates", "ROC points on a straight line dropped"
_EFFECTIVE = {
    "precision@K": "other denominator: ÷ the number returned, not ÷ K",
    "map@K": _CANDIDATES,
    "ndcg@K": _CANDIDATES,
}
_OTHERS: dict[str, dict[str, Loop]] = {
    "recall@K": {
        _BY_SMALLER: _mean_of(lambda row, k: over(row.hits_within(k), min(row.gold, k))),
        "hits of all queries ÷ gold of all queries": lambda rows, k: _pooled(
            (row.hits_within(k) for row in rows), (row.gold for row in rows)
        ),
    },
    "mrr@K": {"not cut at K": _mean_of(lambda row, k: ranking.WORTHS["mrr@K"](row, max(k, len(row.hits)), 0))},
    "map@K": {
        _BY_GOLD: _mean_of(lambda row, k: over(row.precisions(k), row.gold)),
        "other denominator: ÷ the hits found": _mean_of(lambda row, k: over(row.precisions(k), row.hits_within(k))),
    },
    "map_trec@K": {_BY_SMALLER: _mean_of(lambda row, k: over(row.precisions(k), min(row.gold, k)))},
    "ndcg@K": {
        "other denominator: ideal over all gold, not min(gold, K)": _mean_of(
            lambda row, k: over(row.gain(k), row.ideal_gain(len(row.judged)))
        ),
        "other denominator: ideal over the hits found": _mean_of(
            lambda row, k: over(row.gain(k), discounted(sorted(row.grades[:k], reverse=True)))
        ),
        "grades ignored: every relevant id gains 1": _mean_of(
            lambda row, k: over(discounted(row.hits[:k]), ideal(min(row.gold, k)))
        ),
        "exponential gain: 2^grade − 1, not the grade": _mean_of(_exponential),
    },
    "has_evidence_rate": {
        "": _rate,
        "it is the rate of queries without evidence": lambda queries, _: _less(1, _rate(queries)),
    },
    "empty_prevalence": {
        "": lambda queries, _: _less(1, _rate(queries)),
        "it is the rate of queries with evidence": _rate,
    },
    "candidates@P": {
        "": lambda rows, share: percentile(sorted(len(row.hits) for row in rows), float(share) / 100) if rows else None,
        "it is the mean, not a percentile": lambda rows, _: mean(len(row.hits) for row in rows),
    },
    "evidence_recall": {
        "queries without gold counted as 0": _mean_of(lambda row, _: over(row.hits, row.gold)),
        "selected gold of all queries ÷ gold of all queries": lambda rows, _: _pooled(
            (row.hits for row in rows), (row.gold for row in rows)
        ),
    },
    "evidence_precision": {
        "queries with nothing selected counted as 0": _mean_of(lambda row, _: over(row.hits, row.shown)),
        "selected gold of all queries ÷ selected of all queries": lambda rows, _: _pooled(
            (row.hits for row in rows), (row.shown for row in rows)
        ),
    },
    "evidence_f1": {"F1 of the mean recall and precision, not the mean of F1": _f1_of_means},
    "average_k": {
        "queries with nothing selected left out": lambda rows, _: mean(row.shown for row in rows if row.shown),
    },
    "auroc": {
        "": lambda rows, _: detection("auroc", rows),
        "the queries without evidence taken as the positives": lambda rows, _: _less(1, detection("auroc", rows)),
    },
    "auprc": {
        "": lambda rows, _: detection("auprc", rows),
        "area by trapezoids, not average precision": lambda rows, _: forecasts.auprc(rows, trapezoids=True),
        "it is the AUROC": lambda rows, _: detection("auroc", rows),
    },
    "tpr@fpr=F": {"": _at_target(1), _STRAIGHT: _at_target(1, all_points=False), "it is the threshold": _at_target(0)},
    "threshold@fpr=F": {
        "": _at_target(0),
        _STRAIGHT: _at_target(0, all_points=False),
        "it is the highest threshold that finds as much, not the lowest": _first_threshold,
        "1 given where no threshold meets the target": lambda _rows, _rate: 1.0,
        "it is the TPR": _at_target(1),
    },
}
