"""A reply is an answer, a failure with a category, or shows what the endpoint lacks: never a bug of ours."""

import copy
import json
import os
import random
import tempfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands import demur
from damage import damaged_bytes
from demur.extensions.produce.failures import EndpointError
from demur.extensions.produce.scripted import ScriptedEndpoint
from demur.extensions.produce.scripted_answers import Script
from demur.read import read_inputs
from parametrized import parametrize_few
from producing import failures, interviews, production

LONGEST = 8.0  # seconds that a run of one participant takes at most
LOCAL = "http://127.0.0.1:9/v1"
AWKWARD = (
    *(None, True, False, -1, 0, 7, 1.5, 1e308, -1e308, 5e-324, 10**9, 10**20, 10**400, -(10**400), 2**63),
    *("", "x", "٠", "null", "\x1b[2J", "\x00", "\u202e", "```", "sk-key" * 999, float("nan"), float("-inf")),
    *([], {}, [[]], [None], [10**400], {"a": None}, [[[[[]]]]], ["x"]),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return interviews(tmp_path_factory.mktemp("spoiled") / "interviews")


@pytest.fixture(scope="module")
def scripted(folder):
    with ScriptedEndpoint(Script.read(folder / "answers.json")) as endpoint:
        yield endpoint


def places(content, path=()):
    """Every place in nested lists and objects."""
    yield path
    members = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for name, value in members:
        yield from places(value, (*path, name))


def spoil(content, path, value, how):
    """The content with another value at one place, or nothing, or the member twice."""
    if not path:
        return value
    changed = copy.deepcopy(content)
    parent = changed
    for name in path[:-1]:
        parent = parent[name]
    if how == "replace":
        parent[path[-1]] = value
    elif how == "remove":
        del parent[path[-1]]
    elif isinstance(parent, list):
        parent.append(copy.deepcopy(parent[path[-1]]))
    else:
        parent[str(value)[:20]] = parent[path[-1]]
    return changed


def spoiled(rng, text):
    """A reply with something wrong in its structure, in its answer, or in its bytes."""
    if rng.random() < 0.15:
        return damaged_bytes(rng, text.encode())
    content = json.loads(text)
    message = content["choices"][0]["message"] if "choices" in content and rng.random() < 0.4 else None
    if message:  # the JSON that the model wrote
        answer = json.loads(message["content"])
        message["content"] = json.dumps(spoil(answer, *change(rng, answer)))
    else:
        content = spoil(content, *change(rng, content))
    return json.dumps(content).encode()


def change(rng, content):
    """A place, another value for it, and what to do there."""
    by_name = {}  # all numbers of a vector are one kind of place
    for path in places(content):
        by_name.setdefault(tuple(name for name in path if isinstance(name, str)), []).append(path)
    path = rng.choice(by_name[rng.choice([*by_name])])
    return path, rng.choice(AWKWARD), rng.choice(["replace", "replace", "replace", "remove", "twice"])


def outcome_of(folder, scripted, rng, often):
    """What became of a run of one participant whose endpoint spoils some replies."""

    def handler(request):
        body = json.loads(request.content) if request.content else None
        text = scripted.respond(request.url.path, body).text
        return httpx.Response(200, content=spoiled(rng, text) if rng.random() < often else text.encode())

    retries = {"endpoint": {"retries": rng.choice([0, 1]), "concurrency": 1}}
    with tempfile.TemporaryDirectory() as run:
        how = {"limit": 1, "changes": retries, "transport": httpx.MockTransport(handler)}
        try:
            outcome = production(folder, LOCAL, Path(run), **how).produce()
        except EndpointError as error:
            assert str(error).isprintable()
            return "endpoint"
        assert [each for each in failures(Path(run)) if each["category"] == "internal"] == []
        if outcome.failed:
            return "failed"
        for mode in ("zero_shot", "few_shot"):
            assert read_inputs([outcome.run], modes=(mode,), instrument=str(folder / "instrument.json"))
        return "done"


def of_tokens(**members):
    """Every token with other members."""

    def change(content):
        for choice in content.get("choices", []):
            for entry in (choice["logprobs"] or {"content": []})["content"]:
                entry.update(members)

    return change


def of_vectors(**members):
    def change(content):
        for entry in content["data"]:
            entry.update(members)

    return change


def of_usage(content):
    if "usage" in content:
        content["usage"] = dict.fromkeys(content["usage"], 10**400)


def of_content(text):
    def change(content):
        for choice in content.get("choices", []):
            choice["message"]["content"] = text.replace("…", choice["message"]["content"])

    return change


def of_quotes(content):
    for choice in content.get("choices", []):
        answer = json.loads(choice["message"]["content"])
        quotes = {name: ["a" + "\u0315\u0300" * 50_000] for name, own in answer.items() if isinstance(own, list)}
        choice["message"]["content"] = json.dumps(answer | quotes)


NO_LOGPROBS = "the endpoint gives no log-probabilities; to run without token signals, give --allow-missing logprobs"
NO_EMBEDDINGS = "the endpoint makes no embeddings, which few_shot needs"
KNOWN = {
    "logprob null": (of_tokens(logprob=None), 5, NO_LOGPROBS),
    "logprob 1e308": (of_tokens(logprob=1e308), 5, NO_LOGPROBS),
    "logprob 10^400": (of_tokens(logprob=10**400), 5, NO_LOGPROBS),
    "alternatives null": (of_tokens(top_logprobs=[{"token": "0", "logprob": None}]), 5, NO_LOGPROBS),
    "alternatives 1e308": (of_tokens(top_logprobs=[{"token": "0", "logprob": 1e308}]), 5, NO_LOGPROBS),
    "alternatives of none": (of_tokens(top_logprobs=[{}]), 5, NO_LOGPROBS),
    "bytes 10^20": (of_tokens(bytes=10**20), 5, NO_LOGPROBS),
    "bytes 10^10": (of_tokens(bytes=10**10), 5, NO_LOGPROBS),
    "bytes of 10^20": (of_tokens(bytes=[10**20]), 5, NO_LOGPROBS),
    "index []": (of_vectors(index=[]), 5, NO_EMBEDDINGS),
    "index {}": (of_vectors(index={}), 5, NO_EMBEDDINGS),
    "index 1e308": (of_vectors(index=1e308), 5, NO_EMBEDDINGS),
    "vector 10^400": (of_vectors(embedding=[10**400, 1]), 5, NO_EMBEDDINGS),
    "vector 1e308": (of_vectors(embedding=[1e308, 1e308]), 5, NO_EMBEDDINGS),
    "vector 1e-320": (of_vectors(embedding=[1e-320, 1e-320]), 5, NO_EMBEDDINGS),
    "vector of texts": (of_vectors(embedding=["1", "2"]), 5, NO_EMBEDDINGS),
    "vector of booleans": (of_vectors(embedding=[True, True]), 5, NO_EMBEDDINGS),
    "names of models": (of_vectors(id="\x9b2J" + "x" * 10**6), 0, ""),
    "tokens 10^400": (of_usage, 0, ""),
    "a fence of spaces": (of_content("```" + " " * 4000 + "x"), 5, "no answers that fit a JSON schema"),
    "a fence of lines": (of_content("```json" + "\n" * 100_000 + "…" + "\n" * 100_000 + "```"), 0, ""),
    "a tower of accents": (of_quotes, 0, ""),
}


@parametrize_few("name", KNOWN, 8)
def test_a_reply_that_is_wrong_in_one_respect(folder, tmp_path, name):
    change, code, told = KNOWN[name]

    class Changed(ScriptedEndpoint):
        def respond(self, path, body):
            given = super().respond(path, body)
            content = json.loads(given.text)
            if ("/embeddings" in path or "/models" in path) == (change.__qualname__.startswith("of_vectors")):
                change(content)
            return replace(given, text=json.dumps(content))

    words = ("--run-folder", tmp_path / "run", "--limit", 1, "--price-in", 1, "--price-out", 1, "--quiet")
    started = time.monotonic()
    with Changed(Script.read(folder / "answers.json")) as endpoint:
        found = demur(folder, "produce", "--config", "produce.toml", "--base-url", endpoint.base_url, *words)
    assert (found.returncode, found.stdout, found.stderr.count("\n")) == (code, "", 1 if code else 0)
    assert told in found.stderr
    assert time.monotonic() - started < LONGEST


@given(rng=st.randoms(use_true_random=True), often=st.sampled_from([0.1, 0.3, 1.0]))
@pytest.mark.slow
def test_a_spoiled_reply_is_never_a_bug_of_ours(folder, scripted, rng, often):
    outcome_of(folder, scripted, rng, often)


@pytest.mark.slow
@pytest.mark.fuzz
def test_thousands_of_spoiled_replies(folder, scripted, record_property):
    counts, until = Counter(), time.monotonic() + float(os.environ.get("FUZZ_SECONDS", "40"))
    while time.monotonic() < until:
        rng = random.Random(counts.total())
        counts[outcome_of(folder, scripted, rng, rng.choice([0.02, 0.1, 0.3]))] += 1
    record_property("fuzz endpoint", dict(counts))
    assert min(counts[each] for each in ("done", "failed", "endpoint")) > 0
