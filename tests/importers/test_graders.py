"""Graders and scorers that failed in logs of Inspect: failed units, and never abstentions of the model."""

import json
import math

import pytest

from commands import demur
from importing import imported, kinds, read_back
from inspect_logs import json_log, scored
from parametrized import parametrize_few
from tool_logs import ENDS, evals_event, helm_row, helm_state, promptfoo_results, promptfoo_row

NO_GRADE = "Grade not found in model output: I would rather not say"
CORRECTED = [{"value": math.nan}, {"value": "C", "provenance": {"author": "me"}}]
COMMENTED = [{"value": math.nan}, {"value": "UNCHANGED", "explanation": "asked again"}]
# Of each score of Inspect: its value, its other members, and the cause of the failure.
FAILED = {
    "no verdict": (math.nan, {"reason": "grader_failed", "explanation": NO_GRADE}, "grader_failed"),
    "no score at all": (math.nan, {"reason": "scoring_failed"}, "scoring_failed"),
    "the reason in the metadata": (math.nan, {"metadata": {"unscored_reason": "grade_parse_failure"}}, None),
    "an explanation alone": (math.nan, {"explanation": NO_GRADE}, "grader_failed"),
    "counted as wrong by early versions": ("I", {"explanation": NO_GRADE}, "grader_failed"),
    "counted as wrong, with a reason": (0, {"reason": "grader_failed"}, "grader_failed"),
    "counted as no answer": ("N", {"metadata": {"unscored_reason": "grader_failed"}}, "grader_failed"),
    "graders that disagree": (math.nan, {"metadata": {"panel": ["C", "I"], "grading": [{}]}}, "grader_failed"),
    "a judge of others": (math.nan, {"reason": "judge_response_invalid"}, "judge_response_invalid"),
    "a schema of others": (math.nan, {"metadata": {"reason": "grader_schema_mismatch"}}, "grader_schema_mismatch"),
    "a scorer that took too long": (math.nan, {"reason": "target_timeout"}, "target_timeout"),
    "a reason in words": (math.nan, {"reason": "The judge's reply could not be parsed:\nhm"}, "grader_failed"),
    "one of several values": ({"right": math.nan}, {"reason": "grader_failed"}, "grader_failed"),
    "a comment on it": (math.nan, {"reason": "grader_failed", "history": COMMENTED}, "grader_failed"),
}
JUDGED = {
    "declined": (math.nan, {"reason": "declined"}, "abstained"),
    "refused": (math.nan, {"reason": "refusal"}, "abstained"),
    "refused, to a grader": (math.nan, {"reason": "refusal", "metadata": {"grading": [{}]}}, "abstained"),
    "no response": ("N", {"reason": "no_response"}, "abstained"),
    "no answer, to a grader": ("N", {"metadata": {"grading": [{}]}}, "abstained"),
    "no reason": (math.nan, {}, "abstained"),
    "an answer of another form": ("I", {"reason": "invalid_response_format"}, "answered"),
    "tests of code that failed": ("I", {"reason": "tests_failed"}, "answered"),
    "a grade": ("I", {"explanation": "GRADE: I", "metadata": {"grading": [{}]}}, "answered"),
    "corrected by hand": ("C", {"reason": "grader_failed", "history": CORRECTED}, "answered"),
}


def log(folder, value, members):
    """A log with this score, and one that is right; the options that choose its value."""
    named = isinstance(value, dict)
    right = scored({"right": 1} if named else "C") | {"epoch": 2}
    (folder / "log.json").write_bytes(json_log([scored(value, **members), right]))
    return ("--value-key", "right") if named else ()


@parametrize_few("case", FAILED, 5)
def test_a_grader_that_failed_is_a_failed_unit(tmp_path, case):
    value, members, cause = FAILED[case]
    options = log(tmp_path, value, members)
    header, units, printed = imported(tmp_path, "inspect", "log.json", *options)
    assert kinds(header) == (1, 0, 1)
    assert header["counts"]["by_cause"] == {cause or "grade_parse_failure": 1}
    assert (units[0]["status"], units[0]["loss"]) == ("failed", None)
    assert f"failed by: {units[0]['cause']} 1\n" in printed
    assert read_back(tmp_path, "token_msp")["units_failed"] == 1


@pytest.mark.parametrize("case", JUDGED)
def test_a_score_that_is_about_the_answer_is_no_failure(tmp_path, case):
    value, members, kind = JUDGED[case]
    options = log(tmp_path, value, members)
    counts = imported(tmp_path, "inspect", "log.json", *options)[0]["counts"]
    assert {name: counts[name] for name in ("answered", "abstained", "failed")} == (
        {"answered": 1, "abstained": 0, "failed": 0} | {kind: 2 if kind == "answered" else 1}
    )


def test_scores_without_a_reason_are_a_warning_unless_they_were_asked_for(tmp_path):
    log(tmp_path, math.nan, {})
    header, _, printed = imported(tmp_path, "inspect", "log.json")
    assert header["warnings"][0]["code"] != header["warnings"][1]["code"] == "unexplained_scores"
    assert "1 scores are NaN for no stated reason, and are imported as abstentions" in printed
    header, _, _ = imported(tmp_path, "inspect", "log.json", "--abstain", "unscored")
    assert "unexplained_scores" not in {warning["code"] for warning in header["warnings"]}


GONE = {
    "inspect": json_log([scored(math.nan, reason="grader_failed") | {"id": item} for item in "abc"]),
    "promptfoo": promptfoo_results([promptfoo_row(f"q{n}", failureReason=2, response=None) for n in (1, 2, 3)]),
    "oai-evals": [*ENDS, *(evals_event(n, f"s{n}", "error", message="timeout") for n in range(3))],
    "helm": [[helm_row(item, 0.0) for item in "abc"], [helm_state(item, success=False) for item in "abc"]],
}


@pytest.mark.parametrize("tool", GONE)
def test_a_log_of_failures_alone_says_so_first(tmp_path, tool):
    content, name = GONE[tool], "log"
    if tool == "helm":
        (tmp_path / name).mkdir()
        (tmp_path / name / "per_instance_stats.json").write_text(json.dumps(content[0]), encoding="utf-8")
        states = json.dumps({"request_states": content[1]})
        (tmp_path / name / "scenario_state.json").write_text(states, encoding="utf-8")
    elif tool == "oai-evals":
        (tmp_path / name).write_text("\n".join(map(json.dumps, content)), encoding="utf-8")
    else:
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    _, _, printed = imported(tmp_path, tool, name)
    cause = "grader_failed" if tool == "inspect" else "error"
    assert (
        f"3 {'instance' if tool == 'helm' else 'row' if tool == 'promptfoo' else 'sample'}s: all failed ({cause} 3)"
        in (printed.splitlines()[0])
    )
    assert "no unit abstained" not in printed
    done = demur(tmp_path, "evaluate", "units.jsonl", "--seed", "1")
    assert (done.returncode, done.stderr) == (
        2,
        "demur: units.jsonl: nothing to evaluate: all 3 units failed\n",
    )
