"""Samples of lm-evaluation-harness: choices with their log-likelihoods, generated answers, filters and metrics."""

import json
import math

import pytest

from importing import imported, kinds, refused
from tool_logs import CHOICES, DOCUMENTS, MULTIPLE, chosen, generated

DECLINED = ("--abstain", "choice=I don't know")


@pytest.fixture
def log(tmp_path):
    def written(rows):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / "samples_capitals.jsonl").write_text(text, encoding="utf-8")
        return tmp_path

    return written


def test_the_choices_give_losses_abstentions_and_confidences(log):
    found, units, _ = imported(
        log(MULTIPLE), "lm-eval", "samples_capitals.jsonl", "--cluster", "doc.document", *DECLINED
    )
    assert kinds(found) == (6, 4, 0)
    assert [unit["loss"] for unit in units] == [1, None, None, None, 0, None, 0, 1, 0, 1]
    assert [unit["cluster"] for unit in units[:3]] == ["doc0", "doc0", "doc1"]
    signals = units[0]["signals"]
    assert signals["choice_max_prob"] == pytest.approx(0.30013953877486915, abs=1e-15)
    assert signals["choice_margin"] == pytest.approx(0.10652593682706285, abs=1e-15)
    assert signals["choice_entropy"] == pytest.approx(1.5769127733369408, abs=1e-14)
    lengths = [value / len(text) for value, text in zip(map(float, DOCUMENTS[0][3].split()), CHOICES)]
    shares = [math.exp(value) for value in lengths]
    assert signals["choice_max_prob_norm"] == pytest.approx(max(shares) / sum(shares), abs=1e-15)
    assert found["source"]["task"] == "capitals"
    assert found["counts"]["by_rule"] == {"choice=I don't know": 4}


def test_no_choice_abstains_by_itself(log):
    found, _, printed = imported(log(MULTIPLE), "lm-eval", "samples_capitals.jsonl")
    assert kinds(found) == (10, 0, 0)
    assert "abstained by: no rule\nno unit abstained under these rules\n" in printed


def test_another_metric_picks_by_length(log):
    options = ("--metric", "acc_norm", *DECLINED)
    found, units, _ = imported(log(MULTIPLE), "lm-eval", "samples_capitals.jsonl", *options)
    by_length = [[value / len(text) for value, text in zip(map(float, row[3].split()), CHOICES)] for row in DOCUMENTS]
    declined = [weights.index(max(weights)) == 4 for weights in by_length]
    assert [unit["loss"] is None for unit in units] == declined
    assert kinds(found) == (10 - sum(declined), sum(declined), 0)


def test_of_equal_choices_the_first_is_picked(log):
    found, _, _ = imported(log([chosen(0, 0, 1, 1, "-1 -1")]), "lm-eval", "samples_capitals.jsonl")
    assert kinds(found) == (1, 0, 0)


def test_a_gold_choice_that_is_no_index_is_not_checked(log):
    rows = [chosen(0, 1, 1, 1, "-1 -2", target="B"), chosen(1, 1, 1, 1, "-1 -2", target=["0", "1"])]
    _, units, _ = imported(log(rows), "lm-eval", "samples_capitals.jsonl")
    assert [unit["loss"] for unit in units] == [0, 0]


def test_generated_answers_abstain_by_their_text_and_agree_with_each_other(log):
    rows = [generated(0, "a", 1.0), generated(1, "I don't know", 0.0, samples=("b",)), generated(2, "b", 0.25)]
    found, units, _ = imported(log(rows), "lm-eval", "samples_capitals.jsonl", "--abstain", "answer~=.*know")
    assert kinds(found) == (2, 1, 0)
    assert [unit["loss"] for unit in units] == [0, None, 0.75]
    assert [unit["signals"] for unit in units[:2]] == [{"consistency_modal_confidence": 2 / 3}, {}]


def test_one_filter_is_read(log):
    rows = [generated(n, "a", 1.0, rule=rule) for rule in ("first", "maj") for n in range(3)]
    folder = log(rows)
    assert refused(folder, "lm-eval", "samples_capitals.jsonl") == (
        "samples_capitals.jsonl: line 4: 2 filters: first, maj; choose one with --filter"
    )
    found, units, _ = imported(folder, "lm-eval", "samples_capitals.jsonl", "--filter", "maj")
    assert (len(units), found["mapping"]["filter"]) == (3, "maj")
    assert refused(folder, "lm-eval", "samples_capitals.jsonl", "--filter", "x") == (
        "samples_capitals.jsonl: no filter is called x; there are: first, maj"
    )


