"""Repeats of a question: units of their own, the first alone, or one unit by vote."""

import json
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands import demur
from demur import TableOptions, UserError, read_table
from demur.confidences.model_output import consistency_signals
from runs import written

TABLE = {
    "cluster": ["d"] * 5 + ["e"] * 2,
    "item": ["q", "q", "q", "r", "r", "q", "q"],
    "repeat": [2, 1, 3, 1, 2, 1, 2],
    "truth": ["Rome"] * 3 + ["Bern"] * 2 + ["Oslo"] * 2,
    "prediction": ["Rome", "Milan", "Rome", None, "Bern", "Oslo", "Bonn"],
    "sure": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7],
}


def read(table, rule, **options):
    return read_table(table, instrument=None, options=TableOptions(repeats=rule, **options))


def told(items):
    """Every unit with its answer, or None."""
    answers = [items.labels[code] if items.labels else code for code in items.answer.tolist()]
    known = [answer if answered else None for answer, answered in zip(answers, items.answered.tolist(), strict=True)]
    return dict(zip(items.unit_names, known, strict=True))


def signal(items, name):
    return [items.signals[name].cell(unit) for unit in range(len(items))]


def test_each_is_a_unit_if_nothing_is_said():
    items = read_table(TABLE, instrument=None)
    assert len(items) == 7
    assert told(items)["d", "q#1"] == "Milan"
    assert (items.repeats.rule, items.repeats.rows) == ("units", 7)
    once = {name: values[3:4] for name, values in TABLE.items()}
    assert read_table(once, instrument=None).repeats is None
    assert read(once, "vote").repeats.rule == "vote", "what was chosen is told"
    assert read_table(once, instrument=None).unit_names == [("d", "r")], "nothing is repeated"


def test_the_first_is_the_one_of_the_lowest_number():
    items = read(TABLE, "first")
    assert told(items) == {("d", "q"): "Milan", ("d", "r"): None, ("e", "q"): "Oslo"}
    assert signal(items, "sure") == [0.2, 0.4, 0.6]


def test_the_vote_is_of_the_most_frequent_answer_and_ties_are_abstentions_or_the_smallest_text():
    items = read(TABLE, "vote")
    assert told(items) == {("d", "q"): "Rome", ("d", "r"): None, ("e", "q"): "Bonn"}
    assert signal(items, "consistency_modal_confidence") == [2 / 3, 0.5, 0.5]
    assert signal(items, "consistency_na_rate") == [0, 0.5, 0]
    assert "consistency_score_std" not in items.signals, "texts have no spread"
    assert signal(items, "sure") == [0.1, 0.4, 0.7], "those of the first repeat that gave the answer"


@given(st.lists(st.lists(st.sampled_from([None, 0, 1, 2, 10]), min_size=1, max_size=5), min_size=1, max_size=4))
def test_scores_are_voted_on_as_the_samples_of_a_run_are(questions):
    rows = [(item, repeat, answer) for item, each in enumerate(questions) for repeat, answer in enumerate(each, 1)]
    columns = zip(*((1, item, repeat, 0, answer) for item, repeat, answer in rows), strict=True)
    table = dict(zip(("cluster", "item", "repeat", "truth", "prediction"), map(list, columns), strict=True))
    items = read(table, "vote")
    for unit, answers in enumerate(questions):
        counts = Counter(answers)
        tied = [answer for answer in counts if counts[answer] == max(counts.values())]
        expected = None if None in tied else min(tied)
        assert told(items)[1, str(unit)] == expected
        for name, value in consistency_signals(answers).items():
            assert items.signals[name].cell(unit) == value


def test_beside_losses_the_prediction_votes_and_has_one_loss():
    losses = {name: TABLE[name] for name in ("cluster", "item", "repeat", "prediction", "sure")}
    table = losses | {"loss": [0, 1, 0, None, 0.5, 0, 1]}
    items = read(table, "vote")
    assert [Fraction(int(n), items.losses.divisor) for n in items.losses.numerators] == [0, 0, 1]
    assert items.answered.tolist() == [True, False, True]
    with pytest.raises(UserError, match="cluster d, q#3: loss 1, but 0 in q#2: repeats that are voted on must agree"):
        read(table | {"loss": [0, 1, 1, None, 0.5, 0, 1]}, "vote")
    with pytest.raises(UserError, match="cluster d, q#1: no answer to vote with; .*repeats='first'.* needs none"):
        read(table | {"prediction": ["Rome", None, "Rome", None, "Bern", "Oslo", "Bonn"]}, "vote")


FAILED = TABLE | {"status": ["failed", "ok", "failed", "ok", "ok", "failed", "failed"]}


