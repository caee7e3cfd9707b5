"""The prediction and the signals of an item, from its evidence, references and samples."""

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
    """The answer of several samples: the most frequent; among equally frequent ones, abstention, or else the smallest.

    The rule `seed` takes the first sample if no answer is given by half of them.

    >>> decided([2, 1, 1, 3], "mode"), decided([2, 1, None, 3], "mode"), decided([2, 1, 1, 3, 0], "seed")
    (1, None, 2)
    """
    agreement = consistency_signals(scores)
    if rule == "seed" and (agreement["consistency_modal_confidence"] or 0) < _MAJORITY:
        return scores[0]
    return cast("int | None", agreement["consistency_modal_score"])


def consistency_of(scores: Sequence[int | None]) -> Json:
    """The signals of how much the samples agree; null if there is only one sample."""
    if len(scores) == 1:
        return {f"consistency_{name}": None for name in _CONSISTENCY}
    signals: Json = consistency_signals(scores)
    signals |= {
        "consistency_samples": [*scores],
        "consistency_modal_count": scores.count(signals["consistency_modal_score"]),
    }
    return {f"consistency_{name}": signals[f"consistency_{name}"] for name in _CONSISTENCY}


def assembled(
    evidence: Mapping[str, Json], references: Mapping[str, Sequence[Any]], samples: Sequence[Json], rule: str
) -> Json:
    """Predictions and signals of every item; signals of a sample are those of the first that gives the prediction."""
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
