"""Ordinary tables, as other tools write them: each is evaluated at once, or the one message is a command that works."""

import itertools
import re
import shlex
import subprocess
from fractions import Fraction

import pytest

from commands import demur
from demur import PHQ8, load
from parametrized import parametrize_few

FLAGS = ("--bootstrap-resamples", "10", "--output", "m.json")
SEEDED = ("--seed", "1", *FLAGS)
BOM = "\ufeff"


def augrc(units):
    """Unit by unit: the area under the generalized risk, from pairs of a loss (None: abstained) and a confidence."""
    answered = sorted((unit for unit in units if unit[0] is not None), key=lambda unit: -unit[1])
    area, covered, lost = Fraction(0), 0, Fraction(0)
    for _, plateau in itertools.groupby(answered, key=lambda unit: unit[1]):
        losses = [Fraction(str(loss)) for loss, _ in plateau]
        area += Fraction(len(losses), len(units)) * (2 * lost + sum(losses)) / len(units) / 2
        covered, lost = covered + len(losses), lost + sum(losses)
    return area, Fraction(covered, len(units))


FLAGGED = [(1, "true", "true", 0.9), (1, "false", "true", 0.8), (2, "true", "null", "null")]
# name: the file, what it holds as (loss, confidence), how many clusters, and what has to be asked
ORDINARY = {
    "exact.csv": (
        "cluster,loss,sure\na,0,0.9\na,0.5,0.4\nb,,0.2\nb,1,0.6\n",
        [(0, 9), (0.5, 4), (None, 2), (1, 6)],
        2,
        "",
    ),
    "correct.csv": (
        "participant,question_id,correct,confidence\n7,q1,1,0.9\n7,q2,0,0.4\n8,q1,1,0.5\n8,q2,,0.3\n",
        [(0, 9), (1, 4), (0, 5), (None, 3)],
        2,
        "",
    ),
    "sklearn.csv": (
        "y_true,y_pred,max_proba\ncat,cat,0.9\ndog,cat,0.6\ncat,cat,0.7\n",
        [(0, 9), (1, 6), (0, 7)],
        3,
        "--every-row-its-own-cluster",
    ),
    "pandas.csv": (
        ",subject,y_true,y_pred,proba\n0,a,1,1.0,0.9\n1,a,0,1.0,0.6\n2,b,1,,0.7\n",
        [(0, 9), (1, 6), (None, 7)],
        2,
        "",
    ),
    "unnamed.csv": (
        "Unnamed: 0,Patient ID,Correct,Conf\n0,12,True,0.9\n1,12,False,0.6\n2,13,True,0.6\n",
        [(0, 9), (1, 6), (0, 6)],
        2,
        "",
    ),
    "huggingface.csv": (
        "text,label,prediction,score,doc_id\nfine,POS,POS,0.9,1\nbad,NEG,POS,0.8,1\nso,NEG,NEG,0.3,2\n",
        [(0, 9), (1, 8), (0, 3)],
        2,
        "--column truth=label --column prediction=prediction",
    ),
    "excel.csv": (
        f"{BOM}Dokument;document;is_correct;conf\r\nx;a;1;0,9\r\ny;a;0;0,25\r\nz;b;1;0,5\r\n",
        [(0, 9), (1, 2.5), (0, 5)],
        2,
        "",
    ),
    "graded.csv": (
        "user_id,score,confidence\nu1,80,0.9\nu1,20,0.4\nu2,100,0.5\n",
        [(0.2, 9), (0.8, 4), (0, 5)],
        2,
        "--score-range 0:100",
    ),
    "likert.csv": (
        "user_id\tscore\tconfidence\nu1\t4\t90\nu1\t1\t40\nu2\t5\t50\n",
        [(0.2, 9), (0.8, 4), (0, 5)],
        2,
        "--score-range 0:5",
    ),
    "questions.csv": (
        "question_id,exact_match,confidence\nq1,1,0.9\nq2,0,0.4\nq3,1,0.5\n",
        [(0, 9), (1, 4), (0, 5)],
        3,
        "--every-row-its-own-cluster",
    ),
    "repeats.csv": (
        "question_id,acc,conf\nq1,1,0.9\nq1,0,0.4\nq2,1,0.5\nq2,1,0.5\n",
        [(0, 9), (1, 4), (0, 5), (0, 5)],
        2,
        "--column cluster=question_id",
    ),
    "judged.csv": (
        "session,id,gold,answer,is_correct,conf\ns,1,Paris,It is Paris.,1,0.9\ns,2,Rome,Milan,0,0.8\nt,1,Bern,,,0.1\n",
        [(0, 9), (1, 8), (None, 1)],
        2,
        "",
    ),
    "classes.csv": (
        "patient,target,predicted,probability\na,2,2,0.9\na,0,3,0.8\nb,1,1,0.7\n",
        [(0, 9), (1, 8), (0, 7)],
        2,
        "--loss zero_one",
    ),
    "signals.csv": (
        "conversation_id,correct,latency,confidence,margin\na,1,12,0.9,1\na,0,13,0.8,2\nb,1,9,0.7,3\n",
        [(0, 9), (1, 8), (0, 7)],
        2,
        "--confidence confidence",
    ),
    "entropy.csv": (
        "subject,correct,entropy\na,1,0.1\na,0,0.8\nb,1,0.7\n",
        [(0, -1), (1, -8), (0, -7)],
        2,
        "--confidence entropy --lower-is-surer entropy",
    ),
    "topics.csv": (
        "topic,doc name,lang,passed,conf\nx,d1,en,1,0.9\nx,d1,en,0,0.8\ny,d2,en,1,0.7\ny,d3,de,1,0.6\n",
        [(0, 9), (1, 8), (0, 7), (0, 6)],
        3,
        "--column 'cluster=doc name'",
    ),
    "users and sessions.csv": (
        "user,session,correct,conf\nu,s1,1,0.9\nu,s1,0,0.8\nu,s2,1,0.7\nv,s3,1,0.6\n",
        [(0, 9), (1, 8), (0, 7), (0, 6)],
        2,
        "--column cluster=user",
    ),
    "shouting.csv": (
        "USER_ID,Y_TRUE,Y_PRED,PROB\n1,a,a,.9\n1,b,a,.8\n2,b,b,.7\n",
        [(0, 9), (1, 8), (0, 7)],
        2,
        "",
    ),
    "flags.jsonl": (
        "".join(f'{{"user": {who}, "label": {truth}, "pred": {pred}, "p": {p}}}\n' for who, truth, pred, p in FLAGGED),
        [(0, 9), (1, 8), (None, 0)],
        2,
        "",
    ),
    "half a pair.csv": (
        "participant,question,solution,prediction,conf\na,2+2,4,4,0.9\na,1+1,2,3,0.8\nb,0+3,3,3,0.7\n",
        [(0, 9), (1, 8), (0, 7)],
        2,
        "--column truth=solution --loss zero_one",
    ),
    "keys.csv": (
        "participant,correct,predicted,conf\na,2,2,0.9\na,0,3,0.8\nb,3,3,0.7\n",
        [(0, 9), (1, 8), (0, 7)],
        2,
        "--column truth=correct --loss zero_one",
    ),
    "percents.csv": (
        "participant,accuracy,conf\na,100,0.9\na,50,0.8\nb,25,0.7\n",
        [(0, 9), (0.5, 8), (0.75, 7)],
        2,
        "--column score=accuracy --score-range 0:100",
    ),
    "done.csv": (
        "participant,done,conf\na,1,0.9\na,0,0.8\nb,1,0.7\n",
        [(0, 9), (1, 8), (0, 7)],
        2,
        "--column score=done",
    ),
}