def test_repeats_that_failed_do_not_vote_and_a_question_of_such_alone_failed():
    items = read(FAILED, "vote")
    assert told(items) == {("d", "q"): "Milan", ("d", "r"): None}
    assert (items.failed_units.names, items.failed) == ((("e", "q"),), ("e",))
    assert (items.repeats.rows, items.repeats.failed) == (7, 4)
    abstaining = read(FAILED, "vote", failed_units="abstain")
    assert told(abstaining) == {("d", "q"): None, ("d", "r"): None, ("e", "q"): None}
    assert signal(abstaining, "consistency_na_rate") == [2 / 3, 0.5, 1]
    assert abstaining.failed_units.names == (("d", "q"), ("e", "q"))
    first = read(FAILED, "first")
    assert (told(first), first.failed) == ({("d", "q"): "Milan", ("d", "r"): None}, ("e",))


WRONG = {
    "not a number": ({"repeat": ["a"] * 7}, "vote"),
    "twice": ({"repeat": [1] * 7}, "vote"),
    "twice, first": ({"repeat": [1] * 7}, "first"),
    "two truths": ({"truth": ["Rome"] * 6 + ["x"]}, "vote"),
    "computed": ({"consistency_na_rate": [0] * 7}, "vote"),
    "no rule": ({}, "mean"),
}


@pytest.mark.parametrize(("change", "rule"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_put_together_is_refused(change, rule, message):
    with pytest.raises(UserError) as refused:
        read(TABLE | change, rule)
    message(refused.value)


def test_a_rule_without_repeats_and_repeats_without_items_are_misunderstandings():
    without = {name: values for name, values in TABLE.items() if name != "repeat"}
    with pytest.raises(UserError, match=r"map one, columns={'repeat': 'COLUMN'}, or leave it out"):
        read(without, "vote")
    with pytest.raises(UserError, match="the column repeat counts repeats of an item: map that too"):
        read({name: values for name, values in TABLE.items() if name != "item"}, "units")
    with pytest.raises(UserError, match="PHQ-8 has every item once: reduce repeats by .*repeats='first'"):
        read_table(TABLE | {"truth": [0] * 7, "prediction": [0] * 7}, instrument="PHQ-8")


def units_file(folder, answers):
    header = {"demur_units": 1, "source": {}, "mapping": {}}
    lines = [
        {"cluster": "d", "item": item, "repeat": repeat, "loss": loss, "status": "ok", "signals": {"sure": sure}}
        | ({"answer": answer} if answers and answer else {})
        for item, repeat, loss, sure, answer in (
            ("q", 1, 1, 0.9, "Milan"),
            ("q", 2, 0, 0.5, "Rome"),
            ("q", 3, 0, 0.4, "Rome"),
            ("r", 1, None, 0.1, None),
        )
    ]
    return written(folder, "\n".join(map(json.dumps, [header, *lines])) + "\n", "units.jsonl")


def test_units_of_a_log_vote_if_their_answers_were_imported(tmp_path):
    items = read_table(units_file(tmp_path, answers=True), options=TableOptions(repeats="vote"))
    assert (items.unit_names, items.losses.numerators.tolist()) == ([("d", "q"), ("d", "r")], [0, 0])
    assert signal(items, "consistency_modal_confidence") == [2 / 3, 1]
    assert [*read_table(units_file(tmp_path, answers=True)).signals] == ["sure"], "an answer is no signal"
    with pytest.raises(UserError, match="import the log again with --include-text"):
        read_table(units_file(tmp_path, answers=False), options=TableOptions(repeats="vote"))


@pytest.mark.slow
def test_the_choice_is_in_the_file_and_on_the_console_and_is_audited(tmp_path):
    rows = ["cluster,item,repeat,truth,prediction,sure"]
    rows += [f"{n},q,{r},{n % 3},{(n * r) % 3},{n / 10 + r / 100}" for n in range(8) for r in (1, 2, 3)]
    path = written(tmp_path, "\n".join(rows) + "\n", "t.csv")
    settings = ["--instrument", "none", "--loss", "zero_one", "--confidence", "consistency", "--seed", "1"]
    done = demur(
        tmp_path, "evaluate", path, *settings, "--repeats", "vote", "--bootstrap-resamples", "50", "--output", "m.json"
    )
    assert "repeats of a question: one unit with the most frequent answer, of 24 rows" in done.stdout
    population = json.loads((tmp_path / "m.json").read_text())["population"]
    assert (population["repeats"], population["rows"], population["items_total"]) == ("vote", 24, 8)
    assert demur(tmp_path, "audit", "--data", path, "--reported", "m.json", "--instrument", "none").returncode == 0
