"""Evidence shown: how much of it, how pure, and whether showing nothing was right."""

import math
from dataclasses import dataclass
from functools import partial

import numpy as np

from demur.extensions.retrieval.quantities.ranking import COMPUTED_BY
from demur.extensions.retrieval.quantities.selection import Policy
from demur.quantities.forecasts import over
from demur.quantities.registry import Parameter, family, quantity
from demur.types import Floats, Integers


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """Of each query: how many ids there are to find, how many are shown, and how many of those are gold."""

    gold: Integers
    shown: Integers
    hits: Integers


@dataclass(frozen=True, slots=True, eq=False)
class EvidenceDecision:
    """Of each sample: queries answered with nothing, those without gold, those that are both, and all of them."""

    right: Floats
    empty: Floats
    without_gold: Floats
    total: Floats


POLICY = Parameter("policy", Policy.of, "fixed:5", optional=True)
family("selection", COMPUTED_BY, {"Ties": "none: what is shown is a set.", "Undefined": "never."})
family("decision", COMPUTED_BY, {"Ties": "none, rankings are not looked at.", "Abstentions": "are what is judged."})
_share = partial(quantity, limits=lambda _, __: (0.0, 1.0), better="higher", shown=("definitions",))
_outcome = partial(_share, of="selection", parameter=POLICY, intervals=("mean", "difference"))
_decision = partial(_share, of="decision")


@_outcome("evidence_recall@policy", key="evidence_recall", title="evidence recall")
def evidence_recall(selection: Selection) -> Floats:
    """Share of the gold ids that are shown.

    How much of the evidence a reader gets to see, whatever the number of ids. Higher is better.

    Formula: |shown ∩ gold| / |gold|; with nothing to find, 1 if nothing is shown and 0 otherwise.
    Abstentions: showing nothing is right where there is nothing to find, and finds nothing elsewhere.
    Reference: Manning, Raghavan, Schütze (2008), Introduction to Information Retrieval, chapter 8; empty gold is ours.

    >>> import numpy as np
    >>> evidence_recall(Selection(np.array([2, 0]), np.array([3, 0]), np.array([1, 0]))).tolist()
    [0.5, 1.0]
    """
    return np.where(selection.gold > 0, over(selection.hits, selection.gold), selection.shown == 0)


@_outcome("evidence_precision@policy", key="evidence_precision", title="evidence precision")
def evidence_precision(selection: Selection) -> Floats:
    """Share of the ids shown that are gold.

    How much of what a reader is shown is evidence. Higher is better.

    Formula: |shown ∩ gold| / |shown|; with nothing shown, 1 if there is nothing to find and 0 otherwise.
    Abstentions: showing nothing is right where there is nothing to find, and wrong elsewhere.
    Reference: Manning, Raghavan, Schütze (2008), Introduction to Information Retrieval, chapter 8; empty sets are ours.

    >>> import numpy as np
    >>> evidence_precision(Selection(np.array([2, 0]), np.array([4, 0]), np.array([1, 0]))).tolist()
    [0.25, 1.0]
    """
    return np.where(selection.shown > 0, over(selection.hits, selection.shown), selection.gold == 0)


@_outcome("evidence_f1@policy", key="evidence_f1", title="evidence F1")
def evidence_f1(selection: Selection) -> Floats:
    """Harmonic mean of evidence recall and precision, query by query.

    One number for finding the evidence and showing little else. Higher is better; 1 for a perfect selection.

    Formula: 2·|shown ∩ gold| / (|shown| + |gold|); 1 where both are empty.
    Abstentions: showing nothing is right where there is nothing to find.
    Reference: van Rijsbergen (1979), Information Retrieval, chapter 7.

    >>> import numpy as np
    >>> evidence_f1(Selection(np.array([2, 0]), np.array([2, 0]), np.array([1, 0]))).tolist()
    [0.5, 1.0]
    """
    return over(2 * selection.hits, selection.gold + selection.shown, 1.0)


@_outcome(
    "average_k@policy", key="average_k", title="average K", better="neither", limits=lambda _, __: (0.0, math.inf)
)
def average_k(selection: Selection) -> Floats:
    """How many ids are shown.

    The length of what a reader has to read. Neither way is better by itself.

    Formula: |shown|, averaged over the queries.
    Abstentions: count as 0.
    Reference: none; it is a mean.

    >>> import numpy as np
    >>> average_k(Selection(np.array([2, 0]), np.array([3, 0]), np.array([1, 0]))).tolist()
    [3.0, 0.0]
    """
    return selection.shown.astype(np.float64)


@_decision("empty_precision", title="precision", undefined="no query is answered with nothing")
def empty_precision(decision: EvidenceDecision) -> Floats:
    """How often "no evidence here" is right.

    Of the queries that are answered with nothing, the share that has nothing to find. Higher is better.

    Formula: |answered with nothing and without gold| / |answered with nothing|.
    Reference: Manning, Raghavan, Schütze (2008), Introduction to Information Retrieval, chapter 8.

    >>> import numpy as np
    >>> empty_precision(EvidenceDecision(*map(np.array, ([1.0], [2.0], [3.0], [5.0])))).tolist()
    [0.5]
    """
    return over(decision.right, decision.empty)


@_decision("empty_recall", title="recall", undefined="every query has gold")
def empty_recall(decision: EvidenceDecision) -> Floats:
    """How much of what has no evidence is answered with nothing.

    Of the queries with nothing to find, the share that is answered with nothing. Higher is better.

    Formula: |answered with nothing and without gold| / |without gold|.
    Reference: Manning, Raghavan, Schütze (2008), Introduction to Information Retrieval, chapter 8.

    >>> import numpy as np
    >>> empty_recall(EvidenceDecision(*map(np.array, ([1.0], [2.0], [4.0], [5.0])))).tolist()
    [0.25]
    """
    return over(decision.right, decision.without_gold)


@_decision("false_evidence_rate", title="false evidence rate", undefined="every query has gold", better="lower")
def false_evidence_rate(decision: EvidenceDecision) -> Floats:
    """How often something is shown where there is nothing.

    Of the queries with nothing to find, the share for which something is returned. Lower is better.

    Formula: |without gold and answered with something| / |without gold|.
    Reference: none; it is 1 − the recall of the empty decision.

    >>> import numpy as np
    >>> false_evidence_rate(EvidenceDecision(*map(np.array, ([1.0], [2.0], [4.0], [5.0])))).tolist()
    [0.75]
    """
    return over(decision.without_gold - decision.right, decision.without_gold)


@_decision("empty_f1", title="F1", undefined="every query has gold, and none is answered with nothing")
def empty_f1(decision: EvidenceDecision) -> Floats:
    """Harmonic mean of the precision and the recall of "no evidence here".

    One number for abstaining where there is nothing, and only there. Higher is better.

    Formula: 2·|answered with nothing and without gold| / (|answered with nothing| + |without gold|).
    Reference: van Rijsbergen (1979), Information Retrieval, chapter 7.

    >>> import numpy as np
    >>> empty_f1(EvidenceDecision(*map(np.array, ([1.0], [2.0], [2.0], [4.0])))).tolist()
    [0.5]
    """
    return over(2 * decision.right, decision.empty + decision.without_gold)
