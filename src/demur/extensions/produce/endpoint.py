"""The client of an OpenAI-compatible server, which retries requests if that may help."""

from __future__ import annotations

import asyncio
import os
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.cookiejar import CookieJar
from typing import Any, Self
from urllib.parse import urlsplit

import httpx
from pydantic_core import from_json  # a third faster than json, for replies with hundreds of tokens

from demur.errors import UserError
from demur.extensions.produce.config import ProduceSettings, is_loopback, origin
from demur.extensions.produce.failures import EndpointError, ParticipantFailure
from demur.extensions.produce.rate_limits import Pace, backoff, seed_of
from demur.files.limits import LINE
from demur.types import Json

_CONNECT_SECONDS = 10.0
_RETRIED = (408, 409, 425, 429)
_SERVER, _TOO_MANY, _CLIENT_ERROR = 500, 429, 400
_MOST_ATTEMPTS_AT_500 = 3  # attempts at a request that gives a 500, as the same seed is likely to fail again
_OVERFLOW = ("exceed_context_size_error", "context_length_exceeded")
_ERROR_TYPE = re.compile(r"[a-z_]{1,60}")
_KEY = re.compile(r"[!-~]+")
_MOST_COUNTED = 2**53  # a larger count of tokens is no count, and has no exact float

Key = tuple[str, str, str, int]  # mode, participant, step, sample
Record = Callable[[str, Key, Json], None]


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request, its key in the journal, and the largest number of attempts, if not that of the configuration."""

    path: str
    key: Key
    body: Json | None = None
    attempts: int | None = None

    @property
    def embeds(self) -> bool:
        """Whether the request is for embeddings."""
        return self.path == "/embeddings"


@dataclass(frozen=True, slots=True)
class HttpReply:
    """The body of a reply, and the number of attempts it took."""

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
    """Sends requests to the server; a context manager. `record` is called for every attempt."""

    def __init__(
        self, settings: ProduceSettings, pace: Pace, record: Record, transport: httpx.AsyncBaseTransport | None = None
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
        # Exchanges run in an event loop, because only there can one be given up at a deadline, whatever it waits for.
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        for client in self._clients.values():
            asyncio.run_coroutine_threadsafe(client.aclose(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def call(self, request: HttpRequest) -> HttpReply:
        """Send a request, again if it fails, until there is a reply or another attempt cannot help."""
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
        """Request the embeddings of texts, in order, unchecked."""
        body = {"model": self.settings.embedding_model or self.settings.model, "input": [*texts]}
        listed = self.call(HttpRequest("/embeddings", key, body)).body.get("data")
        entries = [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
        indices = [entry.get("index", index) for index, entry in enumerate(entries)]
        if any(type(index) is not int for index in indices) or sorted(indices) != [*range(len(texts))]:
            raise ParticipantFailure("embedding_invalid", key[2], numbers={"vectors": len(entries)})
        by_index = dict(zip(indices, entries, strict=True))
        return [by_index[index].get("embedding") for index in range(len(texts))]

    def _once(self, request: HttpRequest, attempt: int) -> Json | _FailedAttempt:
        started = time.monotonic()
        status: int | None = None
        body: Any = None
        try:
            exchange = asyncio.run_coroutine_threadsafe(self._exchange(request), self._loop)
            status, headers, data = exchange.result()
            body = from_json(data) if data else None
            outcome: Json | _FailedAttempt = _judged(status, headers, body)
        except (httpx.TimeoutException, TimeoutError):
            outcome = _FailedAttempt("timeout")
        except (httpx.HTTPError, OSError):
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

    async def _exchange(self, request: HttpRequest) -> tuple[int, Mapping[str, str], bytes]:
        """Status, headers and body; the timeout is that of the whole exchange, from connecting to the last byte."""
        client, timeout, data = self._clients[request.embeds], self.settings.timeout, bytearray()
        method = "GET" if request.body is None else "POST"
        limits = httpx.Timeout(timeout, connect=min(_CONNECT_SECONDS, timeout))
        async with (
            asyncio.timeout(timeout),
            client.stream(method, request.path.lstrip("/"), json=request.body, timeout=limits) as response,
        ):
            # Not unpacked, though it was not to be packed: a few bytes may become more than any memory, or endless.
            if response.headers.get("content-encoding", "identity").lower() != "identity":
                return response.status_code, response.headers, b""
            async for piece in response.aiter_bytes():
                data += piece
                LINE.check(len(data))
        return response.status_code, response.headers, bytes(data)


def _client(url: str, variable: str, connections: int, transport: httpx.AsyncBaseTransport | None) -> httpx.AsyncClient:
    key, local = os.environ.get(variable) if variable else None, is_loopback(url)
    if key and not _KEY.fullmatch(key):
        raise UserError(f"the value of {variable} is not a key: expected printable ASCII characters without spaces")
    try:
        client = httpx.AsyncClient(
            base_url=url if urlsplit(url).path.endswith("/") else f"{url}/",
            headers={"Accept-Encoding": "identity"} | ({"Authorization": f"Bearer {key}"} if key else {}),
            limits=httpx.Limits(max_connections=connections, max_keepalive_connections=connections),
            # Requests to this machine must not go through a proxy from the environment.
            trust_env=not local,
            # Loading certificates takes long, and plain HTTP without a proxy needs none.
            verify=not local or urlsplit(url).scheme == "https",
            transport=transport,
        )
    except (ImportError, OSError, ValueError, httpx.InvalidURL):
        names = "HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY, SSL_CERT_FILE or SSL_CERT_DIR"
        raise UserError(f"the environment names a proxy or certificates that cannot be used; see {names}") from None
    client.cookies.jar = _NoCookies()
    return client


class _NoCookies(CookieJar):
    """Ignores cookies: no endpoint needs any, and the parser of the standard library warns of odd ones on stderr."""

    def extract_cookies(self, *_: object) -> None:
        pass


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
    counts = {name: _count(details.get(name)) for name in ("n_prompt_tokens", "n_ctx")}
    numbers = {name: count for name, count in counts.items() if count is not None}
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
    return {name: _count(value) for name, value in counts.items()}


def _count(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value < _MOST_COUNTED else None
