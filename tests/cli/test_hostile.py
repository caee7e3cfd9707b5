"""`demur evaluate` and files that mean harm or were damaged: nothing but clean errors and valid results."""

import copy
import os
import random
import subprocess
import sys

import pytest

from commands import demur
from damage import damaged
from demur import load
from demur.extensions.lab.runs import simulated_run
from demur.show.console import evaluation_text
from parametrized import parametrize_few
from runs import experiment, participant, run, written

FLAGS = ("--seed", "1", "--bootstrap-resamples", "20", "--created-at", "2026-01-31T12:00:00Z")


def evaluate(where, *arguments):
    return demur(where, "evaluate", *FLAGS, *arguments)


HOSTILE = ["\x1b[31mred", "[bold]x[/bold]", "a\nb", "\r\x07", "\u2028\u202e", "</script>", "[/]", "\x9b2J"]


@parametrize_few("text", HOSTILE, 3)
@pytest.mark.slow
def test_hostile_text_shows_up_harmlessly(tmp_path, text):
    people = [participant(f"{who}{text}", token_msp=0.5) for who in range(3)]
    content = run(experiment(*people, mode=f"m{text}")) | {"run_metadata": {"run_id": text, "git_commit": text}}
    written(tmp_path, content)
    shown = evaluate(tmp_path, "--input", "run.json", "--output", "m.json")
    assert shown.returncode == 0
    broken = copy.deepcopy(content)
    broken["experiments"][0]["results"]["results"][0]["predicted_items"]["Sleep"] = text
    written(tmp_path, broken)
    refused = evaluate(tmp_path, "--input", "run.json", "--output", "m2.json")
    assert refused.returncode == 2
    for out in (shown.stdout, shown.stderr, refused.stdout, refused.stderr):
        assert all(character.isprintable() or character == "\n" for character in out)
    assert refused.stderr.count("\n") == 1
    made = load(tmp_path / "m.json")
    assert made.study.inputs[0].run_id == text, "the file holds it as it is"
    report = evaluation_text(made)  # what is echoed loses its escapes on the way when nobody is at the terminal
    assert all(character.isprintable() or character == "\n" for character in report)
    assert report + "\nwrote m.json\n" == shown.stdout


@pytest.mark.slow
def test_markup_reaches_a_terminal_as_text():
    """Printed through rich, with a terminal's width and colours, brackets stay brackets."""
    code = "from demur.show.console import print_report; print_report('warning [bold]x[/bold] \\\\[y]')"
    environment = {**os.environ, "FORCE_COLOR": "1", "COLUMNS": "40", "TERM": "xterm"}
    found = subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True)
    assert "[bold]x[/bold] \\[y]" in found.stdout


NOUNS = ["\x1b[31mred", "a\u202eb", "\u2066x", "tab\tword", "</p><b>", "\x9b2J"]


@pytest.mark.uses("groups", "decide")
@parametrize_few("noun", NOUNS, 1)
def test_a_noun_is_text_wherever_it_is_shown(tmp_path, noun):
    """On the console, on the page, in sentences, and in what another command reads of the file."""
    rows = [f"p{n // 2},q{n % 2},{n % 2},{n % 3 % 2},{n / 40},{'mf'[n % 4 // 2]}" for n in range(40)]
    written(tmp_path, "\n".join(["cluster,item,truth,prediction,sure,sex", *rows]), "t.csv")
    table = ("t.csv", "--instrument", "none", "--confidence", "sure", "--loss", "zero_one", "--noun", noun)
    done = [
        demur(tmp_path, "evaluate", *table, *FLAGS, "--group", "sex=sex", "-o", "m.json", "--report", "m.html"),
        demur(tmp_path, "report", "m.json", "-o", "again.html"),
        *(demur(tmp_path, "table", "m.json", "--format", form) for form in ("sentence", "latex", "markdown", "csv")),
        demur(tmp_path, "choose", *table, "--seed", "1", "--coverage", "0.5", "-o", "rule.json"),
        demur(tmp_path, "apply", "rule.json", "t.csv", "--check", "--max-units", "2"),
        demur(
            tmp_path, "fields", *(word for word in table if word not in ("--confidence", "sure", "--loss", "zero_one"))
        ),
    ]
    assert "".join(one.stderr for one in done) == ""
    for text in (*(one.stdout + one.stderr for one in done), repr(load(tmp_path / "m.json"))):
        assert all(character.isprintable() or character == "\n" for character in text)
    assert load(tmp_path / "m.json").study.noun == noun, "the file holds it as it is"
    for name in ("m.html", "again.html"):
        page = (tmp_path / name).read_text(encoding="utf-8")
        assert all(character.isprintable() or character in "\n\u00a0" for character in page)
        assert "</p><b>" not in page


