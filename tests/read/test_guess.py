"""Guesses of what the columns of a table are: by name and by what they hold, and never between two that could be it."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demur import PHQ8
from demur.facts.column_names import Likeness, confidence_likeness
from demur.options import flag_of
from demur.read.role_candidates import CONFIDENCES, INDEXES, NAMES, Given, plain_name
from demur.read.role_guessing import guess
from demur.read.table_options import ROLES, roles_of
from runs import written

LOWER_IS_SURER = ("entropy", "uncertainty", "perplexity", "variance", "std", "nll")
THREE = {"cluster": ["a", "a", "b"], "loss": [0, 1, None], "sure": [0.3, 0.2, None]}


def guessed(table, **given):
    return guess(table, Given(**given))


def typed(answer):
    value = f" {answer.role}={answer.value}" if answer.role else "" if answer.value is True else f" {answer.value}"
    return f"{flag_of(answer.name)}{value}"


def words(found):
    return [" ".join(map(typed, question.answers)) for question in found.questions]


def test_a_table_with_the_names_of_the_roles_needs_no_guess_but_the_confidence():
    found = guessed(THREE)
    assert (found.columns, found.loss, found.confidence, found.questions) == ({}, None, "sure", ())


@pytest.mark.parametrize("role", NAMES)
def test_every_name_is_plain_and_a_name_of_one_role(role):
    assert role in ROLES
    for name in NAMES[role]:
        assert plain_name(name) == name
        assert [other for other in NAMES if name in NAMES[other]] == [role]
        assert name not in (*CONFIDENCES, *INDEXES)
        assert not confidence_likeness([name])


def test_every_name_of_a_confidence_is_clear():
    assert {*confidence_likeness(CONFIDENCES).values()} == {Likeness.CLEAR}


@pytest.mark.parametrize("name", [*NAMES["cluster"], *(f"{name}_id" for name in NAMES["cluster"]), "docID", "User Id"])
def test_every_name_of_a_cluster_is_taken(name):
    table = {name: THREE["cluster"], "loss": THREE["loss"], "sure": THREE["sure"]}
    assert guessed(table).columns == {"cluster": name}


@pytest.mark.parametrize("name", NAMES["score"])
def test_every_name_of_a_score_is_taken(name):
    assert guessed({"cluster": [1, 1, 2], name: [1, 0, None], "sure": [1, 2, 3]}).columns == {"score": name}


@pytest.mark.parametrize("truth", NAMES["truth"])
@pytest.mark.parametrize("prediction", NAMES["prediction"])
def test_every_name_of_a_truth_and_of_a_prediction_is_taken(truth, prediction):
    found = guessed({"cluster": [1, 1, 2], truth: ["x", "y", "x"], prediction: ["x", "x", None], "sure": [1, 2, 3]})
    expected = {"truth": truth} | ({} if prediction == "prediction" else {"prediction": prediction})
    assert (found.columns, found.questions) == (expected, ())


def test_what_the_user_says_is_not_guessed():
    table = {"doc": [1, 1, 2], "user": [1, 2, 3], "correct": [1, 0, 1], "conf": [1, 2, 3], "margin": [3, 2, 1]}
    assert words(guessed(table)) == ["--column cluster=user", "--confidence conf"]
    found = guessed(table, columns={"cluster": "doc"}, confidence=True)
    assert (found.columns, found.confidence, found.questions) == ({"score": "correct"}, None, ())


def test_several_things_are_asked_at_once_with_the_alternatives():
    table = {"topic": ["a", "a", "b", "b"], "doc name": ["x", "x", "y", "z"], "target": [1, 2, 3, 4]}
    table |= {"label": [1, 2, 3, 4], "pred": [1, 2, 3, 5], "margin": [1, 2, 3, 4], "conf": [4, 3, 2, 1]}
    found = guessed(table)
    alone = "if no two rows share anything, declare that instead"
    assert [question.about for question in found.questions] == [
        "what is right (truth): target, or label",
        f"what each row belongs to (cluster): doc name, or topic; {alone}",
        "the loss: zero_one if a number is a class, abs if it is an amount",
        "what ranks the answers (confidence): conf, or margin",
    ]
    assert words(found)[0] == "--column truth=target"


@pytest.mark.parametrize(
    "table",
    [
        {"loss": [0, 1, 1], "sure": [1, 2, 3]},
        {"loss": [0, 1, 1], "sure": [1, 2, 3], "text": ["a", "b", "c"], "split": ["test"] * 3},
        {"id": [1, 2, 3], "loss": [0, 1, 1], "sure": [1, 2, 3]},
        {"loss": [0, 1, 1], "sure": [1, 2, 3], "tokens": [5, 5, 6]},
    ],
)
def test_rows_are_their_own_clusters_only_where_no_column_can_be_it(table):
    about = guessed(table).questions[0]
    assert [*map(typed, about.answers)] == ["--every-row-its-own-cluster"]
    assert "no two rows share anything, and each is sampled by itself" in about.about


def test_an_id_that_repeats_is_whose_the_rows_are_and_no_item():
    assert words(guessed({"id": [1, 1, 2], "loss": [0, 1, 1], "sure": [1, 2, 3]})) == ["--column cluster=id"]
    within = {"user": [1, 1, 2, 2], "id": [1, 2, 1, 2], "loss": [0, 1, 1, 0], "sure": [1, 2, 3, 4]}
    assert guessed(within).columns == {"cluster": "user", "item": "id"}
    assert guessed(within | {"id": [1, 1, 1, 2]}).columns == {"cluster": "user"}


def test_rows_of_several_models_are_told_apart_first():
    table = {"model": ["m", "m", "n", "n"], "id": [1, 2, 1, 2], "correct": [0, 1, 1, 1], "conf": [1, 2, 3, 4]}
    found = guessed(table)
    assert found.columns == {"system": "model", "score": "correct", "item": "id"}
    assert words(found) == ["--every-row-its-own-cluster"]


def test_a_model_that_is_alone_in_its_file_names_a_system_only_if_the_file_is_alone():
    table = {"model": ["m", "m"], "user": [1, 2], "correct": [0, 1], "conf": [1, 2]}
    assert guessed(table).columns["system"] == "model"
    assert "system" not in guessed(table, alone=False).columns
    assert guessed(table | {"model": ["m", "n"]}, alone=False).columns["system"] == "model"


class TestSources:
    def test_a_judgment_counts_where_answers_are_texts(self):
        table = {"user": [1, 1, 2], "gold": ["a", "b", "c"], "answer": ["A.", "x", "c!"], "correct": [1, 0, 1]}
        assert guessed(table | {"conf": [1, 2, 3]}).columns == {"score": "correct", "cluster": "user"}

    def test_a_judgment_counts_where_it_says_the_same_as_the_answers(self):
        table = {"user": [1, 1, 2], "label": [1, 0, 3], "pred": [1, 2, 3], "correct": [1, 0, 1], "conf": [1, 2, 3]}
        assert guessed(table).columns == {"score": "correct", "cluster": "user"}

    def test_where_they_differ_it_is_asked(self):
        table = {"user": [1, 1, 2], "label": [1, 0, 3], "pred": [1, 2, 3], "correct": [0, 0, 1], "conf": [1, 2, 3]}
        found = guessed(table)
        assert words(found) == ["--column score=correct"]
        assert found.questions[0].about == "how wrong an answer is: told by correct, or by label and pred"

    def test_a_score_beside_answers_may_be_a_confidence(self):
        table = {"user": [1, 1], "label": ["x", "y"], "pred": ["x", "x"], "score": [0.9, 0.6]}
        assert words(guessed(table)) == ["--column truth=label --column prediction=pred"]
        mapped = guessed(table, columns={"truth": "label", "prediction": "pred"})
        assert (mapped.confidence, mapped.questions) == ("score", ())

    def test_nothing_tells_how_wrong_an_answer_is(self):
        assert words(guessed({"cluster": [1, 2], "sure": [0.5, 0.25]})) == ["--column score=COLUMN"]

    def test_scores_beyond_0_to_1_need_their_range(self):
        ranges = {"0:5": [1, 5, 2], "-2:5": [-2, 1, 3], "0:100": [0, 55, 7], "0:200": [0, 200, 7]}
        for expected, scores in ranges.items():
            found = guessed({"cluster": [1, 1, 2], "score": scores, "sure": [1, 2, 3]})
            assert words(found) == [f"--score-range {expected}"]
        assert not guessed({"cluster": [1, 1, 2], "score": [1, 5, 2], "sure": [1, 2, 3]}, score_range="1:5").questions


NUMBERS = {"cluster": ["a"] * 8, "truth": [*range(8)], "prediction": [0] * 8, "sure": [*range(8)]}


class TestLosses:
    def test_numbers_may_be_classes_or_amounts(self):
        assert words(guessed(NUMBERS)) == ["--loss zero_one"]
        for said in ({"loss": "abs"}, {"instrument": "PHQ-9"}):
            assert not guessed(NUMBERS, **said).questions

    def test_items_of_an_instrument_say_what_they_are(self):
        table = NUMBERS | {"item": [*PHQ8.items]}
        assert not guessed(table).questions
        assert words(guessed(table, instrument="none")) == ["--loss zero_one"]

    def test_0_and_1_are_right_or_wrong_either_way(self):
        found = guessed({"cluster": [1, 1, 2], "truth": [1, 0, 1], "prediction": [1, 1, None], "sure": [1, 2, 3]})
        assert (found.loss, found.questions) == ("zero_one", ())


class TestConfidence:
    def test_it_is_a_number_for_every_answer_that_plays_no_role(self):
        others = {
            "half": [0.5, None, 0.5],
            "note": ["a", "b", "c"],
            "yes": [True, False, True],
            "index": [0, 1, 2],
            "Unnamed: 0": [0, 1, 2],
            "": [0, 1, 2],
            "label": [1, 2, 3],
            "token_pe": [0.1, 0.2, 0.3],
        }
        assert guessed(THREE | others).confidence == "sure"

    def test_an_abstention_needs_none(self):
        for gone in ({"abstained": [False, False, True]}, {"status": ["ok", "ok", "failed"]}):
            assert guessed(THREE | {"loss": [0, 1, 1]} | gone).confidence == "sure"

    def test_the_usual_ones_are_taken_where_they_can_be_served(self):
        table = THREE | {"llm_evidence_count": [1, 2, 3]}
        found = guessed(table, usual=frozenset({"llm_evidence_count"}))
        assert (found.confidence, found.questions) == (None, ())

    @pytest.mark.parametrize("name", [*LOWER_IS_SURER, "Entropy"])
    def test_a_name_of_doubt_is_never_taken_for_confidence(self, name):
        found = guessed({"cluster": [1, 2], "loss": [0, 1], name: [0.1, 0.2]})
        assert words(found) == [f"--confidence {name} --lower-is-surer {name}"]

    def test_what_is_said_to_be_lower_is_taken(self):
        found = guessed(THREE | {"entropy": THREE["sure"], "sure": ["x"] * 3}, lower_is_surer=("entropy",))
        assert (found.confidence, found.questions) == ("entropy", ())
        several = guessed(THREE | {"std": THREE["sure"]}, lower_is_surer=("std",))
        assert words(several) == ["--confidence std"]

    def test_nothing_ranks_the_answers(self):
        found = guessed({"cluster": [1, 2], "loss": [0, 1]})
        assert found.questions[0].about == "what ranks the answers (confidence): no column is a number for every answer"


def test_a_file_of_units_is_asked_for_its_confidence_alone(tmp_path):
    header = '{"demur_units": 1, "source": {}, "mapping": {}}\n'
    unit = '{"cluster": "a", "item": "%s", "repeat": 1, "loss": 0, "status": "ok", "signals": {"p": 0.5}}\n'
    found = guess(written(tmp_path, header + unit % "x" + unit % "y", "u.jsonl"), Given())
    assert (found.columns, found.confidence, found.questions) == ({}, "p", ())


def test_signals_are_listed_with_the_likeliest_first():
    signals = {"choice_entropy": [1, 2, 3], "choice_margin": [1, 2, 3], "choice_max_prob": [1, 2, 3]}
    found = guessed({"cluster": [1, 1, 2], "loss": [0, 1, 1]} | signals)
    assert found.questions[0].about.endswith(": choice_max_prob, or choice_margin, or choice_entropy")


def answered(given, found):
    """What the user has said after giving the answers to every question."""
    answers = [answer for question in found.questions for answer in question.answers]
    said = {answer.name: answer.value for answer in answers if not answer.role}
    return replace(
        given,
        columns={**given.columns, **{answer.role: answer.value for answer in answers if answer.role}},
        own_clusters=said.get("every_row_its_own_cluster", False),
        score_range=said.get("score_range"),
        loss=said.get("loss"),
        confidence="confidence" in said,
        lower_is_surer=tuple(answer.value for answer in answers if answer.name == "lower_is_surer"),
    )


CELLS = {
    "flags": st.sampled_from([0, 1, True, False, None]),
    "numbers": st.sampled_from([0.5, 2, -1.5, 7.0, None]),
    "classes": st.integers(0, 3),
    "texts": st.sampled_from(["a", "b", "", " c ", None]),
    "odd": st.sampled_from([[1], {"x": 1}, float("nan"), "1", 2**70]),
}
KNOWN = [name for names in NAMES.values() for name in names]
ODD = ["", "Unnamed: 0", "topic", "a.b", "a=b", "Loss", "Score", "Abstained", "Repeat", "refused", "model_error", "age"]
HINTED = ["correct answer", "model response", "not_correct", "writer", "note_id", "neg_entropy", "p(wrong)", "rating"]
COLUMN_NAMES = st.sampled_from([*ROLES, *KNOWN, *CONFIDENCES, *LOWER_IS_SURER, *ODD, *HINTED])


@given(st.data())
def test_whatever_is_asked_is_settled_by_its_answers(data):
    names = data.draw(st.lists(COLUMN_NAMES, min_size=1, max_size=7, unique=True))
    rows = data.draw(st.integers(1, 5))
    kinds = [data.draw(st.sampled_from([*CELLS.values()])) for _ in names]
    table = {name: data.draw(st.lists(kind, min_size=rows, max_size=rows)) for name, kind in zip(names, kinds)}
    first = Given()
    found = guess(table, first)
    if any("COLUMN" in (answer.value, answer.role) for question in found.questions for answer in question.answers):
        return
    last = answered(first, found)
    settled = guess(table, last)
    assert settled.questions == ()
    texts = {name for name in names if any(isinstance(cell, (str, bool)) for cell in table[name])}
    roles_of(names, {**last.columns, **settled.columns}, texts)  # the reader agrees, or it raises an error
