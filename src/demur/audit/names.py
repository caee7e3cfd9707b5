"""Names: which figure a reported name asks for, however it is spelled."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Literal

Averaging = Literal["micro", "macro"]
Spread = Literal["mean", "std"]

DEFAULT_BINS = 10
_MOST_BINS = 10_000
_LONGEST = 100  # of a name that could be one; a pattern takes the square of it in time


@dataclass(frozen=True, slots=True)
class Asked:
    """A figure: what it measures, its depth K, target or number of bins, and what its name says of averages."""

    figure: str
    number: Fraction = Fraction(0)
    averaging: Averaging | None = None
    spread: Spread | None = None

    @property
    def depth(self) -> int:
        """The number where it counts something: ranks or bins."""
        return int(self.number)

    def at(self, depth: int) -> Asked:
        """The same figure at another depth."""
        return replace(self, number=Fraction(depth))


_CUT = {
    "recall": ("recall", "r"),
    "precision": ("precision", "prec", "p"),
    "hit": ("hit", "hits", "hit_rate", "hitrate", "hr", "success"),
    "mrr": ("mrr", "rr", "mean_reciprocal_rank"),
    "map": ("map", "ap", "mean_average_precision"),
    "map_trec": ("map_trec", "map_cut"),
    "ndcg": ("ndcg", "ndcg_cut"),
}
_PLAIN = {
    "auroc": ("auroc", "roc_auc", "auc_roc", "auc", "roc_auc_score"),
    "auprc": ("auprc", "pr_auc", "auc_pr", "average_precision", "average_precision_score"),
    "has_evidence_rate": ("has_evidence_rate", "evidence_rate", "positive_rate", "prevalence"),
    "evidence_recall": ("evidence_recall",),
    "evidence_precision": ("evidence_precision",),
    "evidence_f1": ("evidence_f1",),
    "avg_k": ("avg_k", "average_k", "mean_k"),
    "queries_total": ("queries_total", "total_queries", "num_queries_total", "n_queries_total"),
    "queries_with_positives": ("queries_with_positives", "num_queries_with_positives", "n_queries_with_positives"),
    "queries_without_positives": ("queries_without_positives", "queries_no_positives", "n_queries_without_positives"),
    "queries_evaluated": ("queries_evaluated", "num_queries_evaluated", "evaluated_queries"),
    "queries": ("queries", "num_queries", "n_queries"),
    "posts": ("n_posts", "num_posts", "posts_total", "total_posts"),
    "criteria": ("n_criteria", "num_criteria", "criteria_total"),
    "folds": ("n_folds", "num_folds", "folds_total"),
    "skip_no_positives": ("skip_no_positives",),
}
_CUTS = {spelled: figure for figure, spellings in _CUT.items() for spelled in spellings}
_PLAINS = {spelled: figure for figure, spellings in _PLAIN.items() for spelled in spellings}
CUT_FIGURES = tuple(_CUT)
SPREADS: dict[str, Spread] = {"mean": "mean", "avg": "mean", "std": "std", "sd": "std", "stdev": "std", "stddev": "std"}
AVERAGINGS: dict[str, Averaging] = {
    **dict.fromkeys(("micro", "micro_avg", "micro_average"), "micro"),
    **dict.fromkeys(("macro", "macro_avg", "macro_average"), "macro"),
}

_AT_K = re.compile(r"([a-z_]+?)_?(?:@|_at_)_?(?:k_?=?_?|top_?)?([0-9]{1,6})")
_AFTER_A_LINE = re.compile(r"([a-z_]{2,}?)_([0-9]{1,6})")
_NUMBER = r"([0-9]*\.?[0-9]+)_?(%|pct|percent)?"
_AT_FPR = re.compile(rf"(tpr|threshold|thr)_?(?:@|_at_|_|at_)_?fpr_?(?:<=|≤|=|@)?_?{_NUMBER}")
_AT_FPR_AFTER = re.compile(rf"(tpr|threshold|thr)_?(?:@|_at_|_|at_)_?{_NUMBER}_?fpr")
_ECE = re.compile(r"ece(?:[_@]?(?:bins?_?=?_?)?([0-9]{1,5})(?:_?bins?)?)?")
_AFFIX = "|".join(sorted({*SPREADS, *AVERAGINGS}, key=len, reverse=True))
_BEFORE = re.compile(rf"({_AFFIX})[_./:](.+)")
_AFTER = re.compile(rf"(.+)[_./:]({_AFFIX})")


def plain_name(name: str) -> str:
    """A name without the liberties people take: capitals, spaces and dashes.

    >>> plain_name("Hit-Rate @ 10")
    'hit_rate_@_10'
    """
    return re.sub(r"\s+|(?<=[a-z0-9])-", "_", name.strip().lower())


@lru_cache(4096)
def asked_for(name: str) -> Asked | None:
    """The figure a name asks for, or None where nobody knows one.

    >>> asked_for("Recall@10").figure, asked_for("tpr@5%fpr") == asked_for("TPR at FPR = 0.05")
    ('recall', True)
    """
    return _of_affixed(plain_name(name)) if len(name) <= _LONGEST else None


def _of_affixed(name: str, affixes: int = 2) -> Asked | None:
    """The figure of a name with words such as mean and macro before or after it, at most one of each kind."""
    found = _of_plain(name)
    if found or not affixes:
        return found
    for pattern, word, rest in ((_BEFORE, 1, 2), (_AFTER, 2, 1)):
        parts = pattern.fullmatch(name)
        inner = _of_affixed(parts[rest], affixes - 1) if parts else None
        if parts and inner:
            return _with_affix(inner, parts[word])
    return None


def _with_affix(asked: Asked, word: str) -> Asked | None:
    if word in SPREADS:
        return None if asked.spread else replace(asked, spread=SPREADS[word])
    return None if asked.averaging else replace(asked, averaging=AVERAGINGS[word])


def _of_plain(name: str) -> Asked | None:
    if name in _PLAINS:
        return Asked(_PLAINS[name])
    cut = _AT_K.fullmatch(name) or _AFTER_A_LINE.fullmatch(name)
    if cut and cut[1] in _CUTS and int(cut[2]) > 0:
        return Asked(_CUTS[cut[1]], Fraction(cut[2]))
    target = _AT_FPR.fullmatch(name) or _AT_FPR_AFTER.fullmatch(name)
    if target:
        return _at_target(*target.groups())
    binned = _ECE.fullmatch(name)
    if binned and 0 < int(binned[1] or DEFAULT_BINS) <= _MOST_BINS:
        return Asked("ece", Fraction(binned[1] or DEFAULT_BINS))
    return None


def _at_target(what: str, digits: str, percent: str | None) -> Asked | None:
    """A share is written 0.05; without a point, or with a sign for it, the number is in percent."""
    share = Fraction(digits) / (100 if percent or "." not in digits else 1)
    return Asked("tpr_at_fpr" if what == "tpr" else "threshold_at_fpr", share) if share <= 1 else None


def needs_a_depth(name: str) -> bool:
    """Whether a name would be known if it said at which K."""
    return plain_name(name) in _CUTS
