"""The scripted endpoint speaks the protocol, and answers the same when asked the same."""

import http.client
import json
import math

import pytest

from demur.produce.scripted import ScriptedEndpoint, main
from demur.produce.scripted_answers import Script

ITEMS = ("Sleep", "Tired")
LINES = {"300": ["i sleep badly nearly every night", "no energy"], "301": ["i sleep well", "work is fine"]}
SCRIPT = Script.of(
    {
        "scale": [0, 1, 2, 3],
        "participants": [
            {
                "id": who,
                "assessed": who == "300",
                "lines": lines,
                "items": {
                    item: {"score": 3, "quotes": [lines[place]], "reason": "said so", "ambiguity": 0.5}
                    for place, item in enumerate(ITEMS)
                },
            }
            for who, lines in LINES.items()
        ],
    }
)
TEXT = {"type": "string", "maxLength": 20}
SCORED = {
    "type": "object",
    "properties": {
        "evidence": TEXT,
        "reason": TEXT,
        "score": {"enum": [0, 1, 2, 3, None]},
        "confidence": {"enum": [1, 2, 3, 4, 5, None]},
    },
}
SCORE = {"type": "object", "properties": dict.fromkeys(ITEMS, SCORED)}
QUOTES = {"type": "array", "items": TEXT}
EVIDENCE = {"type": "object", "properties": dict.fromkeys(ITEMS, QUOTES)}
CLOSED = {"type": "object", "properties": {"score": {"enum": [0, 1, 2, 3, None]}}}


def asking(schema, who="300", **more):
    return {
        "model": "scripted",
        "messages": [
            {"role": "system", "content": "score"},
            {"role": "user", "content": "\n".join(LINES.get(who, []))},
        ],
        "seed": 5,
        "logprobs": True,
        "top_logprobs": 5,
        "response_format": {"type": "json_schema", "json_schema": {"name": "x", "strict": True, "schema": schema}},
        **more,
    }


def call(endpoint, body, path="/chat/completions", method="POST"):
    connection = http.client.HTTPConnection(endpoint.base_url.split("/")[2], timeout=5)
    try:
        connection.request(method, f"/v1{path}", json.dumps(body), {"Content-Type": "application/json"})
        response = connection.getresponse()
        return response.status, response.headers, json.load(response)
    finally:
        connection.close()


def post(endpoint, body, path="/chat/completions"):
    status, _, given = call(endpoint, body, path)
    assert status == 200
    return given


@pytest.fixture(scope="module")
def endpoint():
    with ScriptedEndpoint(SCRIPT) as running:
        yield running


def content(response):
    return json.loads(response["choices"][0]["message"]["content"])


def test_it_listens_on_this_machine_alone_and_lists_its_model(endpoint):
    assert endpoint.base_url.startswith("http://127.0.0.1:")
    _, _, models = call(endpoint, None, "/models", "GET")
    assert [model["id"] for model in models["data"]] == ["scripted"]


def test_the_step_is_told_by_the_schema_and_the_participant_by_the_lines(endpoint):
    quotes = content(post(endpoint, asking(EVIDENCE)))
    assert list(quotes) == list(ITEMS)
    assert quotes["Sleep"][0] == LINES["300"][0]
    scored = content(post(endpoint, asking(SCORE)))
    for item in scored.values():
        assert list(item) == ["evidence", "reason", "score", "confidence"]
        assert (item["score"] is None) == (item["confidence"] is None)
        assert len(item["evidence"]) <= 20


def test_references_of_others_in_the_prompt_do_not_hide_who_is_assessed():
    body = asking(SCORE)
    body["messages"][1]["content"] += "\n(Sleep, 0)\n" + "\n".join(LINES["301"])
    assert SCRIPT.question(body).participant == "300"


def test_the_same_seed_gives_the_same_answer_and_seeds_differ(endpoint):
    answers = [post(endpoint, asking(SCORE, seed=seed)) for seed in (*range(12), 3)]
    assert answers[3] == answers[-1]
    assert len({answer["choices"][0]["message"]["content"] for answer in answers}) > 3


def test_the_bytes_of_the_tokens_hold_the_content_and_the_odds_add_up(endpoint):
    response = post(endpoint, asking(SCORE))
    tokens = response["choices"][0]["logprobs"]["content"]
    joined = b"".join(bytes(token["bytes"]) for token in tokens)
    assert response["choices"][0]["message"]["content"].encode() in joined
    for token in tokens:
        assert len(token["top_logprobs"]) == 5
        assert math.fsum(math.exp(each["logprob"]) for each in token["top_logprobs"]) < 1
    assert response["usage"]["completion_tokens"] == len(tokens)


def test_a_closed_schema_without_a_transcript_is_filled(endpoint):
    first, second = (content(post(endpoint, asking(CLOSED, who="nobody"))) for _ in range(2))
    assert first == second
    assert first["score"] in (0, 1, 2, 3, None)


def test_texts_with_the_same_words_have_the_nearest_vectors(endpoint):
    texts = ["i sleep badly every night", "badly i sleep every night", "the bus was late again", ""]
    vectors = [
        each["embedding"] for each in post(endpoint, {"model": "scripted", "input": texts}, "/embeddings")["data"]
    ]
    assert vectors[0] == vectors[1] != vectors[2]
    assert all(any(vector) for vector in vectors)


def test_what_is_longer_than_max_tokens_is_cut(endpoint):
    choice = post(endpoint, asking(SCORE, max_tokens=10))["choices"][0]
    assert choice["finish_reason"] == "length"
    assert len(choice["logprobs"]["content"]) == 10


def test_a_folder_that_is_none_and_a_port_that_is_taken_are_told_in_one_line(tmp_path, capsys, endpoint):
    assert main([str(tmp_path)]) == 2
    assert "answers.json: cannot be read" in capsys.readouterr().err
    (tmp_path / "answers.json").write_text('{"scale": [0]}')
    assert main([str(tmp_path)]) == 2
    assert capsys.readouterr().err.endswith("not the answers that demur simulate interviews writes\n")
    (tmp_path / "answers.json").write_text('{"scale": [0], "participants": []}')
    port = endpoint.base_url.split(":")[2].removesuffix("/v1")
    assert main([str(tmp_path), port]) == 2
    assert capsys.readouterr().err.startswith(f"demur: port {port} cannot be listened on (")
