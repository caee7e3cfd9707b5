"""`demur fields`, `demur calibrate` and the scripts, as a user calls them: output, exit code, what is written."""

import json
import os
from pathlib import Path

import pytest

from commands import demur, real_demur, script
from demur import load, load_calibration, read_run, served
from demur.extensions.lab.runs import ZERO_SHOT, make_people, run_system
from demur.show.console import calibration_text, variants_text
from runs import experiment, participant, run, written


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("runs")
    content = run_system(make_people(30, seed=1), ZERO_SHOT, seed=1).to_json("few_shot", "train")
    written(made, content, "train.json")
    return made


def test_calibrate_prints_the_validation_and_writes_a_file_it_names(folder):
    found = demur(folder, "calibrate", "--input", "train.json", "--method", "platt", "--variant", "verbalized")
    assert (found.returncode, found.stderr) == (0, "")
    lines = found.stdout.splitlines()
    assert lines[0] == "platt, target correctness"
    assert lines[1] == "Platt scaling maps verbalized to the chance of being right."
    assert " answered units of 30 participants; " in lines[2]
    assert [line.split("  ")[0] for line in lines[5:9]] == [
        "",
        "as given",
        "in sample",
        "out of 5 folds",
    ]
    assert lines[-1].startswith("wrote data/outputs/calibrator-platt-")
    made = load_calibration(folder / lines[-1].removeprefix("wrote "))
    assert f"{made.validation.cross_validated.nll:.4f}" in lines[8]
    assert made.tool.command == "demur calibrate --input train.json --method platt --variant verbalized"
    assert made.training.path == "train.json"


@pytest.mark.slow
def test_a_calibrated_confidence_combined_with_a_count_is_no_probability(folder):
    fitted = demur(
        folder,
        "calibrate",
        "--input",
        "train.json",
        "--method",
        "platt",
        "--variant",
        "verbalized",
        "--output",
        "c.json",
    )
    assert fitted.returncode == 0
    names = "secondary:calibrated:verbalized+llm:average,calibrated:verbalized"
    arguments = (
        "--input",
        "train.json",
        "--confidence",
        names,
        "--calibration",
        "c.json",
        "--bootstrap-resamples",
        "0",
    )
    found = demur(folder, "evaluate", *arguments, "--output", "m.json", "--quiet")
    assert (found.returncode, found.stderr) == (0, "")
    combined, alone = load(folder / "m.json").curves.values()
    assert combined.reliability is None
    assert alone.reliability is not None


def test_the_same_command_twice_gives_the_same_bytes(folder):
    arguments = ["calibrate", "--input", "train.json", "--method", "isotonic", "--variant", "token_msp"]
    written_twice = []
    for _ in range(2):
        found = demur(folder, *arguments, "--created-at", "2026-01-31T12:00:00Z", "--output", "twice.json")
        assert found.returncode == 0
        assert found.stdout.endswith("wrote twice.json\n")
        written_twice.append((folder / "twice.json").read_bytes())
    assert written_twice[0] == written_twice[1]
    assert json.loads(written_twice[0])["created_at"] == "2026-01-31T12:00:00Z"


def test_the_scripts_are_thin_entries_with_the_flags_of_older_documents(folder):
    verbalized = script(folder, "calibrate_verbalized_confidence.py", "--input", "train.json", "--mode", "few_shot")
    assert (verbalized.returncode, verbalized.stderr) == (0, "")
    made = load_calibration(folder / verbalized.stdout.splitlines()[-1].removeprefix("wrote "))
    assert (made.method, made.features) == ("temperature_scaling", ("verbalized_confidence",))
    features = "verbalized_confidence,retrieval_similarity_mean"
    trained = script(
        folder,
        *("train_confidence_calibrator.py", "--input", "train.json", "--mode", "few_shot"),
        *("--method", "logistic", "--features", features, "--output", "trained.json"),
    )
    assert (trained.returncode, trained.stderr) == (0, "")
    assert load_calibration(folder / "trained.json").features == tuple(features.split(","))


def test_variants_lists_what_a_run_can_serve_and_why_not_the_others(folder):
    found = demur(folder, "variants", "train.json")
    assert (found.returncode, found.stderr) == (0, "")
    assert "\nllm                         yes  Pieces of evidence the model quoted\n" in found.stdout
    assert "\ncalibrated                  no   needs a calibration" in found.stdout
    fit = ["calibrate", "--input", "train.json", "--method", "platt", "--variant", "llm", "--output", "platt.json"]
    assert demur(folder, *fit).returncode == 0
    found = demur(folder, "variants", "train.json", "--calibration", "platt.json")
    assert "\ncalibrated:llm              yes" in found.stdout


