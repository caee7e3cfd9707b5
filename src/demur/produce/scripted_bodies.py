"""Bodies of the scripted endpoint's replies: completions with the log-probabilities of tokens, and embeddings."""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from hashlib import sha256
from typing import Any

from demur.produce.scripted_answers import Drawn, Prompted, answer, uniform

MODEL = "scripted"
_TOKEN = re.compile(r"[A-Za-z]+|\d|[^A-Za-z\d]+")
_OTHERS = ("the", "and", "it", "so", "like", "well", "or", "but", "if", "as", "at", "on", "by", "to", "of", "in", "no")
_DIMENSIONS = 64


def embeddings(body: Mapping[str, Any]) -> str:
    """The vectors of texts as JSON text."""
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    data = [{"object": "embedding", "index": index, "embedding": embedding(text)} for index, text in enumerate(texts)]
    count = sum(map(_length, texts))
    usage = {"prompt_tokens": count, "total_tokens": count}
    return json.dumps({"object": "list", "model": MODEL, "data": data, "usage": usage})


def completion(body: Mapping[str, Any], question: Prompted, value: Any = None) -> str:
    """A chat completion as JSON text, with the scripted answer or another value."""
    complete = [*tokens(pieces(answer(question) if value is None else value))]
    generated = complete[: int(body.get("max_tokens") or len(complete))]
    message = {"role": "assistant", "content": "".join(text for text, _ in generated).lstrip(" ")}
    usage = {"prompt_tokens": _length(question.prompt), "completion_tokens": len(generated)}
    usage["total_tokens"] = sum(usage.values())
    rest = {"id": "scripted", "object": "chat.completion", "created": 0, "model": MODEL, "usage": usage}
    finish, logprobs = "stop" if len(generated) == len(complete) else "length", "null"
    if body.get("logprobs"):
        top = int(body.get("top_logprobs") or 0)
        entries = (choice_entry(choice, top) if choice else plain_entry(text, top) for text, choice in generated)
        logprobs = f'{{"content": [{", ".join(entries)}]}}'
    choice = f'"index": 0, "finish_reason": "{finish}", "message": {json.dumps(message)}, "logprobs": {logprobs}'
    return f'{json.dumps(rest)[:-1]}, "choices": [{{{choice}}}]}}'


def _length(text: str) -> int:
    """The approximate number of tokens of a text."""
    return len(text) // 4 + 1


def pieces(value: Any) -> Iterator[str | Drawn]:
    """An answer as JSON text in pieces, in which each drawn value is one."""
    if not isinstance(value, dict):
        yield value if isinstance(value, Drawn) else " " + json.dumps(value)
        return
    before = " {"
    for name, member in value.items():
        yield f"{before}{json.dumps(name)}:"
        yield from pieces(member)
        before = ", "
    yield "}" if value else " {}"


def tokens(parts: Iterable[str | Drawn]) -> Iterator[tuple[str, Drawn | None]]:
    """The tokens of an answer: words, digits and what is between them; a drawn value is one, with a space before."""
    for part in parts:
        if isinstance(part, Drawn):
            yield f" {part.text}", part
        else:
            yield from ((text, None) for text in _TOKEN.findall(part))


@lru_cache(maxsize=20_000)
def plain_entry(text: str, top: int) -> str:
    """The log-probabilities, as JSON, of a token that was not drawn; they depend on its text alone."""
    likely = 0.6 + 0.399 * uniform("token", text)
    others = [word for word in _OTHERS if word != text][: max(top - 1, 0)]
    odds = {text: likely, **{word: (1 - likely) * 0.45 * 0.5**rank for rank, word in enumerate(others)}}
    return entry(text, likely, odds, top)


def choice_entry(choice: Drawn, top: int) -> str:
    """The log-probabilities of a drawn value, as JSON."""
    odds = {f" {text}": share for text, share in choice.odds.items()}
    return entry(f" {choice.text}", odds[f" {choice.text}"], odds, top)


def entry(text: str, likely: float, odds: Mapping[str, float], top: int) -> str:
    """One token in the format of endpoints: its bytes, its log-probability, and the most likely alternatives."""
    listed = sorted(odds.items(), key=lambda pair: -pair[1])[:top]
    alternatives = [{"token": word, "bytes": [*word.encode()], "logprob": math.log(share)} for word, share in listed]
    token = {"token": text, "bytes": [*text.encode()], "logprob": math.log(likely), "top_logprobs": alternatives}
    return json.dumps(token)


def embedding(text: str) -> list[float]:
    """An embedding by feature hashing: each word is counted at the index and with the sign of its hash."""
    vector = [0.0] * _DIMENSIONS
    for word in re.findall(r"\w+", text.lower()) or [""]:
        position = _signed_position(word)
        vector[abs(position) - 1] += math.copysign(1.0, position)
    if not any(vector):  # words that cancel out
        vector[0] = 1.0
    return vector


@lru_cache(maxsize=20_000)
def _signed_position(word: str) -> int:
    number = int.from_bytes(sha256(word.encode()).digest()[:4])
    return (number % _DIMENSIONS + 1) * (1 if number & 2**31 else -1)
