"""Features together: they stand in one file, come back from it, and are asked for again; their names do not collide."""

import json

import pytest

from commands import demur
from demur import ReadingOptions, UserError, evaluate, load

pytestmark = pytest.mark.uses("groups", "raters", "costs", "conventions")
UNITS = "cluster,item,loss,sure\nA,1,0,.9\nA,2,1,.9\nB,1,0,.8\nB,2,0,.7\nC,1,1,.7\nC,2,,0\nD,1,0,.6\nD,2,,0\n"
RATED = "cluster,item,loss\nA,1,0\nA,2,0\nB,1,1\nB,2,0\nC,1,0\nC,2,0\nD,1,\nD,2,\n"
EVALUATE = ("evaluate", "units.csv", "--confidence", "sure", "--loss-max", "1", "--seed", "7")
EVALUATE += ("--bootstrap-resamples", "50", "--output", "out.json")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "units.csv").write_text(UNITS)
    (tmp_path / "rater.csv").write_text(RATED)
    return tmp_path


@pytest.mark.slow
def test_groups_raters_and_prices_stand_in_one_file_and_come_back_from_it(folder):
    sites = {"cluster": "site", "A": "x", "B": "x", "C": "y", "D": "y"}
    rows = [f"{line},{sites[line.partition(',')[0]]}\n" for line in UNITS.split()]
    (folder / "units.csv").write_text("".join(rows))
    told = ("--rater", "Dr=rater.csv", "--abstention-cost", "0.5", "--group", "site=site", "--threshold", "0.7")
    found = demur(folder, *EVALUATE, *told)
    assert (found.returncode, found.stderr) == (0, "")
    text = (folder / "out.json").read_text()
    assert load(folder / "out.json").text == text
    run = json.loads(text)["confidence_variants"]["sure"]
    assert run["external"]["Dr"]["risk_gap"]["value"] == pytest.approx(-1 / 6)
    assert [level["accepted"] for level in run["groups"]["site"]["levels"]] == [4, 1]
    assert run["cost"]["optimal"][0]["cost"] == 3 / 8


def test_a_group_has_no_name_that_is_for_raters(folder):
    found = demur(folder, *EVALUATE, "--group", "answered_by=sure")
    assert (found.returncode, found.stderr.count("\n")) == (2, 1)
    assert "a group cannot be called answered_by, which is for raters" in found.stderr


def test_what_is_none_of_them_is_told_which_there_are():
    told = r"is none of Groups, Raters, Costs, Conventions; give several systems in a list, evaluate\(\[a, b\]\)$"
    with pytest.raises(UserError, match=told):
        evaluate("units.csv", "other.csv")


def test_results_ask_for_the_same_again(folder, monkeypatch):
    from demur import Conventions, Costs, Groups  # noqa: PLC0415  (each is gone with its folder)

    monkeypatch.chdir(folder)
    how = {"reading": ReadingOptions(loss_max=1), "resamples": 40}
    asked = (
        Groups(question="item", threshold=0.5, min_clusters=2),
        Costs("0.1", cross_fit=3),
        Conventions("fd-shifts"),
    )
    results = evaluate("units.csv", *asked, confidence="sure", **how)
    for known in (results, load(results.save("m.json"))):
        again = evaluate("units.csv", *known.features, settings=known.settings, **how)
        assert again.fingerprint == results.fingerprint
    groups, *others = results.features
    assert (groups.labels, groups.threshold) == ({"question": "item"}, 0.5)
    assert others == [*asked[1:]]
