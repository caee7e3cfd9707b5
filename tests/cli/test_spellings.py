"""What is typed: earlier spellings still work, every command shows how it is called, several systems have names."""

import json
import re

import pytest
import typer

from commands import COMMAND, demur
from demur import Minus, load
from demur.cli import present_spelling
from demur.cli.schema import SCHEMAS
from demur.extensions.lab.runs import simulated_run
from golden_runs import GOLDEN
from installation import needs
from parametrized import parametrize_few
from runs import written

FLAGS = ("--seed", "1", "--bootstrap-resamples", "10", "--quiet")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("spellings")
    written(made, simulated_run(8, seed=1), "run.json")
    return made


@pytest.mark.parametrize(
    ("earlier", "present"),
    [
        ("variants run.json --mode few_shot", "fields run.json --mode few_shot"),
        (
            "simulate --output s.json --participants 3 --seed 1",
            "simulate runs --output s.json --participants 3 --seed 1",
        ),
        ("simulate-queries --output q.csv --posts 2 --seed 1", "simulate queries --output q.csv --posts 2 --seed 1"),
        pytest.param("schema retrieval", "schema results", marks=needs("retrieval")),
        ("study --seed -1", "study intervals --seed -1"),
    ],
)
def test_an_earlier_spelling_does_the_same(folder, earlier, present):
    first, second = (demur(folder, *words.split()) for words in (earlier, present))
    assert first == second
    assert first.returncode == (2 if "-1" in earlier else 0)


def test_the_present_spelling_is_left_as_it_is():
    for words in (["simulate", "runs", "--seed", "1"], ["study", "intervals"], ["simulate", "--help"], [], ["--help"]):
        assert present_spelling(words) == words
    assert present_spelling(["study"]) == ["study", "intervals"]


@pytest.mark.slow
def test_files_are_arguments_or_inputs(folder):
    modes = ("--mode", "zero_shot", "--mode", "few_shot", "--created-at", "2026-01-31T12:00:00Z")
    numbers = []
    for files in (
        ("run.json", "run.json"),
        ("--input", "run.json", "--input", "run.json"),
        ("run.json", "--input", "run.json"),
    ):
        assert demur(folder, "evaluate", *files, *modes, *FLAGS, "--output", "m.json").returncode == 0
        content = json.loads((folder / "m.json").read_text(encoding="utf-8"))
        numbers.append(content["confidence_variants"] | content["comparison"])
    assert numbers[0] == numbers[1] == numbers[2]


@pytest.mark.slow
def test_three_named_systems_against_the_one_that_is_chosen(folder):
    files = (
        "A=run.json",
        "B/1=run.json",
        "C=run.json",
        "--mode",
        "zero_shot",
        "--mode",
        "few_shot",
        "--mode",
        "zero_shot",
    )
    done = demur(
        folder, "evaluate", *files, "--baseline", "B/1", *FLAGS, "--output", "three.json", "--report", "three.html"
    )
    assert (done.returncode, done.stderr) == (0, "")
    found = load(folder / "three.json")
    assert found.systems == ("A", "B/1", "C")
    assert {row.key.minus for row in found.where(quantity="aurc") if row.key.minus} == {Minus("system", "B/1")}
    assert (folder / "three.html").read_text(encoding="utf-8").count("B/1") > 3
    wrong = demur(folder, "evaluate", *files, "--baseline", "D", *FLAGS)
    assert (wrong.returncode, wrong.stderr.count("\n")) == (2, 1)


def commands(group, words=()):
    for name, command in group.commands.items():
        if isinstance(command, typer.core.TyperGroup):
            yield from commands(command, (*words, name))
        else:
            yield " ".join((*words, name)), command


@parametrize_few(("name", "command"), [*commands(COMMAND)], 9)
def test_the_help_of_a_command_shows_how_it_is_called(tmp_path, name, command):
    calls = re.findall(r"^ *Example: demur (.+)", command.help, flags=re.MULTILINE)
    assert calls
    assert all(call.startswith(name) for call in calls)
    shown = demur(tmp_path, *name.split(), "--help")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert all(option.help for option in command.params if option.name != "help")


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_schema_is_printed(tmp_path, name):
    assert json.loads(demur(tmp_path, "schema", name).stdout)["$schema"].startswith("https://json-schema.org")


@needs("retrieval")
def test_results_of_retrieval_are_no_answers_to_tabulate(tmp_path):
    written(tmp_path, (GOLDEN / "retrieval.json").read_bytes(), "r.json")
    for words in (("table", "r.json", "--format", "csv"), ("figure", "r.json", "-o", "f.svg")):
        done = demur(tmp_path, *words)
        assert (done.returncode, done.stdout) == (2, "")
        way_out = "demur report shows them, to_frame() tabulates them"
        assert done.stderr == f"demur: r.json: these are results of retrieval, not of answers: {way_out}\n"
    assert not (tmp_path / "f.svg").exists()
