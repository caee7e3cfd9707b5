"""Results of promptfoo: named scores, repeats, several systems, and errors that are not answers."""

import json
import math

import pytest

from importing import imported, kinds, refused
from tool_logs import TWICE, promptfoo_results, promptfoo_row


@pytest.fixture
def log(tmp_path):
    def written(content):
        (tmp_path / "results.json").write_text(json.dumps(content, indent=1), encoding="utf-8")
        return tmp_path

    return written


def test_named_scores_are_losses_and_an_assertion_says_what_abstained(log):
    options = ("--metric", "exact", "--cluster", "vars.document", "--abstain", "named:answered=0")
    found, units, _ = imported(log(promptfoo_results(TWICE)), "promptfoo", "results.json", *options)
    assert kinds(found) == (10, 2, 0)
    assert found["counts"]["clusters"] == 3
    assert [(unit["item"], unit["repeat"], unit["loss"]) for unit in units[:4]] == [
        ("q1", 1, None),
        ("q1", 2, None),
        ("q2", 1, 0),
        ("q2", 2, 0),
    ]
    mean = (math.exp(-0.65) + math.exp(-0.01)) / 2
    assert units[0]["signals"] == {"confidence": 0.87, "token_msp": pytest.approx(mean)}
    source = {name: found["source"][name] for name in ("tool_version", "task", "model", "run_id", "created")}
    assert [*source.values()] == ["0.121.20", "capitals", "sys-a (prompt 0)", "eval-r2O", "2026-11-16T06:07:56.443Z"]


@pytest.mark.parametrize("metric", ["success", "score", "exact"])
def test_success_and_score_are_metrics_too(log, metric):
    _, units, _ = imported(log(promptfoo_results(TWICE)), "promptfoo", "results.json", "--metric", metric)
    assert [unit["loss"] for unit in units] == [1, 1] + [0] * 10


def test_an_answer_abstains_by_its_text(log):
    options = ("--metric", "exact", "--abstain", "answer~=I don't know")
    assert kinds(imported(log(promptfoo_results(TWICE)), "promptfoo", "results.json", *options)[0]) == (10, 2, 0)


def test_a_row_without_a_response_failed_and_a_failed_assertion_did_not(log):
    gone = promptfoo_row("q2", failureReason=2, response=None, error="timeout", namedScores={})
    found, units, _ = imported(
        log(promptfoo_results([promptfoo_row("q1"), gone])), "promptfoo", "results.json", "--metric", "exact"
    )
    assert kinds(found) == (1, 0, 1)
    assert [unit["status"] for unit in units] == ["ok", "failed"]


@pytest.mark.parametrize(
    "changes", [{"response": None}, {"response": {}}, {"response": {"error": "API error: 500"}, "failureReason": 0}]
)
def test_an_error_without_an_output_is_a_failure_in_every_version(log, changes):
    gone = {name: value for name, value in promptfoo_row("q2").items() if name != "failureReason"}
    rows = [promptfoo_row("q1"), gone | {"error": "API error: 500", "success": False} | changes]
    found, _, _ = imported(log(promptfoo_results(rows)), "promptfoo", "results.json", "--metric", "success")
    assert (kinds(found), found["counts"]["by_cause"]) == ((1, 0, 1), {"error": 1})


@pytest.mark.parametrize(
    ("component", "metric", "failed"),
    [
        ({"reason": "Could not extract JSON from llm-rubric response", "assertion": {"metric": "exact"}}, "exact", 1),
        ({"reason": "llm-rubric produced malformed response: x", "assertion": {}}, "success", 1),
        ({"reason": "x", "metadata": {"graderError": True}}, "score", 1),
        ({"reason": "Could not extract JSON from llm-rubric response", "assertion": {"metric": "style"}}, "exact", 0),
        ({"reason": "Expected JSON", "assertion": {"metric": "exact"}}, "exact", 0),
    ],
)
def test_a_grader_without_a_verdict_is_a_failure_of_its_own_metric(log, component, metric, failed):
    graded = promptfoo_row("q2", success=False, score=0, gradingResult={"componentResults": [component]})
    rows = [promptfoo_row("q1"), graded]
    found, _, _ = imported(log(promptfoo_results(rows)), "promptfoo", "results.json", "--metric", metric)
    assert kinds(found) == (2 - failed, 0, failed)
    assert found["counts"]["by_cause"] == ({"grader_failed": 1} if failed else {})


