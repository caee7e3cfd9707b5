"""The endpoint: an OpenAI-compatible server over HTTP, asked again where that may help."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import urlsplit

import httpx
from pydantic_core import from_json  # a third less time than json takes, for hundreds of tokens a reply

from demur.files.limits import MEMBER
from demur.produce.config import ProduceSettings, is_loopback, origin
from demur.produce.failures import EndpointError, ParticipantFailure
from demur.produce.pace import Pace, backoff, seed_of
from demur.types import Json

_CONNECT = 10.0
_AGAIN = (408, 409, 425, 429)
_SERVER, _TOO_MANY, _BAD = 500, 429, 400
_SAME_BODY = 3  # attempts at a request that ends in a 500: the same seed fails the same way
_OVERFLOW = ("exceed_context_size_error", "context_length_exceeded")
_WORD = re.compile(r"[a-z_]{1,60}")

Key = tuple[str, str, str, int]  # mode, participant, step, sample
Record = Callable[[str, Key, Json], None]


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request, whose it is, and how often it may be tried; None for as often as the configuration says."""

    path: str
    key: Key
    body: Json | None = None
    attempts: int | None = None

    @property
    def embeds(self) -> bool:
        """Whether it goes where embeddings are made."""
        return self.path == "/embeddings"


@dataclass(frozen=True, slots=True)
class HttpReply:
    """The body of an answer, and how many attempts it took."""

    body: Json
    attempts: int


@dataclass(frozen=True, slots=True)
class _Trouble:
    """Why an attempt failed, and whether another may help."""

    category: str
    status: int | None = None
    again: bool = True
    retry_after: float | None = None
    numbers: Json = field(default_factory=dict)


