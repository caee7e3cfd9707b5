"""What long tables and per-query tables have in common: formats, line ends, and positions."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from demur import UserError, read_items, read_queries, read_table
from demur.read.tables import FORMATS, FileTable, opened_table, table_format
from runs import written

UNITS = "cluster,item,truth,prediction\n1,q,0,1\n2,q,3,\n"
QUERIES = "post_id,criterion_id,gold_ids,ranked_ids\n1,A,a|b,b\n2,A,,\n"


@pytest.fixture
def semicolons():
    """A format of one's own: one function, and nothing else."""

    @table_format(".semi")
    def semicolons(file, _):
        header, *lines = (line.strip().split(";") for line in file.lines)
        rows = ((f"line {number}", dict(zip(header, line, strict=True))) for number, line in enumerate(lines, 2))
        return FileTable(header, lambda _: rows, text_only=True)

    yield
    del FORMATS[".semi"]


@pytest.mark.usefixtures("semicolons")
def test_a_new_format_serves_long_and_per_query_tables(tmp_path):
    units = written(tmp_path, UNITS.replace(",", ";"), "t.semi")
    items = read_items(units, instrument="none")
    assert (items.cluster_ids, items.truth.tolist(), items.answered.tolist()) == ((1, 2), [0, 3], [True, False])
    queries = written(tmp_path, QUERIES.replace(",", ";"), "q.semi")
    assert read_queries(queries)["ranked"].hit_rank.tolist() == [1]
    with pytest.raises(UserError, match=r"q\.semi: line 3: post_id '', expected an integer or a text"):
        read_queries(written(tmp_path, QUERIES.replace("\n2", "\n").replace(",", ";"), "q.semi"))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_any_line_end_and_a_byte_order_mark_before_a_quoted_header(tmp_path, end, mark):
    def path(text):
        return written(tmp_path, (mark + text.replace("cluster", '"cluster"').replace("\n", end)).encode(), "t.csv")

    assert read_table(path(UNITS), instrument=None).cluster_ids == (1, 2)
    assert read_queries(path(QUERIES.replace("post_id", '"post_id"')))["ranked"].post_ids == (1, 2)


def test_long_cells_and_many_columns_are_no_mistake(tmp_path):
    note = "x" * 200_000
    columns = [f"c{number}" for number in range(1200)]
    text = f"cluster,item,truth,prediction,{','.join(columns)}\n1,q,0,1,{note}{',0' * 1199}\n"
    items = read_table(written(tmp_path, text, "t.csv"), instrument=None)
    assert items.signals["c0"].cell(0) == note
    assert len(items.signals) == len(columns)


def test_a_line_of_very_many_members_is_refused(tmp_path):
    path = written(tmp_path, json.dumps({f"m{number}": 0 for number in range(1001)}) + "\n{}\n", "t.jsonl")
    for read in (read_table, read_queries):
        with pytest.raises(UserError, match="line 1: 1001 members, expected at most 1000"):
            read(path)


def test_a_column_twice_is_refused_in_every_format(tmp_path):
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["post_id", "post_id"])
    pq.write_table(twice, tmp_path / "t.parquet")
    for read in (read_table, read_queries):
        with pytest.raises(UserError, match="the column post_id appears twice in the header"):
            read(tmp_path / "t.parquet")


def test_rows_come_with_their_position_and_only_the_columns_asked_for(tmp_path):
    data = {"a": [1, 2], "b": ["x", None]}
    pq.write_table(pa.table(data), tmp_path / "t.parquet")
    for source in (data, pa.table(data), tmp_path / "t.parquet"):
        with opened_table(source) as (table, _):
            assert (table.header, [*table.rows(["b"])]) == (["a", "b"], [("row 0", {"b": "x"}), ("row 1", {"b": None})])
    with opened_table(written(tmp_path, "a,b\n\n1,x\n", "t.csv")) as (table, _):
        assert [position for position, _ in table.rows(table.header)] == ["line 3"]


def test_between_tabs_of_a_tsv_commas_and_semicolons_are_text(tmp_path):
    path = written(tmp_path, "cluster\tloss\ta,b,c;d\n1\t0\tx,y\n2\t1\tz;z\n", "t.tsv")
    items = read_table(path)
    assert (items.cluster_ids, [*items.signals]) == ((1, 2), ["a,b,c;d"])
    assert [*read_items(path).signals["a,b,c;d"].other] == ["x,y", "z;z"]


@pytest.mark.parametrize("name", ["t.txt", "t.xlsx", "t.dat.gz"])
def test_a_table_of_an_unknown_ending_is_told_how_tables_are_known(tmp_path, name):
    known = r"a table is known by its name, which ends in \.csv, \.tsv, \.jsonl, \.ndjson, \.parquet$"
    path = written(tmp_path, UNITS, name)
    with pytest.raises(UserError, match=rf"not valid JSON: .*; {known}"):
        read_items(path)
    with pytest.raises(UserError, match=rf"a run file has no columns to map: .*; {known}"):
        read_items(path, columns={"cluster": "who"})
    with pytest.raises(UserError, match=r"column 1$"):
        read_items(written(tmp_path, UNITS, "t.json"))
