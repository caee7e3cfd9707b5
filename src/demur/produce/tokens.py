"""Token signals of each item, from the tokens that spell its score in the answer.

Tokens and answer are aligned by bytes: a server may list tokens that are not in the content, such as a code fence, and
a token may be part of a character. A token that straddles the score and its neighbours, such as ` 2,`, counts whole.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

from demur.confidences.model_output import token_msp, token_signals
from demur.errors import UserError
from demur.produce.failures import ParticipantFailure
from demur.types import Json

_SPACE = re.compile(r"[ \t\n\r]*")
_AROUND = ' \t\n\r:,"}'  # what a token may hold beside the value it starts
_LEAST = -1e6  # a probability of 0 comes as the lowest number there is
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of an answer with their places, in bytes, counted from the start of the content."""

    entries: Sequence[Json]
    spans: Sequence[Span]

    @classmethod
    def aligned(cls, entries: Any, content: str) -> Tokens:
        """The tokens laid along the content."""
        if not isinstance(entries, list) or not entries:
            raise ParticipantFailure("logprobs_missing")
        pieces = [*map(_spelled, entries)]
        # A model that thinks aloud may write the answer twice: the last one is the answer.
        start = b"".join(pieces).rfind(content.encode())
        if start < 0:
            raise ParticipantFailure("logprobs_unaligned", numbers={"tokens": len(entries)})
        places = [*accumulate(map(len, pieces), initial=-start)]
        return cls([*map(_floored, entries)], [*pairwise(places)])

    def over(self, span: Span) -> list[Json]:
        """The tokens that meet a span."""
        return [
            entry
            for entry, (start, end) in zip(self.entries, self.spans, strict=True)
            if start < span[1] and end > span[0]
        ]


def item_token_signals(entries: Any, content: str, answers: Sequence[int]) -> dict[str, Json]:
    """The token signals of every item of an answer, which is an object of objects with a score."""
    tokens = Tokens.aligned(entries, content)
    allowed = ("null", *map(str, answers))
    try:
        completion = token_msp([entry["logprob"] for entry in tokens.entries])
        return {
            item: {
                **token_signals(tokens.over(score)),
                **answer_odds(tokens.over(score)[0], _text(content, score), allowed),
                "token_msp_object": token_msp([entry["logprob"] for entry in tokens.over(whole)]),
                "token_msp_completion": completion,
            }
            for item, (whole, score) in score_spans(content).items()
        }
    except UserError:  # a token without a number, or without alternatives
        raise ParticipantFailure("logprobs_missing", numbers={"tokens": len(tokens.entries)}) from None


def answer_odds(first: Json, chosen: str, allowed: Sequence[str]) -> dict[str, float | None]:
    """The share of the chosen answer in the allowed ones among the alternatives of its first token, and their mass.

    An alternative counts for the answer it starts; 1 starts 10 as well, where the scale goes that far.

    >>> top = [{"token": " 2", "logprob": math.log(0.5)}, {"token": "null", "logprob": math.log(0.25)}]
    >>> odds = answer_odds({"top_logprobs": top}, "2", ["null", "0", "1", "2", "3"])
    >>> {name: round(value, 12) for name, value in odds.items()}
    {'token_answer_prob': 0.666666666667, 'token_answer_mass': 0.75}
    """
    starts = [
        (str(entry.get("token", "")).strip(_AROUND), math.exp(entry["logprob"])) for entry in first["top_logprobs"]
    ]
    seen = [(text, share) for text, share in starts if text and any(answer.startswith(text) for answer in allowed)]
    mass = math.fsum(share for _, share in seen)
    own = math.fsum(share for text, share in seen if chosen.startswith(text))
    return {"token_answer_prob": own / mass if own else None, "token_answer_mass": min(mass, 1.0)}


def forbidden(first: Json, allowed: Sequence[str]) -> bool:
    """Whether an alternative of a token starts no allowed answer: log-probabilities are those before the grammar."""
    starts = [str(entry.get("token", "")).strip(_AROUND) for entry in first["top_logprobs"]]
    return any(not text or not any(answer.startswith(text) for answer in allowed) for text in starts)


def score_spans(content: str) -> dict[str, tuple[Span, Span]]:
    """Where the object of each item is, and the value of its score, in bytes."""
    found = {}
    for item, whole in members_of(content, 0):
        score = next(span for name, span in members_of(content, whole[0]) if name == "score")
        found[item] = _in_bytes(content, whole), _in_bytes(content, score)
    return found


def members_of(text: str, start: int = 0) -> Iterator[tuple[str, Span]]:
    """The members of the object that starts there, each with the place of its value. The text is valid JSON."""
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
    """The bytes of a token; `token` spells a byte that is no character by itself as another one."""
    if not isinstance(entry, Mapping):
        raise ParticipantFailure("logprobs_missing")
    given = entry.get("bytes")
    if given is None:
        return str(entry.get("token", "")).encode()
    try:
        return bytes(given)
    except (TypeError, ValueError):
        raise ParticipantFailure("logprobs_missing") from None


def _floored(entry: Json) -> Json:
    top = entry.get("top_logprobs")
    alternatives = [_with_floor(one) for one in top] if isinstance(top, list) else []
    return {"logprob": _with_floor(entry)["logprob"], "top_logprobs": alternatives}


def _with_floor(entry: Any) -> Json:
    if not isinstance(entry, Mapping):
        return {"logprob": None}
    value = entry.get("logprob")
    low = isinstance(value, (int, float)) and value < _LEAST
    return {"token": entry.get("token"), "logprob": _LEAST if low else value}
