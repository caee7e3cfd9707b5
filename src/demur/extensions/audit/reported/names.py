"""Names of reported figures in all their spellings, and the quantities they denote."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal

from demur.extensions.audit.retrieval_figures import FIGURES
from demur.quantities import all_quantities

Averaging = Literal["micro", "macro"]
Spread = Literal["mean", "std"]

DEFAULT_BINS = 10
_MOST_BINS = 10_000
_LONGEST = 100  # of a name; matching takes quadratic time
_FLOAT_SLACK = Fraction(1, 10**12)


@dataclass(frozen=True, slots=True)
class ReportedQuantity:
    """The quantity of a reported figure, with its depth K, coverage, target, percentile or number of bins.

    `achieved` means the coverage of the operating point instead of its risk, or the coverage an area ends at.
    """

    name: str = ""
    number: Fraction = Fraction(0)
    achieved: bool = False

    def __bool__(self) -> bool:
        return bool(self.name)

    def __str__(self) -> str:
        stem, at, _ = self.name.partition("@")
        return f"{stem}@{float(self.number):g}" if at else stem

    @property
    def depth(self) -> int:
        """The number as an integer: ranks or bins."""
        return int(self.number)

    def at(self, number: Fraction | int) -> ReportedQuantity:
        """The same quantity at another depth or coverage."""
        return replace(self, number=Fraction(number))


UNKNOWN = ReportedQuantity()


def spelled(words: Mapping[str, str]) -> dict[str, Any]:
    """Invert a mapping: from each spelling to its meaning, given the spellings of each meaning."""
    return {spelling: meaning for meaning, spellings in words.items() for spelling in spellings.split()}


_KNOWN = all_quantities().values()
SELECTIVE = frozenset(entry.name for entry in _KNOWN if entry.of == "curve")
SCORES = frozenset(entry.name for entry in _KNOWN if entry.of == "forecasts" and "@" not in entry.name)
_NAMES = (*FIGURES, *SELECTIVE, *SCORES)
_STEM_OF = {name.partition("@")[0]: name for name in _NAMES if name.endswith(("@K", "@C"))} | spelled(
    {
        "recall@K": "recall r oracle_recall",
        "precision@K": "precision prec p",
        "hit@K": "hit hits hit_rate hitrate hr success oracle",
        "mrr@K": "mrr rr mean_reciprocal_rank",
        "map@K": "map ap mean_average_precision",
        "map_trec@K": "map_trec map_cut",
        "ndcg@K": "ndcg ndcg_cut",
        "risk@C": "risk mae selective_risk mae_at_coverage mae_grid risk_at_coverage",
        "aurc@C": "aurc aurc_at_c aurc_at_coverage",
        "augrc@C": "augrc augrc_at_c augrc_at_coverage",
    }
)
# Costs are not recognised: ours are in units of the largest loss, which no other report states.
_PLAIN_OF = {name: name for name in _NAMES if "@" not in name and name != "ece"} | spelled(
    {
        "auroc": "roc_auc auc_roc auc roc_auc_score",
        "auprc": "pr_auc auc_pr average_precision average_precision_score",
        "has_evidence_rate": "has_evidence_rate evidence_rate positive_rate prevalence",
        "empty_prevalence": "empty_prevalence empty_rate no_evidence_rate",
        "average_k": "avg_k mean_k",
        "nll": "log_loss negative_log_likelihood",
        "brier": "brier_score",
        "cmax": "c_max max_coverage maximum_coverage coverage",
        "risk": "mae selective_risk overall_risk full_risk",
        "aurc": "aurc_full",
        "augrc": "augrc_full",
        "eaurc": "e_aurc excess_aurc",
        "eaugrc": "e_augrc excess_augrc",
        "aurc_optimal": "optimal_aurc aurc_oracle oracle_aurc",
        "augrc_optimal": "optimal_augrc augrc_oracle oracle_augrc",
        "queries_total": "queries_total total_queries num_queries_total n_queries_total",
        "queries_with_positives": "queries_with_positives num_queries_with_positives n_queries_with_positives "
        "n_positive n_positives num_positive num_positives",
        "queries_without_positives": "queries_without_positives queries_no_positives n_queries_without_positives "
        "n_empty num_empty",
        "queries_evaluated": "queries_evaluated num_queries_evaluated evaluated_queries",
        "queries": "queries num_queries n_queries",
        "posts": "n_posts num_posts posts_total total_posts",
        "criteria": "n_criteria num_criteria criteria_total",
        "folds": "n_folds num_folds folds_total",
        "participants_total": "participants_total total_participants",
        "participants_included": "participants_included n_participants num_participants participants",
        "participants_failed": "participants_failed n_failed num_failed",
        "items_total": "items_total n_units num_units units n_items",
        "items_predicted": "items_predicted n_answered num_answered answered",
        "items_abstained": "items_abstained n_abstained num_abstained abstained",
        "skip_no_positives": "skip_no_positives",
    }
)
AT_DEPTH = tuple(name for name in FIGURES if name.endswith("@K"))
SPREADS: dict[str, str] = spelled({"mean": "mean avg", "std": "std sd stdev stddev"})
AVERAGINGS: dict[str, str] = spelled(
    {"micro": "micro micro_avg micro_average", "macro": "macro macro_avg macro_average"}
)

_NUMBER = r"([0-9]*\.?[0-9]+)_?(%|pct|percent)?"
_AT = re.compile(rf"([a-z_]+?)_?(?:@|_at_)_?(?:[kc]_?=?_?|top_?|coverage_?=?_?)?{_NUMBER}")
_AFTER_A_LINE = re.compile(r"([a-z_]{2,}?)_([0-9]{1,6})")
_AT_FPR = re.compile(rf"(tpr|threshold|thr)_?(?:@|_at_|_|at_)_?fpr_?(?:<=|≤|=|@)?_?{_NUMBER}")
_AT_FPR_AFTER = re.compile(rf"(tpr|threshold|thr)_?(?:@|_at_|_|at_)_?{_NUMBER}_?fpr")
_AT_RISK = re.compile(rf"coverage_?(?:@|_at_)_?risk_?(?:<=|≤|=|@)?_?{_NUMBER}")
_ECE = re.compile(r"ece(?:[_@]?(?:bins?_?=?_?)?([0-9]{1,5})(?:_?bins?)?)?")
_CANDIDATES = re.compile(r"(?:n_|num_)?candidates_p([0-9]{1,2})")
_WHOLE = re.compile(r"[0-9]{1,6}")
_SHARE = re.compile(rf"@?_?{_NUMBER}")
_AFFIX = "|".join(sorted({*SPREADS, *AVERAGINGS}, key=len, reverse=True))
_BEFORE = re.compile(rf"({_AFFIX})[_./:](.+)")
_AFTER = re.compile(rf"(.+)[_./:]({_AFFIX})")


def plain_name(name: str) -> str:
    """Normalise capitals, spaces and dashes in a name.

    >>> plain_name("Hit-Rate @ 10")
    'hit_rate_@_10'
    """
    return re.sub(r"\s+|(?<=[a-z0-9])-", "_", name.strip().lower())


@lru_cache(4096)
def quantity_named(name: str) -> ReportedQuantity | None:
    """The quantity that a name denotes, or None.

    >>> str(quantity_named("Recall@10")), quantity_named("tpr@5%fpr") == quantity_named("TPR at FPR = 0.05")
    ('recall@10', True)
    >>> str(quantity_named("mae@0.3")), str(quantity_named("aurc_full"))
    ('risk@0.3', 'aurc')
    """
    return _of_plain(plain_name(name)) if len(name) <= _LONGEST else None


@lru_cache(4096)
def split_affixes(name: str) -> tuple[dict[str, Any], str]:
    """Split off prefixes and suffixes such as macro or std, at most one of each kind; the rest is the bare name.

    >>> split_affixes("ndcg@10_std"), split_affixes("mean_average_precision@10")
    (({'spread': 'std'}, 'ndcg@10'), ({}, 'mean_average_precision@10'))
    """
    if len(name) <= _LONGEST and quantity_named(name) is None:
        for pattern, word, rest in ((_BEFORE, 1, 2), (_AFTER, 2, 1)):
            parts = pattern.fullmatch(plain_name(name))
            affixes, bare = split_affixes(parts[rest]) if parts else ({}, "")
            kind = "spread" if parts and parts[word] in SPREADS else "averaging"
            if parts and kind not in affixes and quantity_named(bare):
                return {**affixes, kind: (SPREADS | AVERAGINGS)[parts[word]]}, bare
    return {}, name


def stem_of(name: str) -> str | None:
    """The quantity that a name denotes up to a missing depth or coverage."""
    return _STEM_OF.get(plain_name(name))


def quantity_at(stem: str, text: str) -> ReportedQuantity | None:
    """The quantity at the depth or coverage that a text gives.

    >>> str(quantity_at("risk@C", "30%")), str(quantity_at("recall@K", "@5")), quantity_at("recall@K", "0.5")
    ('risk@0.3', 'recall@5', None)
    """
    parts = _SHARE.fullmatch(plain_name(text)) if len(text) <= _LONGEST else None
    return _at_number(stem, parts[1], parts[2]) if parts else None


def _at_number(stem: str, digits: str, percent: str | None) -> ReportedQuantity | None:
    if stem.endswith("@K"):
        whole = not percent and _WHOLE.fullmatch(digits) and int(digits) > 0
        return ReportedQuantity(stem, Fraction(digits)) if whole else None
    share = _share(digits, percent if "." in digits or Fraction(digits) <= 1 else "%")
    if len(digits) > len("0.123456"):  # a printed float, which may round k/N up
        share *= 1 - _FLOAT_SLACK
    return ReportedQuantity(stem, share) if 0 < share <= 1 else None


def _share(digits: str, percent: str | None) -> Fraction:
    return Fraction(digits) / (100 if percent else 1)


def _of_plain(name: str) -> ReportedQuantity | None:  # noqa: PLR0911  (one return per pattern)
    if name in _PLAIN_OF:
        return ReportedQuantity(_PLAIN_OF[name])
    if (at := _AT.fullmatch(name)) and at[1] in _STEM_OF:
        return _at_number(_STEM_OF[at[1]], at[2], at[3])
    if (at := _AFTER_A_LINE.fullmatch(name)) and _STEM_OF.get(at[1]) in AT_DEPTH:
        return _at_number(_STEM_OF[at[1]], at[2], None)
    if target := _AT_FPR.fullmatch(name) or _AT_FPR_AFTER.fullmatch(name):
        # without a decimal point, or with a percent sign, the number is in percent
        share = _share(target[2], target[3] if "." in target[2] else "%")
        return ReportedQuantity("tpr@fpr=F" if target[1] == "tpr" else "threshold@fpr=F", share) if share <= 1 else None
    if candidates := _CANDIDATES.fullmatch(name):
        return ReportedQuantity("candidates@P", Fraction(candidates[1]))
    if at_risk := _AT_RISK.fullmatch(name):
        return ReportedQuantity("coverage@risk=R", _share(at_risk[1], at_risk[2]))
    binned = _ECE.fullmatch(name)
    in_range = binned and 0 < int(binned[1] or DEFAULT_BINS) <= _MOST_BINS
    return ReportedQuantity("ece", Fraction(binned[1] or DEFAULT_BINS)) if binned and in_range else None
