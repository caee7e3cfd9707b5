"""The options of raters and points: in Python, typed, and in `demur.toml`."""

import pandas as pd
import pytest

from commands import demur
from demur import Raters, UserError, evaluate, load, typed_point

TABLE = {
    "cluster": ["a", "a", "b", "b", "c", "d", "d", "e"],
    "loss": [1.0, 0.5, 0.0, None, 1.0, 0.25, 0.75, 1.0],
    "sure": [0.9, 0.7, 0.8, 0.1, 0.8, 0.2, 0.3, 0.6],
}
FORCED = TABLE | {"loss": [0.5] * 8}
RATED = {"cluster": TABLE["cluster"], "loss": [0.0, 1.0, 0.0, None, 0.0, 0.5, 0.0, 1.0]}
HOW = {"confidence": "sure", "resamples": 40}
POINT = "P: coverage=0.5, risk=0.2"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, table in (("own", TABLE), ("forced", FORCED), ("rater", RATED)):
        pd.DataFrame(table).to_csv(f"{name}.csv", index=False)
    return tmp_path


def evaluated(folder, *typed, data="own.csv"):
    done = demur(folder, "evaluate", data, "--resamples", "20", "--output", "m.json", *typed)
    assert done.returncode == 0, done.stderr
    return load(folder / "m.json")


def test_they_come_as_python_has_them(folder):
    in_memory = Raters(Dr=pd.DataFrame(RATED), points=[typed_point(POINT)], forced=FORCED)
    of_files = Raters({"Dr": "rater.csv"}, points=POINT, forced=folder / "forced.csv")
    one, two = (evaluate(TABLE, asked, **HOW) for asked in (in_memory, of_files))
    assert one.to_columns() == two.to_columns()


@pytest.mark.parametrize(
    "made",
    [
        lambda: Raters(["r.csv"]),
        lambda: Raters(margin=True),
        lambda: evaluate(TABLE, Raters(forced={"b": "forced.csv"}), **HOW),
    ],
)
def test_a_mistake_is_one_line(made, message):
    with pytest.raises(UserError) as told:
        made()
    message(told.value)


def test_paths_in_a_file_of_options_are_of_its_folder(folder):
    (folder / "demur.toml").write_text('[raters]\nDr = "rater.csv"\n')
    (folder / "below" / "it").mkdir(parents=True)
    results = evaluated(folder / "below" / "it", data=folder / "own.csv")
    assert [point.name for point in results.selective.external_points] == ["Dr"]


def test_a_rater_in_a_file_of_options_is_a_file(folder):
    (folder / "demur.toml").write_text("[raters]\nDr = 1")
    done = demur(folder, "evaluate", "own.csv")
    assert (done.returncode, done.stderr) == (2, f"demur: {folder / 'demur.toml'}: [raters]: Dr 1, expected a file\n")


def test_points_of_a_file_are_points(folder):
    (folder / "points.toml").write_text('["P"]\ncoverage = 0.5\nrisk = 0.2\n')
    by_flag = [evaluated(folder, flag, "points.toml") for flag in ("--point", "--points")]
    assert [[point.name for point in each.selective.external_points] for each in by_flag] == [["P"], ["P"]]
    assert by_flag[0].to_columns() == by_flag[1].to_columns()
