"""The client of an OpenAI-compatible server, which retries requests where that may help."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import urlsplit

import httpx
from pydantic_core import from_json  # a third faster than json, for replies with hundreds of tokens

from demur.files.limits import MEMBER
from demur.produce.config import ProduceSettings, is_loopback, origin
from demur.produce.failures import EndpointError, ParticipantFailure
from demur.produce.pace import Pace, backoff, seed_of
from demur.types import Json

_CONNECT_SECONDS = 10.0
_RETRIED = (408, 409, 425, 429)
_SERVER, _TOO_MANY, _CLIENT_ERROR = 500, 429, 400
_MOST_ATTEMPTS_AT_500 = 3  # attempts at a request that gives a 500, as the same seed is likely to fail again
_OVERFLOW = ("exceed_context_size_error", "context_length_exceeded")
_ERROR_TYPE = re.compile(r"[a-z_]{1,60}")

Key = tuple[str, str, str, int]  # mode, participant, step, sample
Record = Callable[[str, Key, Json], None]


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request, its key, and the largest number of attempts; None for that of the configuration."""

    path: str
    key: Key
    body: Json | None = None
    attempts: int | None = None

    @property
    def embeds(self) -> bool:
        """Whether it goes to the server for embeddings."""
        return self.path == "/embeddings"


@dataclass(frozen=True, slots=True)
class HttpReply:
    """The body of a reply, and the number of attempts."""

    body: Json
    attempts: int


@dataclass(frozen=True, slots=True)
class _FailedAttempt:
    """Why an attempt failed, and whether another may help."""

    category: str
    status: int | None = None
    again: bool = True
    retry_after: float | None = None
    numbers: Json = field(default_factory=dict)


