"""What an importer writes, `demur evaluate` reads: logs of every tool, with and without repeats, by every rule."""

import json

from commands import demur
from importing import imported, kinds, read_back, refused
from inspect_logs import archive, json_log, members_of, samples, scored
from parametrized import parametrize_few
from tool_logs import (
    CAPITALS,
    ENDS,
    EVENTS,
    MULTIPLE,
    TWICE,
    evals_event,
    generated,
    helm_row,
    helm_state,
    promptfoo_results,
    promptfoo_row,
)


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def matched(repeats):
    """Events of OpenAI evals: four samples with as many matches and metrics each."""
    for sample in range(4):
        for repeat in range(repeats):
            number = 10 * sample + 2 * repeat
            right = {"correct": (sample + repeat) % 2 == 0, "picked": "AB"[(sample + repeat) % 2]}
            yield evals_event(number, f"s{sample}", "match", **right)
            yield evals_event(number + 1, f"s{sample}", "metrics", sure=0.1 * sample + 0.01 * repeat)


def helm_run(trials):
    """A run folder of HELM: its statistics and its states."""
    keys = [(trial, item) for trial in range(trials) for item in "abc"]
    scores = [helm_row(item, float(item != "a"), 0.1 * trial + 0.2 * ord(item)) for trial, item in keys]
    states = [helm_state(item, "AB"[item == "a"]) for _, item in keys]
    for (trial, _), score, state in zip(keys, scores, states):
        score["train_trial_index"] = state["train_trial_index"] = trial
    return {"per_instance_stats.json": scores, "scenario_state.json": {"request_states": states}}


GENERATED = [generated(n, "ab"[n % 2], float(n % 2 == 0), samples=("a", "b", "a")[: n + 1]) for n in range(3)]
# Of each log: the tool, what was logged, the options of the import, and the confidence to rank by.
LOGS = {
    "inspect, epochs": ("inspect", json_log(), ("--scorer", "exact"), "confidence"),
    "inspect, archive": (
        "inspect",
        archive(members_of()),
        ("--scorer", "both", "--value-key", "correct"),
        "token_msp",
    ),
    "inspect, several values": ("inspect", json_log(), ("--scorer", "both", "--value-key", "polite"), "token_msp"),
    "inspect, one epoch": ("inspect", json_log(samples()[:12]), ("--scorer", "exact"), "confidence"),
    "lm-eval, choices": ("lm-eval", lines(MULTIPLE), (), "choice_margin"),
    "lm-eval, answers": ("lm-eval", lines(GENERATED), ("--confidence", "sure=doc_id"), "sure"),
    "promptfoo, repeats": ("promptfoo", promptfoo_results(TWICE), ("--metric", "exact"), "confidence"),
    "promptfoo, once": (
        "promptfoo",
        promptfoo_results(map(promptfoo_row, CAPITALS)),
        ("--metric", "exact"),
        "token_msp",
    ),
    "oai-evals, once": ("oai-evals", lines([*ENDS, *EVENTS]), (), "confidence"),
    "oai-evals, repeats": ("oai-evals", lines([*ENDS, *matched(2)]), (), "sure"),
    "helm, one trial": ("helm", helm_run(1), (), "max_prob"),
    "helm, trials": ("helm", helm_run(3), (), "max_prob"),
}


def write(folder, tool, content):
    """Write a log into a folder; its name."""
    name = {"lm-eval": "samples_x.jsonl", "helm": "run"}.get(tool, "log")
    if tool == "helm":
        (folder / name).mkdir()
        for file, part in content.items():
            (folder / name / file).write_text(json.dumps(part), encoding="utf-8")
    else:
        (folder / name).write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return name


@parametrize_few("log", LOGS, 4)
def test_what_an_importer_writes_is_evaluated(tmp_path, log):
    tool, content, options, confidence = LOGS[log]
    name = write(tmp_path, tool, content)
    header, units, _ = imported(tmp_path, tool, name, *options, "--include-text")
    answered, abstained, failed = kinds(header)
    read = read_back(tmp_path, confidence)
    assert (read["items_predicted"], read["items_total"]) == (answered, answered + abstained)
    assert read.get("units_failed", 0) == failed
    questions = len({(unit["cluster"], unit["item"]) for unit in units if unit["status"] == "ok"})
    assert read_back(tmp_path, confidence, "first")["items_total"] <= questions
    assert read_back(tmp_path, confidence, "vote")["items_total"] == questions


def test_without_a_signal_the_way_out_is_another_import(tmp_path):
    name = write(tmp_path, "lm-eval", lines([generated(n, "a", 1.0, samples=("a",)) for n in range(3)]))
    imported(tmp_path, "lm-eval", name)
    done = demur(tmp_path, "evaluate", "units.jsonl", "--seed", "1")
    why = "no signal is a number for every answer, to rank the answers by"
    way_out = "import the log again and name one, --confidence PATH; demur fields LOG lists the paths"
    assert (done.returncode, done.stderr) == (2, f"demur: units.jsonl: {why}: {way_out}\n")


NAMES = {"loss": 0.5, "answer": 42, "success": 1, "verbalized_confidence": 0.9, "\0groups": 1, "a,b": 2, "score": 3}
LEFT_OUT = ["loss", "answer", "success", "\0groups", "verbalized_confidence"]


def test_a_signal_under_the_name_of_something_else_is_left_out_and_told(tmp_path):
    logged = [scored("C", metadata=NAMES), scored("I", metadata=NAMES | {"a,b": 3}) | {"epoch": 2}]
    name = write(tmp_path, "inspect", json_log([scored("C") | {"id": "first"}, *logged]))
    header, units, printed = imported(tmp_path, "inspect", name)
    assert {*units[-1]["signals"]} == {"a,b", "score", "token_msp", "token_pe", "token_energy"}
    codes = [warning["code"] for warning in header["warnings"]]
    assert codes.count("signal_left_out") == len(LEFT_OUT)
    assert (
        "warning: the signal answer has the name of a column: left out; "
        "keep it under another name, --confidence NAME=scores.only.metadata.answer\n"
    ) in printed
    assert {*header["mapping"]["signals"]} == {*units[-1]["signals"]}
    assert read_back(tmp_path, "token_msp")["items_total"] == 3
    options = ("--confidence", "mine=scores.only.metadata.verbalized_confidence")
    assert imported(tmp_path, "inspect", name, *options)[1][-1]["signals"]["mine"] == 0.9
    assert refused(tmp_path, "inspect", name, "--confidence", "loss=epoch") == (
        "log: sample first, epoch 1: --confidence loss=epoch: the signal has the name of a column; give it another NAME"
    )


def test_spaces_around_names_are_no_part_of_them(tmp_path):
    metadata = {"document": " d1\n", "topic": "\u00a0x "}
    name = write(tmp_path, "inspect", json_log([scored("C") | {"id": " a ", "metadata": metadata}]))
    options = ("--cluster", "metadata.document", "--group", "topic=metadata.topic")
    _, (unit,), _ = imported(tmp_path, "inspect", name, *options)
    assert (unit["item"], unit["cluster"], unit["groups"]) == ("a", "d1", {"topic": "x"})
    assert read_back(tmp_path, "token_msp")["items_total"] == 1
