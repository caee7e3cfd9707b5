"""Questions to the model: invalid answers are requested again, and quotes are checked against the transcript."""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from typing import Any, Generic, TypeVar

from demur.errors import UserError
from demur.extensions.produce.endpoint import Endpoint, HttpRequest, Key
from demur.extensions.produce.failures import ParticipantFailure
from demur.extensions.produce.prompts import PromptFolder
from demur.files.strict_json import loads
from demur.types import Json

T = TypeVar("T")
_RETRY_TEMPERATURE = 0.2  # at 0, another seed would give the same answer
_SEEDS = 2**31
_SERVER = 500
_TYPES = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool, "null": type(None)}
_FENCE = "```"
_TAG = re.compile(r"<[^<>]*>")
_UNIFIED = str.maketrans(
    dict.fromkeys("‘’‚‛", "'")
    | dict.fromkeys("“”„‟", '"')
    | dict.fromkeys("\u00a0\u202f", " ")
    | dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff", None)
)
_LEAST_LETTERS = 3
_MOST_ACCENTS = 30  # on one letter; the time that normalising takes grows with the square of their number


class InvalidAnswer(Exception):  # noqa: N818  (a fault of the answer, not an error of demur)
    """Raised for an answer that does not fit its schema; the question is asked again."""


@dataclass(frozen=True, slots=True)
class ItemAnswer:
    """The answer for an item; `text` are the members that are free text, `extra` the others."""

    score: int | None
    confidence: int | None
    extra: Mapping[str, Any]
    text: Mapping[str, str]


def json_of(content: str) -> str:
    r"""Strip the code fences around the JSON of an answer.

    >>> json_of('```json\n{"a": 1}\n```')
    '{"a": 1}'
    """
    text = content.strip()
    if len(text) < 2 * len(_FENCE) or not (text.startswith(_FENCE) and text.endswith(_FENCE)):
        return text
    return text[len(_FENCE) : -len(_FENCE)].lstrip(string.ascii_letters).strip()


def quotes_of(text: str, prompts: PromptFolder) -> dict[str, list[str]]:
    """Parse the distinct quotes of each item from an answer."""
    answer, quotes = parsed(text, prompts.evidence_schema), {}
    for item in prompts.instrument.items:
        quotes[item] = [*dict.fromkeys(quote.strip() for quote in answer[item] if quote.strip())]
    return quotes


def scores_of(text: str, prompts: PromptFolder) -> dict[str, ItemAnswer]:
    """Parse the answer for each item."""
    answer, scores = parsed(text, prompts.score_schema), {}
    free = [name for name, member in prompts.extra.items() if member["kind"] == "string"]
    for item in prompts.instrument.items:
        given = answer[item]
        confidence = None if given["score"] is None else given["confidence"]
        extra = {name: given[name] for name in prompts.extra if name not in free}
        texts = {name: given[name] for name in ("evidence", "reason", *free)}
        scores[item] = ItemAnswer(given["score"], confidence, extra, texts)
    return scores


def parsed(text: str, schema: Json) -> Any:
    """Parse JSON and check it against a schema; raise `InvalidAnswer` if it does not fit."""
    try:
        answer = loads(text)
    except UserError:
        raise InvalidAnswer from None
    if not _fits(answer, schema):
        raise InvalidAnswer
    return answer


def _fits(value: Any, schema: Json) -> bool:
    """Whether a value has the form that a schema asks for; texts and lists may be longer than it asks for."""
    if "anyOf" in schema:
        return any(_fits(value, option) for option in schema["anyOf"])
    if schema and (type(value) is not _TYPES[schema["type"]] or value not in schema.get("enum", [value])):
        return False
    if isinstance(value, list) and "items" in schema:
        return all(_fits(element, schema["items"]) for element in value)
    if isinstance(value, dict) and "properties" in schema:
        members = schema["properties"]
        return value.keys() == members.keys() and all(_fits(value[name], members[name]) for name in members)
    return True


def normalised(text: str) -> str:
    """Normalise text for comparing quotes: one kind of quotation mark and space, no tags, lower case.

    >>> normalised("I\u2019m  <laughter> so\u200b TIRED")
    "i'm so tired"
    """
    plain = (text if _overloaded(text) else unicodedata.normalize("NFKC", text)).translate(_UNIFIED)
    return " ".join(_TAG.sub(" ", plain).split()).lower()


