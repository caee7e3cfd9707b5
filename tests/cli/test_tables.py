"""Tables of anyone's on the command line: losses, scores and texts, to the page and through the audit."""

import json

import pytest

from commands import demur
from demur import load
from parametrized import parametrize_few

TABLES = {
    "loss.csv": "cluster,loss,sure\na,0,0.9\na,0.5,0.4\nb,,0.2\nb,0.25,0.6\nc,1,0.1\n",
    "score.csv": "doc;score;sure\na;5;0,9\na;3;0,4\nb;;0,2\nb;4;0,6\n",
    "text.csv": "cluster,truth,prediction,sure\na,Paris,Paris,0.9\na,Rome,Milan,0.4\nb,Bern,,0.2\nb,Lyon,Lyon,0.3\n",
    "rows.csv": "loss,sure\n0,0.5\n1,0.4\n0.3333333333333333,0.7\n",
}
READING = {
    "loss.csv": ("--loss-max", "1"),
    "score.csv": ("--column", "cluster=doc", "--score-range", "1:5"),
    "text.csv": (),
    "rows.csv": ("--every-row-its-own-cluster",),
}
LOSS = {
    "loss.csv": {"name": "given", "definition": "column loss", "raw_multiplier": 1, "maximum": 1.0, "exact": True},
    "score.csv": {
        "name": "given",
        "definition": "(5 - column score) / 4",
        "raw_multiplier": 1,
        "maximum": 1.0,
        "exact": True,
    },
    "text.csv": {"name": "zero_one", "definition": "1 if pred != gt else 0", "raw_multiplier": 1},
    "rows.csv": {"name": "given", "definition": "column loss", "raw_multiplier": 1, "exact": False},
}
FLAGS = ("--confidence", "sure", "--seed", "1", "--bootstrap-resamples", "50")


@pytest.fixture
def folder(tmp_path):
    for name, text in TABLES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@parametrize_few("name", TABLES, 2)
def test_a_table_is_evaluated_shown_and_audited(folder, name):
    made = demur(folder, "evaluate", name, *READING[name], *FLAGS, "--output", "m.json", "--report", "m.html")
    assert (made.returncode, made.stderr) == (0, "")
    assert json.loads((folder / "m.json").read_text(encoding="utf-8"))["loss"] == LOSS[name]
    audited = demur(folder, "audit", "--data", name, "--reported", "m.json", *READING[name][:4])
    assert (audited.returncode, audited.stderr) == (0, "")
    assert ", 0 differs, 0 not recognised" in audited.stdout


def test_what_a_cluster_is_called_is_said_everywhere(folder):
    options = (*READING["score.csv"], *FLAGS, "--noun", "document")
    made = demur(folder, "evaluate", "score.csv", *options, "--output", "m.json", "--report", "m.html")
    assert "2 documents with 4 items (none failed)" in made.stdout
    assert load(folder / "m.json").study.noun == "document"
    assert "resamples of documents" in (folder / "m.html").read_text(encoding="utf-8")
    audited = demur(folder, "audit", "--data", "score.csv", "--reported", "m.json", *READING["score.csv"])
    assert ", 0 differs, 0 not recognised" in audited.stdout


@pytest.mark.slow
def test_two_tables_of_losses_are_compared(folder):
    other = TABLES["loss.csv"].replace("0.25", "0.125").replace("b,,", "b,0,")
    (folder / "other.csv").write_text(other, encoding="utf-8")
    made = demur(folder, "evaluate", "A=loss.csv", "B=other.csv", *FLAGS, "--output", "m.json")
    assert made.returncode == 0
    # Of what A declined, B answered one unit without a loss.
    assert [system.needless_abstentions.count for system in load(folder / "m.json").selective.systems] == [1, 0]
    data = ("--data", "loss.csv", "--data", "other.csv")
    assert demur(folder, "audit", *data, "--reported", "m.json").returncode == 0


def test_fields_and_calibrate_take_the_same_tables(folder):
    listed = demur(folder, "fields", "score.csv", *READING["score.csv"], "--noun", "document")
    assert listed.stdout.endswith("2 documents, 4 units, 3 answered\nAnswers can be ranked by (--confidence): sure\n")
    fitting = ("calibrate", "--input", "loss.csv", "--method", "platt", "--features", "sure", "--output", "c.json")
    assert "the mean of the target there is 25.0%" in demur(folder, *fitting).stdout
    near = demur(folder, *fitting, "--target", "near_correct")
    assert "the target is about scores, and this table has none: use correctness" in near.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("loss.csv", "--loss", "abs"),
        ("loss.csv", "--score-range", "1"),
        ("loss.csv", "--noun", " "),
        ("text.csv", "--loss", "given"),
    ],
)
def test_a_mistake_is_one_line(folder, arguments, message):
    refused = demur(folder, "evaluate", *arguments, *FLAGS, "--output", "m.json")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    message(refused.stderr)
    assert not (folder / "m.json").exists()


