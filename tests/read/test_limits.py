"""A file that unpacks to more than may be held is one line that names the limit and how to raise it."""

import gzip
import json
import os
import resource
import subprocess
import sys
import time
import zlib
from functools import partial

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import demur
from commands import demur as called
from demur import UserError, instrument, read_items, read_table
from demur.files.limits import FILE, LINE, MEMBER, RATIO
from inspect_logs import archive, members_of
from installation import needs
from parametrized import parametrize_few
from runs import experiment, participant, run, written

UNITS = "cluster,item,truth,prediction,note\n"
QUERIES = "post_id,criterion_id,gold_ids,ranked_ids\n"
LONG = "x" * 2000
_rankings = partial(pytest.param, marks=needs("retrieval"))


def units(path):
    return read_table(path, instrument=None)


def queries(path, **how):
    return demur.read_queries(path, **how)


def judged(path):
    return demur.read_trec(path, [path])


def scored(path):
    return demur.read_trec(written(path.parent, "q 0 d 1\n", "qrels"), [path])


@pytest.fixture(params=[False, True], ids=["plain", "gzip"])
def file(tmp_path, request):
    def write(text, name):
        return written(tmp_path, gzip.compress(text.encode()) if request.param else text, name)

    return write


@pytest.mark.parametrize(
    ("name", "text", "read", "line"),
    [
        ("t.csv", f"{UNITS}1,q,0,1,{LONG}\n", units, 2),
        ("t.csv", f"{UNITS[:-1]},{LONG}\n", units, 1),
        ("t.csv", UNITS + '1,q,0,1,"' + "xy\n" * 700 + '"\n', units, 332),
        ("t.csv", UNITS + '1,q,0,1,"x\n"' + ',"x\n"' * 700 + "\n", units, 200),
        ("t.jsonl", json.dumps({"cluster": 1, "note": LONG}) + "\n", units, 1),
        _rankings("q.csv", f"{QUERIES}1,A,a,b\n1,B,a,{LONG}", queries, 3),
        _rankings("q.ndjson", '{"post_id": 1, "note": "' + LONG, queries, 1),
        _rankings("qrels", f"q 0 {LONG} 1\n", judged, 1),
        _rankings("run", f"q Q0 d 1 1 t\nq Q0 e 2 1 t {LONG}\n", scored, 2),
    ],
)
def test_a_line_has_a_limit_in_every_format_that_is_read_by_lines(file, monkeypatch, name, text, read, line):
    path = file(text, name)
    monkeypatch.setenv(LINE.variable, "1000")
    with pytest.raises(UserError) as caught:
        read(path)
    way_out = "a line or a row is larger than 1000; to allow it, set DEMUR_MAX_LINE to more"
    assert str(caught.value) == f"{path}: line {line}: {way_out}"


def test_a_limit_is_the_largest_size_that_is_allowed(file, monkeypatch):
    path = file(f"{UNITS}1,q,0,1,{'x' * 991}\n", "t.csv")
    monkeypatch.setenv(LINE.variable, "999")
    with pytest.raises(UserError, match="larger than 999"):
        units(path)
    monkeypatch.setenv(LINE.variable, "1000")
    assert len(units(path)) == 1


@pytest.mark.parametrize(
    ("name", "text", "read"),
    [
        ("t.csv", UNITS + "1,q,0,1,\n" * 300, units),
        ("t.jsonl", '{"cluster": 1}\n' * 300, units),
        _rankings("q.csv", QUERIES + "1,A,a,b\n" * 300, queries),
        _rankings("run", "q Q0 d 1 1 t\n" + "\n" * 2000, scored),
    ],
)
def test_a_file_has_a_limit_however_short_its_lines(file, monkeypatch, name, text, read):
    path = file(text, name)
    monkeypatch.setenv(FILE.variable, "1K")
    with pytest.raises(UserError) as caught:
        read(path)
    expected = f"{path}: the unpacked file is larger than 1K; to allow it, set DEMUR_MAX_FILE to more"
    assert str(caught.value) == expected


