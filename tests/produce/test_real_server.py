"""A real llama.cpp server with random weights: it proves the protocol, not the quality. Run by `make test-endpoint`."""

import json
import math
import os
import subprocess
from contextlib import contextmanager
from pathlib import Path

import httpx
import numpy as np
import pytest

from commands import demur
from demur.extensions.produce.probe import _MESSAGES, _SCHEMA
from demur.extensions.produce.signals import Tokens
from producing import SHORT, interviews, produced

SCRIPTS = Path(__file__).parents[2] / "scripts"
PYTHON = os.environ.get("DEMUR_ENDPOINT_PYTHON", "")
pytestmark = [pytest.mark.endpoint, pytest.mark.skipif(not PYTHON, reason="make test-endpoint sets up the server")]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Two models: one writes nothing but ASCII, the other knows every byte."""
    folder = tmp_path_factory.mktemp("models")
    for name, words in {"ascii": ["ascii"], "bytes": []}.items():
        subprocess.run([PYTHON, SCRIPTS / "tiny_model.py", folder / f"{name}.gguf", *words], check=True)
    return folder


@contextmanager
def server(model, *words):
    """Where llama.cpp serves a model: on loopback, as long as this lasts."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    with subprocess.Popen([PYTHON, SCRIPTS / "serve_model.py", model, *words], **pipes) as process:
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:")
        yield f"{address}/v1"
        process.stdin.close()


@pytest.fixture(scope="module")
def writer(models):
    with server(models / "ascii.gguf") as url:
        yield url


@pytest.fixture(scope="module")
def embedder(models):
    with server(models / "ascii.gguf", "embeddings") as url:
        yield url


def test_the_probe_finds_what_the_server_can_do(writer, tmp_path):
    told = demur(tmp_path, "produce", "--probe", "--base-url", writer, "--model", "ascii.gguf")
    assert json.loads(told.stdout) == {
        "models": ["ascii.gguf"],
        "schema": True,
        "logprobs": True,
        "aligned": True,
        "logprobs_stage": "raw",
        "seeded": True,
        "embeddings": None,
    }


def test_few_shot_without_embeddings_is_refused(writer, tmp_path):
    folder = interviews(tmp_path / "interviews")
    words = ("--config", "produce.toml", "--base-url", writer, "--model", "ascii.gguf", "--run-folder", "run")
    told = demur(folder, "produce", *words)
    assert told.returncode == 5
    assert "the endpoint makes no embeddings, which few_shot needs" in told.stderr


@pytest.fixture(scope="module")
def run(writer, embedder, tmp_path_factory):
    folder = interviews(tmp_path_factory.mktemp("real") / "interviews")
    endpoint = {"model": "ascii.gguf", "embedding_model": "ascii.gguf", "embedding_base_url": embedder}
    changes = {"endpoint": {**endpoint, "concurrency": 2}, "assess": {"temperature": 1.0, "max_tokens": 8192}}
    changes["retrieval"] = {"min_evidence_chars": 0}
    path = tmp_path_factory.mktemp("real") / "run"
    return *produced(folder, writer, path, changes=changes), path


def test_answers_fit_the_schema_and_every_item_has_real_token_signals(run):
    outcome, found, _ = run
    assert (outcome.code, outcome.done) == (0, 4)
    for entry in found.values():
        for item in SHORT.items:
            assert entry["predicted_items"][item] in (None, 0, 1, 2, 3)
            signals = entry["item_signals"][item]
            assert 0 < signals["token_msp"] <= 1
            assert signals["token_pe"] > 0 > signals["token_energy"]
            assert 0 <= signals["token_answer_mass"] <= 1
            assert 0 < signals["token_msp_completion"] < 1


def test_quotes_that_random_weights_make_up_are_not_grounded(run):
    _, found, _ = run
    counts = [signals["llm_evidence_count"] for entry in found.values() for signals in entry["item_signals"].values()]
    assert sum(counts) == 0


def test_passages_of_the_references_are_embedded(run):
    _, _, path = run
    vectors = np.load(path / "references.npz")["vectors"]
    assert vectors.shape[1] == 64
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1)


def test_embeddings_are_real_numbers_of_the_models_width(embedder):
    body = {"model": "ascii.gguf", "input": ["I sleep well.", "Most days I am tired."]}
    vectors = [entry["embedding"] for entry in httpx.post(f"{embedder}/embeddings", json=body).json()["data"]]
    assert [len(vector) for vector in vectors] == [64, 64]
    assert all(math.isfinite(value) for vector in vectors for value in vector)
    assert vectors[0] != vectors[1]


def test_tokens_of_a_model_that_knows_every_byte_are_aligned_by_bytes(models):
    """The prompt is not ASCII; the closed schema keeps the answer to what can be spelled."""
    system, user = _MESSAGES
    with server(models / "bytes.gguf") as url:
        for seed in range(5):
            body = {"model": "x", "messages": [system, {**user, "content": "Schlafstörung – «nie» 睡眠"}], "seed": seed}
            body |= {"max_tokens": 256, "temperature": 1.0, "logprobs": True, "top_logprobs": 5}
            schema = {"name": "x", "strict": True, "schema": _SCHEMA}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
            (choice,) = httpx.post(f"{url}/chat/completions", json=body, timeout=60).json()["choices"]
            content = choice["message"]["content"]
            assert json.loads(content)["score"] in (None, 0, 1, 2, 3)
            tokens = Tokens.aligned(choice["logprobs"]["content"], content.strip())
            first, last = tokens.offsets[0], tokens.offsets[-1]
            spelled = b"".join(bytes(entry["bytes"]) for entry in tokens.entries)
            assert spelled[-first : len(content.strip().encode()) - first] == content.strip().encode()
            assert last >= len(content.strip().encode())
