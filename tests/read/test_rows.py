"""Long tables: the same facts from CSV, JSON Lines, Parquet, any frame and plain lists."""

import json
import sys

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from demur import PHQ8, Instrument, UserError, read_items, read_table
from demur.facts.columns import State
from demur.facts.instruments import INSTRUMENTS
from runs import written

TWO = Instrument("two", ("q1", "q2"), 0, 3)
COLUMNS = {
    "cluster": [2, 2, 1, 1],
    "item": ["q1", "q2", "q2", "q1"],
    "truth": [0, 1, 2, 3],
    "prediction": [0, None, 1, 3],
    "token_msp": [0.5, 0.25, None, 1.0],
    "note": ["a", "b", "c", "d"],
}
CSV = "cluster,item,truth,prediction,token_msp,note\n2,q1,0,0,0.5,a\n2,q2,1,,0.25,b\n1,q2,2,1,,c\n1,q1,3,3,1,d\n"


def rows():
    return [dict(zip(COLUMNS, values)) for values in zip(*COLUMNS.values())]


def as_csv(folder):
    return written(folder, CSV, "t.csv")


def as_csv_from_excel(folder):
    return written(folder, ("\ufeff" + CSV.replace("\n", "\r\n")).encode(), "t.csv")


def as_json_lines(folder):
    return written(folder, "\n".join(map(json.dumps, rows())) + "\n", "t.jsonl")


def as_parquet(folder):
    pq.write_table(pa.table(COLUMNS), folder / "t.parquet")
    return folder / "t.parquet"


SOURCES = {
    "csv": as_csv,
    "csv from excel": as_csv_from_excel,
    "jsonl": as_json_lines,
    "parquet": as_parquet,
    "dict of lists": lambda _: COLUMNS,
    "pandas": lambda _: pd.DataFrame(COLUMNS),
    "pandas nullable": lambda _: pd.DataFrame(COLUMNS).convert_dtypes(),
    "polars": lambda _: pl.DataFrame(COLUMNS),
    "polars lazy": lambda _: pl.LazyFrame(COLUMNS),
    "pyarrow": lambda _: pa.table(COLUMNS),
}


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_every_format_gives_the_same_facts(tmp_path, source):
    items = read_table(source(tmp_path), instrument=TWO)
    assert items.cluster_ids == (1, 2)
    assert items.item.tolist() == [0, 1, 0, 1]
    assert items.truth.tolist() == [3, 2, 0, 1]
    assert items.answered.tolist() == [True, True, True, False]
    assert items.answer[:3].tolist() == [3, 1, 0]
    msp = items.signals["token_msp"]
    assert [State(state).name for state in msp.state] == ["NUMBER", "NULL", "NUMBER", "NUMBER"]
    assert msp.values[[0, 2, 3]].tolist() == [1.0, 0.5, 0.25]
    assert items.signals["note"].cell(0) == "d"


def test_null_and_nan_both_abstain_and_are_counted_apart():
    frame = pl.DataFrame({**COLUMNS, "prediction": [None, float("nan"), 1.0, 3.0]})
    items = read_table(frame, instrument=TWO)
    assert (int(items.answered.sum()), items.abstained_nan) == (2, 1)
    assert read_table(pd.DataFrame(COLUMNS), instrument=TWO).abstained_nan == 1, "pandas stores None as NaN"


def test_columns_can_be_mapped():
    renamed = {"who": COLUMNS["cluster"], "gt": COLUMNS["truth"], **COLUMNS}
    del renamed["cluster"], renamed["truth"]
    items = read_table(renamed, columns={"cluster": "who", "truth": "gt"}, instrument=TWO)
    assert sorted(items.signals) == ["note", "token_msp"]


def table_of(items, **columns):
    count = len(items)
    return {"cluster": ["a"] * count, "item": [*items], "truth": [3] * count, "prediction": [None] * count} | columns


@pytest.mark.parametrize("instrument", INSTRUMENTS.values(), ids=lambda known: known.name)
def test_a_table_with_exactly_the_items_of_an_instrument_is_of_it(instrument):
    assert read_table(table_of(instrument.items)).instrument is instrument
    assert read_table(table_of(instrument.items[::-1]), instrument=None).instrument is None
    with pytest.raises(UserError, match="predicted 4, expected an integer 0–3 or null"):
        read_table(table_of(instrument.items, prediction=[4] * len(instrument.items)))


@pytest.mark.parametrize(
    "table",
    [
        table_of(PHQ8.items[1:]),
        table_of([*PHQ8.items, "q9"]),
        table_of(["q1", "q2"]),
        table_of([1, 2]),
        {"cluster": [1, 2], "truth": [1, 0], "prediction": [7, 0]},
        {"cluster": [1, 2], "truth": ["mild", "none"], "prediction": ["none", None]},
        {"cluster": [1] * 8, "item": [*PHQ8.items], "loss": [0.5] * 8},
    ],
)
def test_any_other_table_is_of_none_and_need_not_say_so(table):
    assert read_table(table).instrument is None


def test_rows_of_a_cluster_that_failed_need_no_item():
    table = table_of([*PHQ8.items, None], cluster=["a"] * 8 + ["b"], success=[True] * 8 + [False])
    assert read_table(table).instrument is PHQ8


