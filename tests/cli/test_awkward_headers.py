"""Awkward headers: what a column is must be taken the right way round, or asked about with a command that works."""

import shlex
from time import perf_counter

import pytest

from commands import demur
from demur import load
from parametrized import parametrize_few

WRONG = [1, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 1, 0, 0, 0]
SURE = [40, 90, 80, 30, 95, 60, 70, 65, 85, 20, 75, 55, 50, 45, 99, 35]  # in per cent
COLUMNS = {
    "wrong": WRONG,
    "right": [1 - wrong for wrong in WRONG],
    "wrong?": [str(bool(wrong)) for wrong in WRONG],
    "right?": [str(not wrong) for wrong in WRONG],
    "right %": [100 - 100 * wrong for wrong in WRONG],
    "sure": [f"{sure / 100:g}" for sure in SURE],
    "sure %": SURE,
    "doubt": [f"{1 - sure / 100:g}" for sure in SURE],
    "who": [101 + row // 4 for row in range(16)],
    "who.0": [f"{101 + row // 4}.0" for row in range(16)],
    "who?": ["" if row < 4 else 101 + row // 4 for row in range(16)],
    "whose": ["abcd"[row // 4] for row in range(16)],
    "number": [18 + 7 * row % 60 for row in range(16)],
    "id": [7000 + row for row in range(16)],
}
USUAL = {"participant": "who", "correct": "right", "confidence": "sure"}
REPLACED = {"w": "participant", "r": "correct", "s": "confidence"}

HEADERS = {
    "wrong": "wrong error Loss LOSS incorrect mistake abs_error zero_one_loss hallucinated isWrong is_incorrect "
    "0/1-loss model.error answer_is_wrong not_correct in-correct misclassified prediction_error Wrong? failed",
    "wrong?": "Wrong is_error hallucination",
    "right": "Score score isRight is_not_wrong no_error answered_correctly EM task.success Accuracy error-free "
    "right_answer",
    "right?": "Correct? passed",
    "right %": "percent_correct accuracy",
    "sure": "Confidence conf. modelConfidence MAX_PROB p(correct) p_yes avg-logprob certainty verbalized.confidence "
    "answer_probability similarity neg_entropy maxprob self_confidence_score consistency y_score",
    "sure %": "Confidence(%) conf_pct",
    "doubt": "uncertainty_score entropy_mean std_dev ppl distance rank Mean.Token.Entropy predictiveUncertainty nll "
    "neg_log_likelihood P(error) p_wrong error_probability 1-confidence stdDev low_confidence cosine-distance Risk",
    "who": "Cluster CLUSTER writer author_id MRN PatientID subjectNo note_id hospital school_nr speaker ward pid",
    "whose": "Participant writer family site_name",
    "number": "age Age_years timestamp created_at latency_ms n_tokens visit_date year height_cm x7",
    "id": "note_id row_number case_no zip epoch",
}
# Names that swap right and wrong, or sure and unsure, or may mean either: a neutral question is right, a swap never.
TWISTED = {
    "wrong": "!correct|isn't correct|correct=0|100-accuracy|isnt_correct|never_right|false_neg|correct → 0|correct_0|"
    "doesn't match|inverse_correct|accuracy < 1|predicted_error|success_missing|pass_fail|right_or_wrong",
    "right": "pass_fail|right_or_wrong|hit_or_miss|correct/incorrect|wrong_or_right|zero_errors|error==0|errorless|"
    "flawless|never_wrong|error_corrected|faultless|errors_fixed|hallucination_absent|true_false|wrong → 0|0 errors|"
    "hallucination_score|failed=false|not_false|mistake_corrected",
    "sure": "-entropy|1/perplexity|1/var|logit_diff|100-doubt|prob_diff|exp(-nll)|neg. perplexity|1 - P(wrong)|"
    "variance_explained|doubtless|confidence - doubt",
    "doubt": "-logprob|-log p|p_refusal|p_dont_know|reversed_confidence|conf_reversed|missing_confidence|p-val|-conf|"
    "−logprob|~confidence|100-confidence|1.0-conf|rev_conf|flipped_conf|conf_complement|conf_deficit|"
    "conf_lower_better|prob_other|p_abstain|conf×-1|conf_order|second_prob|(1-p)|-1*logprob|log(1-p)|confidence_gap|"
    "conf [low is sure]|1-score",
}
TWISTS = [(name, kind) for kind, names in TWISTED.items() for name in names.split("|")]
ALL = [(name, kind) for kind, names in HEADERS.items() for name in names.split()]


def table(columns):
    cells = [COLUMNS[kind] for kind in columns.values()]
    lines = [",".join(f'"{name}"' for name in columns), *(",".join(map(str, row)) for row in zip(*cells, strict=True))]
    return "\n".join(lines)


def answered(folder, columns, *, neutral=False):
    """The results after pasting what the first message asks for, and that message; None if it is to be filled in."""
    (folder / "t.csv").write_text(table(columns), encoding="utf-8")
    words = ("evaluate", "t.csv", "--bootstrap-resamples", "0", "--output", "m.json")
    first = last = demur(folder, *words)
    if first.returncode:
        assert (first.returncode, first.stderr.count("\n")) == (2, 1)
        if neutral and "COLUMN filled in: demur" in first.stderr:
            assert any(word in first.stderr for word in ("ROLE=COLUMN", "--confidence COLUMN"))
            return None, first.stderr
        last = demur(folder, *shlex.split(first.stderr.partition("the likeliest command: demur ")[2]))
    assert last.returncode == 0, (first.stderr, last.stderr)
    return load(folder / "m.json"), first.stderr


def numbers(results):
    return [
        results.one(quantity=name, minus=None).value for name in ("augrc", "cmax")
    ], results.selective.clusters_included


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    return numbers(answered(tmp_path_factory.mktemp("usual"), USUAL)[0])


@parametrize_few(("name", "kind"), [pair for pair in ALL if pair[1] not in ("number", "id")], 12)
def test_a_header_is_understood_or_asked_about_the_right_way_round(tmp_path, expected, name, kind):
    role = REPLACED[{"doubt": "s", "wrong": "r", "wrong?": "r"}.get(kind, kind[0])]
    columns = {name if usual == role else usual: kind if usual == role else own for usual, own in USUAL.items()}
    results, told = answered(tmp_path, columns)
    assert numbers(results) == expected
    assert "--every-row-its-own-cluster" not in told


@parametrize_few(("name", "kind"), TWISTS, 12)
def test_a_name_that_may_be_turned_is_never_taken_the_wrong_way_round(tmp_path, expected, name, kind):
    role = REPLACED[{"doubt": "s", "wrong": "r"}.get(kind, kind[0])]
    columns = {name if usual == role else usual: kind if usual == role else own for usual, own in USUAL.items()}
    results, told = answered(tmp_path, columns, neutral=True)
    assert "command" in told
    assert results is None or numbers(results) == expected


OTHERS = "prof trustees agreeableness odds_ratio posterior_wall_mm votes_for_party reliability_group likelihood_ratio"


@pytest.mark.parametrize("name", OTHERS.split())
def test_what_only_looks_like_a_word_of_confidence_is_none(tmp_path, name):
    columns = {"participant": "who", "correct": "right", name: "number"}
    assert answered(tmp_path, columns, neutral=True)[0] is None


@pytest.mark.parametrize("name", ["target_user", "gold_doc", "true_author"])
def test_ids_of_a_cluster_that_is_named_like_a_truth_are_offered(tmp_path, expected, name):
    results, told = answered(tmp_path, {name: "who", "correct": "right", "confidence": "sure"})
    assert (numbers(results), told.rstrip().endswith(f"--column cluster={name}")) == (expected, True)


@pytest.mark.parametrize("name", ["participant", "patient_id", "writer", "Cluster"])
def test_ids_with_decimals_are_ids(tmp_path, expected, name):
    results, _ = answered(tmp_path, {name: "who.0", "correct": "right", "confidence": "sure"})
    assert numbers(results) == expected


@pytest.mark.parametrize("name", ["participant", "patient_id", "writer"])
def test_a_cluster_that_is_empty_in_some_rows_is_named(tmp_path, name):
    (tmp_path / "t.csv").write_text(table({name: "who?", "correct": "right", "confidence": "sure"}), encoding="utf-8")
    asked = demur(tmp_path, "evaluate", "t.csv").stderr
    assert f"what each row belongs to (cluster): {name} is empty in 4 rows; " in asked
    assert "with COLUMN filled in: demur evaluate t.csv --column cluster=COLUMN" in asked
    taken = demur(tmp_path, "evaluate", "t.csv", "--seed", "1", "--column", f"cluster={name}").stderr
    assert f"row 1: {name} (cluster) is empty" in taken


def test_a_flag_of_any_name_may_be_a_score_or_a_loss(tmp_path):
    columns = {"participant": "who", "is_disagreement": "wrong", "confidence": "sure"}
    (tmp_path / "t.csv").write_text(table(columns), encoding="utf-8")
    assert "--column ROLE=COLUMN" in demur(tmp_path, "evaluate", "t.csv").stderr


@parametrize_few("header", ["conf" * 30_000, "x_" * 60_000, ",".join(f"a{n}" for n in range(5_000))], 1)
@pytest.mark.slow
def test_a_long_header_takes_no_long_time(tmp_path, header):
    (tmp_path / "t.csv").write_text(f"participant,correct,{header}\n1,1" + ",1" * (header.count(",") + 1))
    start = perf_counter()
    assert demur(tmp_path, "evaluate", "t.csv").returncode == 2
    assert perf_counter() - start < 10


@parametrize_few(("name", "kind"), [pair for pair in ALL if pair[1] in ("number", "id")], 4)
def test_what_no_name_suggests_is_never_a_confidence(tmp_path, expected, name, kind):
    results, told = answered(tmp_path, USUAL | {name: kind})
    assert (numbers(results), "--confidence" in told) == (expected, False)
    (tmp_path / "t.csv").write_text(table({"participant": "who", "correct": "right", name: kind}), encoding="utf-8")
    asked = demur(tmp_path, "evaluate", "t.csv")
    assert asked.returncode == 2
    assert "with COLUMN filled in: demur evaluate t.csv --confidence COLUMN" in asked.stderr


def test_a_flag_of_an_unknown_name_may_mean_either(tmp_path):
    (tmp_path / "t.csv").write_text(table({"participant": "who", "verdict": "wrong", "conf": "sure"}), encoding="utf-8")
    asked = demur(tmp_path, "evaluate", "t.csv").stderr
    assert "verdict is a score if 1 is right, and a loss if 1 is wrong" in asked
    assert "the command, with ROLE and COLUMN filled in: demur evaluate t.csv --column ROLE=COLUMN" in asked


SOURCES = {
    "they say the same": ({"loss": "wrong", "score": "right", "confidence": "sure"}, ""),
    "the score is a confidence": ({"loss": "wrong", "score": "sure"}, "--column loss=loss"),
    "a score and a judgment": ({"score": "sure", "correct": "right"}, "--column score=correct"),
    "capitals": ({"Loss": "wrong", "Score": "sure"}, "--column loss=Loss"),
    "right and wrong": ({"correct": "right", "wrong": "wrong", "confidence": "sure"}, ""),
    "requests that failed": ({"error": "doubt", "correct": "right", "confidence": "sure"}, "--column score=correct"),
}


@parametrize_few("name", SOURCES, 2)
def test_of_two_judgments_the_command_says_which_counts(tmp_path, expected, name):
    columns, asked = SOURCES[name]
    results, told = answered(tmp_path, {"participant": "who"} | columns)
    assert numbers(results) == expected
    assert told.rstrip().endswith(asked if asked else "answers are ranked by confidence")
    audited = demur(tmp_path, "audit", "--data", "t.csv", "--reported", "m.json")
    assert ", 0 differs, 0 not recognised" in audited.stdout, audited


def test_an_id_that_rows_share_is_offered_as_a_cluster_and_never_as_a_confidence(tmp_path):
    _, told = answered(tmp_path, {"writer": "who", "correct": "right", "confidence": "sure"})
    assert "what each row belongs to (cluster): writer; " in told
    assert told.rstrip().endswith("--column cluster=writer")


def test_texts_that_are_neither_numbers_nor_flags_are_named(tmp_path):
    (tmp_path / "t.csv").write_text("user,correct,conf\na,yes,90%\na,no,50%\nb,no,70%\n", encoding="utf-8")
    asked = demur(tmp_path, "evaluate", "t.csv").stderr
    assert "how wrong an answer is: correct holds neither numbers from 0 nor true and false; " in asked
    assert "(confidence): conf is not a number for every answer; " in asked


def test_what_is_marked_as_declined_is_asked_about(tmp_path):
    (tmp_path / "t.csv").write_text("user,correct,refused,conf\na,1,0,0.9\na,0,0,0.5\nb,0,1,0.7\n", encoding="utf-8")
    asked = demur(tmp_path, "evaluate", "t.csv", "--bootstrap-resamples", "0", "--output", "m.json").stderr
    assert asked.rstrip().endswith("--column abstained=refused")
    assert demur(tmp_path, *shlex.split(asked.partition("command: demur ")[2])).returncode == 0
    assert load(tmp_path / "m.json").one(quantity="cmax", minus=None).value == pytest.approx(2 / 3)