class Endpoint:
    """Sends requests to the server, as a context manager; `record` is called for every attempt."""

    def __init__(
        self, settings: ProduceSettings, pace: Pace, record: Record, transport: httpx.BaseTransport | None = None
    ) -> None:
        self.settings, self._pace, self._record = settings.endpoint, pace, record
        chat = settings.endpoint.base_url
        same = origin(settings.embedding_url) == origin(chat)
        key = settings.endpoint.api_key_env
        # A key is never sent to another server: one for embeddings has its own key, or none.
        embedding_key = settings.endpoint.embedding_api_key_env or (key if same else "")
        self._clients = {
            False: _client(chat, key, self.settings.concurrency, transport),
            True: _client(settings.embedding_url, embedding_key, self.settings.concurrency, transport),
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for client in self._clients.values():
            client.close()

    def call(self, request: HttpRequest) -> HttpReply:
        """Send a request until there is a reply, or another attempt cannot help."""
        attempt = 0
        while True:
            attempt += 1
            with self._pace.slot():
                outcome = self._once(request, attempt)
            if isinstance(outcome, dict):
                return HttpReply(outcome, attempt)
            self._check_key(request, outcome)
            most = request.attempts or self.settings.retries + 1
            if outcome.status == _SERVER:
                most = min(most, _MOST_ATTEMPTS_AT_500)
            if not outcome.again or attempt >= most:
                _, _, step, sample = request.key
                status, numbers = outcome.status, outcome.numbers
                raise ParticipantFailure(outcome.category, step, sample or None, status, attempt, numbers)
            if outcome.status == _TOO_MANY:
                self._pace.slow_down()
            self._pace.rest(backoff(attempt, outcome.retry_after, seed_of(*request.key, attempt) / 2**31))

    def _check_key(self, request: HttpRequest, outcome: _FailedAttempt) -> None:
        """Stop the run if the key was refused, because every other request would be refused too."""
        if outcome.status in (401, 403):
            own = self.settings.embedding_api_key_env if request.embeds else ""
            variable = own or self.settings.api_key_env
            raise EndpointError(f"the endpoint refused the key (HTTP {outcome.status}); set {variable}")

    def embed(self, texts: Sequence[str], key: Key) -> list[Any]:
        """The embeddings of texts, in their order, unchecked."""
        body = {"model": self.settings.embedding_model or self.settings.model, "input": [*texts]}
        listed = self.call(HttpRequest("/embeddings", key, body)).body.get("data")
        entries = [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
        by_index = {entry.get("index", index): entry.get("embedding") for index, entry in enumerate(entries)}
        if {*by_index} != {*range(len(texts))}:
            raise ParticipantFailure("embedding_invalid", key[2], numbers={"vectors": len(entries)})
        return [by_index[index] for index in range(len(texts))]

    def _once(self, request: HttpRequest, attempt: int) -> Json | _FailedAttempt:
        started = time.monotonic()
        status: int | None = None
        body: Any = None
        try:
            status, headers, data = self._sent(request, started)
            body = from_json(data) if data else None
            outcome: Json | _FailedAttempt = _judged(status, headers, body)
        except httpx.TimeoutException:
            outcome = _FailedAttempt("timeout")
        except (httpx.TransportError, httpx.DecodingError):
            outcome = _FailedAttempt("connection", status)
        except ValueError:  # not JSON, or too large
            good = status is not None and status < _CLIENT_ERROR
            outcome = _FailedAttempt("server_error", status) if good else _judged(status or _SERVER, {}, None)
        record = {
            "status": status,
            "seconds": round(time.monotonic() - started, 6),
            "attempt": attempt,
            **_tokens(body),
        }
        self._record("request", request.key, record)
        return outcome

    def _sent(self, request: HttpRequest, started: float) -> tuple[int, Mapping[str, str], bytes]:
        """Status, headers and body; the timeout holds for the whole reply, even if it arrives piece by piece."""
        client = self._clients[request.embeds]
        method = "GET" if request.body is None else "POST"
        timeout, pieces, size = self.settings.timeout, [], 0
        limits = httpx.Timeout(timeout, connect=min(_CONNECT_SECONDS, timeout))
        with client.stream(method, request.path.lstrip("/"), json=request.body, timeout=limits) as response:
            for piece in response.iter_bytes():
                pieces.append(piece)
                size += len(piece)
                MEMBER.check(size)
                if time.monotonic() - started > timeout:
                    raise httpx.ReadTimeout("slow")
            return response.status_code, response.headers, b"".join(pieces)


def _client(url: str, variable: str, connections: int, transport: httpx.BaseTransport | None) -> httpx.Client:
    key = os.environ.get(variable) if variable else None
    return httpx.Client(
        base_url=url if urlsplit(url).path.endswith("/") else f"{url}/",
        headers={"Authorization": f"Bearer {key}"} if key else {},
        limits=httpx.Limits(max_connections=connections, max_keepalive_connections=connections),
        # Requests to this machine must not go through a proxy from the environment.
        trust_env=not is_loopback(url),
        verify=url.startswith("https:"),  # loading certificates takes long, and HTTP needs none
        transport=transport,
    )


def _judged(status: int, headers: Mapping[str, str], body: Any) -> Json | _FailedAttempt:
    """The body of a successful reply, or why the attempt failed."""
    if status < 300:  # noqa: PLR2004
        return body if isinstance(body, dict) else _FailedAttempt("server_error", status)
    after = _seconds(headers.get("retry-after"))
    if status == _TOO_MANY:
        return _FailedAttempt("rate_limited", status, retry_after=after)
    if status in _RETRIED or status >= _SERVER:
        unsupported = status == 501  # noqa: PLR2004  (not implemented)
        category = "timeout" if status == 408 else "server_error"  # noqa: PLR2004
        return _FailedAttempt(category, status, again=not unsupported, retry_after=after)
    error = body.get("error") if isinstance(body, dict) else None
    details = error if isinstance(error, dict) else {}
    kinds = [kind for kind in (details.get("type"), details.get("code")) if isinstance(kind, str)]
    numbers = {name: details[name] for name in ("n_prompt_tokens", "n_ctx") if type(details.get(name)) is int}
    if any(kind in _OVERFLOW for kind in kinds):
        return _FailedAttempt("context_overflow", status, again=False, numbers=numbers)
    named = {"error_type": kinds[0]} if kinds and _ERROR_TYPE.fullmatch(kinds[0]) else {}
    return _FailedAttempt("request_rejected", status, again=False, numbers=named)


def _seconds(text: str | None) -> float | None:
    """The seconds in a Retry-After header; a date is ignored."""
    return float(text) if text and re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text.strip()) else None


def _tokens(body: Any) -> Json:
    usage = body.get("usage") if isinstance(body, dict) else None
    usage = usage if isinstance(usage, dict) else {}
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    counts = {"prompt_tokens": usage.get("prompt_tokens"), "cached_tokens": cached}
    counts["completion_tokens"] = usage.get("completion_tokens")
    return {name: value if type(value) is int and value >= 0 else None for name, value in counts.items()}
