"""Groups on the command line: columns, files of labels, what is refused, the page, and the audit."""

import json

import pytest

from commands import demur
from demur import load
from pages import Page

FLAGS = ("--loss-max", "1", "--confidence", "sure", "--seed", "1", "--bootstrap-resamples", "50")


@pytest.fixture
def folder(tmp_path):
    rows = ["cluster,item,loss,sure,Gender,Age"]
    labels = ["cluster,site,age"]
    for cluster in range(26):
        sex, age = ("F", "M", "")[0 if cluster < 12 else 1 if cluster < 24 else 2], 15 + 4 * (cluster // 2)
        labels.append(f"{cluster},{'north' if cluster % 2 else 'south'},{age}")
        for item in range(3):
            loss = "" if (cluster + item) % 5 == 0 else int((cluster * item) % 3 == 1)
            rows.append(f"{cluster},q{item},{loss},0.{1 + (7 * cluster + 3 * item) % 9},{sex},{age}")
    (tmp_path / "t.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "g.csv").write_text("\n".join(labels[:-1]) + "\n")
    return tmp_path


def test_columns_and_a_file_of_labels_reach_console_page_file_and_audit(folder):
    asked = ("--group", "sex=Gender", "--group", "age=age:18,40,60", "--group", "item", "--groups", "g.csv")
    made = demur(folder, "evaluate", "t.csv", *asked, *FLAGS, "--output", "o.json", "--report", "o.html")
    assert made.returncode == 0, made.stderr
    lines = made.stdout.splitlines()
    start = lines.index(next(line for line in lines if line.startswith("sure by sex, at the threshold")))
    assert lines[start + 1].startswith("  Too small to judge: (none) (2 clusters, ")
    assert lines[start + 2].startswith("  Among the others the risk is highest for ")
    assert "warning (multiple_groups): groups: 10 groups and " in made.stdout
    study = load(folder / "o.json").selective
    assert [(each.name, each.column, each.file, each.kind) for each in study.groups.groupings] == [
        ("sex", "Gender", None, "cluster"),
        ("age", "age:18,40,60", "g.csv", "cluster"),
        ("item", None, None, "unit"),
    ]
    assert study.groups.groupings[1].without_label == 3
    assert [each.path for each in study.also_read] == ["g.csv"]
    page = Page((folder / "o.html").read_text())
    assert "Who is served" in page.text
    assert "Too small to judge: (none) (2 clusters" in page.text
    checked = demur(folder, "audit", "--data", "t.csv", "--reported", "o.json", "--loss-max", "1", "--only", "differs")
    assert (checked.returncode, "0 differs, 0 not recognised" in checked.stdout) == (0, True)


def test_the_page_shows_no_section_where_no_groups_are_asked_for(folder):
    assert demur(folder, "evaluate", "t.csv", *FLAGS, "--output", "o.json", "--report", "o.html").returncode == 0
    assert "Who is served" not in (folder / "o.html").read_text()
    assert "groups" not in json.loads((folder / "o.json").read_text())


@pytest.mark.slow
def test_a_file_of_labels_alone_gives_all_its_columns(folder):
    made = demur(folder, "evaluate", "t.csv", "--groups", "g.csv", *FLAGS, "--output", "o.json", "--max-groups", "40")
    assert made.returncode == 0, made.stderr
    assert [each.name for each in load(folder / "o.json").selective.groups.groupings] == ["site", "age"]


@pytest.mark.slow
def test_three_systems_have_groups_in_the_columnar_file(folder):
    inputs = [f"{name}=t.csv" for name in "abc"]
    asked = ("--group", "sex=Gender", "--threshold", "0.4", "--stratify", "sex", "--min-clusters", "5")
    made = demur(folder, "evaluate", *inputs, *asked, *FLAGS, "--output", "o.json", "--report", "o.html")
    assert made.returncode == 0, made.stderr
    assert "b sure by sex, at the threshold 0.4" in made.stdout
    assert "50 bootstrap resamples of clusters within sex, seed 1" in made.stdout
    assert "bootstrap resamples of clusters within sex, seed 1" in Page((folder / "o.html").read_text()).text
    results = load(folder / "o.json")
    assert results.selective.groups.stratified_by == "sex"
    assert {row.key.system for row in results if row.key.group and row.key.group.name == "sex"} == {*"abc"}


@pytest.mark.parametrize(
    "asked",
    [
        ["--group", "x=Nope"],
        ["--group", "Age"],
        ["--group", "x"],
        ["--group", "who=cluster"],
        ["--group", "how=sure"],
        ["--group", "a=Age:3"],
        ["--group", "=Age"],
        ["--group", "item", "--group", "item"],
        ["--group", "item", "--at-coverage", "0.99"],
        ["--threshold", "0.5"],
        ["--group", "g=loss"],
        ["--min-clusters", "5"],
        ["--max-groups", "5"],
        ["--group", "item", "--stratify", "item"],
        ["--group", "item", "--min-clusters", "1"],
        ["--group", "item", "--threshold", "nan"],
        ["--groups", "t.csv"],
        ["--groups", "nope.csv"],
    ],
)
def test_what_makes_no_groups_is_one_line_and_nothing_is_written(folder, asked, message):
    if asked == ["--groups", "t.csv"]:
        (folder / "t.csv").write_text((folder / "t.csv").read_text() + "0,q0,1,0.5,F,20\n")
    made = demur(folder, "evaluate", "t.csv", *asked, *FLAGS, "--output", "o.json")
    assert (made.returncode, made.stdout) == (2, "")
    message(made.stderr)
    assert len(made.stderr.splitlines()) == 1
    assert not (folder / "o.json").exists()


def test_labels_of_strangers_are_told(folder):
    (folder / "g.csv").write_text("cluster,site\nx1,a\nx2,b\n")
    made = demur(folder, "evaluate", "t.csv", "--groups", "g.csv", *FLAGS, "--output", "o.json")
    assert made.stderr == "demur: g.csv: no cluster of the run is among its clusters, the first of which is 'x1'\n"
