"""Tests of what an endpoint can do, by a few small requests before any transcript is sent."""

from __future__ import annotations

from functools import partial
from typing import Any

from demur.confidences.model_output import token_signals
from demur.errors import UserError, nearest, shown
from demur.extensions.produce.answers import Answer, ChatQuestion, ask, parsed
from demur.extensions.produce.config import FEW_SHOT, ProduceSettings
from demur.extensions.produce.endpoint import Endpoint, HttpRequest
from demur.extensions.produce.failures import EndpointError, ParticipantFailure
from demur.extensions.produce.prompts import closed, nullable
from demur.extensions.produce.references import unit_vectors
from demur.extensions.produce.signals import Tokens, forbidden, members_of
from demur.types import Json

_SCORES = (0, 1, 2, 3)
_ALLOWED = ("null", *map(str, _SCORES))
_SCHEMA = closed({"score": nullable(_SCORES)})
_DIGITS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")  # never equal by chance
_DRAWN = closed({name: {"type": "integer", "enum": [*range(10)]} for name in _DIGITS})
_ANY: Json = {}  # these answers are only compared with each other
_MESSAGES = (
    {"role": "system", "content": "You answer with one JSON object."},
    {"role": "user", "content": "Choose a score from 0 to 3, or null."},
)
_TEXTS = ("I sleep well.", "Most days I am tired.")
_MOST_LISTED = 8
_MOST_MODELS, _LONGEST_NAME = 10_000, 200  # what is kept of a list of models, which is recorded and searched


def probe(endpoint: Endpoint, settings: ProduceSettings) -> Json:
    """Determine the capabilities of the endpoint; those that it lacks are null or false."""
    models = _models(endpoint)
    plain = _answer(endpoint, _question(1), _SCHEMA)
    detailed = _answer(endpoint, _question(2, top_logprobs=settings.endpoint.top_logprobs), _SCHEMA)
    warm = [_answer(endpoint, _question(3, temperature=0.7, schema=_DRAWN), _ANY) for _ in range(2)]
    return {
        "models": models,
        "schema": plain is not None,
        **_logprobs(detailed),
        "seeded": warm[0].text == warm[1].text if warm[0] and warm[1] else None,
        "embeddings": _dimension(endpoint) if FEW_SHOT in settings.assess.modes else None,
    }


def check_capabilities(capabilities: Json, settings: ProduceSettings) -> None:
    """Raise an error if the endpoint lacks a capability that the configuration needs."""
    endpoint, models = settings.endpoint, capabilities["models"]
    if models and endpoint.model not in models:
        near = nearest(endpoint.model, models)
        listed = ", ".join(map(shown, models[:_MOST_LISTED]))
        hint = f"did you mean {shown(near)}?" if near else f"it has: {listed}"
        raise EndpointError(f"the endpoint has no model {shown(endpoint.model)}; {hint}")
    if not capabilities["schema"]:
        raise EndpointError("the endpoint gives no answers that fit a JSON schema, which demur produce needs")
    logprobs = capabilities["logprobs"]
    if not (logprobs and capabilities["aligned"]) and "logprobs" not in endpoint.allow_missing:
        what = "spells answers with other tokens than it lists" if logprobs else "gives no log-probabilities"
        raise EndpointError(f"the endpoint {what}; to run without token signals, give --allow-missing logprobs")
    few_shot = FEW_SHOT in settings.assess.modes
    if few_shot and capabilities["embeddings"] is None and "embeddings" not in endpoint.allow_missing:
        hint = "name a server that does in embedding_base_url, or give --mode zero_shot or --allow-missing embeddings"
        raise EndpointError(f"the endpoint makes no embeddings, which few_shot needs; {hint}")


def _question(number: int, temperature: float = 0.0, top_logprobs: int = 0, schema: Json = _SCHEMA) -> ChatQuestion:
    return ChatQuestion(("", "", "probe", number), _MESSAGES, schema, number, temperature, 512, top_logprobs)


def _answer(endpoint: Endpoint, question: ChatQuestion, schema: Json) -> Answer[Any] | None:
    """The answer; None if none was given that fits the schema."""
    try:
        return ask(endpoint, question, partial(parsed, schema=schema), retries=0)
    except ParticipantFailure as failure:
        if failure.category in ("timeout", "connection", "rate_limited"):
            raise EndpointError(f"the endpoint does not answer ({failure.category})") from None
        return None


def _models(endpoint: Endpoint) -> list[str] | None:
    """The models of the endpoint; None if it does not list them."""
    try:
        body = endpoint.call(HttpRequest("/models", ("", "", "models", 0))).body
    except ParticipantFailure as failure:
        if failure.category == "request_rejected":
            return None
        raise EndpointError(f"the endpoint does not answer ({failure.category})") from None
    listed = body.get("data")
    names = [entry.get("id") for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
    good = (name for name in names if isinstance(name, str) and len(name) <= _LONGEST_NAME and name.isprintable())
    return sorted(good)[:_MOST_MODELS] or None


def _logprobs(answer: Answer[Any] | None) -> Json:
    """Whether tokens have log-probabilities and spell the answer, and whether a grammar was applied before."""
    missing: Json = {"logprobs": False, "aligned": False, "logprobs_stage": None}
    if answer is None:
        return missing
    try:
        tokens = Tokens.aligned(answer.tokens, answer.text)
        first = tokens.over(next(span for _, span in members_of(answer.text)))[0]
        token_signals([first])
    except ParticipantFailure as failure:
        return missing | {"logprobs": failure.category == "logprobs_unaligned"}
    except UserError:  # numbers that are missing or impossible
        return missing
    return {"logprobs": True, "aligned": True, "logprobs_stage": "raw" if forbidden(first, _ALLOWED) else "processed"}


def _dimension(endpoint: Endpoint) -> int | None:
    try:
        return int(unit_vectors(endpoint.embed(_TEXTS, ("", "", "embed", 0))).shape[1])
    except ParticipantFailure:
        return None
