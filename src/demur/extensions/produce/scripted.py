"""A scripted endpoint: an OpenAI-compatible server on this machine that needs no model and no network.

It answers questions about synthetic interviews (`demur simulate interviews`) from their `answers.json`.
`python -m demur.extensions.produce.scripted FOLDER` runs it until it is stopped.
"""

import argparse
import contextlib
import json
import math
import re
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

from demur.errors import UserError
from demur.extensions.produce.scripted_answers import Drawn, Prompted, Script, answer, uniform

MODEL = "scripted"
PORT = 8091  # as in the `produce.toml` of synthetic interviews
_TOKEN = re.compile(r"[A-Za-z]+|\d|[^A-Za-z\d]+")
_OTHERS = ("the", "and", "it", "so", "like", "well", "or", "but", "if", "as", "at", "on", "by", "to", "of", "in", "no")
_DIMENSIONS = 64


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """A reply: the text of its body, its status and its headers."""

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
        """Compute the reply to a request."""
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
    """Build an error reply in the format of llama.cpp."""
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


def embeddings(body: Mapping[str, Any]) -> str:
    """The reply to an embeddings request, as JSON text."""
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    data = [{"object": "embedding", "index": index, "embedding": embedding(text)} for index, text in enumerate(texts)]
    count = sum(map(_length, texts))
    usage = {"prompt_tokens": count, "total_tokens": count}
    return json.dumps({"object": "list", "model": MODEL, "data": data, "usage": usage})


def completion(body: Mapping[str, Any], question: Prompted, value: Any = None) -> str:
    """The reply to a chat request as JSON text, with the scripted answer or another value."""
    complete = [*tokens(pieces(answer(question) if value is None else value))]
    generated = complete[: int(body.get("max_tokens") or len(complete))]
    message = {"role": "assistant", "content": "".join(text for text, _ in generated).lstrip(" ")}
    usage = {"prompt_tokens": _length(question.prompt), "completion_tokens": len(generated)}
    usage["total_tokens"] = sum(usage.values())
    rest = {"id": "scripted", "object": "chat.completion", "created": 0, "model": MODEL, "usage": usage}
    finish, logprobs = "stop" if len(generated) == len(complete) else "length", "null"
    if body.get("logprobs"):
        top = int(body.get("top_logprobs") or 0)
        entries = (choice_entry(choice, top) if choice else plain_entry(text, top) for text, choice in generated)
        logprobs = f'{{"content": [{", ".join(entries)}]}}'
    choice = f'"index": 0, "finish_reason": "{finish}", "message": {json.dumps(message)}, "logprobs": {logprobs}'
    return f'{json.dumps(rest)[:-1]}, "choices": [{{{choice}}}]}}'


def _length(text: str) -> int:
    return len(text) // 4 + 1


def pieces(value: Any) -> Iterator[str | Drawn]:
    """Split an answer, as JSON text, into pieces; each drawn value is a piece of its own."""
    if not isinstance(value, dict):
        yield value if isinstance(value, Drawn) else " " + json.dumps(value)
        return
    before = " {"
    for name, member in value.items():
        yield f"{before}{json.dumps(name)}:"
        yield from pieces(member)
        before = ", "
    yield "}" if value else " {}"


def tokens(parts: Iterable[str | Drawn]) -> Iterator[tuple[str, Drawn | None]]:
    """Split an answer into tokens: words, digits and what is between; a drawn value is one, with a space before."""
    for part in parts:
        if isinstance(part, Drawn):
            yield f" {part.text}", part
        else:
            yield from ((text, None) for text in _TOKEN.findall(part))


@lru_cache(maxsize=20_000)
def plain_entry(text: str, top: int) -> str:
    """The log-probabilities, as JSON, of a token that was not drawn; they depend only on its text."""
    likely = 0.6 + 0.399 * uniform("token", text)
    others = [word for word in _OTHERS if word != text][: max(top - 1, 0)]
    odds = {text: likely, **{word: (1 - likely) * 0.45 * 0.5**rank for rank, word in enumerate(others)}}
    return entry(text, likely, odds, top)


def choice_entry(choice: Drawn, top: int) -> str:
    """The log-probabilities, as JSON, of a drawn value."""
    odds = {f" {text}": share for text, share in choice.odds.items()}
    return entry(f" {choice.text}", odds[f" {choice.text}"], odds, top)


def entry(text: str, likely: float, odds: Mapping[str, float], top: int) -> str:
    """Format one token as endpoints do: its bytes, its log-probability, and the most likely alternatives."""
    listed = sorted(odds.items(), key=lambda pair: -pair[1])[:top]
    alternatives = [{"token": word, "bytes": [*word.encode()], "logprob": math.log(share)} for word, share in listed]
    token = {"token": text, "bytes": [*text.encode()], "logprob": math.log(likely), "top_logprobs": alternatives}
    return json.dumps(token)


def embedding(text: str) -> list[float]:
    """An embedding by feature hashing: each word is counted at the index and with the sign of its hash."""
    vector = [0.0] * _DIMENSIONS
    for word in re.findall(r"\w+", text.lower()) or [""]:
        position = _signed_position(word)
        vector[abs(position) - 1] += math.copysign(1.0, position)
    if not any(vector):  # words that cancel out
        vector[0] = 1.0
    return vector


@lru_cache(maxsize=20_000)
def _signed_position(word: str) -> int:
    number = int.from_bytes(sha256(word.encode()).digest()[:4])
    return (number % _DIMENSIONS + 1) * (1 if number & 2**31 else -1)


def main(words: Sequence[str]) -> int:
    """Serve the answers of a folder of synthetic interviews until interrupted."""
    parser = argparse.ArgumentParser(prog="python -m demur.extensions.produce.scripted", description=main.__doc__)
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
