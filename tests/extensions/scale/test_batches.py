"""A large table read some rows at a time: the bytes of the summary that all rows at once have."""

import json

import pytest

from demur import TableOptions, UserError
from demur.extensions.scale import batches, summarizing
from demur.extensions.scale.file import content
from demur.extensions.scale.summarizing import PartReading, summarized
from parametrized import parametrize_few
from sharded import table, units

READING = PartReading(
    "sure,margin", {"cluster": "user"}, options=TableOptions(loss_max=1.0, group={"sex": "sex"}), most_bins=16
)


def json_lines(path, rows):
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def parquet(path, rows):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet as format_  # noqa: PLC0415

    numbers = {"loss": float, "sure": float, "margin": int}
    columns = {
        name: [None if row[name] == "" else numbers.get(name, str)(row[name]) for row in rows] for name in rows[0]
    }
    format_.write_table(pyarrow.table({name: columns[name] for name in columns if name != "truth"}), path)
    return path


@pytest.fixture
def both(monkeypatch):
    """The bytes of a summary in batches of so many rows, and of all rows at once; how many summaries were merged."""

    def made(path, reading, rows=70, entries=200):
        counted = []
        monkeypatch.setattr(batches, "_ROWS", rows)
        monkeypatch.setattr(batches, "_ENTRIES", entries)
        monkeypatch.setattr(summarizing, "Summary", Counting(summarizing.Summary, counted))
        in_batches = b"".join(content(summarized(reading, path)))
        number = len(counted)
        monkeypatch.setattr(summarizing, "in_batches", lambda *_: None)
        whole = b"".join(content(summarized(reading, path)))
        monkeypatch.undo()
        return in_batches, whole, number

    return made


class Counting:
    """The class of summaries, with a note of each that is made of units."""

    def __init__(self, kind, made):
        self.kind, self.made = kind, made

    def of(self, *about):
        self.made.append(about)
        return self.kind.of(*about)


@parametrize_few("write", [table, parquet, lambda path, rows: json_lines(path, _plain(rows))], 1)
def test_batches_give_the_bytes_of_all_rows_at_once(tmp_path, both, write):
    suffix = {table: "csv", parquet: "parquet"}.get(write, "jsonl")
    in_batches, whole, number = both(write(tmp_path / f"all.{suffix}", units()), READING)
    assert in_batches == whole
    assert number == -(-600 // 70)


def _plain(rows):
    numbers = ("loss", "sure", "margin")
    kept = [{name: cell for name, cell in row.items() if name != "truth"} for row in rows]
    return [
        {name: None if cell in ("", "NaN") else float(cell) if name in numbers else cell for name, cell in row.items()}
        for row in kept
    ]


TOGETHER = {
    "ids that are numbers at first": lambda i, row: {**row, "user": i % 9 if i < 100 else f"u{i % 9}"},
    "a label after numbers": lambda i, row: {**row, "truth": "x" if i == 500 else 1, "prediction": i % 2},
    "a text after decimals": lambda i, row: {**row, "truth": "x1"[i % 2], "prediction": "y" if i == 500 else "1.0"},
    "a column that turns up late": lambda i, row: row if i < 200 else {**row, "note": 1.5},
    "repeats that turn up late": lambda i, row: {**row, "item": f"q{i // 2}", "repeat": 1 if i < 200 else 1 + i % 2},
}


@pytest.mark.parametrize("change", TOGETHER.values(), ids=TOGETHER)
def test_what_only_all_rows_tell_is_told_from_all_rows(tmp_path, both, change):
    rows = [change(i, {"user": f"u{i % 9}", "item": f"q{i}", "sure": i % 7}) for i in range(600)]
    if "prediction" not in rows[0]:
        rows = [{**row, "loss": i % 3} for i, row in enumerate(rows)]
    rows = [row for i, row in enumerate(rows) if "repeat" not in row or i >= 200 or i % 2]
    loss = "zero_one" if "prediction" in rows[0] else None
    is_table = len({(*row,) for row in rows}) == 1
    path = table(tmp_path / "all.csv", rows, ()) if is_table else json_lines(tmp_path / "all.jsonl", rows)
    in_batches, whole, _ = both(path, PartReading("sure", {"cluster": "user"}, loss=loss))
    assert in_batches == whole


def test_clusters_of_an_instrument_are_read_whole(tmp_path, both):
    names = ("Nervous", "ControlWorry", "WorryTooMuch", "TroubleRelaxing", "Restless", "Irritable", "Afraid")
    rows = [
        {"cluster": who, "item": name, "truth": who % 4, "prediction": (who + len(name)) % 4, "sure": len(name)}
        for who in range(9)
        for name in names
    ]
    path = json_lines(tmp_path / "all.jsonl", rows)
    in_batches, whole, _ = both(path, PartReading("sure"), rows=10)
    assert in_batches == whole
    assert b"GAD-7" in whole


def test_a_mistake_is_told_as_it_is_of_all_rows(tmp_path, monkeypatch):
    rows = [{"user": "a", "item": f"q{i % 90}", "sure": i, "loss": 0.5} for i in range(100)]
    path = json_lines(tmp_path / "all.jsonl", rows)
    monkeypatch.setattr(batches, "_ROWS", 95)
    with pytest.raises(UserError, match=r"all.jsonl: cluster a, q0: given more than once \(and 9 more\)"):
        summarized(PartReading("sure", {"cluster": "user"}), path)


def test_progress_is_by_rows_where_one_file_is_read(tmp_path, monkeypatch):
    path, told = parquet(tmp_path / "all.parquet", units()), []
    monkeypatch.setattr(batches, "_ROWS", 250)
    summarizing.summarize([path], READING, 1, lambda *done: told.append(done))
    assert [done for done in told if done[1] == 600] == [(250, 600), (500, 600), (600, 600)]
