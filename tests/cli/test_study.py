"""`demur study intervals` as a user meets it."""

import re
from dataclasses import replace

import pytest

from commands import demur as in_process
from demur.extensions.lab import designs
from demur.extensions.lab.runs import simulated_run
from demur.files.write import json_text

QUICK = ("--datasets", "2", "--resamples", "20", "--seed", "1")


@pytest.fixture(autouse=True)
def small_population(monkeypatch):
    """True numbers from few units: what is printed is looked at here, not whether it is right."""
    for name, design in designs.DESIGNS.items():
        monkeypatch.setitem(designs.DESIGNS, name, replace(design, at_large=500))
    usual = designs.phq8
    monkeypatch.setattr(designs, "phq8", lambda **given: replace(usual(**given), at_large=500))
    monkeypatch.setattr("demur.extensions.lab.imitation._UNITS_AT_LARGE", 4_000)


def test_a_study_of_the_usual_design_says_what_it_did(tmp_path):
    found = in_process(tmp_path, "study", "--participants", "4", *QUICK)
    assert (found.returncode, found.stderr) == (0, "")
    first, second, *_ = found.stdout.splitlines()
    assert first.startswith("phq8, 4 participants: two made-up systems on PHQ-8, abs_norm by llm_evidence_count")
    assert second.startswith("2 data sets, 20 resamples, seed 1; nominal 95 %")
    assert all(f"\n{number} " in found.stdout for number in ("aurc", "risk@0.3", "Δaugrc@C_common"))


@pytest.mark.parametrize("design", designs.DESIGNS)
@pytest.mark.slow
def test_every_design_can_be_studied(tmp_path, design):
    found = in_process(tmp_path, "study", "intervals", "--design", design, "--participants", "12", *QUICK)
    assert found.returncode == 0
    assert found.stdout.startswith(f"{design}, 12 participants: ")


def test_the_designs_are_listed_without_anything_else(tmp_path):
    found = in_process(tmp_path, "study", "intervals", "--design", "help")
    assert found.returncode == 0
    assert [line.split()[0] for line in found.stdout.splitlines()] == [*designs.DESIGNS]


@pytest.mark.slow
def test_a_run_is_imitated_with_its_own_number_of_participants_and_drawn(tmp_path):
    (tmp_path / "run.json").write_text(json_text(simulated_run(9, seed=1)))
    call = ("study", "intervals", "--like", "run.json", "--mode", "few_shot", "--figure", "coverage.svg", *QUICK)
    found = in_process(tmp_path, *call)
    assert found.returncode == 0, found.stderr
    assert "run.json, 9 participants: like run.json: 9 participants with 8 units each" in found.stdout
    assert found.stdout.endswith("wrote coverage.svg\n")
    assert (tmp_path / "coverage.svg").read_text().startswith("<svg")


@pytest.mark.slow
def test_a_table_is_imitated_under_the_confidence_that_is_named(tmp_path):
    rows = [f"p{number // 4},i{number % 4},{number % 2},{number % 3 % 2},{number % 5}" for number in range(48)]
    (tmp_path / "long.csv").write_text("\n".join(["cluster,item,truth,prediction,sure", *rows]))
    options = ("--instrument", "none", "--loss", "zero_one", "--confidence", "sure")
    found = in_process(tmp_path, "study", "intervals", "--like", "long.csv", *options, "--participants", "7", *QUICK)
    assert found.returncode == 0, found.stderr
    assert "long.csv, 7 participants: like long.csv: 12 participants with 4 units each" in found.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["--seed", "-1"],
        ["--seed", "1", "--datasets", "0"],
        ["--seed", "1", "--resamples", "0"],
        ["--seed", "1", "--participants", "0"],
        ["--seed", "1", "--correlation", "2"],
        ["--seed", "1", "--loss", "ads"],
        ["--seed", "1", "--design", "size"],
        ["--seed", "1", "--like", "no.json"],
        ["--seed", "1", "--like", "x", "--design", "sizes"],
        ["--seed", "1", "--figure", "a.png"],
        ["--seed", "1", "--design", "sizes", "--loss", "abs"],
        ["--seed", "1", "--mode", "few_shot"],
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(tmp_path, arguments, message):
    found = in_process(tmp_path, "study", *arguments)
    assert (found.returncode, found.stdout) == (2, "")
    message(found.stderr)
    assert not [*tmp_path.iterdir()]


def test_a_run_without_an_answer_cannot_be_imitated(tmp_path):
    rows = [f"p{number},i,1,,1" for number in range(5)]
    (tmp_path / "long.csv").write_text("\n".join(["cluster,item,truth,prediction,sure", *rows]))
    options = ("--instrument", "none", "--loss", "abs", "--confidence", "sure")
    found = in_process(tmp_path, "study", "intervals", "--like", "long.csv", *options, *QUICK)
    assert (found.returncode, found.stderr) == (
        2,
        "demur: long.csv: nothing is answered: there is nothing to imitate\n",
    )