def check_result(folder, units, clusters):
    area, cmax = augrc(units)
    results = load(folder / "m.json")
    assert results.one(quantity="augrc", minus=None).value == pytest.approx(float(area), abs=1e-15)
    assert results.one(quantity="cmax", minus=None, group=None).value == float(cmax)
    assert results.selective.clusters_included == clusters


@parametrize_few("name", ORDINARY, 6)
def test_an_ordinary_table_is_evaluated_at_once_or_by_the_command_it_shows(tmp_path, name):
    text, units, clusters, asked = ORDINARY[name]
    (tmp_path / name).write_bytes(text.encode())
    found = demur(tmp_path, "evaluate", name, *FLAGS)
    if asked:
        assert (found.returncode, found.stdout, found.stderr.count("\n")) == (2, "", 1)
        assert not (tmp_path / "m.json").exists()
        command = found.stderr.rstrip("\n").partition(": demur ")[2]
        assert command.partition("m.json ")[2] == asked, found.stderr
        found = demur(tmp_path, *shlex.split(command))
    assert found.returncode == 0, found.stderr
    check_result(tmp_path, units, clusters)


MODELS = "model,question_id,user,correct,conf\n" + "".join(
    f"{model},q{row},u{row % 2},{right},{row}\n" for model in ("m1", "m2") for row, right in enumerate((1, 0, 1, 1))
)


