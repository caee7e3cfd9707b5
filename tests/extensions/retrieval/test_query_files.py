"""Per-query files of every format hold the same facts, are read as a stream, and are refused in one line."""

import gzip
import hashlib
import json

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from demur import UserError, read_queries
from demur.extensions.retrieval.query_files import query_lists

ROWS = [
    {"post_id": 7, "criterion_id": "A", "gold_ids": ["s1", "s2"], "ranked_ids": ["s3", "s1"], "prob": 0.25, "fold": 1},
    {"post_id": 7, "criterion_id": "B", "gold_ids": [], "ranked_ids": [], "prob": 1, "fold": 1},
    {"post_id": 12, "criterion_id": "A", "gold_ids": ["s9"], "ranked_ids": ["s9"], "prob": 0, "fold": 2},
]


def as_csv(rows):
    cells = [["|".join(v) if isinstance(v, list) else str(v) for v in row.values()] for row in rows]
    return "\n".join([",".join(rows[0]), *map(",".join, cells)]) + "\n"


def as_json_lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def facts(rankings):
    names = ("post_ids", "criteria", "folds")
    arrays = ("post", "criterion", "gold_count", "candidates", "hit_query", "hit_rank", "prob", "fold")
    columns = [getattr(rankings, name).tolist() for name in arrays]
    return [*(getattr(rankings, name) for name in names), *columns, rankings.gold_sets()]


@pytest.fixture
def expected():
    return facts(read_queries({name: [row[name] for row in ROWS] for name in ROWS[0]})["ranked"])


def test_what_the_rows_say(expected):
    posts, criteria, folds, *arrays = expected
    assert (posts, criteria, folds) == ((7, 12), ("A", "B"), ("1", "2"))
    assert arrays[2] == [2, 0, 1]
    assert arrays[3:8] == [[2, 0, 1], [0, 2], [2, 1], [0.25, 1, 0], [0, 0, 1]]
    assert arrays[8] == [frozenset({"s1", "s2"}), frozenset(), frozenset({"s9"})]


@pytest.mark.parametrize("name", ["q.csv", "q.jsonl", "q.ndjson", "q.parquet", "q.CSV"])
def test_every_format_holds_the_same_facts_and_the_fingerprint_of_its_bytes(tmp_path, name, expected):
    path = tmp_path / name
    if name == "q.parquet":
        pd.DataFrame(ROWS).to_parquet(path)
    else:
        path.write_text(as_csv(ROWS) if name.lower() == "q.csv" else as_json_lines(ROWS), encoding="utf-8")
    found = read_queries(path)["ranked"]
    assert facts(found) == expected
    assert [one.sha256 for one in found.sources] == [hashlib.sha256(path.read_bytes()).hexdigest()]
    assert found.sources[0].path == str(path)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_frames_hold_the_same_facts(library, expected):
    assert facts(read_queries(library(ROWS))["ranked"]) == expected


def test_a_gzipped_file_is_unpacked(tmp_path, expected):
    path = tmp_path / "q.csv"
    path.write_bytes(gzip.compress(as_csv(ROWS).encode()))
    assert facts(read_queries(path)["ranked"]) == expected


def test_several_ranked_columns_are_several_systems(tmp_path):
    path = tmp_path / "q.csv"
    path.write_text(
        "post_id,criterion_id,gold_ids,retriever_topk,reranked_topk,reranked_prob\n1,A,a|b,x|a,a|x,0.5\n",
        encoding="utf-8",
    )
    found = read_queries(path)
    assert {name: one.hit_rank.tolist() for name, one in found.items()} == {"retriever": [2], "reranked": [1]}
    assert (found["retriever"].prob, found["reranked"].prob.tolist()) == (None, [0.5])
    assert [*read_queries(path, systems={"mine": "reranked_topk"})] == ["mine"]


def test_columns_can_be_mapped(tmp_path):
    path = tmp_path / "q.csv"
    path.write_text("pid,crit,truth,list\n1,A,a,a\n", encoding="utf-8")
    roles = {"post_id": "pid", "criterion_id": "crit", "gold_ids": "truth", "ranked_ids": "list"}
    assert read_queries(path, columns=roles)["ranked"].hit_rank.tolist() == [1]