@pytest.mark.slow
def test_a_file_name_is_shown_and_not_obeyed(tmp_path):
    name = "a\x1b[31m<b>.json"
    (tmp_path / name).write_text(json_text(simulated_run(6, seed=1)))
    call = ("--mode", "few_shot", "--figure", "coverage.svg", *QUICK)
    found = in_process(tmp_path, "study", "intervals", "--like", name, *call)
    assert found.returncode == 0, found.stderr
    assert "\x1b" not in found.stdout + (tmp_path / "coverage.svg").read_text()
    assert "<b>" not in (tmp_path / "coverage.svg").read_text()


def test_a_picture_never_replaces_the_run_it_is_of(tmp_path):
    (tmp_path / "run.svg").write_text(text := json_text(simulated_run(6, seed=1)))
    found = in_process(tmp_path, "study", "intervals", "--like", "run.svg", "--figure", "run.svg", *QUICK)
    assert found.returncode == 2
    assert found.stderr == "demur: run.svg: is an input, and an output never replaces one\n"
    assert (tmp_path / "run.svg").read_text() == text


@pytest.fixture(scope="module")
def pilot(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pilot")
    (folder / "run.json").write_text(json_text(simulated_run(20, seed=1)))
    call = ("run.json", "run.json", "--mode", "zero_shot", "--mode", "few_shot", "--confidence", "llm")
    made = in_process(folder, "evaluate", *call, "--bootstrap-resamples", "50", "--seed", "1", "--output", "m.json")
    assert made.returncode == 0
    return folder


@pytest.mark.slow
def test_a_pilot_says_how_many_participants_are_needed_whether_from_its_results_or_its_files(pilot):
    from_results = in_process(pilot, "study", "participants", "--like", "m.json", "--difference", "0.02")
    assert from_results.returncode == 0, from_results.stderr
    lines = from_results.stdout.splitlines()
    assert lines[0].startswith("Pilot: 20 participants, few_shot − zero_shot, AUGRC to C_common ")
    found = re.search(r"with a power of 80% at 5 %: (\d+) participants$", lines[2])
    low, high = map(int, re.search(r"from (\d+) .its 10 % point. to (\d+) .its 90 % point.", lines[3]).groups())
    assert low < int(found[1]) < high
    assert lines[3].endswith(f"plan for {high}.")
    modes = ("--mode", "zero_shot", "--mode", "few_shot", "--confidence", "llm")
    files = ("--like", "run.json", "--like", "run.json", *modes, "--difference", "0.02")
    assert in_process(pilot, "study", "participants", *files).stdout.splitlines()[1:] == lines[1:]


@pytest.mark.parametrize(
    "arguments",
    [
        ["m.json", "--difference", "0"],
        ["m.json", "--power", "1"],
        ["m.json", "--loss", "abs"],
        ["run.json", "--mode", "few_shot"],
        ["none.json"],
        ["m.json", "--difference", "1e-9"],
    ],
)
def test_a_pilot_that_says_nothing_is_one_line(pilot, arguments, message):
    found = in_process(pilot, "study", "participants", "--like", *arguments)
    assert (found.returncode, found.stdout) == (2, "")
    message(found.stderr)
    assert found.stderr.count("\n") == 1


TABLE = ["participant,question_id,correct,sure", *(f"p{n // 4},q{n},{int(n % 3 > 0)},{n % 5}" for n in range(48))]


@pytest.mark.slow
def test_a_table_of_other_names_is_imitated_under_its_one_signal(tmp_path):
    (tmp_path / "plain.csv").write_text("\n".join(TABLE))
    found = in_process(tmp_path, "study", "intervals", "--like", "plain.csv", *QUICK)
    took = "took correct as score, participant as cluster, question_id as item"
    assert (found.returncode, found.stderr) == (
        0,
        f"demur: {took}; answers are ranked by sure\n",
    )
    assert found.stdout.startswith("plain.csv, 12 participants: like plain.csv: 12 participants with 4 units each")


def test_a_pilot_of_tables_is_understood_as_evaluate_understands_them(tmp_path):
    (tmp_path / "a.csv").write_text("\n".join(TABLE))
    (tmp_path / "b.csv").write_text("\n".join([TABLE[0], *(row.replace(",0,", ",1,", 1) for row in TABLE[1:])]))
    found = in_process(tmp_path, "study", "participants", "--like", "a.csv", "--like", "b.csv")
    assert found.returncode == 0, found.stderr
    assert "took correct as score" in found.stderr


@pytest.mark.parametrize(
    "call",
    [
        "--design errors_5 --instrument PHQ-9",
        "--noun document",
        "--mode few_shot",
    ],
)
def test_an_option_that_would_change_nothing_is_refused(tmp_path, call, message):
    found = in_process(tmp_path, "study", "intervals", *call.split(), *QUICK)
    assert (found.returncode, found.stdout) == (2, "")
    message(found.stderr)