def test_results_of_another_form_are_no_empty_results(log):
    assert refused(log({"evalId": "x", "results": [promptfoo_row("q1")]}), "promptfoo", "results.json") == (
        "results.json: not results of promptfoo: results is not an object that has the rows in its own results"
    )


def test_without_a_description_a_test_is_known_by_its_variables(log):
    rows = [promptfoo_row(test, testCase={"description": " "}) for test in ("q2", "q3", "q2")]
    _, units, _ = imported(log(promptfoo_results(rows)), "promptfoo", "results.json", "--metric", "exact")
    assert units[0]["item"] == units[2]["item"] != units[1]["item"]
    assert [unit["repeat"] for unit in units] == [1, 1, 2]


def test_one_system_is_read(log):
    other = {"provider": {"id": "openai:gpt"}}
    folder = log(
        promptfoo_results([promptfoo_row("q2"), promptfoo_row("q2", **other), promptfoo_row("q2", promptIdx=1)])
    )
    systems = "sys-a (prompt 0), openai:gpt (prompt 0), sys-a (prompt 1)"
    assert refused(folder, "promptfoo", "results.json", "--metric", "exact") == (
        f"results.json: 3 systems: {systems}; choose one with --provider and --prompt"
    )
    options = ("--metric", "exact", "--provider", "sys-a", "--prompt", "1")
    found, units, _ = imported(folder, "promptfoo", "results.json", *options)
    assert (len(units), found["source"]["model"]) == (1, "sys-a (prompt 1)")
    assert refused(folder, "promptfoo", "results.json", "--provider", "x") == (
        f"results.json: no row of this --provider and --prompt; there are: {systems}"
    )


def test_another_version_is_tried_with_a_warning(log):
    found, _, _ = imported(log(promptfoo_results(TWICE, version=4)), "promptfoo", "results.json", "--metric", "exact")
    assert [warning["code"] for warning in found["warnings"]] == ["unknown_log_version", "independent_rows"]


def test_the_table_for_display_is_refused(tmp_path):
    (tmp_path / "results.csv").write_text("Description,Status\n", encoding="utf-8")
    assert refused(tmp_path, "promptfoo", "results.csv") == (
        "results.csv: this is results.csv of promptfoo: import results.json"
    )


REFUSED = {
    "several metrics": (
        [promptfoo_row("q2")],
        (),
        "results[0]: test q2, repeat 1: 4 metrics: exact, answered, success, score; choose one with --metric",
    ),
    "no such metric": (
        [promptfoo_row("q2")],
        ("--metric", "f1"),
        "results[0]: test q2, repeat 1: no metric is called f1; there are: exact, answered, success, score",
    ),
    "one name for two tests": (
        [promptfoo_row("q2"), promptfoo_row("q3", testCase={"description": "q2"})],
        ("--metric", "exact"),
        "results[1]: two tests are called q2 and differ in vars: give each a description of its own",
    ),
    "a likely token": (
        [promptfoo_row("q2", response={"output": "x", "logProbs": [0.5]})],
        ("--metric", "exact"),
        "results[0]: test q2, repeat 1: token 0: logprob 0.5, expected a finite number, 0 or less",
    ),
    "nothing": ([], (), "no rows: there is nothing to import"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_mistake_is_one_line(log, case):
    rows, options, message = REFUSED[case]
    assert refused(log(promptfoo_results(rows)), "promptfoo", "results.json", *options) == f"results.json: {message}"
