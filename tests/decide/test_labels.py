"""One comparison of labels: an evaluation and a check of a rule agree, in every format and with a label missing."""

import pandas as pd
import pytest

from commands import demur
from demur import UserError, Watch, apply, choose, grade_units, measure, read_table
from demur.extensions.importers.registry import LogEntry
from demur.extensions.importers.user_choices import AbstentionRules
from parametrized import parametrize_few

# Truths, predictions, and which predictions are wrong; the last row loses its truth before the rule is checked.
CASES = {
    "integers": ([0, 1, 2, 1], [0, 1, 1, 1], [0, 0, 1, 0]),
    "integers and answers with texts": ([0, 1, 2, 1], ["0", "1", "refused", "1"], [0, 0, 1, 0]),
    "answers as decimals": (["0", "1", "other", "1"], [0.0, 1.0, 1.0, -0.0], [0, 0, 1, 1]),
    "integers and answers as text": ([0, 1, 2, 1], ["0", "1.0", "1e0", "1"], [0, 0, 1, 0]),
    "minus zero": ([0.0, -0.0, 0, 1], [-0.0, 0, 1, 1], [0, 0, 1, 0]),
    "truth values": ([True, False, True, False], [True, True, True, False], [0, 1, 0, 0]),
    "truth values and texts": ([True, False, True, False], ["True", "false", "FALSE", "no"], [0, 0, 1, 1]),
    "codes with leading zeros": (["01", "1", "x", "x"], ["1", "1", "x", "01"], [1, 0, 0, 1]),
    "codes and answers with texts": (["01", "02", "03", "01"], ["01", "2", "none", "01"], [0, 1, 1, 0]),
    "texts among texts": (["1.0", "True", "x", "x"], ["1", "true", "x", "y"], [1, 1, 0, 1]),
    "codes": (["00", "01", "007", "01"], ["00", "07", "007", "01"], [0, 1, 0, 0]),
    "letters": (["é", "Paris", "٠", "a b"], ["e\u0301", "paris", "0", "a b"], [1, 1, 1, 0]),
    "large integers": (["9007199254740993", "1e400", "x", "x"], ["9007199254740992", "1e400", "y", "x"], [1, 0, 1, 0]),
}
FORMATS = {
    "csv": lambda frame, path: frame.to_csv(path, index=False),
    "jsonl": lambda frame, path: frame.to_json(path, orient="records", lines=True),
    "parquet": lambda frame, path: frame.to_parquet(path),
}


def rule():
    """A rule that accepts everything."""
    units = grade_units([1, 1], truth=[0, 0], prediction=[0, 1], loss="zero_one", clusters=[1, 2])
    return choose(units, risk="0.5", max_units=100, seed=1)


def tables(frame, folder, name):
    """The same rows in every format."""
    yield "frame", frame
    for suffix, write in FORMATS.items():
        write(frame, path := folder / f"{name}.{suffix}")
        yield suffix, path


def checked(table):
    """The share of wrong answers among those with a label, by checking a rule."""
    made = rule()
    return apply(made, table, watch=Watch(made)).watched.alarms[1].value


@parametrize_few("case", CASES, 2)
def test_a_check_compares_labels_as_an_evaluation_does(tmp_path, case):
    truth, prediction, wrong = CASES[case]
    frame = pd.DataFrame({"cluster": range(4), "confidence": 1.0, "truth": truth, "prediction": prediction})
    for kind, table in tables(frame, tmp_path, "all"):
        assert (~read_table(table, instrument=None).right).tolist() == [*map(bool, wrong)], kind
        assert checked(table) == sum(wrong) / 4, kind
    for kind, table in tables(frame.assign(truth=[*truth[:3], None]), tmp_path, "unlabelled"):
        assert checked(table) == pytest.approx(sum(wrong[:3]) / 3), kind


def test_numbers_of_a_table_of_texts_are_numbers_unless_there_are_texts_in_any_part_of_it(tmp_path, monkeypatch):
    monkeypatch.setattr("demur.extensions.decide.applying._CHUNK", 1)
    rows = "cluster,confidence,truth,prediction\n1,1,1.0,1\n2,1,2, 2\n3,1,3,4\n"
    for name, more, wrong in (("numbers.csv", "6,1,007,007\n", 1), ("texts.csv", "4,1,01,1\n5,1,b,b\n", 4)):
        (tmp_path / name).write_text(rows + more)
        items = read_table(tmp_path / name, instrument=None)
        assert int((~items.right).sum()) == wrong
        assert checked(tmp_path / name) == wrong / len(items)


