"""The scripted endpoint: an OpenAI-compatible server on this machine that needs no model and no network.

It answers questions about synthetic interviews (`demur simulate interviews`) from their `answers.json`.
`python -m demur.produce.scripted FOLDER` runs it until it is stopped.
"""

import argparse
import contextlib
import json
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

from demur.errors import UserError
from demur.produce.scripted_answers import Script
from demur.produce.scripted_bodies import MODEL, completion, embeddings

PORT = 8091  # as in the `produce.toml` of synthetic interviews


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """A reply: the text of its body, a status, and headers."""

    text: str
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


class ScriptedEndpoint:
    """The server, as a context manager: `with ScriptedEndpoint(script) as endpoint: … endpoint.base_url …`."""

    def __init__(self, script: Script, *, port: int = 0) -> None:
        self.script = script
        try:
            self._server = _Server(port, self)
        except (OSError, OverflowError) as error:
            raise UserError(f"port {port} cannot be listened on ({error}): give another") from None
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def base_url(self) -> str:
        """The address to configure as `base_url`."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def respond(self, path: str, body: Any) -> HttpAnswer:
        """The reply to a request."""
        if path in ("/v1/models", "/health"):
            models = [{"id": MODEL, "object": "model", "owned_by": "demur"}]
            return HttpAnswer(json.dumps({"object": "list", "data": models, "status": "ok"}))
        if not isinstance(body, dict):
            return refused(400, "invalid_request_error", "the body is not a JSON object")
        if body.get("model", MODEL) != MODEL:
            return refused(404, "not_found_error", f"there is one model: {MODEL}")
        if path == "/v1/embeddings":
            return HttpAnswer(embeddings(body))
        plain = body.get("n", 1) == 1 and not body.get("stream") and not body.get("tools")
        if path != "/v1/chat/completions" or not isinstance(body.get("messages"), list) or not plain:
            return refused(400, "invalid_request_error", "expected messages, and neither n, stream nor tools")
        return HttpAnswer(completion(body, self.script.question(body)))


def refused(status: int, kind: str, message: str) -> HttpAnswer:
    """An error in the format of llama.cpp."""
    return HttpAnswer(json.dumps({"error": {"code": status, "type": kind, "message": message}}), status)


class _Server(ThreadingHTTPServer):
    request_queue_size = 256
    daemon_threads = True
    block_on_close = False

    def __init__(self, port: int, endpoint: ScriptedEndpoint) -> None:
        self.endpoint = endpoint
        super().__init__(("127.0.0.1", port), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a client that closed the connection before the answer."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # buffered, so that an answer is not sent line by line
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
        answer = self.server.endpoint.respond(self.path, body)
        data = answer.text.encode()
        self.send_response(answer.status)
        headers = {"Content-Type": "application/json", "Content-Length": str(len(data)), **answer.headers}
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()

    def log_message(self, *_: Any) -> None:
        """Log nothing, because a request contains a transcript."""


def main(words: Sequence[str]) -> int:
    """Serve the answers of a folder of synthetic interviews until interrupted."""
    parser = argparse.ArgumentParser(prog="python -m demur.produce.scripted", description=main.__doc__)
    parser.add_argument("folder", type=Path, help="a folder that demur simulate interviews wrote")
    parser.add_argument("port", type=int, nargs="?", default=PORT, help=f"where to listen; {PORT} if not given")
    options = parser.parse_args(words)
    try:
        endpoint = ScriptedEndpoint(Script.read(options.folder / "answers.json"), port=options.port)
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
