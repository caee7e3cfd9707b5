"""Tables read by columns: the same facts, and the same mistakes, as cell by cell."""

import datetime as dt
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from demur import TableOptions, UserError, read_systems, read_table
from demur.read import columns_from_rows, parquet
from runs import written

UNITS = {
    "cluster": ["b", "a", "b", "a", "c"],
    "item": ["q2", "q1", "q1", "q2", "q1"],
    "loss": [0.5, None, 0.25, 1.0, 0.0],
    "sure": [0.1, 0.2, None, 0.4, 0.5],
    "tag": ["x", "y", "x", None, "z"],
    "right": [True, False, True, None, False],
    "many": [2**53 + 1, 1, 2, 3, 4],
    "when": [dt.date(2026, 1, day) for day in range(1, 6)],
}


def facts(items):
    """Everything known of the units, as lists."""
    signals = {name: [column.cell(unit) for unit in range(len(items))] for name, column in items.signals.items()}
    return items.unit_names, items.losses.numerators.tolist(), items.losses.divisor, items.answered.tolist(), signals


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(columns_from_rows, "_BATCH", 2)
    monkeypatch.setattr(parquet, "_CELLS", 2)
    monkeypatch.setattr(parquet, "_ROWS", 2)


@pytest.mark.usefixtures("small_batches")
def test_every_kind_of_column_is_read_from_parquet_as_from_lists(tmp_path):
    table = pa.table(UNITS)
    expected = facts(read_table(UNITS))
    for number, stored in enumerate((table, table.set_column(0, "cluster", table["cluster"].dictionary_encode()))):
        for group in (1, 2, 5):
            path = tmp_path / f"{number}{group}.parquet"
            pq.write_table(stored, path, row_group_size=group)
            assert facts(read_table(path)) == expected
    assert expected[:4] == (
        [("a", "q2"), ("a", "q1"), ("b", "q2"), ("b", "q1"), ("c", "q1")],
        [100, 0, 50, 25, 0],
        100,
        [True, False, True, True, True],
    )


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint64(), pa.float32(), pa.float64(), pa.large_string(), pa.string()])
def test_ids_and_signals_of_every_type(tmp_path, kind):
    names = ["1", "2", "2"] if "string" in str(kind) else [1, 2, 2]
    path = tmp_path / "t.parquet"
    whole = pa.array(names, kind)
    pq.write_table(pa.table({"cluster": ["a", "b", "b"], "loss": [0, 1, 1], "signal": whole}), path)
    assert [read_table(path).signals["signal"].cell(unit) for unit in range(3)] == names
    pq.write_table(pa.table({"cluster": whole, "loss": [0, 1, 1]}), path)
    assert read_table(path).cluster_ids == tuple(names[:2])
    assert {*map(type, read_table(path).cluster_ids)} == {type(names[0])}
    if pa.types.is_floating(kind):
        pq.write_table(pa.table({"cluster": pa.array([1, 2.5, 2], kind), "loss": [0, 1, 1]}), path)
        with pytest.raises(UserError, match=r"t\.parquet: cluster id 1\.0, expected an integer or a text"):
            read_table(path)


@pytest.mark.usefixtures("small_batches")
def test_members_that_turn_up_late_were_missing_before(tmp_path):
    lines = '{"cluster": 1, "loss": 0}\n{"cluster": 2, "loss": 1}\n{"cluster": 3, "loss": 1, "sure": 0.5}\n'
    column = read_table(written(tmp_path, lines, "t.jsonl")).signals["sure"]
    assert column.state.tolist() == [0, 0, 2]
    with pytest.raises(UserError, match=r"line 3: not valid JSON"):
        read_table(written(tmp_path, lines.replace("0.5}", "0.5"), "t.jsonl"))


@pytest.mark.usefixtures("small_batches")
def test_cells_of_csv_are_what_they_spell_in_any_batch(tmp_path):
    cells = ["1", "2.5", "", "x", "1_0", "nan", "9007199254740993", "1e400", " 3", "٣"]
    text = "cluster,loss,signal\n" + "".join(f"{number},0,{cell}\n" for number, cell in enumerate(cells))
    column = read_table(written(tmp_path, text, "t.csv")).signals["signal"]
    shown = [str(column.cell(unit)) for unit in range(len(cells))]
    assert shown == ["1", "2.5", "None", "x", "1_0", "nan", "9007199254740993", "inf", "3", "٣"]


def test_a_frame_whose_numbers_are_whole_arrays_is_read_as_lists_are():
    numbers = {"cluster": [1, 2, 3], "loss": [0, 1, 1], "large": [2**60 + 1, 5, 6], "sure": [0.5, 1.0, 2.0]}
    expected = facts(read_table(numbers))
    frames = [pd.DataFrame(numbers), pl.DataFrame(numbers), pa.table(numbers)]
    for frame in (*frames, {name: np.array(values) for name, values in numbers.items()}):
        assert facts(read_table(frame)) == expected


def test_the_first_wrong_row_is_named_whatever_comes_after(tmp_path):
    table = {"system": ["a", "b", "", None], "cluster": [1, 1, 2, 2], "loss": [0, 1, 0, 1]}
    pq.write_table(pa.table(table), tmp_path / "t.parquet")
    for source in (table, tmp_path / "t.parquet"):
        with pytest.raises(UserError, match="row 3: system '', expected the name of a system"):
            read_systems(source)
    failed = {"cluster": [1, 2, 2], "item": ["x", "y", "z"], "loss": [0, 1, 1], "status": ["ok", "late", None]}
    with pytest.raises(UserError, match="cluster 2, y: status 'late', expected ok, failed or failed: CAUSE"):
        read_table(failed)


def test_labels_of_groups_and_joined_names_are_read_by_column_as_by_row(tmp_path):
    rows = [
        {"who": f"p{n // 4}", "q": n % 4, "part": "a", "loss": n % 2, "sure": n / 8, "site": ("x", "01", None)[n % 3]}
        for n in range(8)
    ]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "t.parquet")
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    how = TableOptions(group={"site": "site", "age": "sure:0,0.5,1"})
    columns = {"cluster": "who", "item": "q,part"}
    one, two = (read_table(tmp_path / name, columns=columns, options=how) for name in ("t.parquet", "t.jsonl"))
    assert one.item_names == two.item_names == ("0,a", "1,a", "2,a", "3,a")
    assert one.groups["site"].levels == two.groups["site"].levels == ("01", "x", "(none)")
    assert one.groups["age"].levels == ("[0,0.5)", "[0.5,1)")
    for name in ("site", "age"):
        assert one.groups[name].index.tolist() == two.groups[name].index.tolist()
    assert not {"site", "sure"} & {*one.signals}
