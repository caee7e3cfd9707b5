"""Numbers of logs that no double holds, or that are written in other digits: one line, never a traceback or a 0."""

import copy
import json

import pytest

from importing import imported, refused
from inspect_logs import json_log, samples
from tool_logs import ENDS, EVENTS, MULTIPLE, TWICE, generated, helm_row, helm_state, promptfoo_results

HUGE = 10**400
INFINITE = 1e308 * 10  # json.dumps would write Infinity; the tests write 1e999


def short(value):
    return None if isinstance(value, dict) else str(value)[:9]


def text_of(content):
    return json.dumps(content).replace("Infinity", "1e999")


def write_log(folder, content):
    (folder / "log.json").write_text(text_of(content), encoding="utf-8")


def write_lines(folder, rows):
    (folder / "log.jsonl").write_text("".join(text_of(row) + "\n" for row in rows), encoding="utf-8")


def write_helm(folder, row):
    (folder / "run").mkdir()
    states = {"request_states": [helm_state("a"), helm_state("b")]}
    (folder / "run" / "per_instance_stats.json").write_text(text_of([row, helm_row("b", 1.0)]), encoding="utf-8")
    (folder / "run" / "scenario_state.json").write_text(text_of(states), encoding="utf-8")


def inspect_samples(**members):
    log = json.loads(json_log(copy.deepcopy(samples()[:2])).replace(b"NaN", b"0.5"))
    for sample in log["samples"]:
        sample.update(members)
    return log


def scored(value):
    return inspect_samples(scores={"exact": {"value": value}})


@pytest.mark.parametrize("seconds", [HUGE, -HUGE, INFINITE, "1", None, True], ids=short)
def test_a_time_that_is_no_number_is_not_counted(tmp_path, seconds):
    write_log(tmp_path, inspect_samples(total_time=seconds))
    header, _, _ = imported(tmp_path, "inspect", "log.json", "--scorer", "exact")
    assert header["source"]["cost"]["total_time"] == 0


def test_times_whose_sum_is_no_number_have_none(tmp_path):
    write_log(tmp_path, inspect_samples(total_time=1.7e308, model_usage={"m": {"input_tokens": HUGE}}))
    header, _, _ = imported(tmp_path, "inspect", "log.json", "--scorer", "exact")
    assert header["source"]["cost"] == {"error_retries": 0, "total_time": None}


@pytest.mark.parametrize("value", [HUGE, INFINITE, "٠", "１", "1_0", "inf", [1], "1e999"], ids=short)
def test_a_score_that_is_no_number_is_one_line(tmp_path, value):
    write_log(tmp_path, scored(value))
    told = refused(tmp_path, "inspect", "log.json", "--scorer", "exact")
    assert "expected C, I, P, N, a number, true or false" in told or "expected one value" in told


def test_a_score_written_in_digits_is_one(tmp_path):
    write_log(tmp_path, scored("0.25"))
    assert [unit["loss"] for unit in imported(tmp_path, "inspect", "log.json")[1]] == [0.75, 0.75]


@pytest.mark.parametrize(
    "row",
    [
        MULTIPLE[0] | {"acc": HUGE},
        MULTIPLE[0] | {"acc": INFINITE},
        MULTIPLE[0] | {"filtered_resps": [[HUGE, "False"], ["-1", "False"]]},
        MULTIPLE[0] | {"filtered_resps": [["-٠", "False"], ["-1", "False"]]},
        MULTIPLE[0] | {"filtered_resps": [[INFINITE, "False"], ["-1", "False"]]},
        generated(3, "a", HUGE, rule="none") | {"acc": HUGE},
    ],
)
def test_a_number_of_lm_eval_that_is_none_is_one_line(tmp_path, row):
    write_lines(tmp_path, [row])
    assert "expected a" in refused(tmp_path, "lm-eval", "log.jsonl", "--metric", "acc")


@pytest.mark.parametrize("mean", [HUGE, -HUGE, INFINITE], ids=short)
@pytest.mark.parametrize("name", [0, 1, 2])
def test_a_mean_of_helm_that_is_none_is_one_line(tmp_path, mean, name):
    row = helm_row("a", 1.0)
    row["stats"][name]["mean"] = mean
    write_helm(tmp_path, row)
    told = refused(tmp_path, "helm", "run")
    assert "per_instance_stats.json: [0]: " in told
    assert "expected a finite number" in told


@pytest.mark.parametrize("number", [HUGE, INFINITE], ids=short)
def test_a_signal_that_is_no_number_is_one_line(tmp_path, number):
    rows = copy.deepcopy(TWICE[:2])
    rows[0]["response"]["metadata"]["confidence"] = number
    write_log(tmp_path, promptfoo_results(rows))
    assert "confidence is" in refused(tmp_path, "promptfoo", "log.json", "--metric", "exact")
    events = copy.deepcopy([*ENDS, *EVENTS[:6]])
    events[4]["data"]["confidence"] = number
    write_lines(tmp_path, events)
    assert "confidence is" in refused(tmp_path, "oai-evals", "log.jsonl")


def test_a_rule_takes_no_digits_of_another_script_for_a_number(tmp_path):
    write_log(tmp_path, scored(0.0))
    header, _, _ = imported(tmp_path, "inspect", "log.json", "--abstain", "value=0.00")
    assert header["counts"]["by_rule"]["value=0.00"] == 2
    header, _, _ = imported(tmp_path, "inspect", "log.json", "--abstain", "value=٠")
    assert header["counts"]["by_rule"]["value=٠"] == 0
