"""The prediction and the signals of each item: from its samples, and from the tokens that spell its score.

Tokens and answer are aligned by bytes: a server may list tokens that are not in the content, such as a code fence, and
a token may be part of a character. A token that overlaps the score and its neighbours, such as ` 2,`, counts as one.
"""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, cast

from demur.confidences.model_output import consistency_signals, token_msp, token_signals
from demur.errors import UserError
from demur.extensions.produce.failures import ParticipantFailure
from demur.extensions.produce.references import retrieval_signals
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
_SPACE = re.compile(r"[ \t\n\r]*")
_AROUND = ' \t\n\r:,"}'  # characters around a value that may be in its first token
_LOWEST_LOGPROB = -1e6  # servers give a probability of 0 as the lowest number of their type
Span = tuple[int, int]


def decided(scores: Sequence[int | None], rule: str) -> int | None:
    """Combine several samples: the most frequent answer; of equally frequent ones abstention, else the smallest.

    The rule `seed` takes the first sample if no answer is given by half of them.

    >>> decided([2, 1, 1, 3], "mode"), decided([2, 1, None, 3], "mode"), decided([2, 1, 1, 3, 0], "seed")
    (1, None, 2)
    """
    agreement = consistency_signals(scores)
    if rule == "seed" and (agreement["consistency_modal_confidence"] or 0) < _MAJORITY:
        return scores[0]
    return cast("int | None", agreement["consistency_modal_score"])


def consistency_of(scores: Sequence[int | None]) -> Json:
    """The signals of agreement between samples; null if there is only one."""
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
    """Predictions and signals of every item; signals of a sample are those of the first that gave the prediction."""
    predicted, signals = {}, {}
    for item in evidence:
        scores = [sample["scores"][item] for sample in samples]
        predicted[item] = decided(scores, rule)
        chosen = samples[scores.index(predicted[item])]
        tokens = chosen["tokens"][item] if chosen["tokens"] else dict.fromkeys(TOKEN_SIGNALS)
        count = evidence[item]["grounded"]
        signals[item] = {
            "llm_evidence_count": count,
            "keyword_evidence_count": 0,  # no evidence is looked for by keyword
            "evidence_source": "llm" if count else None,
            "evidence_rejected_count": evidence[item]["extracted"] - count,
            **retrieval_signals(references.get(item, ())),
            "verbalized_confidence": chosen["confidences"][item],
            **tokens,
            **consistency_of(scores),
            **chosen["extra"][item],
        }
    return {"predicted": predicted, "signals": signals}


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of an answer; `offsets` are their starts and the end of the last one, in bytes of the content."""

    entries: Sequence[Json]
    offsets: Sequence[int]

    @classmethod
    def aligned(cls, entries: Any, content: str) -> Tokens:
        """Align tokens with the content of the answer."""
        if not isinstance(entries, list) or not entries:
            raise ParticipantFailure("logprobs_missing")
        pieces = [*map(_spelled, entries)]
        # A model that reasons may write the content twice: the last occurrence is the answer.
        start = b"".join(pieces).rfind(content.encode())
        if start < 0:
            raise ParticipantFailure("logprobs_unaligned", numbers={"tokens": len(entries)})
        return cls(entries, [*accumulate(map(len, pieces), initial=-start)])

    def over(self, span: Span) -> list[Json]:
        """The tokens that overlap a span, with their alternatives."""
        return [_floored(entry) for entry in self._overlapping(span)]

    def msp(self, span: Span | None = None) -> float:
        """The mean probability of the tokens that overlap a span, or of all tokens."""
        entries = self._overlapping(span) if span else self.entries
        return token_msp([_floor(entry.get("logprob")) for entry in entries])

    def _overlapping(self, span: Span) -> Sequence[Json]:
        return self.entries[bisect_right(self.offsets, span[0], 1) - 1 : bisect_left(self.offsets, span[1])]


def item_token_signals(entries: Any, content: str, answers: Sequence[int]) -> dict[str, Json]:
    """Compute the token signals of every item of an answer, which is an object of objects with a score."""
    tokens = Tokens.aligned(entries, content)
    allowed = ("null", *map(str, answers))
    signals = {}
    try:
        completion = tokens.msp()
        for item, (whole, score) in score_spans(content).items():
            own = tokens.over(score)
            signals[item] = {
                **token_signals(own),
                **answer_odds(own[0], _text(content, score), allowed),
                "token_msp_object": tokens.msp(whole),
                "token_msp_completion": completion,
            }
    except UserError:  # a token without a number, or without alternatives
        raise ParticipantFailure("logprobs_missing", numbers={"tokens": len(tokens.entries)}) from None
    return signals


def answer_odds(first: Json, chosen: str, allowed: Sequence[str]) -> dict[str, float | None]:
    """The chosen answer's share among allowed alternatives of its first token, and their total probability.

    An alternative counts for every answer that it is the start of: 1 also starts 10, if the scale has it.

    >>> top = [{"token": " 2", "logprob": math.log(0.5)}, {"token": "null", "logprob": math.log(0.25)}]
    >>> odds = answer_odds({"top_logprobs": top}, "2", ["null", "0", "1", "2", "3"])
    >>> {name: round(value, 12) for name, value in odds.items()}
    {'token_answer_prob': 0.666666666667, 'token_answer_mass': 0.75}
    """
    seen = [(text, share) for text, share in _alternatives(first) if _starts_any(text, allowed)]
    mass = math.fsum(share for _, share in seen)
    own = math.fsum(share for text, share in seen if chosen.startswith(text))
    return {"token_answer_prob": own / mass if own else None, "token_answer_mass": min(mass, 1.0)}


def forbidden(first: Json, allowed: Sequence[str]) -> bool:
    """Whether an alternative starts no allowed answer: then log-probabilities are those before the grammar."""
    return any(not _starts_any(text, allowed) for text, _ in _alternatives(first))


def _alternatives(first: Json) -> list[tuple[str, float]]:
    return [(str(top.get("token", "")).strip(_AROUND), math.exp(top["logprob"])) for top in first["top_logprobs"]]


def _starts_any(text: str, allowed: Sequence[str]) -> bool:
    return bool(text) and any(answer.startswith(text) for answer in allowed)


def score_spans(content: str) -> dict[str, tuple[Span, Span]]:
    """The spans of each item's object and of its score, in bytes."""
    spans = {}
    for item, whole in members_of(content, 0):
        score = next(span for name, span in members_of(content, whole[0]) if name == "score")
        spans[item] = _in_bytes(content, whole), _in_bytes(content, score)
    return spans


