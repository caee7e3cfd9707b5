"""A scripted endpoint that fails as it is told to, and remembers what it was asked."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import dataclass, replace
from typing import Any

from demur.extensions.produce.scripted import HttpAnswer, ScriptedEndpoint, completion, plain_entry, refused
from demur.extensions.produce.scripted_answers import Drawn, answer

CHAT, EMBEDDINGS = "/v1/chat/completions", "/v1/embeddings"
STEPS = {"/v1/models": "models", EMBEDDINGS: "embed"}
CONTEXT = 16_384
NO_UTF8 = "The model produced output that does not match the expected peg-native format"

# Faults that are a status and the type of an error, as llama.cpp words it; others are told apart where they happen.
REFUSALS = {
    "rate_limited": (429, "rate_limit_exceeded", "too many requests"),
    "server_error": (500, "server_error", NO_UTF8),
    "unavailable": (503, "unavailable_error", "Loading model"),
    "context_overflow": (400, "exceed_context_size_error", "the request exceeds the available context size"),
    "bad_schema": (400, "invalid_request_error", "the schema cannot be made a grammar"),
    "auth": (401, "authentication_error", "Invalid API Key"),
    "no_embeddings": (501, "not_supported_error", "This server does not support embeddings"),
}
OF_ANSWERS = ("wrong_types", "score_7", "missing_item")
OF_VECTORS = ("zero_vector", "short_vector", "nan_vector")
FAULTS = (
    *REFUSALS,
    *("slow", "dropped", "cut"),  # the connection: late, closed without an answer, closed in the middle of one
    *("truncated", "prose", "fence", "fence_tokens"),  # the text; the fence in the content, or among the tokens alone
    *OF_ANSWERS,
    *("refusal", "content_filter", "empty"),
    *("logprobs_absent", "logprobs_unaligned", "seedless"),
    *OF_VECTORS,
)


@dataclass(slots=True)
class Fault:
    """Something that goes wrong: at a request, by its number from 1 on, or wherever participant and step agree.

    It happens so many `times`, None for always. Steps are models, probe, evidence, score and embed. `seconds` are those
    of `slow`, and what Retry-After says.
    """

    kind: str
    request: int | None = None
    participant: str | None = None
    step: str | None = None
    times: int | None = 1
    seconds: float = 0.0

    def __post_init__(self) -> None:
        if self.kind not in FAULTS:
            raise ValueError(f"no fault is called {self.kind}; there are: {', '.join(FAULTS)}")

    def strikes(self, number: int, participant: str | None, step: str) -> bool:
        """Whether it happens at this request; if so, once less from now on."""
        wanted = ((self.request, number), (self.participant, participant), (self.step, step))
        if self.times == 0 or any(want is not None and want != have for want, have in wanted):
            return False
        if self.times is not None:
            self.times -= 1
        return True


@dataclass(slots=True)
class Exchange:
    """One request, from its arrival on, and what was answered; None as long as that was not given in full."""

    number: int
    step: str
    participant: str | None
    fault: str | None
    request: Any
    response: Any = None


class FaultyEndpoint(ScriptedEndpoint):
    """With `keep`, `exchanges` holds every request with its answer; without it, neither body."""

    def __init__(self, script, faults=(), *, keep=False, **how):
        super().__init__(script, **how)
        self.faults, self.keep = [*faults], keep
        self.exchanges: list[Exchange] = []
        self._count, self._lock = 0, threading.Lock()

    def respond(self, path: str, body: Any) -> HttpAnswer:
        chat = path == CHAT and isinstance(body, dict) and isinstance(body.get("messages"), list)
        asked = self.script.question(body) if chat else None
        who, step = (asked.participant, asked.step) if asked else (None, STEPS.get(path, ""))
        exchange, fault = self._begun(body, who, step)
        given = self._struck(fault, path, body, exchange.number) if fault else super().respond(path, body)
        if self.keep and exchange.fault != "cut":
            exchange.response = json.loads(given.text)
        return given

    def _begun(self, body: Any, participant: str | None, step: str) -> tuple[Exchange, Fault | None]:
        with self._lock:
            self._count += 1
            fault = next((fault for fault in self.faults if fault.strikes(self._count, participant, step)), None)
            kind = fault.kind if fault else None
            self.exchanges.append(Exchange(self._count, step, participant, kind, body if self.keep else None))
            return self.exchanges[-1], fault

    def _struck(self, fault: Fault, path: str, body: Any, number: int) -> HttpAnswer:
        kind = fault.kind
        if kind in REFUSALS:
            return refusal(kind, fault.seconds)
        if kind == "dropped":
            raise ConnectionAbortedError
        if kind == "slow":
            time.sleep(fault.seconds)
        if kind == "seedless" and path == CHAT:
            body = {**body, "seed": number}
        given = super().respond(path, body)
        if kind == "cut":
            length = str(len(given.text.encode()))
            return HttpAnswer(
                given.text[: len(given.text) // 2], headers={"Content-Length": length, "Connection": "close"}
            )
        content = json.loads(given.text)
        if kind == "truncated":
            return super().respond(path, {**body, "max_tokens": content["usage"]["completion_tokens"] // 2})
        if kind in OF_ANSWERS and path == CHAT:
            asked = self.script.question(body)
            return HttpAnswer(completion(body, asked, spoiled(answer(asked), kind)))
        if kind in OF_VECTORS and path == EMBEDDINGS:
            spoil_vector(content["data"][-1]["embedding"], kind)
        elif path == CHAT:
            spoil_choice(content["choices"][0], kind, body)
        return replace(given, text=json.dumps(content))


def refusal(kind: str, seconds: float) -> HttpAnswer:
    given = refused(*REFUSALS[kind])
    if kind == "context_overflow":
        content = json.loads(given.text)
        content["error"] |= {"n_prompt_tokens": 2 * CONTEXT, "n_ctx": CONTEXT}
        return replace(given, text=json.dumps(content))
    return replace(given, headers={"Retry-After": f"{seconds:g}"}) if kind == "rate_limited" else given


def spoiled(value: Any, kind: str) -> Any:
    """The answer with the mistake a fault makes in its first item."""
    first = next(iter(value))
    if kind == "missing_item":
        del value[first]
        return value
    wrong = Drawn(7, {"7": 0.9}) if kind == "score_7" else "two"
    scored = isinstance(value[first], dict) and "score" in value[first]
    value[first] = {**value[first], "score": wrong} if scored else wrong
    return value


def spoil_vector(vector: list[float], kind: str) -> None:
    if kind == "zero_vector":
        vector[:] = [0.0] * len(vector)
    elif kind == "short_vector":
        vector.pop()
    else:
        vector[0] = float("nan")


def spoil_choice(choice: dict[str, Any], kind: str, body: dict[str, Any]) -> None:
    message, logprobs = choice["message"], choice["logprobs"]
    if kind == "prose":
        message["content"] = "I would rather describe it in words."
    elif kind in ("refusal", "content_filter", "empty"):
        message["content"] = None if kind == "refusal" else ""
        if kind == "refusal":
            message["refusal"] = "I cannot help with that."
        choice["finish_reason"] = kind if kind == "content_filter" else choice["finish_reason"]
    elif kind == "logprobs_absent":
        choice["logprobs"] = None
    elif kind == "logprobs_unaligned" and logprobs:
        del logprobs["content"][len(logprobs["content"]) // 2]
    elif kind in ("fence", "fence_tokens"):
        before, after = "\n```json\n", "\n```"
        if kind == "fence":
            message["content"] = f"{before}{message['content']}{after}"
        if logprobs:
            marks = [json.loads(plain_entry(text, int(body.get("top_logprobs") or 0))) for text in (before, after)]
            logprobs["content"] = [marks[0], *logprobs["content"], marks[1]]
