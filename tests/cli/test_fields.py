"""`demur fields`: what is in a file, whatever wrote it."""

import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from commands import demur
from inspect_logs import archive, json_log, members_of
from runs import experiment, participant, run, written
from tool_logs import EVENTS, chosen, helm_row, promptfoo_results, promptfoo_row

CSV = "participant;note;correct;conf\n1;a rather long remark indeed;1;0,5\n1;b;;0,25\n2;;0;0,5\n"
SHOWN = """\
t.csv: 3 records

field        type     filled  distinct  examples
participant  integer   100 %         2  1, 2
note         text     66.7 %         2  a rather long remar…, b
correct      integer  66.7 %         2  1, 0
conf         number    100 %         2  0.5, 0.25

took correct as score, participant as cluster
2 clusters, 3 units, 2 answered
Answers can be ranked by (--confidence): conf
"""


def fields(folder, *words):
    done = demur(folder, "fields", *words)
    assert (done.returncode, done.stderr) == (0, ""), done
    return done.stdout


def line(shown, name):
    """The cells of the row of one field."""
    [row] = [row for row in shown.splitlines() if row.split("  ")[0] == name]
    return [cell.strip() for cell in row.split("  ") if cell.strip()][1:]


def test_a_table_is_shown_field_by_field(tmp_path):
    written(tmp_path, CSV, "t.csv")
    assert fields(tmp_path, "t.csv") == SHOWN
    hidden = fields(tmp_path, "t.csv", "--no-examples")
    assert "remar" not in hidden
    assert line(hidden, "note") == ["text", "66.7 %", "2"]


def test_variants_is_its_earlier_name(tmp_path):
    written(tmp_path, CSV, "t.csv")
    assert demur(tmp_path, "variants", "t.csv").stdout == SHOWN


def test_what_cannot_be_told_is_asked_and_no_error(tmp_path):
    written(tmp_path, "doc,topic,passed,p\na,x,1,0.5\nb,x,0,0.6\nb,y,0,0.6\n", "t.csv")
    shown = fields(tmp_path, "t.csv", "--column", "score=passed", "--column", "cluster=topic")
    assert shown.endswith("ranked by (--confidence): p\n")
    written(tmp_path, "topic,passed,p\nx,1,0.5\nx,0,0.6\ny,0,0.6\n", "t.csv")
    last = fields(tmp_path, "t.csv").splitlines()[-1]
    assert last.startswith("to evaluate it, say what each row belongs to (cluster): topic; if no two rows")


ROWS = [{"doc": {"name": f"d{n // 2}", "tags": ["x"] * n}, "loss": n / 2, "p": None if n else 1} for n in range(3)]


@pytest.mark.parametrize("name", ["t.jsonl", "t.jsonl.gz", "t.parquet"])
def test_objects_are_gone_into_by_the_paths_that_options_take(tmp_path, name):
    lines = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
    if name == "t.parquet":
        pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / name)
    else:
        (tmp_path / name).write_bytes(gzip.compress(lines) if name.endswith(".gz") else lines)
    shown = fields(tmp_path, name, "--column", "cluster=doc.name")
    assert line(shown, "doc.name") == ["text", "100 %", "2", "d0, d1"]
    assert line(shown, "doc.tags") == ["list", "100 %", "3", "0 entries, 1 entries, 2 entries"]
    assert line(shown, "loss") == ["number", "100 %", "3", "0.0, 0.5, 1.0"]
    assert line(shown, "p") == ["integer", "33.3 %", "1", "1"]
    assert "\ndoc " not in shown
    assert "nothing: no signal is a number for every answer" in shown


def test_a_member_of_an_object_can_rank_the_answers_but_for_one_that_plays_a_role(tmp_path):
    rows = [{"who": n, "model": {"sure": n / 4}, "judge": {"score": n % 2}} for n in range(3)]
    written(tmp_path, "".join(json.dumps(row) + "\n" for row in rows), "t.jsonl")
    shown = fields(tmp_path, "t.jsonl", "--column", "cluster=who", "--column", "score=judge.score")
    assert shown.endswith("Answers can be ranked by (--confidence): model.sure\n")


def test_a_run_file_is_shown_by_its_units(tmp_path):
    written(tmp_path, run(experiment(participant(1, {"Sleep": None}), participant(2))))
    shown = fields(tmp_path, "run.json")
    assert line(shown, "cluster") == ["integer", "100 %", "2", "1, 2"]
    assert line(shown, "item")[:3] == ["text", "100 %", "8"]
    assert line(shown, "prediction")[1] == "93.8 %"
    assert "\nllm                         yes  Pieces of evidence the model quoted\n" in shown