@parametrize_few(
    ("truth", "prediction"),
    [(["00", "01", "02"], [0, 1, 2]), ([7, 8, 9], ["07", "8", "9"]), (["1", "2"], ["+1", "2"]), (["01", "1"],) * 2],
    2,
)
def test_codes_are_not_compared_with_numbers(tmp_path, monkeypatch, truth, prediction):
    monkeypatch.setattr("demur.extensions.decide.applying._CHUNK", 1)
    rows = range(len(truth))
    frame = pd.DataFrame({"cluster": rows, "confidence": 1.0, "truth": truth, "prediction": prediction})
    for kind, table in tables(frame, tmp_path, "a"):
        for use in (checked, lambda table: read_table(table, instrument=None)):
            with pytest.raises(UserError, match=r"is a label with and without a leading 0 or \+: write"):
                use(table), kind


def test_a_decimal_comma_is_one(tmp_path):
    (tmp_path / "a.csv").write_text("cluster;confidence;truth;prediction\n1;1,0;0,0;0\n2;1,0;1,0;refused\n")
    assert checked(tmp_path / "a.csv") == 0.5
    assert read_table(tmp_path / "a.csv", instrument=None).right.tolist() == [True, False]


@pytest.mark.parametrize(("truth", "prediction"), [([True, False], [1, 0]), (["0", "1"], ["false", "true"])])
def test_true_and_false_are_not_compared_with_1_and_0(tmp_path, truth, prediction):
    frame = pd.DataFrame({"cluster": [1, 2], "confidence": 1.0, "truth": truth, "prediction": prediction})
    for _, table in tables(frame, tmp_path, "a"):
        for use in (checked, lambda table: read_table(table, instrument=None)):
            with pytest.raises(UserError, match="write both in the same way"):
                use(table)


def test_a_row_without_the_member_has_no_label_and_a_list_is_none(tmp_path):
    row = '{"cluster": 1, "confidence": 1, "truth": "a", "prediction": "a"}\n'
    (tmp_path / "a.jsonl").write_text(row + '{"cluster": 2, "confidence": 1, "prediction": "a"}\n')
    assert checked(tmp_path / "a.jsonl") == 0
    (tmp_path / "b.jsonl").write_text(row.replace('"truth": "a"', '"truth": ["a"]'))
    with pytest.raises(UserError, match=r"b.jsonl: line 1: truth \['a'\], expected a text or a number"):
        checked(tmp_path / "b.jsonl")


def test_the_command_does_not_raise_a_false_alarm(tmp_path):
    truth = [n % 3 for n in range(200)]
    frame = pd.DataFrame({"cluster": [n // 2 for n in range(200)], "sure": 0.9, "truth": truth, "prediction": truth})
    frame.to_csv(tmp_path / "a.csv", index=False)
    words = ("--loss", "zero_one", "--confidence", "sure", "--risk", "0.1", "--max-units", "2", "-o", "rule.json")
    assert demur(tmp_path, "choose", "a.csv", *words, "--seed", "1").returncode == 0
    frame.assign(truth=[None, *truth[1:]]).to_csv(tmp_path / "b.csv", index=False)
    found = demur(tmp_path, "apply", "rule.json", "b.csv", "--check")
    assert (found.returncode, found.stderr) == (0, "")
    assert "risk: 0 on 199 labelled units" in found.stdout


@pytest.mark.slow
def test_arrays_raters_systems_and_logs_compare_in_the_same_way(tmp_path):
    found = measure([2, 1], truth=["0.0", "True"], prediction=["0", "true"], loss="zero_one")
    assert found["risk"] == 0
    entry = LogEntry(where="", item="1", value="0.0")
    assert AbstentionRules(["value=0"], [], ["value"]).rule_for(entry) == "value=0"
    (tmp_path / "a.csv").write_text("cluster,item,sure,truth,prediction\n1,a,1,0,0\n2,a,2,1,refused\n")
    (tmp_path / "b.csv").write_text("cluster,item,sure,truth,prediction\n1,a,1,0.0,none\n2,a,2,1.0,1\n")
    (tmp_path / "rater.csv").write_text("cluster,item,truth,prediction\n1,a,0.0,0.0\n2,a,1.0,\n")
    words = ("--confidence", "sure", "--seed", "1", "--bootstrap-resamples", "0", "--output", "m.json")
    found = demur(tmp_path, "evaluate", "a.csv", "b.csv", "--rater", "R=rater.csv", *words)
    assert (found.returncode, found.stderr) == (0, "")
