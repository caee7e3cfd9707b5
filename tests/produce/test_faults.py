"""Whatever an endpoint does wrong is tried again, or has a category; nobody is lost, and nobody is counted twice."""

import pytest

from demur.extensions.produce.failures import CATEGORIES, EndpointError
from demur.extensions.produce.journal import replayed
from faults import Fault
from parametrized import parametrize_few
from producing import failures, interviews, produced, production, serving

ZERO = {"assess": {"mode": "zero_shot"}, "endpoint": {"concurrency": 1}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return interviews(tmp_path_factory.mktemp("faults") / "interviews")


@pytest.fixture(scope="module")
def people(folder):
    lines = (folder / "dev.csv").read_text().split("\n")[1:-1]
    return [int(line.partition(",")[0]) for line in lines]


@pytest.fixture(scope="module")
def plain(folder, tmp_path_factory):
    """The run without any fault."""
    with serving(folder) as endpoint:
        return produced(folder, endpoint.base_url, tmp_path_factory.mktemp("plain"), changes=ZERO)[1]


def faulty(folder, run, *faults, changes=ZERO, **how):
    """The outcome and results of a run with faults, and what the endpoint was asked."""
    with serving(folder, faults, keep=True) as endpoint:
        return *produced(folder, endpoint.base_url, run, changes=changes, **how), endpoint.exchanges


def asked(exchanges, step, participant):
    return [each.request for each in exchanges if (each.step, each.participant) == (step, str(participant))]


@pytest.mark.parametrize("step", ["evidence", "score"])
@parametrize_few("kind", ["rate_limited", "unavailable", "dropped", "cut", "server_error"], 2)
def test_what_may_pass_is_asked_again_with_the_same_request(folder, people, plain, tmp_path, kind, step):
    fault = Fault(kind, participant=str(people[0]), step=step, times=2)
    outcome, found, exchanges = faulty(folder, tmp_path, fault)
    assert (outcome.code, found) == (0, plain)
    requests = asked(exchanges, step, people[0])
    assert len(requests) == 3
    assert requests[0] == requests[1] == requests[2]


def test_retry_after_is_obeyed(folder, people, tmp_path):
    waits = []
    fault = Fault("rate_limited", participant=str(people[0]), step="score", seconds=7)
    faulty(folder, tmp_path, fault, wait=waits.append)
    assert waits == [7]


def test_a_slow_answer_is_a_timeout_and_is_asked_for_again(folder, people, plain, tmp_path):
    changes = {**ZERO, "endpoint": {"concurrency": 1, "timeout": 1.0}}
    fault = Fault("slow", participant=str(people[0]), step="score", seconds=2.0)
    outcome, found, _ = faulty(folder, tmp_path, fault, changes=changes)
    assert (outcome.code, found) == (0, plain)
    records = [each for each in replayed(tmp_path / "journal.jsonl")[0] if each["kind"] == "request"]
    scored = [each["status"] for each in records if each["key"] == ["zero_shot", str(people[0]), "score", 1]]
    assert scored == [None, 200]


@parametrize_few("kind", ["wrong_types", "score_7", "missing_item", "prose"], 2)
@pytest.mark.slow
def test_an_invalid_answer_is_asked_for_again_with_the_next_seed(folder, people, plain, tmp_path, kind):
    outcome, found, exchanges = faulty(folder, tmp_path, Fault(kind, participant=str(people[0]), step="score"))
    first, second = asked(exchanges, "score", people[0])
    assert second["seed"] == first["seed"] + 1
    assert (first["temperature"], second["temperature"]) == (0, 0.2)
    assert outcome.code == 0
    assert {case: entry for case, entry in found.items() if case[1] != people[0]} == {
        case: entry for case, entry in plain.items() if case[1] != people[0]
    }


def test_an_answer_that_is_cut_off_is_asked_for_once_more_with_twice_the_tokens(folder, people, plain, tmp_path):
    fault = Fault("truncated", participant=str(people[0]), step="score")
    outcome, found, exchanges = faulty(folder, tmp_path, fault)
    first, second = asked(exchanges, "score", people[0])
    assert (outcome.code, found) == (0, plain)
    assert second == {**first, "max_tokens": 2 * first["max_tokens"]}


@pytest.mark.parametrize("kind", ["fence", "fence_tokens"])
@pytest.mark.slow
def test_code_fences_change_nothing_but_the_mean_over_all_tokens(folder, people, plain, tmp_path, kind):
    outcome, found, _ = faulty(folder, tmp_path, Fault(kind, participant=str(people[0]), step="score"))
    assert outcome.code == 0

    def without(entry):
        signals = entry["item_signals"].items()
        drop = "token_msp_completion"
        return {**entry, "item_signals": {item: {**each, drop: None} for item, each in signals}}

    assert {case: without(entry) for case, entry in found.items()} == {
        case: without(entry) for case, entry in plain.items()
    }


LASTING = {
    "rate_limited": ("rate_limited", 429, 5),
    "unavailable": ("server_error", 503, 5),
    "server_error": ("server_error", 500, 4),
    "dropped": ("connection", None, 5),
    "context_overflow": ("context_overflow", 400, 1),
    "bad_schema": ("request_rejected", 400, 1),
    "wrong_types": ("scoring_invalid", 200, 5),
    "score_7": ("scoring_invalid", 200, 5),
    "missing_item": ("scoring_invalid", 200, 5),
    "prose": ("scoring_invalid", 200, 5),
    "truncated": ("scoring_truncated", 200, 2),
    "refusal": ("refused", 200, 1),
    "content_filter": ("refused", 200, 1),
    "empty": ("refused", 200, 1),
    "logprobs_absent": ("logprobs_missing", None, 0),
    "logprobs_unaligned": ("logprobs_unaligned", None, 0),
}


@parametrize_few("kind", LASTING, 5)
def test_what_lasts_fails_one_participant_with_its_category(folder, people, plain, tmp_path, kind):
    fault = Fault(kind, participant=str(people[0]), step="score", times=None)
    outcome, found, _ = faulty(folder, tmp_path, fault)
    category, status, attempts = LASTING[kind]
    (failure,) = failures(tmp_path)
    assert category in CATEGORIES
    assert (failure["category"], failure["http_status"], failure["attempts"]) == (category, status, attempts)
    assert (failure["participant_id"], failure["step"], failure["sample"]) == (people[0], "score", 1)
    assert outcome.code == 4
    assert found.pop(("zero_shot", people[0])) == {"participant_id": people[0], "success": False, "error": category}
    assert found == {case: entry for case, entry in plain.items() if case[1] != people[0]}


@parametrize_few(("kind", "category"), [("wrong_types", "evidence_invalid"), ("truncated", "evidence_truncated")], 1)
@pytest.mark.slow
def test_without_evidence_every_mode_of_the_participant_fails(folder, people, tmp_path, kind, category):
    fault = Fault(kind, participant=str(people[0]), step="evidence", times=None)
    outcome, found, _ = faulty(folder, tmp_path, fault, changes={})
    failed = {(each["mode"], each["participant_id"], each["category"]) for each in failures(tmp_path)}
    assert failed == {("zero_shot", people[0], category), ("few_shot", people[0], category)}
    assert (outcome.done, outcome.failed, outcome.left) == (2 * len(people) - 2, 2, 0)
    assert len(found) == 2 * len(people)


def test_the_next_seed_is_tried_once_when_a_500_stays(folder, people, tmp_path):
    """An answer that is not UTF-8 gives a 500 each time with the same seed."""
    fault = Fault("server_error", participant=str(people[0]), step="score", times=3)
    outcome, _, exchanges = faulty(folder, tmp_path, fault)
    seeds = [request["seed"] for request in asked(exchanges, "score", people[0])]
    assert seeds == [seeds[0]] * 3 + [seeds[0] + 1]
    assert outcome.code == 0


@pytest.mark.slow
def test_fewer_samples_than_asked_for_fail_the_participant(folder, tmp_path):
    changes = {"assess": {"mode": "zero_shot", "consistency_samples": 3}, "endpoint": {"concurrency": 1, "retries": 0}}
    with serving(folder) as endpoint:
        assert produced(folder, endpoint.base_url, tmp_path / "good", changes=changes)[0].code == 0
        struck = [Fault("score_7", request=5 + 1 + 3)]  # the probe, the evidence, and the third sample
        endpoint.faults, endpoint._count = struck, 0
        outcome, _ = produced(folder, endpoint.base_url, tmp_path / "bad", changes=changes)
    (failure,) = failures(tmp_path / "bad")
    assert (failure["category"], failure["cause"]) == ("consistency_incomplete", "scoring_invalid")
    assert (failure["sample"], failure["valid_samples"], outcome.code) == (3, 2, 4)


@parametrize_few("kind", ["zero_vector", "short_vector", "nan_vector"], 1)
@pytest.mark.slow
def test_an_embedding_that_is_none_fails_few_shot_alone(folder, people, tmp_path, kind):
    with serving(folder) as endpoint:
        changes = {"endpoint": {"concurrency": 1}}
        first = production(folder, endpoint.base_url, tmp_path, changes=changes, only=[str(people[0])])
        assert first.produce().code == 0
        endpoint.faults = [Fault(kind, step="embed", times=None)]
        outcome, found = produced(folder, endpoint.base_url, tmp_path, changes=changes)
    failed = {(each["mode"], each["participant_id"], each["category"]) for each in failures(tmp_path)}
    assert failed == {("few_shot", person, "embedding_invalid") for person in people[1:]}
    assert (outcome.code, len(found)) == (4, 2 * len(people))


def test_a_key_that_is_refused_ends_the_run_at_once(folder, tmp_path):
    refused = pytest.raises(EndpointError, match=r"refused the key \(HTTP 401\); set OPENAI_API_KEY")
    with serving(folder, [Fault("auth", step="evidence", times=None)]) as endpoint, refused:
        production(folder, endpoint.base_url, tmp_path, changes=ZERO).produce()
    assert not (tmp_path / "run.json").exists()


@pytest.mark.slow
def test_ten_failures_of_the_endpoint_in_a_row_stop_the_run_which_can_be_resumed(tmp_path):
    folder = interviews(tmp_path / "interviews", participants=40)
    changes = {**ZERO, "endpoint": {"concurrency": 1, "retries": 0}}
    with serving(folder, [Fault("unavailable", step="evidence", times=None)]) as endpoint:
        with pytest.raises(EndpointError, match=r"failed 10 participants in a row \(server_error\); .*--retry-failed"):
            production(folder, endpoint.base_url, tmp_path / "run", changes=changes).produce()
        endpoint.faults = []
        outcome, found = produced(folder, endpoint.base_url, tmp_path / "run", changes=changes, retry_failed=True)
        assert (outcome.code, outcome.done, len(found)) == (0, 16, 16)
        whole = produced(folder, endpoint.base_url, tmp_path / "whole", changes=changes)[1]
    assert found == whole


@pytest.mark.slow
def test_failures_are_final_until_they_are_tried_again(folder, people, plain, tmp_path):
    with serving(folder, [Fault("refusal", participant=str(people[0]), step="score")]) as endpoint:
        assert produced(folder, endpoint.base_url, tmp_path, changes=ZERO)[0].code == 4
        count = len(replayed(tmp_path / "journal.jsonl")[0])
        assert produced(folder, endpoint.base_url, tmp_path, changes=ZERO)[0].code == 4
        assert len(replayed(tmp_path / "journal.jsonl")[0]) == count
        outcome, found = produced(folder, endpoint.base_url, tmp_path, changes=ZERO, retry_failed=True)
    assert (outcome.code, found) == (0, plain)


def test_token_signals_may_be_missing_where_that_is_allowed(folder, people, tmp_path):
    changes = {"assess": {"mode": "zero_shot"}, "endpoint": {"allow_missing": ["logprobs"]}}
    outcome, found, _ = faulty(folder, tmp_path, Fault("logprobs_absent", times=None), changes=changes)
    signals = found["zero_shot", people[0]]["item_signals"]["Sleep"]
    assert outcome.code == 0
    assert {value for name, value in signals.items() if name.startswith("token_")} == {None}
    assert signals["llm_evidence_count"] is not None


REFUSED = {
    "logprobs_absent": "gives no log-probabilities; to run without token signals, give --allow-missing logprobs",
    "logprobs_unaligned": "spells answers with other tokens than it lists",
    "prose": "gives no answers that fit a JSON schema",
    "no_embeddings": "makes no embeddings, which few_shot needs",
    "dropped": r"does not answer \(connection\)",
}


@parametrize_few("kind", REFUSED, 2)
def test_what_the_endpoint_cannot_do_is_refused_before_anything_is_sent(folder, tmp_path, kind):
    step = "embed" if kind == "no_embeddings" else "probe"
    with serving(folder, [Fault(kind, step=step, times=None)]) as endpoint:
        with pytest.raises(EndpointError, match=REFUSED[kind]):
            production(folder, endpoint.base_url, tmp_path).produce()
        assert {each.participant for each in endpoint.exchanges} == {None}
    assert not (tmp_path / "config.json").exists()


def test_a_model_the_endpoint_does_not_have_is_told_with_those_it_has(folder, tmp_path):
    with serving(folder) as endpoint, pytest.raises(EndpointError, match="no model gemma; it has: scripted"):
        production(folder, endpoint.base_url, tmp_path, changes={"endpoint": {"model": "gemma"}}).produce()