def test_the_results_beside_the_samples_say_which_model_it_was(tmp_path):
    name = "samples_arc_easy_2026-11-16T06-11-05.140382.jsonl"
    (tmp_path / name).write_text(json.dumps(MULTIPLE[0]), encoding="utf-8")
    results = {"lm_eval_version": "0.4.13", "model_name": "gpt2", "date": 1794809465.1403828}
    (tmp_path / "results_2026-11-16T06-11-05.140382.json").write_text(json.dumps(results), encoding="utf-8")
    source = imported(tmp_path, "lm-eval", name)[0]["source"]
    assert (source["task"], source["model"], source["tool_version"]) == ("arc_easy", "gpt2", "0.4.13")
    assert source["created"] == "2026-11-16T06:11:05Z"


def test_results_that_cannot_be_read_are_no_reason_to_refuse_the_samples(log):
    folder = log(MULTIPLE)
    (folder / "results.json").write_text("{", encoding="utf-8")
    found, units, _ = imported(folder, "lm-eval", "samples_capitals.jsonl")
    assert (len(units), found["source"]["model"], found["warnings"][0]["code"]) == (10, None, "results_unread")


def test_metrics_that_are_not_listed_or_are_true_and_false_are_read(log):
    row = {name: value for name, value in generated(0, "a", True).items() if name != "metrics"}
    rows = [row, row | {"doc_id": 1, "exact_match": False}]
    assert [unit["loss"] for unit in imported(log(rows), "lm-eval", "samples_capitals.jsonl")[1]] == [0, 1]


REFUSED = {
    "no metric": (
        generated(0, "a", 1.0) | {"metrics": []},
        (),
        "line 1: no metric: it has no list of metrics, and no number that could be one",
    ),
    "a metric that contradicts": (
        chosen(0, 0, 0, 1, "-1 -2"),
        (),
        "line 1: doc_id 0: acc says 0, the log-likelihoods say 1; is it another --metric?",
    ),
    "an infinite likelihood": (
        chosen(0, 0, 1, 1, "inf -2"),
        (),
        "line 1: doc_id 0: log-likelihood 'inf' of choice 0, expected a finite number",
    ),
    "no such metric": (
        chosen(0, 0, 1, 1, "-1 -2"),
        ("--metric", "f1"),
        "line 1: no metric is called f1; there are: acc, acc_norm",
    ),
    "mutual information": (
        chosen(0, 0, 1, 1, "-1 -2", metrics=["acc", "acc_mutual_info"]),
        (),
        "line 1: acc_mutual_info weighs a choice against the choice alone: it cannot be imported",
    ),
    "perplexity": (
        generated(0, "a", 1.0) | {"metrics": ["word_perplexity"], "word_perplexity": 12.5},
        (),
        "line 1: word_perplexity is of a whole text, and no text is right or wrong: it cannot be imported",
    ),
    "several metrics": (
        generated(0, "a", 1.0) | {"metrics": ["f1", "bleu"]},
        (),
        "line 1: 2 metrics: f1, bleu; choose one with --metric",
    ),
    "a score out of range": (
        generated(0, "a", 37.5),
        (),
        "doc_id 0: score 37.5 is outside 0:1; give its range, --score-range LOW:HIGH",
    ),
    "a metric that is a list": (
        generated(0, "a", [1]),
        (),
        "line 1: doc_id 0: exact_match is [1], expected a number",
    ),
    "another file": (
        {"a": 1},
        (),
        "line 1: not a sample of lm-evaluation-harness: it has no doc_id or no filtered_resps",
    ),
    "a wrong path": (
        generated(0, "a", 1.0),
        ("--cluster", "doc.participant"),
        "no doc.participant in 1 documents; there are: document",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_mistake_is_one_line(log, case):
    row, options, message = REFUSED[case]
    assert refused(log([row]), "lm-eval", "samples_capitals.jsonl", *options) == f"samples_capitals.jsonl: {message}"