LONG_NAME = "x" * 5000


def columns(count, name):
    return ",".join(f"{name}{number}" for number in range(count)) + "\n" + ",".join("1" * count) + "\n"


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("t.csv", columns(900, "column"), ("evaluate", "t.csv", "--column", "cluster=nobody")),
        ("t.csv", columns(30, LONG_NAME), ("evaluate", "t.csv", "--column", "cluster=nobody")),
        ("t.csv", columns(30, LONG_NAME), ("evaluate", "t.csv")),
        ("t.csv", f"cluster,truth,prediction\n{LONG_NAME},{LONG_NAME},1\n", ("evaluate", "t.csv", "--loss", "abs")),
        ("t.jsonl", '{"demur_units": "' + LONG_NAME + '"}\n', ("evaluate", "t.jsonl")),
        ("m.json", '{"kind": "retrieval", "' + LONG_NAME * 20 + '": 1}', ("report", "m.json")),
        ("m.json", '{"schema_version": "2", "task": "' + LONG_NAME + '"}', ("report", "m.json")),
        ("m.json", '{"confidence_variants": {"' + LONG_NAME + '": {"defined": 3}}}', ("report", "m.json")),
        ("c.json", '{"method": "' + LONG_NAME + '", "model": {}}', ("report", "c.json")),
        ("r.json", '{"experiments": [{"' + LONG_NAME + '": 1}]}', ("evaluate", "r.json")),
        ("p.toml", f'["{LONG_NAME}"]\nunits = 1', ("evaluate", "t.csv", "--points", "p.toml")),
        ("x", "", ("evaluate", "x", "--mode", LONG_NAME)),
        ("x", "", ("evaluate", LONG_NAME)),
        ("x", "", (LONG_NAME,)),
        ("x", "", ("evaluate", f"--{LONG_NAME}")),
        ("x", "", ("evaluate", "x", "--seed", LONG_NAME)),
        ("x", "", ("convention", "explain", LONG_NAME)),
    ],
)
def test_an_error_is_a_line_of_500_characters_at_most(tmp_path, name, content, words):
    written(tmp_path, content, name)
    done = demur(tmp_path, *words)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert len(done.stderr) <= 500


def test_a_long_error_keeps_its_place_and_its_way_out(tmp_path):
    written(tmp_path, columns(900, "column"), "t.csv")
    told = demur(tmp_path, "evaluate", "t.csv", "--column", "cluster=nobody", "--seed", "1").stderr
    assert told.startswith("demur: t.csv: no column nobody for cluster; columns: column0, column1, ")
    assert " … " in told
    assert told.endswith("map it, --column cluster=COLUMN\n")


def test_a_name_in_an_error_is_cut_at_80_characters(tmp_path):
    written(tmp_path, "cluster,item,truth,prediction,sure\n" + f"{LONG_NAME},q,1,2,0.5\n" * 2, "t.csv")
    table = ("t.csv", "--instrument", "none", "--loss", "abs", "--confidence", "sure")
    told = demur(tmp_path, "evaluate", *table, "--seed", "1").stderr
    assert "x" * 79 + "…" in told
    assert "x" * 80 not in told


def try_damaged(tmp_path, count, seed):
    rng = random.Random(seed)
    content = simulated_run(2, seed=1, failures=1)
    path, output = tmp_path / "run.json", tmp_path / "m.json"
    refused = 0
    for _ in range(count):
        data = damaged(rng, content)
        path.write_bytes(data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass"))
        output.unlink(missing_ok=True)
        flags = (
            "--seed",
            "1",
            "--bootstrap-resamples",
            "3",
            "--output",
            "m.json",
            "--mode",
            "few_shot",
            "--confidence",
            "verbalized",
        )
        found = demur(tmp_path, "evaluate", "--input", "run.json", *flags)
        assert "Traceback" not in found.stderr
        if found.returncode == 0:
            assert len(load(output)) > 0
        else:
            refused += 1
            assert found.returncode == 2
            assert found.stderr.startswith("demur: ")
            assert found.stderr.count("\n") == 1
            assert not output.exists()
    assert 0.2 * count < refused < count


@pytest.mark.slow
def test_a_damaged_file_is_a_clean_error_or_a_valid_result(tmp_path):
    try_damaged(tmp_path, 40, seed=1)