def test_what_is_read_in_one_piece_has_a_limit(file, tmp_path, monkeypatch):
    monkeypatch.setenv(MEMBER.variable, "500")
    expected = "what has to be read in one piece is larger than 500; to allow it, set DEMUR_MAX_MEMBER to more"
    path = file(json.dumps(run(experiment(participant(1)))), "run.json")
    with pytest.raises(UserError) as caught:
        read_items(path)
    assert str(caught.value) == f"{path}: {expected}"
    path = written(tmp_path, {"name": LONG, "items": ["a"], "min": 0, "max": 1}, "own.json")
    for read in (instrument, demur.load):
        with pytest.raises(UserError) as caught:
            read(path)
        assert str(caught.value) == f"{path}: {expected}"


@pytest.mark.slow
def test_parquet_has_the_same_limits(tmp_path, monkeypatch):
    path = tmp_path / "t.parquet"
    rows = {"cluster": [*range(300)], "item": ["q"] * 300, "truth": [0] * 300, "prediction": [0] * 300}
    pq.write_table(pa.table(rows | {"note": [f"{n}{LONG}" for n in range(300)]}), path, row_group_size=100)
    assert len(units(path)) == 300
    for limit, size in ((MEMBER, "200K"), (FILE, "500K")):
        with monkeypatch.context() as changed:
            changed.setenv(limit.variable, size)
            with pytest.raises(UserError, match=f"larger than {size}; to allow it, set {limit.variable}"):
                units(path)
    repeated = tmp_path / "repeated.parquet"
    pq.write_table(pa.table(rows | {"note": [LONG] * 300}), repeated)
    monkeypatch.setenv(MEMBER.variable, "300K")  # a few bytes as they are written, 600 000 as rows
    assert len(units(repeated)) == 300, "a text that is repeated is read once"


@needs("retrieval")
def test_parquet_of_queries_has_the_same_limits(tmp_path, monkeypatch):
    path = tmp_path / "q.parquet"
    pq.write_table(pa.table({"cluster": [*range(300)], "item": ["q"] * 300, "note": [LONG] * 300}), path)
    monkeypatch.setenv(MEMBER.variable, "300K")
    with pytest.raises(UserError, match="larger than 300K"):
        queries(path, columns={"post_id": "cluster", "criterion_id": "item", "gold_ids": "note", "ranked_ids": "note"})


TOO_MUCH = "it unpacks to more than 300 times its size; to allow it, set DEMUR_MAX_RATIO to more"


@pytest.fixture(scope="module")
def spaces():
    """Twenty megabytes of spaces, in twenty kilobytes of gzip."""
    return gzip.compress(b" " * 20_000_000)


@parametrize_few(
    ("name", "words"),
    [
        ("log.json", ("import", "inspect", "log.json", "-o", "u.jsonl")),
        ("log.json", ("import", "promptfoo", "log.json", "-o", "u.jsonl")),
        ("log.jsonl", ("import", "lm-eval", "log.jsonl", "-o", "u.jsonl")),
        ("log.jsonl", ("import", "oai-evals", "log.jsonl", "-o", "u.jsonl")),
        ("t.csv.gz", ("evaluate", "t.csv.gz")),
        ("t.jsonl.gz", ("evaluate", "t.jsonl.gz")),
        ("run.json.gz", ("evaluate", "run.json.gz")),
        _rankings("qrels.gz", ("retrieval", "--qrels", "qrels.gz", "--run", "qrels.gz")),
    ],
    3,
)
def test_a_few_bytes_that_unpack_to_very_many_are_refused(tmp_path, spaces, name, words):
    written(tmp_path, spaces, name)
    seed = () if words[0] == "import" else ("--seed", "1")
    done = called(tmp_path, *words, *seed)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"demur: {name}: {TOO_MUCH}\n")


@pytest.mark.slow
def test_the_members_of_an_archive_are_counted_together(tmp_path):
    start, *_, end = members_of([])
    blank = [(f"samples/{name}_epoch_1.json", b" " * 10_000_000 + b'{"id": 1}') for name in "ab"]
    written(tmp_path, archive([start, *blank, end]), "log.eval")
    done = called(tmp_path, "import", "inspect", "log.eval", "-o", "u.jsonl")
    assert (done.returncode, done.stderr) == (2, f"demur: log.eval: {TOO_MUCH}\n")


@pytest.mark.slow
def test_the_ratio_can_be_raised(tmp_path, spaces, monkeypatch):
    path = written(tmp_path, spaces, "run.json.gz")
    monkeypatch.setenv(RATIO.variable, "2000")
    with pytest.raises(UserError, match="not valid JSON"):
        read_items(path)


