"""Asks the model a question, and repeats it until the answer is valid or no retry can help."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from demur.produce.answers import InvalidAnswer, json_of
from demur.produce.endpoint import Endpoint, HttpRequest, Key
from demur.produce.failures import ParticipantFailure
from demur.types import Json

T = TypeVar("T")
_ANOTHER_TEMPERATURE = 0.2  # at 0, another seed would give the same answer
_SEEDS = 2**31
_SERVER = 500


@dataclass(frozen=True, slots=True)
class ChatQuestion:
    """A question: the messages, the schema of the answer, and the sampling parameters."""

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
        """The failure of this question; with `length`, that of the answer, the category is prefixed by the step."""
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
    """The answer; an invalid one is retried with the next seed, a truncated one once with twice the tokens."""
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
        question = replace(question.reseeded(), temperature=max(question.temperature, _ANOTHER_TEMPERATURE))


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