def test_posts_of_csv_are_numbers_only_if_all_of_them_are(tmp_path):
    path = tmp_path / "q.csv"
    head = "post_id,criterion_id,gold_ids,ranked_ids\n"
    path.write_text(f"{head}10,A,,\n9,A,,\n", encoding="utf-8")
    assert read_queries(path)["ranked"].post_ids == (9, 10)
    path.write_text(f"{head}10,A,,\n09,A,,\n", encoding="utf-8")
    assert read_queries(path)["ranked"].post_ids == ("09", "10")


def test_the_rows_themselves_can_be_had(tmp_path):
    path = tmp_path / "q.csv"
    path.write_text(as_csv(ROWS), encoding="utf-8")
    first, *_ = query_lists(path)["ranked"]
    assert (first.post, first.criterion, first.gold, first.ranked) == ("7", "A", ["s1", "s2"], ["s3", "s1"])


HEAD = "post_id,criterion_id,gold_ids,ranked_ids"


@pytest.mark.parametrize(
    "text",
    [
        "",
        f"{HEAD}\n",
        f"{HEAD}\n1,A,a|a,\n",
        f"{HEAD}\n1,A,a,b|b\n",
        f"{HEAD}\n1,A,a,b||c\n",
        f"{HEAD}\n1,A,a,b| c\n",
        f"{HEAD}\n1,A,a\n",
        f'{HEAD}\n1,"A,a,b\n',
        f"{HEAD}\n,A,a,b\n",
        f"{HEAD}\n1,A,a,b\n1,A,a,b\n",
        f"{HEAD},prob\n1,A,a,b,nan\n",
        f"{HEAD},prob\n1,A,a,b,x\n",
        f"{HEAD},prob\n1,A,a,b,\n2,A,a,b,1\n",
        f"{HEAD},fold\n1,A,a,b,1\n2,A,a,b,\n",
        f"{HEAD},scores\n1,A,a,b|c,1\n",
        f"{HEAD},scores\n1,A,a,b|c,1|\n",
        "post_id,criterion_id,gold_ids,list\n1,A,a,b\n",
        f"{HEAD},ranked_ids\n1,A,a,b,b\n",
        "post,criterion_id,gold_ids,ranked_ids\n1,A,a,b\n",
        "post_id,criterion_id,gold_ids,a_topk,b_topk,scores\n1,A,a,b,b,1\n",
        "post_id,criterion_id,gold_ids,a_topk,a_ranked_ids\n1,A,a,b,b\n",
        f"{HEAD},prob\n1,A,a,b,1_0\n",
    ],
)
def test_a_bad_csv_is_one_line_that_names_the_file(tmp_path, text, message):
    path = tmp_path / "q.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError) as caught:
        read_queries(path)
    assert str(caught.value).startswith(f"{path}: ")
    message(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("q.jsonl", b""),
        ("q.jsonl", b"[1]\n"),
        ("q.jsonl", b'{"a": 1, "a": 2}\n'),
        ("q.jsonl", as_json_lines(ROWS[:1]).encode() + b"{}\n"),
        ("q.jsonl", as_json_lines([ROWS[0] | {"gold_ids": "s1"}]).encode()),
        ("q.jsonl", as_json_lines([ROWS[0] | {"gold_ids": 3}]).encode()),
        ("q.jsonl", as_json_lines([ROWS[0] | {"gold_ids": [1.5]}]).encode()),
        ("q.jsonl", as_json_lines([ROWS[0] | {"ranked_ids": [1, "1"]}]).encode()),
        ("q.jsonl", as_json_lines([ROWS[0] | {"prob": True}]).encode()),
        ("q.jsonl", as_json_lines([ROWS[0] | {"post_id": 1.5}]).encode()),
        ("q.jsonl", as_json_lines([ROWS[0] | {"prob": "0.5"}]).encode()),
        ("q.jsonl", as_json_lines([ROWS[0] | {"prob": 10**400}]).encode()),
        ("q.jsonl", as_json_lines([ROWS[0] | {"scores": "2|1"}]).encode()),
        ("q.jsonl", as_json_lines([ROWS[0] | {"scores": 0.5}]).encode()),
        ("q.jsonl", as_json_lines([ROWS[0] | {"scores": {"a": 1}}]).encode()),
        ("q.jsonl", as_json_lines([ROWS[0], ROWS[1] | {"scores": []}]).encode()),
        (
            "q.jsonl",
            as_json_lines(
                [ROWS[0], ROWS[2] | {"criterion_id": 1}, ROWS[2] | {"criterion_id": "1", "post_id": 3}]
            ).encode(),
        ),
        ("q.jsonl", "\ufeff{}".encode()),
        ("q.parquet", b"PAR1"),
        ("q.csv", b"\xff\xfe"),
        ("q.csv", b"\xef\xbb\xbf" + b"a" * 20_000 + b"\xff"),
        pytest.param("q.csv", gzip.compress(b"a" * 20_000 + b"\xe2\x82", mtime=0), id="packed text that ends early"),
        ("q.csv", b"\x1f\x8b\x08broken"),
        ("q.txt", b"x"),
    ],
)
def test_other_bad_files_are_one_line_too(tmp_path, name, data, message):
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(UserError) as caught:
        read_queries(path)
    message(caught.value)
    assert str(path) in str(caught.value)