def test_blank_space_is_skipped_at_once(tmp_path):
    """A loop over its characters took ten seconds for each hundred megabytes."""
    took = []
    for count in (1, 10_000_000):
        written(tmp_path, " " * count + '{"evalId": 1}', "log.json")
        started = time.process_time()
        assert "no rows" in called(tmp_path, "import", "promptfoo", "log.json", "-o", "u.jsonl").stderr
        took.append(time.process_time() - started)
    assert took[1] < took[0] + 0.5


@parametrize_few(("name", "first"), [("t.csv", UNITS), ("t.jsonl", "")], 1)
@pytest.mark.slow
def test_blank_lines_come_to_an_end(tmp_path, name, first):
    path = written(tmp_path, first + "\n" * 1_100_000, name)
    with pytest.raises(UserError, match=r"line 100000\d: 1000000 empty lines before it, expected rows"):
        units(path)


def equal_rows(count, **columns):
    equal = {"cluster": 7, "item": "q", "truth": 0, "prediction": 0} | columns
    return pa.table({name: pa.repeat(pa.scalar(value), count) for name, value in equal.items()})


@pytest.mark.slow
def test_parquet_of_equal_rows_is_counted_by_its_cells(tmp_path):
    """Twenty-one million rows took two hundred kilobytes of file and seven gigabytes of memory."""
    pq.write_table(equal_rows(2_000_000), tmp_path / "t.parquet", compression="zstd")
    assert (tmp_path / "t.parquet").stat().st_size < 100_000
    for words in (("evaluate", "t.parquet"), ("fields", "t.parquet")):
        done = called(tmp_path, *words)
        assert (done.returncode, done.stderr) == (2, f"demur: t.parquet: {TOO_MUCH}\n")


@pytest.mark.parametrize("kind", ["list", "struct"])
def test_a_repeated_text_inside_lists_and_objects_is_counted_each_time(tmp_path, monkeypatch, kind):
    note = {"list": [LONG], "struct": {"text": LONG}}[kind]
    path = tmp_path / "t.parquet"
    rows = equal_rows(3000).set_column(0, "cluster", [[*range(3000)]]).append_column("note", [[note] * 3000])
    pq.write_table(rows, path)
    assert len(units(path)) == 3000
    monkeypatch.setenv(MEMBER.variable, "4M")  # more than a thousand rows, which are read at a time, and less than all
    with pytest.raises(UserError, match="larger than 4M"):
        units(path)


@pytest.mark.parametrize("value", ["x", "0", "-1", "1.5", "1T", "1 G"])
def test_a_limit_that_is_none_is_refused(tmp_path, monkeypatch, value):
    monkeypatch.setenv(LINE.variable, value)
    with pytest.raises(UserError, match="DEMUR_MAX_LINE '.*', expected a size, such as 500M or 2G"):
        units(written(tmp_path, UNITS, "t.csv"))


@pytest.fixture(scope="module")
def three_gigabytes():
    """A packed part of a gzip file: one letter, three gigabytes of it."""
    packer = zlib.compressobj(9, wbits=31)
    return b"".join(packer.compress(b"x" * 2**20) for _ in range(3 * 1024)) + packer.flush()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "start", "options"),
    [
        _rankings("q.csv.gz", f"{QUERIES}1,A,a,", ["retrieval", "--data"]),
        _rankings("q.jsonl.gz", '{"post_id": "', ["retrieval", "--data"]),
        ("run.json.gz", '{"experiments": "', ["evaluate"]),
        ("t.csv.gz", "cluster,item,truth,prediction\n1,", ["evaluate", "--instrument", "none"]),
        _rankings("qrels.gz", "q 0 ", ["retrieval", "--run", "run", "--qrels"]),
    ],
)
def test_three_gigabytes_in_one_line_are_one_line(tmp_path, three_gigabytes, name, start, options):
    path = written(tmp_path, gzip.compress(start.encode()) + three_gigabytes, name)
    assert path.stat().st_size < 4_000_000
    done = subprocess.run(
        [sys.executable, "-c", "from demur.cli import main; main()", *options, path, "--seed", "1"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (2 * 2**30,) * 2),
        check=False,
    )
    assert done.returncode == 2
    assert "to allow it, set DEMUR_MAX_" in done.stderr
    assert [one.name for one in tmp_path.iterdir()] == [name]
