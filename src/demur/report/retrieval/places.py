"""Names of retrieval numbers: what the members of an artifact are called in a report, and which way is better."""

from __future__ import annotations

from demur.errors import UserError, shown
from demur.metrics.retrieval import RankingMeasure

_TITLES = {
    "auroc": "AUROC",
    "auprc": "AUPRC",
    "cmax": "Cmax",
    "mae": "risk",
    "aurc": "AURC",
    "augrc": "AUGRC",
    "eaurc": "eAURC",
    "eaugrc": "eAUGRC",
    "f1": "F1",
    "evidence_f1": "evidence F1",
    "average_k": "average K",
}
_LOWER = ("false_evidence_rate", "mae", "aurc", "augrc", "eaurc", "eaugrc")
_NEITHER = ("average_k", "cmax")
_RATE = "tpr@fpr="
_PLACES = {
    "positives_only": "Queries with gold",
    "all_queries": "All queries",
    "dynamic_k": "As selected",
    "empty_decision": "No evidence: the decision",
    "detection": "No evidence: the chance",
    "gate": "The gate",
}


def number_title(name: str) -> str:
    """A number as people write it; one that is not known stays as it is.

    >>> [number_title(name) for name in ("ndcg@10", "tpr@fpr=0.05", "false_evidence_rate")]
    ['nDCG@10', 'TPR@5% FPR', 'false evidence rate']
    """
    if name.startswith(_RATE):
        return f"TPR@{rate_text(name.removeprefix(_RATE))} FPR"
    try:
        return RankingMeasure.of(name).title if "@" in name else _TITLES.get(name, shown(name.replace("_", " ")))
    except UserError:
        return shown(name)


def rate_text(rate: str) -> str:
    """A rate as a share of a hundred.

    >>> rate_text("0.05"), rate_text("few")
    ('5%', 'few')
    """
    try:
        return f"{float(rate):.0%}"
    except ValueError:
        return shown(rate)


def place_in_words(place: str) -> str:
    """What a number is over.

    >>> place_in_words("positives_only/micro"), place_in_words("policies/fixed:3")
    ('positives only, micro', 'policies, fixed:3')
    """
    return shown(place.replace("_", " ").replace("/", ", "))


def place_title(place: str) -> str:
    """The same as a heading, pooled unless it says otherwise.

    >>> [place_title(place) for place in ("positives_only/micro", "folds", "policies/fixed:3")]
    ['Queries with gold', 'folds', 'Policy fixed:3']
    """
    stem, _, rest = place.partition("/")
    if stem == "policies":
        return f"Policy {shown(rest)}"
    return _PLACES[stem] if stem in _PLACES and rest in ("", "micro") else place_in_words(place)


def better(name: str) -> str:
    """Which way a number is better: higher, lower, or neither.

    >>> better("ndcg@10"), better("false_evidence_rate"), better("average_k")
    ('higher', 'lower', 'neither')
    """
    if name in _NEITHER:
        return "neither"
    return "lower" if name in _LOWER else "higher"
