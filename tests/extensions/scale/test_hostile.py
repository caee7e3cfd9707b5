"""Parts that mean harm, or hold too much: nothing but clean errors and valid results."""

import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from commands import demur, real_demur
from parametrized import parametrize_few
from runs import written


@pytest.mark.parametrize("noun", ["\x1b[31mred", "a\nb", "</p><b>", "[/]"])
def test_a_noun_is_text_in_a_summary_too(tmp_path, noun):
    rows = [f"p{n // 2},q{n % 2},{n % 2},{n % 3 % 2},{n / 40}" for n in range(40)]
    written(tmp_path, "\n".join(["cluster,item,truth,prediction,sure", *rows]), "t.csv")
    how = ("--instrument", "none", "--confidence", "sure", "--loss", "zero_one", "--noun", noun)
    done = [
        demur(tmp_path, "summarize", "t.csv", *how, "-o", "t.sum"),
        demur(tmp_path, "evaluate", "t.sum", "--confidence", "sure", "--resamples", "20", "-o", "s.json"),
    ]
    assert [(one.returncode, one.stderr) for one in done] == [(0, "")] * 2
    assert all(character.isprintable() or character == "\n" for one in done for character in one.stdout)


@parametrize_few(
    ("name", "words"),
    [("part.csv", ("evaluate", "parts", "--seed", "1")), ("part.json", ("summarize", "parts", "-o", "all.sum"))],
    1,
)
@pytest.mark.slow
def test_a_pipe_in_a_folder_of_parts_is_refused(tmp_path, name, words):
    """Nobody writes to it: reading it would wait for ever."""
    (tmp_path / "parts").mkdir()
    os.mkfifo(tmp_path / "parts" / name)
    done = real_demur(tmp_path, *words, timeout=30)
    assert done.returncode == 2
    assert f"{name} is not a table, a run or a summary: move it out" in done.stderr


def test_parquet_of_equal_rows_is_counted_by_its_cells(tmp_path):
    equal = {"cluster": 7, "item": "q", "truth": 0, "prediction": 0}
    rows = pa.table({name: pa.repeat(pa.scalar(value), 2_000_000) for name, value in equal.items()})
    pq.write_table(rows, tmp_path / "t.parquet", compression="zstd")
    done = demur(tmp_path, "summarize", "t.parquet", "-o", "s")
    assert done.returncode == 2
    assert done.stderr.startswith("demur: t.parquet: it unpacks to more than ")
