"""Requests: what goes over the wire, how long is waited, and how many go out at once."""

import json
import threading

import httpx
import pytest

from demur import UserError
from demur.extensions.produce.answers import ChatQuestion, ask
from demur.extensions.produce.config import checked_settings
from demur.extensions.produce.endpoint import Endpoint, HttpRequest
from demur.extensions.produce.failures import EndpointError, ParticipantFailure, Stopped
from demur.extensions.produce.rate_limits import Pace

KEY = ("zero_shot", "300", "score", 1)
LOCAL = "http://127.0.0.1:8080/v1"


def settings(**endpoint):
    fields = {"base_url": LOCAL, "model": "m", **endpoint}
    data = {"transcripts": "", "truth": "", "split": "", "reference_split": "x"}
    return checked_settings({"data": data, "endpoint": fields}, allow_remote=True)


class Server:
    """Answers in turn, each a response or an exception; the requests that were made, and the waits between them."""

    def __init__(self, *answers):
        self.answers, self.requests, self.waits, self.records = [*answers], [], [], []

    def __call__(self, request):
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def endpoint(self, **how):
        pace = Pace(4, wait=self.waits.append)
        record = lambda *given: self.records.append(given)  # noqa: E731
        return Endpoint(settings(**how), pace, record, httpx.MockTransport(self))


def reply(status=200, body=None, **headers):
    return httpx.Response(status, json={} if body is None else body, headers=headers)


def called(server, path="/chat/completions", **how):
    with server.endpoint(**how) as endpoint:
        return endpoint.call(HttpRequest(path, KEY, {"a": 1}))


def failed(server, **how):
    with pytest.raises(ParticipantFailure) as failure:
        called(server, **how)
    return failure.value


@pytest.mark.parametrize("status", [408, 409, 425, 429, 502, 503, 504])
def test_a_status_that_may_pass_is_tried_again(status):
    server = Server(reply(status), reply(status), reply(body={"fine": True}))
    assert called(server).attempts == 3
    assert [record["attempt"] for _, _, record in server.records] == [1, 2, 3]
    assert [record["status"] for _, _, record in server.records] == [status, status, 200]


@pytest.mark.parametrize("status", [301, 400, 404, 413, 422, 501])
def test_a_status_that_will_not_pass_is_not(status):
    server = Server(reply(status))
    assert (failed(server).attempts, len(server.requests)) == (1, 1)


def test_waits_double_with_a_jitter_that_follows_from_the_request():
    first, second = Server(reply(503)), Server(reply(503))
    assert failed(first).attempts == failed(second).attempts == 5
    assert first.waits == second.waits
    assert all(0.5 * 2**k / 2 <= wait <= 0.5 * 2**k for k, wait in enumerate(first.waits))
    assert len(first.waits) == 4


def test_retry_after_is_obeyed_up_to_five_minutes():
    server = Server(
        reply(429, **{"Retry-After": "7"}), reply(503, **{"Retry-After": "900"}), reply(429, **{"Retry-After": "Fri"}),
        reply(),
    )  # fmt: skip
    called(server)
    assert server.waits[:2] == [7, 300]
    assert server.waits[2] <= 2


@pytest.mark.parametrize(
    ("error", "category"),
    [
        (httpx.ConnectError("x"), "connection"),
        (httpx.RemoteProtocolError("x"), "connection"),
        (httpx.ReadTimeout("x"), "timeout"),
        (httpx.ConnectTimeout("x"), "timeout"),
    ],
)
def test_a_connection_that_fails_is_tried_again(error, category):
    assert called(Server(error, reply(body={"a": 1}))).body == {"a": 1}
    failure = failed(Server(error), retries=2)
    assert (failure.category, failure.attempts, failure.status) == (category, 3, None)


@pytest.mark.parametrize("body", [b"", b"not json", b"[1]", b'{"cut": '])
def test_an_answer_that_is_no_object_is_a_fault_of_the_server(body):
    failure = failed(Server(httpx.Response(200, content=body)), retries=1)
    assert (failure.category, failure.attempts) == ("server_error", 2)


def test_what_an_error_says_is_kept_only_as_a_word_and_numbers():
    error = {"type": "exceed_context_size_error", "message": "SECRET", "n_prompt_tokens": 20000, "n_ctx": 16384}
    failure = failed(Server(reply(400, {"error": error})))
    assert failure.record() == {
        "category": "context_overflow",
        "step": "score",
        "sample": 1,
        "attempts": 1,
        "http_status": 400,
        "n_prompt_tokens": 20000,
        "n_ctx": 16384,
    }
    failure = failed(Server(reply(400, {"error": {"type": "what SECRET said"}})))
    assert "SECRET" not in json.dumps(failure.record())
    failure = failed(Server(reply(400, {"error": {"type": "invalid_request_error", "message": "SECRET"}})))
    assert (failure.category, failure.numbers) == ("request_rejected", {"error_type": "invalid_request_error"})


