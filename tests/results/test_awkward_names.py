"""Names with commas, colons and dashes: a name is never joined with others and split again."""

import json

import pandas as pd
import pytest

import demur
from commands import demur as command
from demur import UserError, evaluate
from parametrized import parametrize_few

NAMES = [
    ("p(yes), raw", "x"),
    ("x", "p(yes), raw"),
    ("a,b", "a"),
    ("a", "b", "a,b"),
    ("a, b", "b, a"),
    (",", "x"),
    (" padded ", "x"),
    ("default", "x"),
    ("one, alone",),
]
HOW = {"columns": {"cluster": "doc"}, "resamples": 20, "seed": 7}


def table(*names):
    rows = range(24)
    columns = {name: [(7 * row + place) % 24 / 24 for row in rows] for place, name in enumerate(names)}
    return {"doc": [f"d{row // 2}" for row in rows], "loss": [row % 3 // 2 for row in rows], **columns}


@parametrize_few("names", NAMES, 1)
def test_confidences_in_a_list_are_taken_as_they_are(tmp_path, names):
    pd.DataFrame(table(*names)).to_csv(tmp_path / "t.csv", index=False)
    results = evaluate(table(*names), confidence=[*names], **HOW)
    assert results.selective.confidences == names
    for name in names:
        alone = evaluate(table(*names), confidence=[name], **HOW) if name != "default" else results
        assert (
            results.one(quantity="augrc", confidence=name).value == alone.one(quantity="augrc", confidence=name).value
        )
    evaluate(tmp_path / "t.csv", confidence=[*names], **HOW).save(tmp_path / "m.json")
    audited = command(tmp_path, "audit", "--reported", "m.json", "--data", "t.csv", "--column", "cluster=doc")
    assert audited.returncode == 0, audited.stdout + audited.stderr
    assert demur.load(tmp_path / "m.json").narrowed(names[::-1]).selective.confidences == names[::-1]


@pytest.mark.slow
def test_a_folder_of_parts_takes_such_names_too(tmp_path):
    names = ("p(yes), raw", "x")
    (tmp_path / "parts").mkdir()
    frame = pd.DataFrame(table(*names))
    for part in (0, 1):
        frame[part::2].to_csv(tmp_path / "parts" / f"{part}.csv", index=False)
    results = evaluate(tmp_path / "parts", confidence=[*names], **HOW)
    assert results.selective.confidences == names


@parametrize_few(
    ("typed", "names"),
    [
        ("p(yes), raw,x", ("p(yes), raw", "x")),
        ("x, p(yes), raw", ("x", "p(yes), raw")),
        ("p(yes), raw", ("p(yes), raw",)),
        ("x", ("x",)),
    ],
    2,
)
@pytest.mark.slow
def test_a_list_typed_with_commas_knows_the_names_of_the_columns(tmp_path, typed, names):
    pd.DataFrame(table("p(yes), raw", "x")).to_csv(tmp_path / "t.csv", index=False)
    words = ("--column", "cluster=doc", "--seed", "7", "--bootstrap-resamples", "20", "--output", "m.json")
    assert command(tmp_path, "evaluate", "t.csv", *words, "--confidence", typed).returncode == 0
    assert tuple(json.loads((tmp_path / "m.json").read_text())["confidence_variants"]) == names
    shown = command(tmp_path, "table", "m.json", "--confidence", typed, "--format", "csv")
    assert shown.returncode == 0, shown.stderr


def test_a_name_that_is_unknown_is_not_split_in_the_message():
    with pytest.raises(UserError, match="no confidence variant or signal is called a, b"):
        evaluate(table("x"), confidence=["a, b", "x"], **HOW)
    with pytest.raises(UserError, match="no confidence variant or signal is called a, b"):
        evaluate(table("x"), confidence=["a, b"], **HOW)


def test_the_call_to_run_again_has_a_column_that_looks_like_an_option():
    rows = table("--sure", "--certainty")
    with pytest.raises(UserError, match=r"evaluate\(…, confidence='--(sure|certainty)'\)$"):
        evaluate(rows, **HOW)