def test_a_run_file_has_no_use_for_what_says_how_a_table_is_read(folder):
    (folder / "run.json").write_text("{}", encoding="utf-8")
    refused = demur(folder, "evaluate", "run.json", *FLAGS, "--noun", "document", "--loss-max", "2")
    assert "a run file takes no options of tables: leave out --loss-max, --noun" in refused.stderr


@parametrize_few(("rule", "units", "cmax"), [("drop", 23, 20 / 23), ("abstain", 24, 20 / 24)], 1)
@pytest.mark.slow
def test_units_that_failed_are_left_out_or_abstain(folder, rule, units, cmax):
    lines = ["cluster,item,loss,status,sure"]
    for unit in range(24):
        state = "failed" if unit == 23 else "ok"
        lines.append(f"doc{unit % 6},q{unit},{'' if unit > 19 else unit % 2},{state},{unit}")
    (folder / "log.csv").write_text("\n".join(lines), encoding="utf-8")
    options = (*FLAGS, "--failed-units", rule, "--output", "m.json", "--report", "m.html")
    made = demur(folder, "evaluate", "log.csv", *options)
    assert f" answers 20 of {units} items ({20 / units:.1%})\nitems that failed: 1, " in made.stdout
    people = json.loads((folder / "m.json").read_text(encoding="utf-8"))["population"]
    assert (people["items_total"], people["cmax"], people["units_failed"]) == (units, cmax, 1)
    assert "Items that failed: 1, " in (folder / "m.html").read_text(encoding="utf-8")
    audited = demur(folder, "audit", "--data", "log.csv", "--reported", "m.json")
    assert ", 0 differs, 0 not recognised" in audited.stdout


SYSTEMS = """system,cluster,item,loss,status,sure
m1,a,x,0,ok,.5
m1,a,y,1,ok,.4
m1,b,z,0.5,ok,.7
m2,b,z,0.5,ok,.7
m2,a,y,0,failed,.5
m2,a,x,1,ok,.1
m/3,a,x,1,ok,1
m/3,a,y,.5,ok,.9
m/3,b,z,0,ok,1
"""


class TestSystems:
    @pytest.fixture
    def several(self, folder):
        (folder / "log.csv").write_text(SYSTEMS, encoding="utf-8")
        return folder

    def test_one_file_may_hold_several_systems(self, several):
        options = (*FLAGS, "--baseline", "m2", "--output", "m.json", "--report", "m.html")
        made = demur(several, "evaluate", "log.csv", *options)
        assert (made.returncode, made.stderr) == (0, "")
        assert (
            "2 items (100.0%), m2 2 (100.0%) and m/3 2 (100.0%)\nitems that failed: m1 0, m2 1, m/3 0, left out"
            in made.stdout
        )
        results = load(several / "m.json")
        assert (results.systems, results.study.baseline) == (("m1", "m2", "m/3"), "m2")
        audited = demur(several, "audit", "--data", "log.csv", "--reported", "m.json")
        assert ", 0 differs, 0 not recognised" in audited.stdout

    @pytest.mark.slow
    def test_two_of_them_give_the_nested_file_with_their_names(self, several):
        (several / "two.csv").write_text(SYSTEMS.partition("m/3")[0], encoding="utf-8")
        demur(several, "evaluate", "two.csv", *FLAGS, "--output", "m.json")
        content = json.loads((several / "m.json").read_text(encoding="utf-8"))
        assert [source["label"] for source in content["inputs"]] == ["m1", "m2"]
        assert content["population"]["units_failed"] == {"left": None, "right": 1}
        audited = demur(several, "audit", "--data", "two.csv", "--reported", "m.json")
        assert ", 0 differs, 0 not recognised" in audited.stdout

    @pytest.mark.slow
    def test_files_of_one_system_each_are_called_by_it(self, several):
        for name in ("m1", "m2"):
            rows = [row for row in SYSTEMS.splitlines() if row.startswith(("system", name))]
            (several / f"{name}.csv").write_text("\n".join(rows), encoding="utf-8")
        demur(several, "evaluate", "m1.csv", "B=m2.csv", *FLAGS, "--output", "m.json")
        assert load(several / "m.json").systems == ("m1", "B")

    @pytest.mark.parametrize(
        "arguments",
        [
            ("evaluate", "A=log.csv"),
            ("evaluate", "log.csv", "log.csv"),
        ],
    )
    def test_names_are_not_given_twice(self, several, arguments, message):
        refused = demur(several, *arguments, *(FLAGS if arguments[0] == "evaluate" else ()))
        assert refused.returncode == 2
        message(refused.stderr)