def _overloaded(text: str) -> bool:
    if text.isascii():
        return False
    return any(accents and sum(1 for _ in run) > _MOST_ACCENTS for accents, run in groupby(text, _is_accent))


@lru_cache(maxsize=4096)
def _is_accent(character: str) -> bool:
    return unicodedata.combining(unicodedata.normalize("NFKD", character)[0]) > 0


def grounded(quotes: Sequence[str], transcript: str) -> list[str]:
    """The quotes of at least three letters that occur in a normalised transcript."""
    return [
        quote
        for quote in quotes
        if (plain := normalised(quote)) in transcript and sum(map(str.isalnum, plain)) >= _LEAST_LETTERS
    ]


@dataclass(frozen=True, slots=True)
class ChatQuestion:
    """A question to the model: the messages, the schema of the answer, and the sampling parameters."""

    key: Key
    messages: Sequence[Json]
    schema: Json
    seed: int
    temperature: float
    max_tokens: int
    top_logprobs: int = 0

    def body(self, model: str) -> Json:
        """The body of the request, without several choices, streaming or tools."""
        fields: Json = {"model": model, "messages": [*self.messages], "temperature": self.temperature}
        fields |= {"seed": self.seed, "max_tokens": self.max_tokens}
        if self.top_logprobs:
            fields |= {"logprobs": True, "top_logprobs": self.top_logprobs}
        named = {"name": self.key[2] or "answer", "strict": True, "schema": self.schema}
        return fields | {"response_format": {"type": "json_schema", "json_schema": named}}

    def failure(self, category: str, attempts: int, length: int | None = None) -> ParticipantFailure:
        """Build the failure of this question; if `length` is given, the category is prefixed by the step."""
        _, _, step, sample = self.key
        if length is None:
            return ParticipantFailure(category, step, sample, 200, attempts)
        named = f"{'evidence' if step == 'evidence' else 'scoring'}_{category}"
        return ParticipantFailure(named, step, sample, 200, attempts, {"answer_characters": length})

    def reseeded(self) -> ChatQuestion:
        """The question with the next seed."""
        return replace(self, seed=(self.seed + 1) % _SEEDS)


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """An answer as a parsed value and as text, with its tokens if they were requested."""

    value: T
    text: str
    tokens: Any


def ask(endpoint: Endpoint, question: ChatQuestion, parse: Callable[[str], T], *, retries: int) -> Answer[T]:
    """Ask until the answer is valid; retry with the next seed, or once with twice the tokens if it was truncated."""
    invalid, attempts, doubled, again = 0, 0, False, False
    while True:
        body = question.body(endpoint.settings.model)
        try:
            reply = endpoint.call(HttpRequest("/chat/completions", question.key, body, 1 if again else None))
        except ParticipantFailure as failure:
            attempts += failure.attempts
            if failure.status != _SERVER or again:
                failure.attempts = attempts
                raise
            question, again = question.reseeded(), True
            continue
        attempts, again = attempts + reply.attempts, False
        text, truncated, tokens = _content(reply.body, question, attempts)
        if truncated and doubled:
            raise question.failure("truncated", attempts, len(text))
        if truncated:
            question, doubled = replace(question, max_tokens=2 * question.max_tokens), True
            continue
        try:
            return Answer(parse(text), text, tokens)
        except InvalidAnswer:
            if invalid == retries:
                raise question.failure("invalid", attempts, len(text)) from None
        invalid += 1
        question = replace(question.reseeded(), temperature=max(question.temperature, _RETRY_TEMPERATURE))


def _content(body: Json, question: ChatQuestion, attempts: int) -> tuple[str, bool, Any]:
    """The JSON text of the first choice, whether it was truncated, and its tokens; a failure if there is no text."""
    choices = body.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise question.failure("server_error", attempts)
    content, finish, logprobs = message.get("content"), choice.get("finish_reason"), choice.get("logprobs")
    tokens = logprobs.get("content") if isinstance(logprobs, dict) else None
    if finish == "length":
        return content if isinstance(content, str) else "", True, tokens
    if finish == "content_filter" or message.get("refusal") or not isinstance(content, str) or not content.strip():
        raise question.failure("refused", attempts)
    return json_of(content), False, tokens
