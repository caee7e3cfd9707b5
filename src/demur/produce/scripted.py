"""The scripted endpoint: an OpenAI-compatible server on this machine that needs no model and no network.

It answers about synthetic interviews (`demur simulate interviews`) what their `answers.json` makes plausible, and it
can be told to fail. `python -m demur.produce.scripted FOLDER` runs it until it is stopped.
"""

import argparse
import contextlib
import json
import sys
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

from demur.errors import UserError
from demur.produce.scripted_answers import Prompted, Script
from demur.produce.scripted_bodies import MODEL, completion, embeddings

PORT = 8091  # where `produce.toml` of synthetic interviews looks for it
_CONTEXT = 16_384
_CHAT = "/v1/chat/completions"
_STEPS = {"/v1/models": "models", "/v1/embeddings": "embed"}
_NO_UTF8 = "The model produced output that does not match the expected peg-native format"

# Faults that are a status and the type of an error, as llama.cpp words it; others are told apart where they happen.
_REFUSALS = {
    "rate_limited": (429, "rate_limit_exceeded", "too many requests"),
    "server_error": (500, "server_error", _NO_UTF8),
    "unavailable": (503, "unavailable_error", "Loading model"),
    "context_overflow": (400, "exceed_context_size_error", "the request exceeds the available context size"),
    "bad_schema": (400, "invalid_request_error", "the schema cannot be made a grammar"),
    "auth": (401, "authentication_error", "Invalid API Key"),
    "no_embeddings": (501, "not_supported_error", "This server does not support embeddings"),
}
FAULTS = (
    *_REFUSALS,
    *("slow", "dropped", "cut"),  # the connection: late, closed without an answer, closed in the middle of one
    *("truncated", "prose", "fence", "fence_tokens"),  # the text; the fence in the content, or among the tokens alone
    *("wrong_types", "score_7", "missing_item"),  # the answer
    *("refusal", "content_filter", "empty"),
    *("logprobs_absent", "logprobs_unaligned", "seedless"),
    *("zero_vector", "short_vector", "nan_vector"),
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


@dataclass(slots=True)
class HttpAnswer:
    """What goes back: a status, headers and the text of a body."""

    text: str
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


class ScriptedEndpoint:
    """The server, as a context: `with ScriptedEndpoint(script) as endpoint: … endpoint.base_url …`.

    With `keep`, `exchanges` holds every request with its answer; without it, neither body.
    """

    def __init__(self, script: Script, faults: Iterable[Fault] = (), *, port: int = 0, keep: bool = False) -> None:
        self.script, self.faults, self.keep = script, [*faults], keep
        self.exchanges: list[Exchange] = []
        self._count, self._lock = 0, threading.Lock()
        try:
            self._server = _Server(port, self)
        except (OSError, OverflowError) as error:
            raise UserError(f"port {port} cannot be listened on ({error}): give another") from None
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def base_url(self) -> str:
        """Where it listens, to be configured as `base_url`."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _begun(self, body: Any, participant: str | None, step: str) -> tuple[Exchange, Fault | None]:
        """A request that has just arrived, and the fault that happens at it."""
        with self._lock:
            self._count += 1
            fault = next((fault for fault in self.faults if fault.strikes(self._count, participant, step)), None)
            kind = fault.kind if fault else None
            self.exchanges.append(Exchange(self._count, step, participant, kind, body if self.keep else None))
            return self.exchanges[-1], fault

    def respond(self, path: str, body: Any) -> tuple[HttpAnswer | None, Fault | None]:
        """The answer to a request, None to drop the connection, and the fault that happens at it."""
        asked = self.script.asked(body) if path == _CHAT and _has_messages(body) else None
        participant = asked.participant if asked else None
        step = asked.step if asked else _STEPS.get(path, "")
        exchange, fault = self._begun(body, participant, step)
        kind = exchange.fault
        if fault and kind == "slow":
            time.sleep(fault.seconds)
        given = None
        if fault and kind in _REFUSALS:
            given = _refused(*_REFUSALS[fault.kind], seconds=fault.seconds)
        elif kind != "dropped":
            given = _answered(path, body, asked, kind, exchange.number)
        if given and self.keep and kind != "cut":
            exchange.response = json.loads(given.text)
        return given, fault


def _has_messages(body: Any) -> bool:
    return isinstance(body, dict) and isinstance(body.get("messages"), list)


def _answered(path: str, body: Any, asked: Prompted | None, fault: str | None, number: int) -> HttpAnswer:
    """The answer to a request at which nothing is refused."""
    if path in ("/v1/models", "/health"):
        models = [{"id": MODEL, "object": "model", "owned_by": "demur"}]
        return HttpAnswer(json.dumps({"object": "list", "data": models, "status": "ok"}))
    if not isinstance(body, dict):
        return _refused(400, "invalid_request_error", "the body is not a JSON object")
    if body.get("model", MODEL) != MODEL:
        return _refused(404, "not_found_error", f"there is one model: {MODEL}")
    if _STEPS.get(path) == "embed":
        return HttpAnswer(embeddings(body, fault))
    if asked is None or body.get("n", 1) != 1 or body.get("stream") or body.get("tools"):
        return _refused(400, "invalid_request_error", "expected messages, and neither n, stream nor tools")
    if fault == "seedless":
        asked.seed = number
    return HttpAnswer(completion(body, asked, fault))


def _refused(status: int, kind: str, message: str, seconds: float = 0.0) -> HttpAnswer:
    error: dict[str, Any] = {"code": status, "type": kind, "message": message}
    if kind == "exceed_context_size_error":
        error |= {"n_prompt_tokens": 2 * _CONTEXT, "n_ctx": _CONTEXT}
    headers = {"Retry-After": f"{seconds:g}"} if _REFUSALS["rate_limited"][0] == status else {}
    return HttpAnswer(json.dumps({"error": error}), status, headers)


class _Server(ThreadingHTTPServer):
    request_queue_size = 256
    daemon_threads = True
    block_on_close = False

    def __init__(self, port: int, endpoint: ScriptedEndpoint) -> None:
        self.endpoint = endpoint
        super().__init__(("127.0.0.1", port), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a client that did not wait for the answer."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # an answer leaves in one piece, not line by line
    server: _Server

    def do_GET(self) -> None:
        self._reply(None)

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            body = json.loads(data)
        except ValueError:
            body = "not JSON"
        self._reply(body)

    def _reply(self, body: Any) -> None:
        given, fault = self.server.endpoint.respond(self.path, body)
        if given is None:
            self.close_connection = True
            return
        data = given.text.encode()
        self.send_response(given.status)
        for name, value in {"Content-Type": "application/json", **given.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        cut = fault is not None and fault.kind == "cut"
        self.close_connection |= cut
        self.wfile.write(data[: len(data) // 2] if cut else data)
        self.wfile.flush()

    def log_message(self, *_: Any) -> None:
        """Say nothing: a request holds a transcript."""


def main(words: Sequence[str]) -> int:
    """Serve the answers of a folder of synthetic interviews until interrupted."""
    parser = argparse.ArgumentParser(prog="python -m demur.produce.scripted", description=main.__doc__)
    parser.add_argument("folder", type=Path, help="a folder that demur simulate interviews wrote")
    parser.add_argument("port", type=int, nargs="?", default=PORT, help=f"where to listen; {PORT} if not given")
    given = parser.parse_args(words)
    try:
        endpoint = ScriptedEndpoint(Script.read(given.folder / "answers.json"), port=given.port)
    except UserError as error:
        sys.stderr.write(f"demur: {error}\n")
        return 2
    with endpoint:
        sys.stdout.write(f"scripted endpoint at {endpoint.base_url}, model {MODEL}; stop it with Ctrl-C\n")
        sys.stdout.flush()
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