def test_the_command_line_reads_tables_alike(tmp_path):
    rows = [f"a,{item},3,\n" for item in PHQ8.items]
    path = written(tmp_path, "cluster,item,truth,prediction\n" + "".join(rows), "t.csv")
    assert read_items(path).instrument is PHQ8
    assert read_items(path, instrument="none").instrument is None


def test_without_an_instrument_items_and_integers_are_free():
    free = {"cluster": [1, 1, 2], "item": [7, "x", 7], "truth": [10, -4, 12], "prediction": [9, None, 12]}
    items = read_table(free, instrument=None)
    assert (items.item_names, items.truth.tolist()) == (("7", "x"), [10, -4, 12])


def test_failed_clusters_are_marked_by_success():
    table = {**COLUMNS, "success": [True, True, False, False]}
    items = read_table(table, instrument=TWO)
    assert (items.cluster_ids, items.failed) == ((2,), (1,))
    with pytest.raises(UserError, match="cluster 1 both succeeded and failed"):
        read_table({**table, "success": [True, True, False, True]}, instrument=TWO)
    with pytest.raises(UserError, match="cluster 2: success 1, expected true or false"):
        read_table({**table, "success": [1, 1, 0, 0]}, instrument=TWO)


def test_success_in_csv_is_true_or_false(tmp_path):
    text = "cluster,item,truth,prediction,success\n1,q1,0,1,True\n1,q2,0,1,true\n2,,,,FALSE\n"
    items = read_table(written(tmp_path, text, "t.csv"), instrument=TWO)
    assert (items.cluster_ids, items.failed) == ((1,), (2,))


def changed(**columns):
    return {**COLUMNS, **columns}


WRONG = {
    "no column": {"item": ["q1"]},
    "lengths": changed(truth=[1]),
    "unit twice": changed(item=["q1", "q1", "q2", "q1"]),
    "item missing": {name: values[:3] for name, values in COLUMNS.items()},
    "unknown item": changed(item=["q1", "q9", "q2", "q1"]),
    "item is a number": changed(item=["q1", 2, "q2", "q1"]),
    "item is empty": changed(item=["q1", "", "q2", "q1"]),
    "truth is null": changed(truth=[0, None, 2, 3]),
    "prediction 1.5": changed(prediction=[0, 1.5, 1, 3]),
    "prediction inf": changed(prediction=[0, float("inf"), 1, 3]),
    "prediction N/A": changed(prediction=[0, "N/A", 1, 3]),
    "cluster 1.5": changed(cluster=[2, 2, 1.5, 1.5]),
    "cluster null": changed(cluster=[2, 2, None, None]),
    "cluster 1 and '1'": changed(cluster=[1, 1, "1", "1"]),
    "NaN signal": changed(token_msp=[0.5, float("nan"), 1, 1]),
    "nothing": {name: [] for name in COLUMNS},
    "not a table": 3,
}


@pytest.mark.parametrize("table", WRONG.values(), ids=WRONG)
def test_a_wrong_table_is_one_line(table, message):
    with pytest.raises(UserError) as refused:
        read_table(table, instrument=TWO)
    message(refused.value)


WRONG_FILES = {
    "no header": ("", "t.csv"),
    "empty line": ("\n" + CSV, "t.csv"),
    "header only": ("cluster,item,truth,prediction\n", "t.csv"),
    "ragged": (CSV + "3,q1\n", "t.csv"),
    "column twice": ("a,a\n1,2\n", "t.csv"),
    "bad quote": ('cluster,item\n"1"x,2\n', "t.csv"),
    "nul": ("cluster,item\n1,\0\n", "t.csv"),
    "decimal ids": (CSV.replace("\n2,", "\n2.5,"), "t.csv"),
    "not utf-8": (b"cluster\n\xff\n", "t.csv"),
    "no lines": ("\n", "t.jsonl"),
    "bad line": ('{"a": 1}\n{"a": NaN}\n', "t.jsonl"),
    "line is a list": ("[]\n", "t.jsonl"),
    "absent prediction": (
        '{"cluster": 1, "item": "q1", "truth": 1, "prediction": 1}\n{"cluster": 1, "item": "q2", "truth": 1}\n',
        "t.jsonl",
    ),
    "not parquet": (b"PAR1 but not really", "t.parquet"),
    "unknown ending": ("", "t.xlsx"),
}


@pytest.mark.parametrize(("content", "name"), WRONG_FILES.values(), ids=WRONG_FILES)
def test_a_wrong_file_is_one_line_with_its_name(tmp_path, content, name, message):
    path = written(tmp_path, content, name)
    with pytest.raises(UserError) as caught:
        read_table(path, instrument=TWO)
    message(caught.value)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_text_ids_that_look_like_numbers_stay_as_they_are(tmp_path):
    text = "cluster,item,truth,prediction\n007,q1,0,1\n007,q2,0,1\n"
    assert read_table(written(tmp_path, text, "t.csv"), instrument=TWO).cluster_ids == ("007",)


def test_a_wrong_role_suggests_the_nearest():
    with pytest.raises(UserError, match="no column role is called clusters; did you mean cluster?"):
        read_table(COLUMNS, columns={"clusters": "who"})


def test_parquet_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    path = as_parquet(tmp_path)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UserError, match=r"needs pyarrow: pip install '.\[parquet\]'"):
        read_table(path)