@pytest.mark.parametrize("status", [401, 403])
def test_a_key_that_is_refused_is_never_tried_again(status, monkeypatch):
    monkeypatch.setenv("MY_KEY", "sk-secret")
    server = Server(reply(status))
    with pytest.raises(EndpointError, match=rf"refused the key \(HTTP {status}\); set MY_KEY"):
        called(server, api_key_env="MY_KEY")
    assert len(server.requests) == 1


def test_the_key_comes_from_the_environment_and_goes_to_its_own_server_alone(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-one")
    monkeypatch.setenv("OTHER_KEY", "sk-two")

    def sent(path, **how):
        server = Server(reply())
        called(server, path, **how)
        (request,) = server.requests
        return str(request.url), request.headers.get("authorization")

    assert sent("/chat/completions") == (f"{LOCAL}/chat/completions", "Bearer sk-one")
    assert sent("/embeddings") == (f"{LOCAL}/embeddings", "Bearer sk-one")
    other = {"embedding_base_url": "http://127.0.0.1:9/v1/"}
    assert sent("/embeddings", **other) == ("http://127.0.0.1:9/v1/embeddings", None)
    assert sent("/embeddings", **other, embedding_api_key_env="OTHER_KEY")[1] == "Bearer sk-two"


def test_a_proxy_of_the_environment_gets_nothing_that_is_meant_for_this_machine(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.example:1")
    with Endpoint(settings(), Pace(1), lambda *_: None) as endpoint:
        assert endpoint._clients[False]._mounts == {}


@pytest.mark.parametrize(
    ("variable", "value"),
    [("ALL_PROXY", "odd://user:secret@x"), ("HTTPS_PROXY", "http://x:secret"), ("SSL_CERT_FILE", "/nowhere/secret")],
)
def test_what_the_environment_says_of_the_network_may_be_wrong(monkeypatch, variable, value):
    monkeypatch.setenv(variable, value)
    with pytest.raises(UserError, match="the environment names a proxy or certificates") as error:
        Endpoint(settings(base_url="https://example.com/v1"), Pace(1), lambda *_: None)
    assert "secret" not in str(error.value)
    Endpoint(settings(), Pace(1), lambda *_: None).__enter__().__exit__()


def test_the_body_of_a_question():
    message = {"content": '{"a": 1}'}
    server = Server(reply(body={"choices": [{"message": message, "finish_reason": "stop"}]}))
    schema = {"type": "object"}
    question = ChatQuestion(KEY, [{"role": "user", "content": "x"}], schema, 5, 0.2, 100, 5)
    with server.endpoint() as endpoint:
        ask(endpoint, question, json.loads, retries=0)
    (request,) = server.requests
    assert json.loads(request.content) == {
        "model": "m",
        "messages": [{"role": "user", "content": "x"}],
        "temperature": 0.2,
        "seed": 5,
        "max_tokens": 100,
        "logprobs": True,
        "top_logprobs": 5,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "score", "strict": True, "schema": schema},
        },
    }


@pytest.mark.parametrize("body", [{}, {"choices": []}, {"choices": [1]}, {"choices": [{"message": "x"}]}])
def test_a_body_without_a_choice_is_no_completion(body):
    with Server(reply(body=body)).endpoint() as endpoint, pytest.raises(ParticipantFailure) as failure:
        ask(endpoint, ChatQuestion(KEY, [], {}, 1, 0, 10), json.loads, retries=0)
    assert failure.value.category == "server_error"


def test_tokens_are_counted():
    usage = {"prompt_tokens": 10, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 6}}
    server = Server(reply(body={"usage": usage}))
    called(server)
    ((kind, key, record),) = server.records
    assert (kind, key) == ("request", KEY)
    assert {name: value for name, value in record.items() if name.endswith("tokens")} == {
        "prompt_tokens": 10,
        "cached_tokens": 6,
        "completion_tokens": 4,
    }


class Clock:
    """Time that passes when somebody waits."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now

    def wait(self, seconds):
        self.now += seconds


def test_so_many_requests_per_minute_and_no_more():
    clock = Clock()
    pace = Pace(4, per_minute=30, clock=clock, wait=clock.wait)
    began = []
    for _ in range(4):
        with pace.slot():
            began.append(clock.now)
    assert began == [100, 102, 104, 106]


def test_too_many_requests_halve_the_concurrency_for_a_minute():
    clock = Clock()
    pace = Pace(8, clock=clock)
    assert pace.allowed() == 8
    pace.slow_down()
    clock.now += 30
    pace.slow_down()
    assert pace.allowed() == 2
    for _ in range(5):
        pace.slow_down()
    assert pace.allowed() == 1
    clock.now += 61
    assert pace.allowed() == 8


def test_no_more_at_once_than_allowed():
    pace, most, under_way, lock = Pace(3), [], [], threading.Lock()

    def work():
        for _ in range(20):
            with pace.slot():
                with lock:
                    under_way.append(1)
                    most.append(len(under_way))
                with lock:
                    under_way.pop()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(most) <= 3
    assert len(most) == 160


def test_nothing_is_begun_after_a_stop():
    pace = Pace(1)
    pace.stop.set()
    with pytest.raises(Stopped), pace.slot():
        pytest.fail("begun")
    assert pace._active == 0