class TestMessages:
    @pytest.fixture
    def folder(self, tmp_path):
        (tmp_path / "models.csv").write_text(MODELS, encoding="utf-8")
        return tmp_path

    def test_what_was_taken_is_told_and_recorded(self, folder):
        found = demur(folder, "evaluate", "models.csv", *SEEDED)
        taken = "took model as system, correct as score, user as cluster, question_id as item"
        assert found.stderr == f"demur: {taken}; answers are ranked by conf\n"
        results = load(folder / "m.json")
        assert results.systems == ("m1", "m2")
        columns = {"system": "model", "score": "correct", "cluster": "user", "item": "question_id"}
        assert [dict(source.columns) for source in results.study.inputs] == [columns] * 2
        assert demur(folder, "evaluate", "models.csv", *SEEDED, "--quiet").stderr == ""

    @pytest.mark.slow
    def test_an_audit_understands_the_table_as_the_file_says(self, folder):
        demur(folder, "evaluate", "models.csv", *SEEDED, "--report", "m.html")
        page = re.sub("</?bdi>", "", (folder / "m.html").read_text(encoding="utf-8"))
        assert "; model as system, correct as score, user as cluster, question_id as item<br>" in page
        audited = demur(folder, "audit", "--data", "models.csv", "--reported", "m.json")
        assert ", 0 differs, 0 not recognised" in audited.stdout, audited

    @pytest.mark.slow
    def test_files_may_call_their_columns_differently(self, folder):
        for name, header in (("a.csv", "user,id,correct,conf"), ("b.csv", "patient,qid,correct,conf")):
            (folder / name).write_text(f"{header}\n1,x,1,0.5\n1,y,0,0.6\n2,z,1,0.7\n", encoding="utf-8")
        assert demur(folder, "evaluate", "A=a.csv", "B=b.csv", *SEEDED).returncode == 0
        columns = [dict(source.columns) for source in load(folder / "m.json").study.inputs]
        assert columns[1] == {"score": "correct", "cluster": "patient", "item": "qid"}
        assert demur(folder, "audit", "--data", "a.csv", "--data", "b.csv", "--reported", "m.json").returncode == 0

    @pytest.mark.slow
    def test_an_instrument_that_the_items_tell_is_said(self, folder):
        rows = [f"{who},{item},1,{who},3\n" for who in (1, 2) for item in PHQ8.items]
        text = "cluster,item,truth,prediction,llm_evidence_count\n" + "".join(rows)
        (folder / "phq.csv").write_text(text, encoding="utf-8")
        found = demur(folder, "evaluate", "phq.csv", *SEEDED)
        assert found.stderr == "demur: the items are those of PHQ-8\n"
        results = load(folder / "m.json")
        assert (results.study.inputs[0].instrument, results.selective.loss.name) == ("PHQ-8", "abs_norm")

    def test_a_mistake_is_told_with_how_the_table_was_understood(self, folder):
        (folder / "bad.csv").write_text("user,loss,conf\n1,1,0.5\n2,-3,0.5\n", encoding="utf-8")
        refused = demur(folder, "evaluate", "bad.csv", *SEEDED)
        assert ": loss -3, expected a number, 0 or more or null" in refused.stderr
        told = "took user as cluster; answers are ranked by conf"
        assert refused.stderr.endswith(f" ({told})\n")
        assert not (folder / "m.json").exists()

    def test_names_that_a_shell_would_split_are_quoted(self, folder):
        name = "whose $(row) 'it' is\x1b"
        (folder / "odd.csv").write_text(f'"{name}",correct,conf\na,1,0.5\na,0,0.6\nb,1,0.5\n', encoding="utf-8")
        refused = demur(folder, "evaluate", "odd.csv", *FLAGS)
        command = refused.stderr.rstrip("\n").partition("the likeliest command: ")[2]
        shown = subprocess.run(
            ["bash", "-c", f"demur() {{ printf '%s\\0' \"$@\"; }}; {command}"], capture_output=True, check=True
        )
        words = shown.stdout.decode().split("\0")[:-1]
        assert f"cluster={name}" in words
        assert demur(folder, *words).returncode == 0

    @pytest.mark.slow
    def test_a_signal_may_have_commas_in_its_name(self, folder):
        (folder / "comma.csv").write_text('user,correct,"p, max"\na,1,0.5\nb,0,0.6\n', encoding="utf-8")
        assert demur(folder, "evaluate", "comma.csv", *SEEDED).returncode == 0
        assert load(folder / "m.json").selective.confidences == ("p, max",)
        audited = demur(folder, "audit", "--data", "comma.csv", "--reported", "m.json")
        assert ", 0 differs, 0 not recognised" in audited.stdout

    def test_a_log_of_another_tool_is_still_recognised_first(self, folder):
        (folder / "log.jsonl").write_text('{"doc_id": 1, "filtered_resps": [], "acc": 1.0}\n', encoding="utf-8")
        assert "import it first: demur import lm-eval log.jsonl" in demur(folder, "evaluate", "log.jsonl").stderr