def members_of(text: str, start: int = 0) -> Iterator[tuple[str, Span]]:
    """The members of the object that starts at a position of valid JSON, each with the span of its value."""
    decoder = json.JSONDecoder()
    position = _after(text, text.index("{", start) + 1)
    while text[position] != "}":
        name, position = decoder.raw_decode(text, position)
        value = _after(text, _after(text, position) + 1)  # past the colon
        _, position = decoder.raw_decode(text, value)
        yield name, (value, position)
        position = _after(text, position)
        if text[position] == ",":
            position = _after(text, position + 1)


def _after(text: str, position: int) -> int:
    spaces = _SPACE.match(text, position)
    return spaces.end() if spaces else position


def _in_bytes(text: str, span: Span) -> Span:
    if text.isascii():
        return span
    return len(text[: span[0]].encode()), len(text[: span[1]].encode())


def _text(content: str, span: Span) -> str:
    return content.encode()[span[0] : span[1]].decode()


def _spelled(entry: Any) -> bytes:
    """The bytes of a token; `token` is the fallback, as it replaces bytes that are not whole characters."""
    if not isinstance(entry, dict):
        raise ParticipantFailure("logprobs_missing")
    given = entry.get("bytes")
    if given is None:
        return str(entry.get("token", "")).encode()
    try:
        if isinstance(given, list):  # of a number n, bytes would make n zeros
            return bytes(given)
    except (TypeError, ValueError):
        pass
    raise ParticipantFailure("logprobs_missing")


def _floored(entry: Json) -> Json:
    top = entry.get("top_logprobs")
    listed = [other for other in top if isinstance(other, dict)] if isinstance(top, list) else []
    alternatives = [{"token": other.get("token"), "logprob": _floor(other.get("logprob"))} for other in listed]
    return {"logprob": _floor(entry.get("logprob")), "top_logprobs": alternatives}


def _floor(logprob: Any) -> Any:
    return _LOWEST_LOGPROB if isinstance(logprob, (int, float)) and logprob < _LOWEST_LOGPROB else logprob