def test_a_long_table_is_calibrated_on_like_a_run_file(folder):
    lines = ["cluster,item,truth,prediction,own"]
    lines += [f"{who},q{item},{(who + item) % 2},1,{item + who / 10}" for who in range(6) for item in range(3)]
    (folder / "rows.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    arguments = ("--instrument", "none", "--method", "isotonic", "--features", "own", "--output", "rows.json")
    found = demur(folder, "calibrate", "--input", "rows.csv", *arguments)
    assert (found.returncode, found.stderr) == (0, "")
    assert "18 answered units" in found.stdout
    wrong = demur(folder, "calibrate", "--input", "rows.csv", "--mode", "few_shot", *arguments)
    assert wrong.stderr == "demur: rows.csv: a table holds one experiment and no modes: leave out mode and experiment\n"


@pytest.mark.parametrize(
    "arguments",
    [
        "--method platt",
        "--method plat --variant llm",
        "--method platt --variant lm",
        "--method platt --features nope",
        "--method platt --variant llm --target loss",
        "--method platt --variant llm --mode zero",
        "--method platt --variant llm --output train.json",
        "--method platt --variant llm --output nope/c.json",
        "--method platt --variant llm --output .",
    ],
)
def test_a_mistake_is_one_line_exit_code_2_and_nothing_written(folder, arguments, message):
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    found = demur(folder, "calibrate", "--input", "train.json", *arguments.split())
    assert (found.returncode, found.stdout) == (2, "")
    message(found.stderr)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_what_the_console_says_of_a_calibration(tmp_path):
    people = [
        participant(who, {"Sleep": who % 4}, verbalized_confidence=None if who < 2 else 1 + who % 5) for who in range(8)
    ]
    written(tmp_path, run(experiment(*people)))
    fit = ("calibrate", "--input", "run.json", "--features", "verbalized_confidence", "--output", "c.json")
    soft = demur(tmp_path, *fit, "--method", "linear", "--folds", "3").stdout.splitlines()
    assert "Of verbalized_confidence, 16 nulls were filled with a cautious value." in soft
    assert any(line.startswith("out of 3 folds  ") for line in soft)
    assert "– nll: the outcomes are not all 0 or 1" in soft
    warned = demur(tmp_path, *fit, "--method", "temperature").stdout
    assert "warning (at_bound): verbalized_confidence: the best temperature, 10, lies at a bound" in warned
    written(tmp_path, run(experiment(*people[:1])))
    alone = demur(tmp_path, *fit[:-4], "--features", "llm_evidence_count", "--method", "isotonic").stdout
    assert "not seen (only one cluster has answers: there are no others to try it on);" in alone


def test_no_place_for_the_default_output(folder, tmp_path):
    (tmp_path / "data").write_text("a file")
    found = demur(tmp_path, "calibrate", "--input", folder / "train.json", "--method", "platt", "--variant", "llm")
    assert found.stderr == "demur: data/outputs: cannot be made (Not a directory); name a file with --output\n"


def test_hostile_names_reach_the_terminal_as_text(tmp_path):
    own = "\x1b[31mred\x07[bold]"
    people = [participant(f"{who}\x1b[2J", {"Sleep": who % 2}, **{own: who / 7}) for who in range(6)]
    written(tmp_path, run(experiment(*people)))
    fitted = demur(tmp_path, "calibrate", "--input", "run.json", "--method", "linear", "--features", own)
    listed = demur(tmp_path, "variants", "run.json")
    for found in (fitted, listed):
        assert found.returncode == 0
        assert "\x1b" not in found.stdout + found.stderr
    assert "available by name: '\\x1b[31mred\\x07[bold]'." in listed.stdout
    assert fitted.stdout.startswith("linear, target loss\nRidge regression maps '\\x1b[31mred\\x07[bold]' to ")


@pytest.mark.slow
def test_a_calibration_file_cannot_forge_lines(folder):
    fit = ["calibrate", "--input", "train.json", "--method", "platt", "--variant", "llm", "--output", "forged.json"]
    assert demur(folder, *fit).returncode == 0
    content = json.loads((folder / "forged.json").read_text())
    content["variant"] = "x\x1b[31m\nllm   yes  FORGED"
    (folder / "forged.json").write_text(json.dumps(content))
    found = demur(folder, "variants", "train.json", "--calibration", "forged.json")
    assert found.returncode == 0
    assert not any(line.startswith("llm   yes") for line in found.stdout.splitlines())
    items, forged = read_run(folder / "train.json"), load_calibration(folder / "forged.json")
    for text in (variants_text(items, served(items, forged)), calibration_text(forged)):
        assert all(character.isprintable() or character == "\n" for character in text)
        assert "FORGED" in text


def test_an_instrument_file_is_an_input_too(folder):
    items = ["NoInterest", "Depressed", "Sleep", "Tired", "Appetite", "Failure", "Concentrating", "Moving"]
    own = json.dumps({"name": "own", "items": items, "min": 0, "max": 3})
    (folder / "own.json").write_text(own)
    fit = ["calibrate", "--input", "train.json", "--instrument", "own.json", "--method", "platt", "--variant", "llm"]
    found = demur(folder, *fit, "--output", "own.json")
    assert found.stderr == "demur: own.json: is an input, and an output never replaces one\n"
    assert (folder / "own.json").read_text() == own


@pytest.mark.slow
def test_a_terminal_that_cannot_show_a_sign_is_no_reason_to_fail(folder):
    found = real_demur(folder, "variants", "train.json", env={**os.environ, "PYTHONIOENCODING": "latin-1"})
    assert (found.returncode, found.stderr) == (0, "")
    with Path("/dev/full").open("w") as full:
        found = real_demur(folder, "variants", "train.json", capture_output=False, stdout=full, stderr=-1)
    assert (found.returncode, found.stderr) == (2, "demur: the output cannot be written (No space left on device)\n")


def test_the_script_does_not_ignore_a_method(folder):
    wrong = script(folder, "calibrate_verbalized_confidence.py", "--input", "train.json", "--method=platt")
    assert wrong.returncode == 1
    assert wrong.stderr == "demur: this script has chosen --method already; for another choice use demur calibrate\n"


@pytest.mark.slow
def test_help_has_examples(folder):
    for command in ("calibrate", "fields"):
        found = demur(folder, command, "--help")
        assert found.returncode == 0
        assert f"Example: demur {command}" in found.stdout


PLAIN = [
    "person,question_id,correct,conf",
    *(f"p{n // 2},q{n},{int(n % 3 > 0)},{(n * 7 % 10) / 10}" for n in range(40)),
]


def test_a_table_of_other_names_is_understood_as_evaluate_understands_it(tmp_path):
    named = "\n".join(PLAIN).replace("person", "participant")
    (tmp_path / "plain.csv").write_text(named)
    call = (
        "calibrate",
        "--method",
        "platt",
        "--features",
        "conf",
        "--folds",
        "2",
        "--created-at",
        "2026-01-31T12:00:00Z",
    )
    found = demur(tmp_path, *call, "--input", "plain.csv", "--output", "guessed.json")
    assert (found.returncode, found.stderr) == (
        0,
        "demur: took correct as score, participant as cluster, question_id as item\n",
    )
    (tmp_path / "plain.csv").write_text(named.replace("participant,question_id,correct", "cluster,item,score"))
    said = demur(tmp_path, *call, "--input", "plain.csv", "--output", "said.json")
    assert (said.returncode, said.stderr) == (0, "")
    models = [json.loads((tmp_path / name).read_text())["model"] for name in ("guessed.json", "said.json")]
    assert models[0] == models[1]


def test_a_table_that_cannot_be_understood_is_asked_about_with_a_command_that_works(tmp_path):
    (tmp_path / "plain.csv").write_text("\n".join(PLAIN))
    call = ("calibrate", "--input", "plain.csv", "--method", "platt", "--features", "conf", "--output", "c.json")
    found = demur(tmp_path, *call)
    assert (found.returncode, found.stdout) == (2, "")
    told, _, answer = found.stderr.rstrip().partition("the likeliest command: demur ")
    assert "what each row belongs to (cluster): person" in told
    assert answer == f"{' '.join(call)} --column cluster=person"
    assert not (tmp_path / "c.json").exists()
    assert demur(tmp_path, *answer.split()).returncode == 0
