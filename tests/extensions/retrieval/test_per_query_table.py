"""The table of every metric of every query: means of its columns are the numbers of the file."""

import csv
import json
import math
from statistics import fmean

import pyarrow.parquet
import pytest

from commands import demur
from demur import Key, load
from demur.extensions.lab.queries import simulated_queries
from parametrized import parametrize_few

OPTIONS = ("retrieval", "--data", "q.csv", "--seed", "7", "--bootstrap-resamples", "0", "--output", "r.json")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "q.csv").write_text(simulated_queries(3, seed=1), encoding="utf-8")
    return tmp_path


def number(text):
    return None if text == "" else float(text)


def rows_of(path):
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            return [*csv.DictReader(file)]
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return pyarrow.parquet.read_table(path).to_pylist()


@parametrize_few("ending", ["csv", "jsonl", "parquet"], 1)
def test_the_means_of_the_columns_are_the_numbers_of_the_file(folder, ending):
    path = folder / f"each.{ending}"
    done = demur(folder, *OPTIONS, "--per-query", path.name, "--policy", "gap", "--policy", "fixed:2", "--k", "5")
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(f"wrote r.json\nwrote {path.name}\n")
    results, rows = load(folder / "r.json"), rows_of(path)
    assert len(rows) == 2 * results.study.queries
    assert {row["fold"] for row in rows} == {*results.study.folds}
    for row in results.where(minus=None, group=None, confidence=""):
        quantity, own = row.key.quantity, [each for each in rows if each["system"] == row.key.system]
        if quantity not in rows[0]:
            assert quantity.startswith(("empty", "false"))
            continue
        inside = [each for each in own if row.key.among == "all" or int(each["gold"])]
        cells = [number(str(each[quantity])) for each in inside]
        assert fmean(cells) == pytest.approx(row.value, abs=1e-12)
    lacking = {row["average_k@gap"] for row in rows if row["system"] == "retriever"}
    assert lacking in ({""}, {None})  # that system has no scores, so the policy shows nothing of it


def test_ids_are_data_and_no_formulas(folder):
    text = 'post_id,criterion_id,gold_ids,ranked_ids\n=1+1,"a,b",x,x\n'
    (folder / "q.csv").write_text(text, encoding="utf-8")
    demur(folder, *OPTIONS, "--per-query", "each.csv", "--metrics", "RR")
    assert rows_of(folder / "each.csv") == [
        {"system": "ranked", "post_id": "'=1+1", "criterion_id": "a,b", "gold": "1", "candidates": "1", "mrr": "1.0"}
    ]
    demur(folder, *OPTIONS, "--per-query", "each.jsonl", "--metrics", "RR")
    assert rows_of(folder / "each.jsonl")[0]["post_id"] == "=1+1"


@parametrize_few(
    "path",
    [
        "each.txt",
        "q.csv",
        "nowhere/each.csv",
    ],
    1,
)
def test_a_file_that_cannot_be_written_is_one_line_and_leaves_nothing(folder, path, message):
    done = demur(folder, *OPTIONS, "--metrics", "RR", "--per-query", path)
    assert (done.returncode, done.stdout) == (2, "")
    message(done.stderr)
    assert [one.name for one in folder.iterdir()] == ["q.csv"]


@pytest.mark.slow
def test_it_is_not_the_result_file_itself(folder):
    done = demur(folder, *OPTIONS[:-1], "r.csv", "--metrics", "RR", "--per-query", "r.csv")
    assert done.returncode == 2
    assert "r.csv: is the result file or its page; give another name" in done.stderr


def test_a_level_changes_what_counts_as_gold(folder):
    text = "post_id,criterion_id,gold_ids,gold_grades,ranked_ids\n1,A,x|y,1|3,x|y\n2,A,z,2,\n"
    (folder / "q.csv").write_text(text, encoding="utf-8")
    demur(folder, *OPTIONS, "--per-query", "each.jsonl", "--metrics", "RR nDCG", "--relevance-level", "2")
    first, second = rows_of(folder / "each.jsonl")
    assert (first["gold"], first["mrr"], second["gold"], second["mrr"]) == (1, 0.5, 1, 0)
    assert first["ndcg"] == pytest.approx((1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3)))
    assert load(folder / "r.json")[Key("ranked", "mrr")].value == 0.25