def test_a_role_or_a_column_that_does_not_exist_is_told_with_the_nearest(tmp_path):
    path = tmp_path / "q.csv"
    path.write_text(as_csv(ROWS), encoding="utf-8")
    with pytest.raises(UserError, match=r"no column role is called postid; did you mean post_id\?"):
        read_queries(path, columns={"postid": "post_id"})
    with pytest.raises(UserError, match=r"no column is called ranked; did you mean ranked_ids\?"):
        read_queries(path, systems={"x": "ranked"})
    with pytest.raises(UserError, match="cannot be read"):
        read_queries(tmp_path / "absent.csv")


def test_members_that_play_no_role_may_come_and_go(tmp_path, expected):
    path = tmp_path / "q.jsonl"
    path.write_text(as_json_lines([ROWS[0] | {"note_ids": "x"}, ROWS[1], ROWS[2] | {"other": 1}]), encoding="utf-8")
    assert facts(read_queries(path)["ranked"]) == expected


def test_bytes_and_sets_are_no_lists_of_ids(tmp_path):
    pd.DataFrame([ROWS[0] | {"gold_ids": b"s1"}]).to_parquet(tmp_path / "q.parquet")
    with pytest.raises(UserError, match="gold_ids b's1', expected a list of ids"):
        read_queries(tmp_path / "q.parquet")
    with pytest.raises(UserError, match="ranked_ids .*, expected a list of ids"):
        read_queries({name: [value] for name, value in (ROWS[0] | {"ranked_ids": {"a", "b"}}).items()})


def test_columns_nobody_asked_for_are_not_read(tmp_path, expected):
    path = tmp_path / "q.parquet"
    table = pa.Table.from_pylist(ROWS).append_column("far", pa.array([2**60] * 3, pa.timestamp("ms")))
    pq.write_table(table, path)
    assert facts(read_queries(path)["ranked"]) == expected


def test_a_frame_of_arrays_is_a_frame_of_lists(tmp_path):
    path = tmp_path / "q.parquet"
    pd.DataFrame([ROWS[0] | {"scores": [2.0, 1.0]}]).to_parquet(path)
    assert read_queries(pd.read_parquet(path))["ranked"].scores.tolist() == [2, 1]


def test_a_name_may_end_in_gz_and_cells_may_be_long(tmp_path):
    path = tmp_path / "q.csv.gz"
    ids = "|".join(f"sentence_{number}" for number in range(20_000))
    path.write_bytes(gzip.compress(f"{HEAD}\n1,A,sentence_19999,{ids}\n".encode()))
    assert read_queries(path)["ranked"].hit_rank.tolist() == [20_000]


def test_a_mapping_wins_over_what_a_column_is_called():
    row = {"post_id": [1], "criterion_id": ["A"], "gold_ids": ["a"], "x_topk": ["a"], "x_prob": [0.1], "mine": [0.9]}
    assert read_queries(row)["x"].prob.tolist() == [0.1]
    assert read_queries(row, columns={"prob": "mine"})["x"].prob.tolist() == [0.9]
    with pytest.raises(UserError, match="leave out the mapping of ranked_ids"):
        read_queries(row, columns={"ranked_ids": "x_topk"}, systems={"x": "x_topk"})
    with pytest.raises(UserError, match="1 is not a column"):
        read_queries({"post_id": 1})


def test_progress_is_told_in_bytes(tmp_path):
    path = tmp_path / "q.csv"
    path.write_text(as_csv(ROWS), encoding="utf-8")
    seen = []
    read_queries(path, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (path.stat().st_size, path.stat().st_size)