class Endpoint:
    """Requests to the server, as a context. `record` is told of every attempt."""

    def __init__(
        self, settings: ProduceSettings, pace: Pace, record: Record, transport: httpx.BaseTransport | None = None
    ) -> None:
        self._settings, self._pace, self._record = settings.endpoint, pace, record
        chat = settings.endpoint.base_url
        same = origin(settings.embedding_url) == origin(chat)
        key = settings.endpoint.api_key_env
        # A key belongs to one server: another that makes the embeddings has its own, or none.
        embedding_key = settings.endpoint.embedding_api_key_env or (key if same else "")
        self._clients = {
            False: _client(chat, key, self._settings.concurrency, transport),
            True: _client(settings.embedding_url, embedding_key, self._settings.concurrency, transport),
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for client in self._clients.values():
            client.close()

    def call(self, request: HttpRequest) -> HttpReply:
        """Ask until there is an answer, or another try cannot help."""
        attempt = 0
        while True:
            attempt += 1
            with self._pace.slot():
                outcome = self._once(request, attempt)
            if isinstance(outcome, dict):
                return HttpReply(outcome, attempt)
            self._check_key(request, outcome)
            most = request.attempts or self._settings.retries + 1
            if outcome.status == _SERVER:
                most = min(most, _SAME_BODY)
            if not outcome.again or attempt >= most:
                _, _, step, sample = request.key
                status, numbers = outcome.status, outcome.numbers
                raise ParticipantFailure(outcome.category, step, sample or None, status, attempt, numbers)
            if outcome.status == _TOO_MANY:
                self._pace.slow_down()
            self._pace.rest(backoff(attempt, outcome.retry_after, seed_of(*request.key, attempt) / 2**31))

    def _check_key(self, request: HttpRequest, outcome: _Trouble) -> None:
        """A key that is refused now is refused for everybody."""
        if outcome.status in (401, 403):
            own = self._settings.embedding_api_key_env if request.embeds else ""
            variable = own or self._settings.api_key_env
            raise EndpointError(f"the endpoint refused the key (HTTP {outcome.status}); set {variable}")

    def embed(self, texts: Sequence[str], key: Key) -> list[Any]:
        """The embeddings of texts, in their order, as the server gives them."""
        body = {"model": self._settings.embedding_model or self._settings.model, "input": [*texts]}
        listed = self.call(HttpRequest("/embeddings", key, body)).body.get("data")
        entries = [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
        by_index = {entry.get("index", place): entry.get("embedding") for place, entry in enumerate(entries)}
        if {*by_index} != {*range(len(texts))}:
            raise ParticipantFailure("embedding_invalid", key[2], numbers={"vectors": len(entries)})
        return [by_index[place] for place in range(len(texts))]

    def _once(self, request: HttpRequest, attempt: int) -> Json | _Trouble:
        started = time.monotonic()
        status: int | None = None
        body: Any = None
        try:
            status, headers, data = self._sent(request, started)
            body = from_json(data) if data else None
            outcome: Json | _Trouble = _judged(status, headers, body)
        except httpx.TimeoutException:
            outcome = _Trouble("timeout")
        except (httpx.TransportError, httpx.DecodingError):
            outcome = _Trouble("connection", status)
        except ValueError:  # not JSON, or more than fits
            good = status is not None and status < _BAD
            outcome = _Trouble("server_error", status) if good else _judged(status or _SERVER, {}, None)
        record = {
            "status": status,
            "seconds": round(time.monotonic() - started, 6),
            "attempt": attempt,
            **_tokens(body),
        }
        self._record("request", request.key, record)
        return outcome

    def _sent(self, request: HttpRequest, started: float) -> tuple[int, Mapping[str, str], bytes]:
        """Status, headers and body; a server that sends a little at a time does not get more time for it."""
        client = self._clients[request.embeds]
        method = "GET" if request.body is None else "POST"
        timeout, pieces, size = self._settings.timeout, [], 0
        limits = httpx.Timeout(timeout, connect=min(_CONNECT, timeout))
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
        # A proxy of the environment would take what is meant for this machine away from it.
        trust_env=not is_loopback(url),
        verify=url.startswith("https:"),  # certificates take long to load, and a plain connection has none
        transport=transport,
    )


def _judged(status: int, headers: Mapping[str, str], body: Any) -> Json | _Trouble:
    """The body of an answer that is one, or what is the trouble."""
    if status < 300:  # noqa: PLR2004
        return body if isinstance(body, dict) else _Trouble("server_error", status)
    after = _seconds(headers.get("retry-after"))
    if status == _TOO_MANY:
        return _Trouble("rate_limited", status, retry_after=after)
    if status in _AGAIN or status >= _SERVER:
        unsupported = status == 501  # noqa: PLR2004  (not implemented now, not implemented later)
        category = "timeout" if status == 408 else "server_error"  # noqa: PLR2004
        return _Trouble(category, status, again=not unsupported, retry_after=after)
    error = body.get("error") if isinstance(body, dict) else None
    details = error if isinstance(error, dict) else {}
    kinds = [kind for kind in (details.get("type"), details.get("code")) if isinstance(kind, str)]
    numbers = {name: details[name] for name in ("n_prompt_tokens", "n_ctx") if type(details.get(name)) is int}
    if any(kind in _OVERFLOW for kind in kinds):
        return _Trouble("context_overflow", status, again=False, numbers=numbers)
    named = {"error_type": kinds[0]} if kinds and _WORD.fullmatch(kinds[0]) else {}
    return _Trouble("request_rejected", status, again=False, numbers=named)


def _seconds(text: str | None) -> float | None:
    """What Retry-After says in seconds; a date is not obeyed."""
    return float(text) if text and re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text.strip()) else None


def _tokens(body: Any) -> Json:
    usage = body.get("usage") if isinstance(body, dict) else None
    usage = usage if isinstance(usage, dict) else {}
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    found = {"prompt_tokens": usage.get("prompt_tokens"), "cached_tokens": cached}
    found["completion_tokens"] = usage.get("completion_tokens")
    return {name: value if type(value) is int and value >= 0 else None for name, value in found.items()}
