"""Columns that are declared probabilities: checked, and used as the chance of being right."""

import json
from fractions import Fraction

import pytest

from commands import demur
from demur import Plan, Settings, TableOptions, UserError, evaluate, load, read_table
from runs import written

TABLE = {
    "cluster": ["a", "a", "b", "b"],
    "loss": [0, 1, 0, None],
    "p": [1, 0.5, 0.25, None],
    "sure": [3, 2, 1, 0],
    "note": ["x", "y", "z", None],
}
DECLARED = TableOptions(probability=("p",))


def reliability(items, confidence):
    results = evaluate(items, settings=Settings(confidence=confidence), plan=Plan(0, seed=None))
    return results.curves[results.systems[0], confidence].reliability


def test_calibration_is_measured_of_a_declared_probability_alone():
    items = read_table(TABLE, options=DECLARED)
    assert items.probabilities == ("p",)
    table = reliability(items, "p")
    # right with 1 and with 0.25, wrong with 0.5
    assert table.brier == float(Fraction(0 + Fraction(1, 4) + Fraction(9, 16), 3))
    assert table.ece == float(Fraction(0 + Fraction(1, 2) + Fraction(3, 4), 3))
    assert reliability(read_table(TABLE), "p") is None, "a number from 0 to 1 need not be a probability"
    assert reliability(items, "sure") is None


WRONG = {
    "above 1": ({"p": [1, 1.5, 0.25, 2]}, ("p",)),
    "of an abstention": ({"p": [1, 0.5, 0.25, 90]}, ("p",)),
    "text": ({"p": [1, "0.5", 0.25, None]}, ("p",)),
    "NaN": ({"p": [1, float("nan"), 0.25, None]}, ("p",)),
    "no column": ({}, ("q",)),
    "a role": ({}, ("loss",)),
    "twice": ({}, ("p", "p")),
}


@pytest.mark.parametrize(("change", "names"), WRONG.values(), ids=WRONG)
def test_what_is_none_is_refused_with_its_place(change, names, message):
    with pytest.raises(UserError) as refused:
        read_table(TABLE | change, options=TableOptions(probability=names))
    message(refused.value)


def test_a_nan_where_the_system_abstained_is_never_looked_at():
    assert len(read_table(TABLE | {"p": [1, 0.5, 0, float("nan")]}, options=DECLARED)) == 4


@pytest.mark.slow
def test_the_file_says_so_and_is_audited(tmp_path):
    rows = [f"{n},{n % 2},{n / 20}" for n in range(12)]
    path = written(tmp_path, "\n".join(["cluster,loss,p", *rows]) + "\n", "t.csv")
    same = ["--confidence", "p", "--seed", "1", "--bootstrap-resamples", "20", "--output", "m.json"]
    assert demur(tmp_path, "evaluate", path, *same, "--probability", "p").returncode == 0
    content = json.loads((tmp_path / "m.json").read_text())
    assert content["probabilities"] == ["p"]
    assert content["confidence_variants"]["p"]["reliability"]["brier"] >= 0
    assert load(tmp_path / "m.json").selective.probabilities == ("p",)
    assert demur(tmp_path, "audit", "--data", path, "--reported", "m.json").returncode == 0
    demur(tmp_path, "evaluate", path, *same)
    assert "probabilities" not in json.loads((tmp_path / "m.json").read_text())
    run = written(tmp_path, "{}", "run.json")
    said = demur(tmp_path, "evaluate", run, *same, "--probability", "p")
    assert (said.returncode, "leave out --probability" in said.stderr) == (2, True)


def test_a_calibrator_is_compared_with_the_probability_as_it_was_given(tmp_path):
    rows = [f"{n},{int(n * n % 3 == 0)},{(n % 9) / 10}" for n in range(30)]
    path = written(tmp_path, "\n".join(["cluster,loss,p", *rows]) + "\n", "t.csv")
    fit = ["calibrate", "--input", path, "--method", "isotonic", "--features", "p", "--output", "c.json"]
    for more, known in (((), False), (("--probability", "p"), True)):
        assert demur(tmp_path, *fit, *more).returncode == 0
        assert (json.loads((tmp_path / "c.json").read_text())["validation"]["as_given"] is not None) == known
