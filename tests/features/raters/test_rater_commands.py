"""Raters and points on the command line: what is printed and recorded, and that a mistake writes nothing."""

import json

import pytest

from commands import demur

UNITS = "cluster,item,loss,sure\nA,1,0,.9\nA,2,1,.9\nB,1,0,.8\nB,2,0,.7\nC,1,1,.7\nC,2,,0\nD,1,0,.6\nD,2,,0\n"
RATED = "cluster,item,loss\nA,1,0\nA,2,0\nB,1,1\nB,2,0\nC,1,0\nC,2,0\nD,1,\nD,2,\n"
EVALUATE = ("evaluate", "units.csv", "--confidence", "sure", "--loss-max", "1", "--seed", "7")
EVALUATE += ("--bootstrap-resamples", "50", "--output", "out.json")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "units.csv").write_text(UNITS)
    (tmp_path / "rater.csv").write_text(RATED)
    (tmp_path / "points.toml").write_text('["A paper"]\ncoverage = 0.5\nrisk = 0.25\nsource = "Smith 2020"\n')
    return tmp_path


def test_raters_and_points_in_one_command(folder):
    told = ("--rater", "Dr </script> A=rater.csv", "--point", "P: coverage=0.5, risk=0.25, se=0.1", "--margin", "0.9")
    told += ("--points", "points.toml", "--handover-threshold", "0.8", "--report", "out.html")
    found = demur(folder, *EVALUATE, *told)
    assert (found.returncode, found.stderr) == (0, "")
    assert "Dr </script> A answered 75.0% of the items at a risk of 0.167" in found.stdout
    content = json.loads((folder / "out.json").read_text())
    assert [point["kind"] for point in content["external_points"]] == ["paired", "published", "published"]
    assert content["external_points"][2]["source"] == "Smith 2020"
    assert {file["path"] for file in content["also_read"]} == {"rater.csv", "points.toml"}
    page = (folder / "out.html").read_text()
    assert "Beside others" in page
    assert "Dr </script> A" not in page
    again = demur(folder, "audit", "--data", "units.csv", "--reported", "out.json", "--loss-max", "1", *told[:2])
    assert (again.returncode, again.stderr) == (0, "")
    other = RATED.replace("A,1,0", "A,1,1")
    (folder / "rater.csv").write_text(other)
    changed = demur(folder, "audit", "--data", "units.csv", "--reported", "out.json", "--loss-max", "1", *told[:2])
    assert changed.returncode == 3
    assert "these data are not those the file was made from" in changed.stdout


@pytest.mark.parametrize(
    "told",
    [
        ("--rater", "rater.csv"),
        ("--rater", "A=missing.csv"),
        ("--rater", "A=units.csv", "--output", "units.csv"),
        ("--point", "P"),
        ("--point", "P: units=9, answered=5, loss=9"),
        ("--point", "P: coverage=0.5, risk=1.5"),
        ("--margin", "0.1"),
        ("--forced", "x=rater.csv"),
    ],
)
def test_a_mistake_is_one_line_and_writes_nothing(folder, told, message):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    found = demur(folder, *EVALUATE, *told)
    assert found.returncode == 2
    assert found.stderr.count("\n") == 1
    message(found.stderr)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def both_of(folder, rated):
    (folder / "rater.csv").write_text(rated)
    found = demur(folder, *EVALUATE, "--rater", "Dr=rater.csv", "--quiet")
    assert (found.returncode, found.stderr) == (0, "")
    return json.loads((folder / "out.json").read_text())["confidence_variants"]["sure"]["external"]["Dr"][
        "answered_by_both"
    ]


@pytest.mark.slow
def test_a_difference_on_shared_units_counts_the_clusters_that_hold_any(folder):
    whole, part = RATED.replace("C,1,0\nC,2,0", "C,1,1\nC,2,"), UNITS + "E,1,0,.5\nF,1,1,.5\nG,1,0,.4\n"
    expected = both_of(folder, whole)["delta"]
    (folder / "units.csv").write_text(part)
    found = both_of(folder, whole + "E,1,\nF,1,\nG,1,\n")["delta"]
    # Clusters in which the rater answers nothing say nothing about the difference, however many there are.
    assert found["ci95_recommended"] == pytest.approx(expected["ci95_recommended"])


@pytest.mark.slow
def test_a_rater_of_one_cluster_alone_is_compared_without_an_interval(folder):
    (folder / "rater.csv").write_text("cluster,item,loss\nA,1,1\nA,2,1\nB,1,\nB,2,\nC,1,\nC,2,\nD,1,\nD,2,\n")
    found = demur(folder, *EVALUATE, "--rater", "Dr=rater.csv", "--report", "out.html")
    assert (found.returncode, found.stderr) == (0, "")
    content = json.loads((folder / "out.json").read_text())
    beside = content["confidence_variants"]["sure"]["external"]["Dr"]
    assert (beside["risk_gap"]["value"], beside["risk_gap"]["ci95_recommended"], beside["verdict"]) == (0.5, None, "")
    assert content["external_points"][0]["ci95"]["risk"] is None


def test_a_difference_within_one_cluster_alone_is_not_certain(folder):
    both = both_of(folder, "cluster,item,loss\nA,1,0\nA,2,0\nB,1,\nB,2,\nC,1,\nC,2,\nD,1,\nD,2,\n")
    assert (both["n"], both["delta"]["value"]) == (2, -0.5)
    assert (both["delta"]["ci95_recommended"], both["delta"]["ci95"], both["delta"]["p_value"]) == (None, None, None)
