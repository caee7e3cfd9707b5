"""`demur produce`, 5 samples of each participant, from an endpoint that answers at once: beside the bare request.

That is sent by httpx, and its answer parsed. Half a core for 100 requests a second is 5 ms per request.
"""

from __future__ import annotations

import json
import math
import multiprocessing
import resource
import socketserver
import tempfile
from collections.abc import Iterator
from pathlib import Path

import httpx
from pydantic_core import from_json
from timing import Ratio, against, spent

from demur.extensions.produce.config import checked_settings
from demur.extensions.produce.inputs import read_inputs_of
from demur.extensions.produce.producing import ProduceOptions, Production
from demur.facts.instruments import PHQ8

PEOPLE, SAMPLES, REFERENCES = 200, 5, 200
ITEM = {"evidence": "i wake up at night", "reason": "said so, and often", "score": 2, "confidence": 4}


def completion(value):
    """An answer of one token per four characters, each with five alternatives."""
    text = json.dumps(value)
    pieces = [text[start : start + 4] for start in range(0, len(text), 4)]
    top = [{"token": " x", "bytes": [32, 120], "logprob": math.log(0.9 / 2**rank) - 0.1} for rank in range(5)]
    tokens = [
        {"token": piece, "bytes": [*piece.encode()], "logprob": -0.2, "top_logprobs": top[1:]} for piece in pieces
    ]
    choice = {
        "message": {"content": text},
        "finish_reason": "stop",
        "logprobs": {"content": tokens},
    }
    spent = {"prompt_tokens": 500, "completion_tokens": len(tokens)}
    return json.dumps({"choices": [choice], "usage": spent}).encode()


REPLIES = {
    b'"name":"evidence"': completion({item: ["i wake up at night"] for item in PHQ8.items}),
    b'"name":"score"': completion(dict.fromkeys(PHQ8.items, ITEM)),
    b'"eighth"': completion(dict.fromkeys("abc", 1)),
    b'"name":"probe"': completion({"score": 2}),
}


class Instant(socketserver.StreamRequestHandler):
    """Answers from memory."""

    def handle(self):
        """One connection, as long as it lasts."""
        while head := self.rfile.readline():
            length = 0
            while (line := self.rfile.readline()).strip():
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            body = self.rfile.read(length)
            models = b'{"data": [{"id": "m"}]}'
            reply = models if head.startswith(b"GET") else next(text for mark, text in REPLIES.items() if mark in body)
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(reply) + reply)


class Server(socketserver.ThreadingTCPServer):
    """A thread for each connection."""

    daemon_threads = True
    request_queue_size = 64


def serve(pipe):
    with Server(("127.0.0.1", 0), Instant) as server:
        pipe.send(server.server_address[1])
        server.serve_forever()


def folder_of(path):
    """Transcripts, truth and split of made-up people."""
    (path / "transcripts").mkdir()
    names = [*range(1, PEOPLE + 1)]
    for name in names:
        (path / "transcripts" / f"{name}.txt").write_text("well\ni wake up at night\nmost days\n" * 10)
    header = ",".join(["participant_id", *(f"PHQ8_{item}" for item in PHQ8.items)])
    (path / "truth.csv").write_text("\n".join([header, *(f"{name},0,1,2,3,0,1,2,3" for name in names)]) + "\n")
    (path / "dev.csv").write_text("\n".join(["participant_id", *map(str, names)]) + "\n")
    return {"transcripts": "transcripts", "truth": "truth.csv", "split": "dev.csv"}


def bare(url, body):
    """CPU seconds of a request alone."""
    with httpx.Client(verify=False) as client:  # noqa: S501  (plain HTTP)
        began = spent()
        for _ in range(REFERENCES):
            from_json(client.post(url, json=body).content)
        return (spent() - began) / REFERENCES


def ratios(_: Path | None) -> Iterator[Ratio]:
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs,), daemon=True)
    process.start()
    url = f"http://127.0.0.1:{ours.recv()}/v1"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        content = {"data": folder_of(folder), "endpoint": {"base_url": url, "model": "m"}}
        content["assess"] = {"mode": "zero_shot", "consistency_samples": SAMPLES}
        inputs = read_inputs_of(checked_settings(content), folder)
        body = {"messages": [{"content": "x" * 3000}], "response_format": {"json_schema": {"name": "score"}}}
        reference, began = bare(f"{url}/chat/completions", body), spent()
        Production(inputs, folder / "run", ProduceOptions()).produce()
        each = (spent() - began) / (PEOPLE * (1 + SAMPLES))
    process.terminate()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    cost = f"{each * 1000:.2f} ms per request (at most 5), {memory} MB"
    yield from against(f"demur produce, {PEOPLE} participants", cost, each, {"the bare request": reference})
