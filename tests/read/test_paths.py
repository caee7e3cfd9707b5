"""Roles played by a path into objects, or by several columns joined; a column that is called so comes first."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands import demur
from demur import UserError, load, read_table
from parametrized import parametrize_few
from runs import written
from sections import evaluate

ROWS = [
    {"doc_id": 1, "filter": "none", "doc": {"document": "d1", "tags": ["x"]}, "acc": 1.0, "p": 0.9},
    {"doc_id": 1, "filter": "maj", "doc": {"document": "d1", "tags": ["y"]}, "acc": 0.0, "p": 0.8},
    {"doc_id": 2, "filter": "none", "doc": {"document": "d2", "tags": ["x"]}, "acc": 1.0, "p": 0.7},
]
COLUMNS = {"cluster": "doc.document", "item": "doc_id,filter", "score": "acc"}


def json_lines(folder):
    return written(folder, "".join(json.dumps(row) + "\n" for row in ROWS), "t.jsonl")


def parquet(folder):
    pq.write_table(pa.Table.from_pylist(ROWS), folder / "t.parquet")
    return folder / "t.parquet"


def lists(_):
    return {name: [row[name] for row in ROWS] for name in ROWS[0]}


@pytest.mark.parametrize("source", [json_lines, parquet, lists])
def test_a_path_leads_into_objects_and_columns_are_joined(tmp_path, source):
    items = read_table(source(tmp_path), columns=COLUMNS)
    assert items.unit_names == [("d1", "1,none"), ("d1", "1,maj"), ("d2", "2,none")]
    assert sorted(items.signals) == ["doc", "doc_id", "filter", "p"]


def test_columns_of_a_csv_are_joined_as_they_are_written(tmp_path):
    path = written(tmp_path, "who,q,part,loss\n1,007,a,0\n1,7,a,1\n2,7,b,0\n", "t.csv")
    items = read_table(path, columns={"cluster": "who", "item": "q,part"})
    assert items.unit_names == [(1, "007,a"), (1, "7,a"), (2, "7,b")]


@pytest.mark.parametrize("name", ["a.b", "a,b"])
def test_a_column_that_is_called_so_comes_first(tmp_path, name):
    text = f'"{name}",a,b,loss\nx,1,2,0\ny,1,2,1\n'
    items = read_table(written(tmp_path, text, "t.csv"), columns={"cluster": name})
    assert items.cluster_ids == ("x", "y")
    row = {name: "x", "a": {"b": "no"}, "b": "no", "loss": 0}
    assert read_table(written(tmp_path, json.dumps(row), "t.jsonl"), columns={"cluster": name}).cluster_ids == ("x",)


def test_a_list_is_counted_from_0():
    assert read_table(lists(None), columns=COLUMNS | {"cluster": "doc.tags.0"}).cluster_ids == ("x", "y")


@given(st.lists(st.tuples(st.text(",\\ab", min_size=1), st.text(",\\ab", min_size=1)), min_size=1, unique=True))
def test_what_differs_in_a_part_differs_when_joined(pairs):
    first, second = zip(*pairs, strict=True)
    table = {"cluster": [1] * len(pairs), "x": [*first], "y": [*second], "loss": [0] * len(pairs)}
    assert len(read_table(table, columns={"item": "x,y"})) == len(pairs)


@pytest.mark.parametrize(
    "columns",
    [
        {"cluster": "doc.name"},
        {"cluster": "dog.name"},
        {"item": "doc_id,fold"},
        {"item": "doc_id,doc"},
        {"item": "doc_id,doc.name"},
    ],
)
def test_a_path_that_leads_nowhere_is_one_line(columns, message):
    with pytest.raises(UserError) as refused:
        read_table(lists(None), columns=COLUMNS | columns)
    message(refused.value)


@pytest.mark.slow
def test_the_command_line_takes_them_and_an_audit_knows_them(tmp_path):
    path = json_lines(tmp_path)
    roles = ("--column", "cluster=doc.document", "--column", "item=doc_id,filter")
    flags = ("--seed", "1", "--bootstrap-resamples", "10", "--output", "m.json")
    found = demur(tmp_path, "evaluate", path.name, *roles, *flags)
    assert found.stderr == "demur: took acc as score; answers are ranked by p\n"
    assert dict(load(tmp_path / "m.json").study.inputs[0].columns) == COLUMNS
    audited = demur(tmp_path, "audit", "--data", path.name, "--reported", "m.json")
    assert ", 0 differs, 0 not recognised" in audited.stdout


def nested(folder, source):
    """Scores, confidences and languages inside of objects, as logs of evaluations have them."""
    rows = [
        {"id": i, "meta": {"doc": i // 2, "lang": lang}, "judge": {"score": score}, "model": {"sure": sure}}
        for i, (score, sure, lang) in enumerate([(1, 0.9, "en"), (0, 0.7, "de"), (1, 0.8, "en"), (None, 0.1, "de")])
    ]
    if source == "jsonl":
        return written(folder, "".join(json.dumps(row) + "\n" for row in rows), "t.jsonl")
    if source == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), folder / "t.parquet")
        return folder / "t.parquet"
    return {name: [row[name] for row in rows] for name in rows[0]}


NESTED = {"cluster": "meta.doc", "item": "id", "score": "judge.score"}


@pytest.mark.uses("groups")
@parametrize_few("source", ["jsonl", "parquet", "lists"], 1)
def test_confidences_groups_and_probabilities_are_found_by_their_paths(tmp_path, source):
    data, path = nested(tmp_path, source), "model.sure"
    options = {"resamples": 0, "labels": {"language": "meta.lang"}, "probability": path, "threshold": 0.75}
    results = evaluate(data, columns=NESTED, confidence=path, **options)
    assert results["cmax"].value == 3 / 4
    assert results["augrc"].value == 1 / 32  # one error, at the last of 3 points: half of a step of 1/4 · 1/4
    assert results.one(quantity="coverage@threshold=0.75", group=("language", "en"), minus=None).value == 1
    assert results.one(quantity="coverage@threshold=0.75", group=("language", "de"), minus=None).value == 0


@pytest.mark.parametrize(
    ("name", "hint"),
    [("model.shure", "did you mean model.sure?"), ("zzz", "there are: model.sure")],
)
def test_an_unknown_confidence_is_answered_with_the_paths_to_numbers_that_play_no_role(tmp_path, name, hint):
    with pytest.raises(UserError) as raised:
        evaluate(nested(tmp_path, "jsonl"), columns=NESTED, confidence=name, resamples=0)
    assert str(raised.value).endswith(hint)


def test_a_rule_for_a_path_is_applied_to_new_rows(tmp_path):
    path, roles = nested(tmp_path, "jsonl"), [f"--column={role}={name}" for role, name in NESTED.items()]
    demur(
        tmp_path,
        "choose",
        path.name,
        *roles,
        "--confidence",
        "model.sure",
        "--risk",
        "0",
        "--seed",
        "1",
        "-o",
        "r.json",
    )
    checked = demur(tmp_path, "apply", "r.json", path.name, "-o", "d.jsonl", "--check", "--max-units", "2").stdout
    assert checked.startswith("4 rows: 2 accepted")
    assert "risk: 0 on 2 labelled units of 2 clusters" in checked
    rows = [json.loads(line) for line in (tmp_path / "d.jsonl").read_text().splitlines()]
    assert [row["decision"] for row in rows] == ["accept", "decline", "accept", "decline"]
    assert [*rows[0]] == ["id", "meta", "judge", "model", "decision"]


def test_a_table_whose_numbers_are_inside_of_objects_is_told_of_paths(tmp_path):
    told = demur(tmp_path, "evaluate", nested(tmp_path, "jsonl").name, "--column=score=judge.score", "--seed=1").stderr
    assert "no column is a number for every answer; it may be a path into objects, which demur fields lists;" in told
