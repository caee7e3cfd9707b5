"""Event logs of OpenAI evals: matches, metrics, errors, in whatever order they were flushed."""

import json
import random

import pytest

from importing import imported, kinds, refused
from tool_logs import ENDS, EVENTS, SURE, evals_event


@pytest.fixture
def log(tmp_path):
    def written(rows):
        text = "".join(json.dumps(row) + "\n" for row in [*ENDS, *rows])
        (tmp_path / "events.jsonl").write_text(text, encoding="utf-8")
        return tmp_path

    return written


def test_matches_are_losses_metrics_are_signals_and_an_error_is_a_failure(log):
    found, units, _ = imported(log(EVENTS), "oai-evals", "events.jsonl")
    assert kinds(found) == (7, 0, 1)
    assert [unit["loss"] for unit in units] == [1, 0, 1, 1, 1, 0, 0, None]
    assert [unit["signals"].get("confidence") for unit in units] == [*SURE, None]
    assert units[-1]["status"] == "failed"
    source = found["source"]
    assert [source[name] for name in ("task", "model", "run_id")] == ["capitals.dev.v0", "demo", "2611"]


def test_the_order_of_the_lines_does_not_matter(log):
    expected = imported(log(EVENTS), "oai-evals", "events.jsonl")[1]
    shuffled = random.Random(1).sample(EVENTS, len(EVENTS))
    assert imported(log(shuffled), "oai-evals", "events.jsonl")[1] == expected


def test_an_answer_abstains_by_its_text(log):
    found, _, _ = imported(log(EVENTS), "oai-evals", "events.jsonl", "--abstain", "answer~=I don't know")
    assert kinds(found) == (5, 2, 1)


def test_what_was_sampled_is_the_answer_where_nothing_was_picked(log):
    rows = [evals_event(0, "a", "match", correct=False, picked=None, sampled=["No idea"])]
    _, units, _ = imported(log(rows), "oai-evals", "events.jsonl", "--include-text")
    assert units[0]["answer"] == "No idea"


def test_a_part_of_the_id_is_the_cluster(log):
    found, units, _ = imported(log(EVENTS), "oai-evals", "events.jsonl", "--cluster-regex", r"(.+)\.\d+")
    assert {unit["cluster"] for unit in units} == {"capitals.dev"}
    assert (found["counts"]["clusters"], found["warnings"]) == (1, [])


def test_several_matches_are_repeats(log):
    rows = [evals_event(n, "a", kind, correct=n > 1, sure=n) for n, kind in enumerate(["match", "metrics"] * 2)]
    _, units, _ = imported(log(rows), "oai-evals", "events.jsonl")
    assert [(unit["repeat"], unit["loss"], unit["signals"]) for unit in units] == [
        (1, 1, {"sure": 1}),
        (2, 0, {"sure": 3}),
    ]


def test_a_sample_without_a_match_failed(log):
    found, _, _ = imported(log([EVENTS[0], *EVENTS[3:6]]), "oai-evals", "events.jsonl")
    assert found["counts"]["by_cause"] == {"no match": 1}


def test_what_is_graded_by_metrics_alone_is_told(log):
    rows = [evals_event(n, f"s{n}", "metrics", choice="C", score=1.0) for n in range(3)]
    found, _, printed = imported(log(rows), "oai-evals", "events.jsonl")
    assert (kinds(found), found["warnings"][0]["code"]) == ((0, 0, 3), "no_matches")
    assert printed.startswith("3 samples: all failed (no match 3), so there is nothing to evaluate; ")


NOT_AN_EVENT = "line 3: not an event of OpenAI evals: expected sample_id, event_id and type"
REFUSED = {
    "another file": ([{"a": 1}], (), f"events.jsonl: {NOT_AN_EVENT}"),
    "no truth value": (
        [evals_event(0, "a", "match", correct="yes")],
        (),
        'events.jsonl: sample a: score "yes", expected a number, true or false',
    ),
    "metrics that belong to nobody": (
        [evals_event(n, "a", kind) for n, kind in enumerate(["match", "match", "metrics"])],
        (),
        "events.jsonl: sample a: 2 matches and 1 metrics: the log does not say which belong together",
    ),
    "an id that does not match": (
        EVENTS,
        ("--cluster-regex", "x(.)"),
        "events.jsonl: sample capitals.dev.0 does not match --cluster-regex 'x(.)'",
    ),
    "two runs": (
        [EVENTS[1], EVENTS[1] | {"run_id": "2612"}],
        (),
        "events.jsonl: line 4: run 2612, and 2611 before it: import each in a file of its own",
    ),
    "no group": (
        EVENTS,
        ("--cluster-regex", ".*"),
        "--cluster-regex '.*', expected one group in parentheses, the cluster",
    ),
    "no expression": (
        EVENTS,
        ("--cluster-regex", "("),
        "--cluster-regex '(' is not a regular expression: missing ), unterminated subpattern at position 0",
    ),
    "two clusters": (
        EVENTS,
        ("--cluster-regex", "(.)", "--cluster", "sample_id"),
        "--cluster and --cluster-regex: give one of them",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_mistake_is_one_line(log, case):
    rows, options, message = REFUSED[case]
    assert refused(log(rows), "oai-evals", "events.jsonl", *options) == message