def test_a_file_of_units_is_shown_with_its_signals(tmp_path):
    unit = {"cluster": "a", "item": "q", "repeat": 1, "loss": 0.5, "status": "ok", "groups": {}, "signals": {"p": 0.5}}
    header = {"demur_units": 1, "source": {}, "mapping": {}}
    written(tmp_path, json.dumps(header) + "\n" + json.dumps(unit) + "\n", "units.jsonl")
    shown = fields(tmp_path, "units.jsonl")
    assert line(shown, "p") == ["number", "100 %", "1", "0.5"]
    assert shown.endswith("1 clusters, 1 units, 1 answered\nAnswers can be ranked by (--confidence): p\n")


LOGS = {
    "log.json": ("inspect", json_log, "scores.exact.value"),
    "log.eval": ("inspect", lambda: archive(members_of()), "scores.exact.value"),
    "chunked.eval": ("inspect", lambda: archive(members_of(chunked=True)), "metadata.document"),
    "samples.jsonl": ("lm-eval", lambda: as_lines([chosen(0, 1, 1.0, 1.0, "-1.0 -0.5")]), "doc_id"),
    "results.json": ("promptfoo", lambda: as_lines([promptfoo_results([promptfoo_row("q1")])]), "namedScores.exact"),
    "events.jsonl": ("oai-evals", lambda: as_lines(EVENTS), "data.correct"),
}


def as_lines(records):
    return "".join(json.dumps(record) + "\n" for record in records).encode()


@pytest.mark.parametrize("name", LOGS)
def test_a_log_is_shown_whatever_is_to_be_chosen_in_it(tmp_path, name):
    tool, content, path = LOGS[name]
    (tmp_path / name).write_bytes(content())
    shown = fields(tmp_path, name)
    assert len(line(shown, path)) == 4
    assert shown.endswith(f"; import it first: demur import {tool} {name} -o units.jsonl\n")


def test_an_option_that_is_not_about_a_log_is_refused(tmp_path):
    (tmp_path / "log.json").write_bytes(json_log())
    found = demur(tmp_path, "fields", "log.json", "--mode", "few_shot")
    told = "an Inspect log; import it first: demur import inspect log.json -o units.jsonl"
    assert (found.returncode, found.stderr) == (2, f"demur: --mode does not apply to {told}\n")


def test_a_wrong_option_is_told_before_anything_is_shown(tmp_path):
    written(tmp_path, "cluster,loss,sure\na,0,1\nb,1,2\n", "t.csv")
    found = demur(tmp_path, "fields", "t.csv", "--failed-units", "keep")
    told = "demur: no rule for failed units is called keep; there are: abstain, drop, refuse\n"
    assert (found.returncode, found.stdout, found.stderr) == (2, "", told)


def test_a_run_folder_of_helm_is_shown(tmp_path):
    (tmp_path / "run").mkdir()
    rows = [helm_row(f"id{n}", n % 2) for n in range(3)]
    (tmp_path / "run" / "per_instance_stats.json").write_text(json.dumps(rows), encoding="utf-8")
    assert line(fields(tmp_path, "run"), "stats.exact_match")[2] == "2"


def test_several_systems_are_shown_together(tmp_path):
    rows = [f"{model},{n % 2},{n},1,0.{n + 1}\n" for model in ("m1", "m/2") for n in range(4)]
    written(tmp_path, "model,user,id,correct,p\n" + "".join(rows), "t.csv")
    shown = fields(tmp_path, "t.csv")
    assert "2 systems: m1, m/2; the counts are of the first\n2 clusters, 4 units, 4 answered\n" in shown


@pytest.mark.slow
def test_counts_are_bounded_and_say_so(tmp_path):
    written(tmp_path, "cluster,loss,p\n" + "".join(f"c{n},0,{n}\n" for n in range(1001)), "t.csv")
    assert line(fields(tmp_path, "t.csv"), "p")[2] == "more than 1000"
    wide = {f"m{n}": {"x": 1} for n in range(600)} | {f"n{n}": {"x": 1, "y": 2} for n in range(300)}
    written(tmp_path, json.dumps({"cluster": 1, "loss": 0} | wide), "t.jsonl")
    assert "There are more than 1000 fields: the others are not shown." in fields(tmp_path, "t.jsonl")


def test_nothing_in_a_file_is_obeyed_by_a_terminal(tmp_path):
    written(tmp_path, 'cluster,loss,"p\x1b[31m",note\na,0,1,"\x1b]0;x\x07"\n', "t.csv")
    shown = fields(tmp_path, "t.csv")
    assert all(sign.isprintable() or sign == "\n" for sign in shown)
    assert "'p\\x1b[31m'" in shown


def test_a_broken_file_is_one_line(tmp_path):
    written(tmp_path, "cluster,loss\na,0\nb\n", "t.csv")
    done = demur(tmp_path, "fields", "t.csv")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "demur: t.csv: line 3: 1 cells, expected 2 as in the header\n"
