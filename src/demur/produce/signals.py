"""Signals of an item, put together from evidence, references and samples, and which answer is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from demur.confidences.model_output import consistency_signals
from demur.produce.retrieval import retrieval_signals
from demur.types import Json

TOKEN_SIGNALS = (
    "token_msp",
    "token_pe",
    "token_energy",
    "token_answer_prob",
    "token_answer_mass",
    "token_msp_object",
    "token_msp_completion",
)
_CONSISTENCY = ("samples", "modal_score", "modal_count", "modal_confidence", "score_std", "na_rate")
_MAJORITY = 0.5


def decided(scores: Sequence[int | None], rule: str) -> int | None:
    """The answer that several samples give: the most frequent one, of several an abstention, then the smallest.

    The rule `seed` takes the first sample where no answer has half of them.

    >>> decided([2, 1, 1, 3], "mode"), decided([2, 1, None, 3], "mode"), decided([2, 1, 1, 3, 0], "seed")
    (1, None, 2)
    """
    agreement = consistency_signals(scores)
    if rule == "seed" and (agreement["consistency_modal_confidence"] or 0) < _MAJORITY:
        return scores[0]
    return cast("int | None", agreement["consistency_modal_score"])


def consistency_of(scores: Sequence[int | None]) -> Json:
    """How much the samples agree; null where there is one."""
    if len(scores) == 1:
        return {f"consistency_{name}": None for name in _CONSISTENCY}
    found: Json = consistency_signals(scores)
    counted = {
        "consistency_samples": [*scores],
        "consistency_modal_count": scores.count(found["consistency_modal_score"]),
    }
    return {f"consistency_{name}": (found | counted)[f"consistency_{name}"] for name in _CONSISTENCY}


def assembled(
    evidence: Mapping[str, Json], references: Mapping[str, Sequence[Any]], samples: Sequence[Json], rule: str
) -> Json:
    """Predictions and signals of every item: those of the first sample that gives the answer decided on."""
    predicted, signals = {}, {}
    for item in evidence:
        scores = [sample["scores"][item] for sample in samples]
        predicted[item] = decided(scores, rule)
        chosen = samples[scores.index(predicted[item])]
        tokens = chosen["tokens"][item] if chosen["tokens"] else dict.fromkeys(TOKEN_SIGNALS)
        count = evidence[item]["grounded"]
        signals[item] = {
            "llm_evidence_count": count,
            "evidence_source": "llm" if count else None,
            "evidence_rejected_count": evidence[item]["extracted"] - count,
            **retrieval_signals(references.get(item, ())),
            "verbalized_confidence": chosen["confidences"][item],
            **tokens,
            **consistency_of(scores),
            **chosen["extra"][item],
        }
    return {"predicted": predicted, "signals": signals}
