"""Asking: one question until its answer fits, is cut off for good, or is refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from demur.produce.answers import InvalidAnswer, json_of
from demur.produce.endpoint import Endpoint, HttpRequest, Key
from demur.produce.failures import ParticipantFailure
from demur.types import Json

T = TypeVar("T")
_ANOTHER_TEMPERATURE = 0.2  # at 0 another seed gives the same answer
_SEEDS = 2**31
_SERVER = 500


@dataclass(frozen=True, slots=True)
class ChatQuestion:
    """What is asked, and how."""

    key: Key
    messages: Sequence[Json]
    schema: Json
    seed: int
    temperature: float
    max_tokens: int
    top_logprobs: int = 0

    def body(self, model: str) -> Json:
        """The body of the request: never several answers at once, never a stream, never tools."""
        fields: Json = {"model": model, "messages": [*self.messages], "temperature": self.temperature}
        fields |= {"seed": self.seed, "max_tokens": self.max_tokens}
        if self.top_logprobs:
            fields |= {"logprobs": True, "top_logprobs": self.top_logprobs}
        named = {"name": self.key[2] or "answer", "strict": True, "schema": self.schema}
        return fields | {"response_format": {"type": "json_schema", "json_schema": named}}

    def reseeded(self) -> ChatQuestion:
        """With the next seed."""
        return replace(self, seed=(self.seed + 1) % _SEEDS)


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """What was answered, as what it stands for and as text, and the tokens if they were asked for."""

    value: T
    text: str
    tokens: Any


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks questions of one model."""

    endpoint: Endpoint
    model: str
    retries: int

    def answer(self, question: ChatQuestion, parse: Callable[[str], T]) -> Answer[T]:
        """The answer; what is invalid is asked for again with the next seed, what is cut off once with more tokens."""
        invalid, attempts, doubled, again = 0, 0, False, False
        while True:
            try:
                reply = self.endpoint.call(
                    HttpRequest("/chat/completions", question.key, question.body(self.model), 1 if again else None)
                )
            except ParticipantFailure as failure:
                attempts += failure.attempts
                if failure.status != _SERVER or again:
                    raise replace_attempts(failure, attempts) from None
                question, again = question.reseeded(), True
                continue
            attempts, again = attempts + reply.attempts, False
            choice = _choice(reply.body, question, attempts)
            text, cut = _text(choice, question, attempts), choice.get("finish_reason") == "length"
            if cut and doubled:
                raise _failure("truncated", question, attempts, len(text))
            if cut:
                question, doubled = replace(question, max_tokens=2 * question.max_tokens), True
                continue
            try:
                return Answer(parse(text), text, _tokens(choice))
            except InvalidAnswer:
                if invalid == self.retries:
                    raise _failure("invalid", question, attempts, len(text)) from None
            invalid += 1
            question = replace(question.reseeded(), temperature=max(question.temperature, _ANOTHER_TEMPERATURE))


def replace_attempts(failure: ParticipantFailure, attempts: int) -> ParticipantFailure:
    """The same failure, with all attempts that were made."""
    failure.attempts = attempts
    return failure


def _failure(how: str, question: ChatQuestion, attempts: int, length: int) -> ParticipantFailure:
    _, _, step, sample = question.key
    category = f"{'evidence' if step == 'evidence' else 'scoring'}_{how}"
    return ParticipantFailure(category, step, sample, 200, attempts, {"answer_characters": length})


def _tokens(choice: Json) -> Any:
    logprobs = choice.get("logprobs")
    return logprobs.get("content") if isinstance(logprobs, dict) else None


def _choice(body: Json, question: ChatQuestion, attempts: int) -> Json:
    """The first choice of a completion; a body without one is no completion."""
    choices = body.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, dict) or not isinstance(choice.get("message"), dict):
        _, _, step, sample = question.key
        raise ParticipantFailure("server_error", step, sample, 200, attempts)
    return choice


def _text(choice: Json, question: ChatQuestion, attempts: int) -> str:
    """The JSON text of the content, or a failure if the model declined to give any."""
    message, finish = choice["message"], choice.get("finish_reason")
    content = message.get("content")
    if finish == "length":
        return content if isinstance(content, str) else ""
    if finish == "content_filter" or message.get("refusal") or not isinstance(content, str) or not content.strip():
        _, _, step, sample = question.key
        raise ParticipantFailure("refused", step, sample, 200, attempts)
    return json_of(content)
